//===- BackwardSweep.cpp - The shared state of building a gradient --------===//
//
// Implements the changes of a gradient's state that concern activity, adjoints and copies alike, so
// that none of these is updated without the others.
//
//===----------------------------------------------------------------------===//

#include "compiler/autodiff/BackwardSweep.h"

using namespace mlir;
using namespace tfc;

void BackwardSweep::accumulate(Value value, Value gradient) {
  if (activity.isActive(value))
    adjoints.add(value, gradient);
}

void BackwardSweep::forget(ValueRange values) {
  for (Value value : values) {
    activity.forget(value);
    adjoints.forget(value);
  }
}

void BackwardSweep::moveResults(ValueRange from, ValueRange to) {
  for (auto [value, moved] : llvm::zip_equal(from, to)) {
    activity.move(value, moved);
    if (Value original = adjoints.move(value, moved))
      replayed[original] = moved;
  }
}
