//===- Sweep.cpp - What the parts of one gradient share -------------------===//
//
// Changes that concern activity, adjoints and copies alike.
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
