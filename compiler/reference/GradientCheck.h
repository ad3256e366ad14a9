//===- GradientCheck.h - Gradients against differences --------------------===//

#pragma once

#include "compiler/reference/Interpreter.h"
#include "llvm/ADT/MapVector.h"

namespace tfc::reference {

/// A record that a gradient went through, and which of its inputs got one.
struct Passage {
  size_t record;
  llvm::SmallVector<bool> flows;
};

/// Executes again what led from xs to y, a little beside the data, and compares how y changes with
/// its gradients: the formulas of single operations are shared with the compiled path, and a
/// comparison with that does not see them. In f64 whatever the dtype, and along one direction.
class GradientCheck {
public:
  /// `passages` are in the order of the records. Data get no gradients where none of them flows.
  GradientCheck(Interpreter &interpreter, std::vector<Passage> passages)
      : interpreter(interpreter), passages(std::move(passages)) {}

  /// Adds an x with its gradient.
  void add(const DatumRef &x, const DatumRef &gradient);
  /// What is wrong, or nothing, also if differences do not tell.
  std::string run(const DatumRef &y);

private:
  using Data = llvm::DenseMap<const Datum *, DatumRef>;

  double slope(double &scale) const;
  /// The sum of y at a distance from the data; NaN if it cannot be told.
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
