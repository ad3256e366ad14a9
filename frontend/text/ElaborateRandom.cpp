#include "dialects/dfg/OpTable.h"
#include "frontend/text/ElaborateImpl.h"

using namespace llvm;

namespace tfc::text {

/// The name of the variable that counts the calls of entries that draw.
static constexpr StringLiteral kCallCounter = "random.calls";

bool isDraw(const dfg::OpSignature &op) {
  bool hasCounter =
      any_of(op.operands, [](const auto &operand) { return operand.name == "counter"; });
  return hasCounter && any_of(op.attributes, [](const auto &attr) { return attr.name == "seed"; });
}

/// FNV-1a with 64 bits.
static int64_t hashOf(StringRef text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char c : text)
    hash = (hash ^ c) * 0x100000001b3;
  return static_cast<int64_t>(hash);
}

int64_t seedOf(StringRef path) { return hashOf(path); }

/// The seed of a draw without one: of an initial value the variable's name, else the node's name,
/// with a number where an entry has several of one name.
int64_t Elaborator::seedFromPath() {
  std::string path;
  if (initializing) {
    path = initializing->path;
  } else {
    path = entryName;
    if (frame->self)
      path += "/" + frame->self->path;
    path += "/" + bindingName;
  }
  unsigned count = draws[path]++;
  return hashOf(count ? path + "#" + std::to_string(count) : path);
}

/// The number of this call, from a variable that counts calls; 0 for initial values.
mlir::Value Elaborator::drawNumber(SourceRange at) {
  mlir::Type i64 = mlir::IntegerType::get(context, 64);
  if (callNumber)
    return callNumber;
  if (initializing) {
    mlir::Value zero;
    outsideOfRegions([&] { zero = builder.scalar(int64_t(0), i64, locate(at)); });
    return zero;
  }
  Variable *&counter = variablesByPath[kCallCounter];
  if (!counter) {
    variables.push_back(Variable{kCallCounter.str(),
                                 mlir::RankedTensorType::get({}, i64),
                                 /*isFrozen=*/true,
                                 "",
                                 {~0u},
                                 nullptr,
                                 locate(at)});
    counter = &variables.back();
    initializers.push_back({counter, nullptr, newFrame(mainModule, nullptr)});
  }
  outsideOfRegions([&] {
    callNumber = readVariable(*counter, at);
    mlir::Value one = builder.scalar(int64_t(1), i64, locate(at));
    mlir::Value next = emit("add", {}, {callNumber, one}, {}, at);
    builder.assign(counter->path, next, locate(at));
    reads.erase(counter);
  });
  return callNumber;
}

/// The counter of draws in an iteration of a loop: that of the code around, spread, plus the number
/// of the iteration.
mlir::Value Elaborator::drawsInLoop(LoopContext &loop, mlir::Value around, SourceRange at) {
  mlir::Type i64 = mlir::IntegerType::get(context, 64);
  mlir::OpBuilder::InsertPoint inside = builder.position();
  llvm::scope_exit back([&] { builder.restore(inside); });
  if (loop.counter < 0) {
    builder.before(loop.op);
    loop.counter = addCarried(loop, builder.scalar(int64_t(0), i64, locate(at)));
  }
  mlir::Block &block = loop.inCondition ? loop.op.getConditionBlock() : loop.op.getBodyBlock();
  builder.toStart(block);
  mlir::Value number = castTo(block.getArgument(loop.counter), i64, at);
  // Multiples of the golden ratio of 2^64 stay far from each other: no iteration of one call meets
  // one of another.
  mlir::Value spread = builder.scalar(int64_t(0x9e3779b97f4a7c15), i64, locate(at));
  mlir::Value base = emit("mul", {}, {around, spread}, {}, at);
  return emit("add", {}, {base, number}, {}, at);
}

/// What a draw here counts by: the call, and the iterations of the loops around.
mlir::Value Elaborator::drawCounter(SourceRange at) {
  mlir::Value counter = drawNumber(at);
  for (LoopContext *loop : loops) {
    mlir::Value &known = loop->draws[loop->inCondition];
    if (!known)
      known = drawsInLoop(*loop, counter, at);
    counter = known;
  }
  return counter;
}

} // namespace tfc::text
