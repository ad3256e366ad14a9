//===- Sweep.cpp - The shared state of building a gradient ----------------===//
//
// Implements the changes of a gradient's state that concern activity, adjoints and copies alike, so
// that none of these is updated without the others.
//
//===----------------------------------------------------------------------===//

#include "compiler/autodiff/Sweep.h"

using namespace mlir;
using namespace tfc;

void Sweep::accumulate(Value value, Value gradient) {
  if (activity.isActive(value))
    adjoints.add(value, gradient);
}

void Sweep::forget(ValueRange values) {
  for (Value value : values) {
    activity.forget(value);
    adjoints.forget(value);
  }
}

void Sweep::moveResults(ValueRange from, ValueRange to) {
  for (auto [value, moved] : llvm::zip_equal(from, to)) {
    activity.move(value, moved);
    if (Value original = adjoints.move(value, moved))
      replayed[original] = moved;
  }
}
