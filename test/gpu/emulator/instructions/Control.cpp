//===- Control.cpp - Branches, calls and returns --------------------------===//
//
// Section 9.7.12. A call copies arguments between the memories of its thread's functions; each
// thread has a stack of the calls that it is in.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/instructions/Control.h"
#include "test/gpu/emulator/execute/Block.h"
#include <cstring>

namespace tfc::gpu {

static void branch(Warp &warp, const Instruction &instruction, uint32_t active) {
  warp.branch(active, instruction.target);
}

static void decodeBranch(Decoder &d) {
  d.takeIf("uni");
  d.bind({}, {});
}

/// bra{.uni} label
static void decodeBra(Decoder &d) {
  d.takeIf("uni");
  d.endModifiers();
  d.requireCount(1);
  d.instruction.target = d.scope.firstInstruction + d.operand(0).number;
  d.setExecute(branch, Class::Control);
}

static void branchIndexed(Warp &warp, const Instruction &instruction, uint32_t active) {
  const std::vector<uint32_t> &targets = warp.block.getTargets(instruction.target);
  const uint64_t *index = warp.cells(instruction.operands[0]);
  forEachLane(active, [&](unsigned lane) {
    if (index[lane] >= targets.size())
      return warp.fail(lane, "index " + std::to_string(index[lane]) + " of a branch, but " +
                                 std::to_string(targets.size()) + " targets");
    warp.branch(1u << lane, targets[index[lane]]);
  });
}

/// brx.idx{.uni} index, list
void decodeIndexedBranch(Decoder &d, std::vector<std::vector<uint32_t>> &targets) {
  d.requireOneOf({"idx"});
  d.takeIf("uni");
  d.endModifiers();
  d.requireCount(2);
  d.addSource(d.operand(0), Scalar::U32);
  const ptx::Operand &list = d.operand(1);
  if (list.kind != ptx::Operand::Kind::Targets)
    return d.fail("expected a list of targets");
  d.instruction.target = static_cast<uint32_t>(targets.size());
  targets.emplace_back();
  for (unsigned target : d.scope.function->targets[list.number])
    targets.back().push_back(d.scope.firstInstruction + target);
  d.setExecute(branchIndexed, Class::Control);
}

static void copy(Warp &warp, unsigned lane, const std::vector<Call::Copy> &copies) {
  Bytes &bytes = warp.bytes[lane];
  for (const Call::Copy &copy : copies) {
    memcpy(bytes.at(copy.to), bytes.at(copy.from), copy.bytes);
    bytes.setUnwritten(copy.to, copy.bytes);
    for (uint64_t i = 0; i < copy.bytes; ++i)
      if (bytes.isWritten(copy.from + i, 1))
        bytes.setWritten(copy.to + i, 1);
  }
}

void executeCall(Warp &warp, const Instruction &instruction, uint32_t active) {
  const Call &call = warp.block.getCalls()[instruction.target];
  const Code &callee = warp.block.getFunctions()[call.function];
  warp.setUnwritten(callee.firstRow, callee.firstRow + callee.registers.size(), active);
  forEachLane(active, [&](unsigned lane) {
    warp.bytes[lane].setUnwritten(callee.localBegin, callee.localEnd - callee.localBegin);
    copy(warp, lane, call.arguments);
    warp.calls[lane].push_back(instruction.target);
    warp.returns[lane].push_back(warp.getPlace() + 1);
  });
  warp.branch(active, callee.begin);
}

void executeReturn(Warp &warp, const Instruction &instruction, uint32_t active) {
  uint32_t exiting = 0;
  forEachLane(active, [&](unsigned lane) {
    if (warp.calls[lane].empty()) {
      exiting |= 1u << lane;
      return;
    }
    copy(warp, lane, warp.block.getCalls()[warp.calls[lane].back()].results);
    uint32_t place = warp.returns[lane].back();
    warp.calls[lane].pop_back();
    warp.returns[lane].pop_back();
    warp.branch(1u << lane, place);
  });
  warp.exit(exiting);
}

/// ret{.uni}
static void decodeReturn(Decoder &d) {
  decodeBranch(d);
  d.setExecute(executeReturn, Class::Control);
}

static void decodeExit(Decoder &d) {
  d.bind({}, {});
  d.setExecute([](Warp &warp, const Instruction &, uint32_t active) { warp.exit(active); },
               Class::Control);
}

static void decodeTrap(Decoder &d) {
  d.bind({}, {});
  d.setExecute([](Warp &warp, const Instruction &,
                  uint32_t active) { warp.fail(std::countr_zero(active), "trap"); },
               Class::Control);
}

const Entry kControlEntries[] = {{"bra", Entry::Any, decodeBra},
                                 {"ret", Entry::Any, decodeReturn},
                                 {"exit", Entry::Any, decodeExit},
                                 {"trap", Entry::Any, decodeTrap},
                                 {}};

} // namespace tfc::gpu
