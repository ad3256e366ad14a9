//===- Work.cpp - How much there is to compute ----------------------------===//
//
// The model: an operation takes the longer of two times, that of its arithmetic and that of the
// bytes that it moves. Values that fused operations pass to each other are in registers, and do not
// count as moved.
//
//===----------------------------------------------------------------------===//

#include "compiler/placement/Work.h"
#include "dialects/dfg/HostForm.h"
#include "dialects/dfg/MemoryPlan.h"
#include "dialects/dfg/Products.h"
#include "dialects/dfg/Roles.h"
#include "dialects/dfg/SizeOps.h"

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

double Work::productOf(ArrayRef<DimExpr> sizes) const {
  double product = 1;
  for (const DimExpr &size : sizes)
    product *= valueOf(size);
  return product;
}

double Work::elementsOf(Type type) const {
  return isa<RankedTensorType>(type) ? productOf(shapeOf(type)) : 1;
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

/// Returns true for operations whose results are operands at other positions.
static bool isView(Operation *op) {
  return (op->hasTrait<ViewRole>() || op->hasTrait<AliasRole>()) && !isa<SymbolUserOpInterface>(op);
}

/// Returns true for operations that kernels compute next to others.
static bool isFused(Operation *op) {
  return isa<ScalarOpInterface>(op) || op->hasTrait<ReductionRole>() ||
         op->hasTrait<ParallelRole>() || isView(op);
}

/// All operations that are not fused run alone, unless they need no kernel.
bool Work::isHeavy(Operation *op) {
  if (op->hasTrait<ContractionRole>())
    return true;
  return !isFused(op) && !op->hasTrait<SourceRole>() && !op->hasTrait<StepRole>() &&
         !isa<SymbolUserOpInterface>(op);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Returns the value that a view shows, after any number of views.
static Value originOf(Value value) {
  for (Operation *op = value.getDefiningOp(); op && isView(op) && op->getNumOperands() > 0;
       op = value.getDefiningOp())
    value = op->getOperand(0);
  return value;
}

/// Returns true for operations that pass their results to fused readers in registers.
static bool computesInRegisters(Operation *op) {
  return op->hasTrait<ContractionRole>() || isFused(op);
}

/// Returns true if something that is not fused with `op` reads the result, or a view of it.
static bool isWritten(Value result, Operation *op) {
  SmallVector<Value> shown{result};
  while (!shown.empty())
    for (Operation *user : shown.pop_back_val().getUsers()) {
      if (!isFused(user) || user->getBlock() != op->getBlock())
        return true;
      if (isView(user))
        llvm::append_range(shown, user->getResults());
    }
  return false;
}

/// The bytes that an operation reads of an operand, which are those of what views of it show.
/// Fused ones get results of others in registers, and read at most an element for each of their
/// own.
double Work::bytesRead(Value operand, Operation *op) const {
  Value origin = originOf(operand);
  Operation *producer = origin.getDefiningOp();
  if (isFused(op) && producer && computesInRegisters(producer))
    return 0;
  double bytes = std::min(bytesOf(operand.getType()), bytesOf(origin.getType()));
  if (!isFused(op) || op->hasTrait<ReductionRole>())
    return bytes;
  Type result = op->getResult(0).getType();
  return std::min(bytes, elementsOf(result) * elementBytes(elementTypeOf(operand.getType())));
}

double Work::bytesWritten(Operation *op) const {
  double bytes = 0;
  for (Value result : op->getResults())
    if (!computesInRegisters(op) || isWritten(result, op))
      bytes += bytesOf(result.getType());
  return bytes;
}

//===----------------------------------------------------------------------===//
// Seconds
//===----------------------------------------------------------------------===//

double Work::flopsOf(Operation *op) const {
  if (op->hasTrait<ContractionRole>())
    return 2 * productOf(productAxes(op));
  double elements = 0;
  for (Type type : op->hasTrait<ReductionRole>() ? TypeRange(op->getOperandTypes())
                                                 : TypeRange(op->getResultTypes()))
    elements += elementsOf(type);
  return (isHeavy(op) ? kOtherFlops : kScalarFlops) * elements;
}

/// Views are computed by their readers, and assignments are made by kernels in the variable's
/// memory.
double Work::secondsOf(Operation *op, const DeviceFigures &device) const {
  if (op->hasTrait<SourceRole>() || op->hasTrait<AliasRole>() || op->hasTrait<ViewRole>())
    return 0;
  double bytes = bytesWritten(op);
  for (Value operand : op->getOperands())
    bytes += bytesRead(operand, op);
  return std::max(flopsOf(op) / device.flops, bytes / device.bytes) +
         (isHeavy(op) ? device.launch : 0);
}

} // namespace tfc::placement
