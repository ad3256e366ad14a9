//===- CodeSize.cpp - How much code an operation becomes ------------------===//
//
// Estimates how much code an operation becomes. Forming, merging and splitting groups use the same
// estimate and limit, so that they agree on when a kernel is full.
//
//===----------------------------------------------------------------------===//

#include "compiler/fusion/CodeSize.h"
#include "dialects/dfg/Dfg.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::fusion {

/// A function such as `exp` becomes a polynomial.
static constexpr int64_t kFunctionSize = 4;
/// A reduction becomes loops of its own, and so does a read at computed positions.
static constexpr int64_t kReductionSize = 8, kParallelSize = 4;

/// The type in which scalars of a tensor are computed.
static Type scalarType(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (element.isF16() || element.isBF16())
    return Float32Type::get(type.getContext());
  if (element.isUnsignedInteger())
    return IntegerType::get(type.getContext(), element.getIntOrFloatBitWidth());
  return element;
}

static int64_t sizeOfScalars(ScalarOpInterface op) {
  Block block;
  for (Type type : op->getOperandTypes())
    block.addArgument(scalarType(type), op.getLoc());
  OpBuilder b(op.getContext());
  b.setInsertionPointToEnd(&block);
  op.buildScalar(b, block.getArguments());
  int64_t size = 0;
  for (Operation &scalar : block)
    if (!scalar.hasTrait<OpTrait::ConstantLike>())
      size += isa<math::MathDialect>(scalar.getDialect()) ? kFunctionSize : 1;
  return std::max<int64_t>(size, 1);
}

int64_t codeSizeOf(Operation *op) {
  if (auto scalar = dyn_cast<ScalarOpInterface>(op))
    return sizeOfScalars(scalar);
  if (op->hasTrait<ReductionRole>())
    return kReductionSize;
  if (!op->hasTrait<ParallelRole>())
    return 1;
  // A concatenation selects among the elements of its operands.
  return kParallelSize * std::max<int64_t>(op->getNumOperands() / 2, 1);
}

} // namespace tfc::fusion
