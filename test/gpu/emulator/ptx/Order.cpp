//===- Order.cpp - The order in which the lanes of a warp run -------------===//
//
// Divides a function into basic blocks, and orders these.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/ptx/Order.h"
#include <algorithm>

namespace tfc::gpu::ptx {

namespace {

/// The basic blocks of a function; its end is the last of them.
struct Blocks {
  explicit Blocks(const Function &function);

  std::vector<uint32_t> begins; // their first instructions
  std::vector<std::vector<uint32_t>> successors;
};

/// Orders blocks; those that are not reached come first.
class Ordering {
public:
  explicit Ordering(const Blocks &blocks) : blocks(blocks), numbers(blocks.begins.size()) {
    for (uint32_t block = 0; block < numbers.size(); ++block)
      if (numbers[block] == 0)
        visit(block);
    std::reverse(order.begin(), order.end());
  }

  std::vector<uint32_t> order;

private:
  static constexpr uint32_t kDone = ~0u;

  uint32_t visit(uint32_t block);
  void leave(uint32_t block, bool isLoop);

  const Blocks &blocks;
  std::vector<uint32_t> numbers; // of the visits; 0 before
  std::vector<uint32_t> stack;
  uint32_t visits = 0;
};

} // namespace

/// Returns the instructions that may follow one, other than the next.
static std::vector<unsigned> targetsOf(const Function &function, const Instruction &instruction) {
  if (instruction.name == "brx" && instruction.operands.size() == 2 &&
      instruction.operands[1].kind == Operand::Kind::Targets)
    return function.targets[instruction.operands[1].number];
  if (instruction.name == "bra" && instruction.operands.size() == 1 &&
      instruction.operands[0].kind == Operand::Kind::Label)
    return {instruction.operands[0].number};
  return {};
}

static bool endsBlock(const Instruction &instruction) {
  const std::string &name = instruction.name;
  return name == "bra" || name == "brx" || name == "ret" || name == "exit" || name == "trap";
}

Blocks::Blocks(const Function &function) {
  auto count = static_cast<uint32_t>(function.instructions.size());
  begins = {0, count};
  for (uint32_t i = 0; i < count; ++i) {
    const Instruction &instruction = function.instructions[i];
    if (!endsBlock(instruction))
      continue;
    begins.push_back(i + 1);
    for (unsigned target : targetsOf(function, instruction))
      begins.push_back(target);
  }
  std::sort(begins.begin(), begins.end());
  begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
  successors.resize(begins.size());
  for (uint32_t block = 0; block + 1 < begins.size(); ++block) {
    const Instruction &last = function.instructions[begins[block + 1] - 1];
    for (unsigned target : targetsOf(function, last))
      successors[block].push_back(static_cast<uint32_t>(
          std::lower_bound(begins.begin(), begins.end(), target) - begins.begin()));
    if (last.guard || !endsBlock(last))
      successors[block].push_back(block + 1);
  }
}

/// Returns the least number of a visited block that is reached and not done.
uint32_t Ordering::visit(uint32_t block) {
  stack.push_back(block);
  uint32_t least = numbers[block] = ++visits;
  bool isLoop = false;
  for (uint32_t successor : blocks.successors[block]) {
    uint32_t reached = numbers[successor] ? numbers[successor] : visit(successor);
    isLoop |= reached <= least;
    least = std::min(least, reached);
  }
  if (least == numbers[block])
    leave(block, isLoop);
  return least;
}

/// Adds a block, after the others of the loop that it begins: these are visited again without it.
void Ordering::leave(uint32_t block, bool isLoop) {
  numbers[block] = kDone;
  for (; stack.back() != block; stack.pop_back())
    numbers[stack.back()] = 0;
  stack.pop_back();
  if (isLoop)
    for (uint32_t successor : blocks.successors[block])
      if (numbers[successor] == 0)
        visit(successor);
  order.push_back(block);
}

std::vector<uint32_t> orderOf(const Function &function) {
  Blocks blocks(function);
  std::vector<uint32_t> numbers(function.instructions.size() + 1);
  uint32_t number = 0;
  for (uint32_t block : Ordering(blocks).order) {
    uint32_t end = block + 1 < blocks.begins.size() ? blocks.begins[block + 1]
                                                    : static_cast<uint32_t>(numbers.size());
    for (uint32_t i = blocks.begins[block]; i < end; ++i)
      numbers[i] = number++;
  }
  return numbers;
}

} // namespace tfc::gpu::ptx
