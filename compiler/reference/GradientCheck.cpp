//===- GradientCheck.cpp - Gradients against differences ------------------===//
//
// Compares gradients with finite differences. Comparing the compiled model with the oracle cannot
// show that the formula of a gradient is wrong, because both use it.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/GradientCheck.h"
#include "dialects/dfg/Dfg.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cfloat>
#include <cmath>

using namespace mlir;

namespace tfc::reference {

/// Small compared with the data, large compared with the rounding errors of
/// f64.
static constexpr double kDistance = 1e-5;

void GradientCheck::add(const DatumRef &x, const DatumRef &gradient) {
  if (x->tensor && gradient->tensor)
    xs.insert({x.get(), {x, gradient}});
}

/// Element `i` of the direction in which data are moved: larger numbers move further.
static double directionAt(const Tensor &x, int64_t i) {
  uint64_t bits = (uint64_t(i) + 1) * 0x9e3779b97f4a7c15;
  double size = 0.5 + double(bits >> 40) / double(1 << 24);
  return (bits & 0x80000000 ? size : -size) * std::max(1.0, std::fabs(x.number(i)));
}

DatumRef GradientCheck::move(const Datum *original, DatumRef datum, double distance) const {
  if (!xs.contains(original))
    return datum;
  Tensor moved = *datum->tensor;
  for (int64_t i = 0; i < moved.size(); ++i)
    moved.setReal(i,
                  {moved.number(i) + distance * directionAt(*original->tensor, i), moved.error(i)});
  return Interpreter::make(std::move(moved));
}

//===----------------------------------------------------------------------===//
// Executing again
//===----------------------------------------------------------------------===//

/// The quotients of which a `mod` returns the remainders.
static std::vector<double> quotientsOf(ArrayRef<DatumRef> inputs, const Tensor &remainder) {
  const Tensor &x = *inputs[0]->tensor, &y = *inputs[1]->tensor;
  std::vector<double> quotients;
  for (Positions place(remainder.getShape()); !place.done(); place.next()) {
    double divisor = y.number(broadcastOffset(*place, y.getShape()));
    double rest = remainder.number(quotients.size());
    double dividend = x.number(broadcastOffset(*place, x.getShape()));
    quotients.push_back(std::round((dividend - rest) / divisor));
  }
  return quotients;
}

/// Returns true if a result of the operation jumps between two data.
static bool jumps(Operation *op, ArrayRef<DatumRef> before, ArrayRef<DatumRef> resultsBefore,
                  ArrayRef<DatumRef> after, ArrayRef<DatumRef> resultsAfter) {
  if (!isa_and_nonnull<dfg::ModOp>(op) || !resultsBefore.front())
    return false;
  return quotientsOf(before, *resultsBefore.front()->tensor) !=
         quotientsOf(after, *resultsAfter.front()->tensor);
}

LogicalResult GradientCheck::replay(const Passage &passage, double distance, Data &moved) {
  Record record = interpreter.records[passage.record];
  SmallVector<DatumRef> inputs = record.inputs;
  for (auto [input, flows] : llvm::zip_equal(inputs, passage.flows))
    if (flows && moved.contains(input.get()))
      input = moved.lookup(input.get());
  SmallVector<DatumRef> outputs{inputs.front()};
  if (record.op) {
    interpreter.setSizes(record.sizes);
    auto again = interpreter.repeat(record.op, inputs);
    if (failed(again))
      return failure();
    outputs = *again;
  }
  for (auto [before, after] : llvm::zip_equal(record.outputs, outputs))
    if (before && (!after || after->failure))
      return failure();
  if (jumps(record.op, record.inputs, record.outputs, inputs, outputs))
    return failure();
  for (auto [before, after] : llvm::zip_equal(record.outputs, outputs))
    if (before)
      moved[before.get()] = move(before.get(), after, distance);
  return success();
}

static double sumOf(const Tensor &tensor) {
  double sum = 0;
  for (int64_t i = 0; i < tensor.size(); ++i)
    sum += tensor.isDetermined(i) ? tensor.number(i) : NAN;
  return sum;
}

double GradientCheck::replay(const DatumRef &y, double distance) {
  Data moved;
  for (auto &[datum, x] : xs)
    moved[datum] = move(datum, x.first, distance);
  SizesRef sizes = interpreter.getSizes();
  bool isRepeated = llvm::all_of(passages, [&](const Passage &passage) {
    return succeeded(replay(passage, distance, moved));
  });
  interpreter.setSizes(sizes);
  if (!isRepeated)
    return NAN;
  DatumRef result = moved.lookup(y.get());
  return sumOf(*(result ? result : y)->tensor);
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

/// The derivative of y along the direction by its gradients; `scale` is the sum of the magnitudes
/// of the contributions, `error` that of their bounds.
double GradientCheck::slope(double &scale, double &error) const {
  double sum = 0;
  scale = error = 0;
  for (const auto &[datum, x] : xs)
    for (int64_t i = 0; i < x.second->tensor->size(); ++i) {
      double direction = directionAt(*datum->tensor, i);
      Real gradient = x.second->tensor->stored(i);
      double part = gradient.isDetermined() ? gradient.value * direction : NAN;
      sum += part;
      scale += std::fabs(part);
      error += gradient.error * std::fabs(direction);
    }
  return sum;
}

/// The coarsest rounding of the recorded operations: constants have the dtypes of their operations.
double GradientCheck::unitOf() const {
  double unit = 0;
  for (const Passage &passage : passages)
    for (const DatumRef &output : interpreter.records[passage.record].outputs)
      if (output && output->tensor && output->tensor->isFloat())
        unit = std::max(unit, formatOf(output->tensor->getElementType()).ulp);
  return unit;
}

/// Returns true if formulas of gradients, most of which have squares, overflow.
static bool isBeyondFormulas(const Tensor &x) {
  double most = std::sqrt(formatOf(x.getElementType()).largest);
  for (int64_t i = 0; i < x.size(); ++i)
    if (std::fabs(x.number(i)) > most)
      return true;
  return false;
}

std::string GradientCheck::run(const DatumRef &y) {
  for (const auto &[datum, x] : xs)
    if (isBeyondFormulas(*datum->tensor))
      return "";
  double scale, error;
  double given = slope(scale, error);
  if (!std::isfinite(given))
    return "";
  // Differences to both sides, over two distances, agree if y is smooth and accurate enough.
  double middle = replay(y, 0), least = INFINITY, most = -INFINITY;
  for (double distance : {kDistance, -kDistance, kDistance / 4, -kDistance / 4}) {
    double difference = (replay(y, distance) - middle) / distance;
    if (!std::isfinite(difference))
      return "";
    least = std::min(least, difference);
    most = std::max(most, difference);
  }
  double wanted = (least + most) / 2;
  // A step that is small beside y may be lost when it is added.
  double lost = 4 * DBL_EPSILON * std::fabs(middle) / (kDistance / 4);
  double tolerance = (1e-4 + 16 * unitOf()) * (scale + std::fabs(wanted)) + error + lost + 1e-9;
  double spread = most - least;
  bool isSmooth = spread <= 0.1 * std::fabs(wanted) + 1e-6;
  if (!isSmooth || std::fabs(given - wanted) <= 10 * spread + tolerance)
    return "";
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format(
      "gradients change the result by %.9g, but differences by %.9g", given, wanted);
  return text;
}

} // namespace tfc::reference
