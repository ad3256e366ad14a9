/// Chooses the seeds and counters of operations that draw random numbers.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class RegionEditor;
class Reporter;
class TensorEmitter;

/// Chooses the seeds and counters of operations that draw random numbers.
class RandomDraws {
public:
  RandomDraws(Context &context, Reporter &reporter, RegionEditor &regionEditor,
              TensorEmitter &tensorEmitter)
      : context(context), reporter(reporter), regionEditor(regionEditor),
        tensorEmitter(tensorEmitter) {}

  int64_t seedFromPath();
  mlir::Value drawCounter(SourceRange at);

private:
  mlir::Value drawNumber(SourceRange at);
  mlir::Value drawsInLoop(LoopContext &loop, mlir::Value around, SourceRange at);

  Context &context;
  Reporter &reporter;
  RegionEditor &regionEditor;
  TensorEmitter &tensorEmitter;
};

/// The seed that belongs to a name.
int64_t seedOf(llvm::StringRef path);

} // namespace tfc::text
