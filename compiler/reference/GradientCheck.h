//===- GradientCheck.h - Gradients against differences --------------------===//

#pragma once

#include "compiler/reference/Interpreter.h"
#include "llvm/ADT/MapVector.h"

namespace tfc::reference {

/// A record through which a gradient flowed, and the inputs that received one.
struct Passage {
  size_t record;
  llvm::SmallVector<bool> flows;
};

/// Repeats the operations from xs to y with slightly moved data, and compares the change of y with
/// its gradients: the compiled path shares the formulas of single operations, so a comparison with
/// it does not test them. Uses f64 for all dtypes, and one direction.
class GradientCheck {
public:
  /// `passages` are in the order of the records.
  GradientCheck(Interpreter &interpreter, std::vector<Passage> passages)
      : interpreter(interpreter), passages(std::move(passages)) {}

  /// Adds an x with its gradient.
  void add(const DatumRef &x, const DatumRef &gradient);
  /// An error message; empty if the gradients are right or the differences are inconclusive.
  std::string run(const DatumRef &y);

private:
  using Data = llvm::DenseMap<const Datum *, DatumRef>;

  double slope(double &scale, double &error) const;
  /// The sum of y at a distance from the data; NaN if it cannot be computed.
  double replay(const DatumRef &y, double distance);
  llvm::LogicalResult replay(const Passage &passage, double distance, Data &moved);
  /// `datum` at a distance along the direction, if it is one of xs.
  DatumRef move(const Datum *original, DatumRef datum, double distance) const;
  double unitOf() const;

  Interpreter &interpreter;
  std::vector<Passage> passages;
  llvm::MapVector<const Datum *, std::pair<DatumRef, DatumRef>> xs; // with their gradients
};

} // namespace tfc::reference
