#include "dialects/linalg_ext/LinalgExt.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace tfc::linalg_ext;

#include "dialects/linalg_ext/LinalgExtDialect.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/linalg_ext/LinalgExt.cpp.inc"

void LinalgExtDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/linalg_ext/LinalgExt.cpp.inc"
      >();
}

/// Checks that `region` takes arguments of `arguments` and yields `results`.
static LogicalResult verifyRegion(Operation *op, Region &region, ArrayRef<Type> arguments,
                                  ArrayRef<Type> results) {
  Block &block = region.front();
  if (block.getArgumentTypes() != TypeRange(arguments))
    return op->emitOpError("expected its region to take (")
           << arguments << "), but got (" << block.getArgumentTypes() << ")";
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getOperandTypes() != TypeRange(results))
    return op->emitOpError("expected its region to yield ") << results;
  return success();
}

static Type elementType(Value tensor) { return getElementTypeOrSelf(tensor.getType()); }

//===--- scan
//-----------------------------------------------------------------------------------===//

LogicalResult ScanOp::verify() {
  auto result = cast<RankedTensorType>(getResult().getType());
  Type state = getInit().getType();
  SmallVector<Type> arguments = {state};
  for (Value input : getInputs()) {
    if (failed(verifyCompatibleShape(input.getType(), result)))
      return emitOpError("expected inputs and result of one shape, but got ")
             << input.getType() << " and " << result;
    arguments.push_back(elementType(input));
  }
  if (getDimension() >= uint64_t(result.getRank()))
    return emitOpError("expected a dimension below the rank ") << result.getRank();
  if (state != result.getElementType())
    return emitOpError("expected an initial value of the result's element type ")
           << result.getElementType() << ", but got " << state;
  return verifyRegion(*this, getCombine(), arguments, {state});
}

//===--- scatter
//--------------------------------------------------------------------------------===//

LogicalResult ScatterOp::verify() {
  auto indices = cast<RankedTensorType>(getIndices().getType());
  auto updates = cast<RankedTensorType>(getUpdates().getType());
  auto operand = cast<RankedTensorType>(getOperand().getType());
  if (indices.getRank() < 1 || indices.isDynamicDim(indices.getRank() - 1))
    return emitOpError("expected indices with a static last dimension, but got ") << indices;
  if (!isa<IntegerType>(indices.getElementType()))
    return emitOpError("expected integer indices, but got ") << indices;
  int64_t batch = indices.getRank() - 1, depth = indices.getShape().back();
  if (updates.getRank() - batch != operand.getRank() - depth || updates.getRank() < batch)
    return emitOpError("expected updates of rank ")
           << batch + operand.getRank() - depth << ", but got " << updates;
  if (updates.getElementType() != operand.getElementType())
    return emitOpError("expected updates of element type ")
           << operand.getElementType() << ", but got " << updates;
  Type element = operand.getElementType();
  return verifyRegion(*this, getCombine(), {element, element}, {element});
}

//===--- sort
//-----------------------------------------------------------------------------------===//

IntegerType SortOp::getKeyType() { return cast<IntegerType>(elementType(getKeys())); }

IntegerType SortOp::getPlaceType() { return cast<IntegerType>(elementType(getInto().front())); }

LogicalResult SortOp::verify() {
  auto keys = cast<RankedTensorType>(getKeys().getType());
  auto key = dyn_cast<IntegerType>(keys.getElementType());
  if (!key || key.getWidth() % 8)
    return emitOpError("expected keys of integers of whole bytes, but got ") << keys;
  if (getDimension() >= uint64_t(keys.getRank()))
    return emitOpError("expected a dimension below the rank ") << keys.getRank();
  if (getInto().size() != 4)
    return emitOpError("expected places, keys, places and counts to write into");
  auto type = [&](unsigned i) { return cast<RankedTensorType>(getInto()[i].getType()); };
  Type place = type(0).getElementType();
  if (!isa<IntegerType>(place) || type(0).getRank() != keys.getRank())
    return emitOpError("expected places like the keys, but got ") << type(0);
  if (type(1).getElementType() != key || type(2).getElementType() != place)
    return emitOpError("expected memory for keys and places, but got ")
           << type(1) << " and " << type(2);
  if (type(3).getElementType() != place || !type(3).hasStaticShape() ||
      type(3).getNumElements() != 32 * int64_t(key.getWidth()))
    return emitOpError("expected memory for ")
           << 32 * key.getWidth() << " counts, but got " << type(3);
  if (getLimit() && !type(1).hasStaticShape())
    return emitOpError("expected memory of a fixed size with a limit, but got ") << type(1);
  return success();
}
