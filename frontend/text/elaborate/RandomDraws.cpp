// Chooses the seeds and counters of operations that draw random numbers.
#include "frontend/text/elaborate/RandomDraws.h"

#include "frontend/text/elaborate/RegionEditor.h"
#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/elaborate/TensorEmitter.h"

using namespace llvm;

namespace tfc::text {

/// The name of the variable that counts the calls of entries that draw.
static constexpr StringLiteral kCallCounter = "random.calls";

/// FNV-1a with 64 bits.
static int64_t hashOf(StringRef text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char c : text)
    hash = (hash ^ c) * 0x100000001b3;
  return static_cast<int64_t>(hash);
}

int64_t seedOf(StringRef path) { return hashOf(path); }

/// The default seed of a draw: derived from the variable's name for an initial value, otherwise
/// from the node's name, with a number if an entry has several of the same name.
int64_t RandomDraws::seedFromPath() {
  std::string path;
  if (context.entry.initializing) {
    path = context.entry.initializing->path;
  } else {
    path = context.entry.name;
    if (context.activation->self)
      path += "/" + context.activation->self->path;
    path += "/" + context.bindingName;
  }
  unsigned count = context.entry.draws[path]++;
  return hashOf(count ? path + "#" + std::to_string(count) : path);
}

/// The number of this call, from a variable that counts calls; 0 for initial values.
mlir::Value RandomDraws::drawNumber(SourceRange at) {
  mlir::Type i64 = mlir::IntegerType::get(context.mlir, 64);
  if (context.entry.callNumber)
    return context.entry.callNumber;
  if (context.entry.initializing) {
    mlir::Value zero;
    regionEditor.outsideOfRegions(
        [&] { zero = context.builder.scalar(int64_t(0), i64, reporter.locate(at)); });
    return zero;
  }
  Variable *&counter = context.program.variablesByPath[kCallCounter];
  if (!counter) {
    context.program.variables.push_back(Variable{kCallCounter.str(),
                                                 mlir::RankedTensorType::get({}, i64),
                                                 /*isFrozen=*/true,
                                                 "",
                                                 {~0u},
                                                 nullptr,
                                                 reporter.locate(at)});
    counter = &context.program.variables.back();
    context.program.initializers.push_back(
        {counter, nullptr, context.newActivation(context.program.mainModule, nullptr)});
  }
  regionEditor.outsideOfRegions([&] {
    context.entry.callNumber = tensorEmitter.readVariable(*counter, at);
    mlir::Value one = context.builder.scalar(int64_t(1), i64, reporter.locate(at));
    mlir::Value next = tensorEmitter.emit("add", {}, {context.entry.callNumber, one}, {}, at);
    context.builder.getResources().assign(counter->path, next, reporter.locate(at));
    context.entry.reads.erase(counter);
  });
  return context.entry.callNumber;
}

/// The counter of draws in an iteration of a loop: that of the enclosing code, spread out, plus the
/// number of the iteration.
mlir::Value RandomDraws::drawsInLoop(LoopContext &loop, mlir::Value around, SourceRange at) {
  mlir::Type i64 = mlir::IntegerType::get(context.mlir, 64);
  mlir::OpBuilder::InsertPoint inside = context.builder.position();
  llvm::scope_exit back([&] { context.builder.restore(inside); });
  if (loop.counter < 0) {
    context.builder.before(loop.op);
    loop.counter =
        regionEditor.addCarried(loop, context.builder.scalar(int64_t(0), i64, reporter.locate(at)));
  }
  mlir::Block &block = loop.inCondition ? loop.op.getConditionBlock() : loop.op.getBodyBlock();
  context.builder.toStart(block);
  mlir::Value number = tensorEmitter.castTo(block.getArgument(loop.counter), i64, at);
  // Multiples of the golden ratio of 2^64 are far apart, so that iterations of different calls have
  // different counters.
  mlir::Value spread =
      context.builder.scalar(int64_t(0x9e3779b97f4a7c15), i64, reporter.locate(at));
  mlir::Value base = tensorEmitter.emit("mul", {}, {around, spread}, {}, at);
  return tensorEmitter.emit("add", {}, {base, number}, {}, at);
}

/// The counter of a draw: it combines the call and the iterations of the enclosing loops.
mlir::Value RandomDraws::drawCounter(SourceRange at) {
  mlir::Value counter = drawNumber(at);
  for (LoopContext *loop : context.entry.loops) {
    mlir::Value &known = loop->draws[loop->inCondition];
    if (!known)
      known = drawsInLoop(*loop, counter, at);
    counter = known;
  }
  return counter;
}

} // namespace tfc::text
