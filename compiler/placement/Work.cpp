//===- Work.cpp - How much there is to compute ----------------------------===//
//
// The model: an operation takes the longer of two times, that of its arithmetic and that of the
// bytes that it moves.
//
//===----------------------------------------------------------------------===//

#include "compiler/placement/Work.h"
#include "dialects/dfg/HostForm.h"
#include "dialects/dfg/MemoryPlan.h"
#include "dialects/dfg/Roles.h"
#include "dialects/dfg/SizeOps.h"
#include <cmath>

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::placement {

static constexpr int64_t kUnknownSize = 64;
static constexpr double kUnknownTrips = 10;
/// The arithmetic for an element: of elementwise operations, and of those that sort or search.
static constexpr double kScalarFlops = 4, kOtherFlops = 16;

double Work::valueOf(const DimExpr &size) const {
  auto lookup = [&](StringRef name) -> std::optional<int64_t> {
    auto bound = bounds ? bounds.getAs<IntegerAttr>(name) : nullptr;
    return bound ? bound.getInt() : kUnknownSize;
  };
  return std::max<double>(size.evaluate(lookup).value_or(kUnknownSize), 0);
}

double Work::elementsOf(Type type) const {
  double product = 1;
  if (isa<RankedTensorType>(type))
    for (const DimExpr &size : shapeOf(type))
      product *= valueOf(size);
  return product;
}

double Work::bytesOf(Type type) const {
  if (!isa<RankedTensorType>(type))
    return 0;
  return elementsOf(type) * elementBytes(elementTypeOf(type));
}

double Work::tripsOf(WhileOp loop) const {
  DimsAttr trips = loop.getTripsAttr();
  return trips ? valueOf(trips.getExprs()[0]) : kUnknownTrips;
}

/// The number of products of a contraction, from its types alone. Without a batch they are `m k`,
/// `k n` and `m n` elements; leading axes that all three share are a batch.
double Work::productsOf(Operation *op) const {
  Shape lhs = shapeOf(op->getOperand(0).getType()), rhs = shapeOf(op->getOperand(1).getType()),
        result = shapeOf(op->getResult(0).getType());
  double batch = 1;
  for (size_t i = 0; i + 2 < std::min({lhs.size(), rhs.size(), result.size()}); ++i) {
    if (lhs[i] != rhs[i] || lhs[i] != result[i])
      break;
    batch *= std::max(valueOf(lhs[i]), 1.0);
  }
  double product = elementsOf(op->getOperand(0).getType()) / batch;
  product *= elementsOf(op->getOperand(1).getType()) / batch;
  return batch * std::sqrt(product * elementsOf(op->getResult(0).getType()) / batch);
}

/// Operations with a part in kernels are fused, unless they are sums of products. Convolutions and
/// others that are no part of a kernel run alone.
bool Work::isHeavy(Operation *op) {
  if (op->hasTrait<ContractionRole>())
    return true;
  bool isFused = isa<ScalarOpInterface>(op) || op->hasTrait<ReductionRole>() ||
                 op->hasTrait<ParallelRole>() || op->hasTrait<ViewRole>() ||
                 op->hasTrait<AliasRole>() || op->hasTrait<SourceRole>();
  return !isFused && !op->hasTrait<StepRole>() && !isa<SymbolUserOpInterface>(op);
}

double Work::secondsOf(Operation *op, const DeviceFigures &device) const {
  if (op->hasTrait<SourceRole>() || op->hasTrait<AliasRole>())
    return 0;
  bool isRoot = isHeavy(op), isProduct = op->hasTrait<ContractionRole>();
  double elements = 0, bytes = 0, read = 0;
  for (Type type : op->getResultTypes()) {
    elements += elementsOf(type);
    bytes += bytesOf(type);
  }
  for (Type type : op->getOperandTypes())
    read += bytesOf(type);
  // Operands of others are in registers.
  if (isRoot || op->hasTrait<ReductionRole>())
    bytes += read;
  double flops = isProduct ? 2 * productsOf(op) : (isRoot ? kOtherFlops : kScalarFlops) * elements;
  return std::max(flops / device.flops, bytes / device.bytes) + (isRoot ? device.launch : 0);
}

} // namespace tfc::placement
