// Implements the verifiers and assembly formats of linalg_ext. All of the dialect is here, because
// it has only four operations and no folds.
#include "dialects/linalg_ext/LinalgExt.h"
#include "dialects/RegionParser.h"
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

/// Checks that `region` has arguments of types `arguments` and yields `results`.
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

/// Parses attributes, including those that are stored as properties.
template <typename Op>
static ParseResult parseAttributes(OpAsmParser &parser, OperationState &result) {
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDict(result.attributes))
    return failure();
  return Op::verifyInherentAttrs(result.name, result.attributes, [&] {
    return parser.emitError(location) << "'" << result.name.getStringRef() << "' op ";
  });
}

static Type elementType(Value tensor) { return getElementTypeOrSelf(tensor.getType()); }

//===--- scan -------------------------------------------------------------===//

ParseResult ScanOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand init;
  SmallVector<OpAsmParser::UnresolvedOperand> inputs;
  SMLoc location;
  if (parser.parseOperand(init) || parser.parseComma() || parser.getCurrentLocation(&location) ||
      parser.parseOperandList(inputs) || parser.parseKeyword("along"))
    return failure();
  Properties &properties = result.getOrAddProperties<Properties>();
  UnitAttr unit = parser.getBuilder().getUnitAttr();
  if (parser.parseAttribute(properties.dimension, parser.getBuilder().getI64Type()))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("exclusive")))
    properties.exclusive = unit;
  if (succeeded(parser.parseOptionalKeyword("reverse")))
    properties.reverse = unit;
  if (succeeded(parser.parseOptionalKeyword("associative")))
    properties.associative = unit;
  Type initType;
  SmallVector<Type> inputTypes;
  RankedTensorType resultType;
  if (parseAttributes<ScanOp>(parser, result) || parser.parseColonType(initType) ||
      parser.parseComma() || parser.parseTypeList(inputTypes) || parser.parseArrow() ||
      parser.parseType(resultType))
    return failure();
  result.addTypes(resultType);
  return failure(parser.resolveOperand(init, initType, result.operands) ||
                 parser.resolveOperands(inputs, inputTypes, location, result.operands) ||
                 parseRegion(parser, result));
}

void ScanOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getInit() << ", " << getInputs() << " along " << getDimension();
  if (getExclusive())
    printer << " exclusive";
  if (getReverse())
    printer << " reverse";
  if (getAssociative())
    printer << " associative";
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {"dimension", "exclusive", "reverse", "associative"});
  printer << " : " << getInit().getType() << ", " << getInputs().getTypes() << " -> "
          << getResult().getType() << ' ';
  printer.printRegion(getCombine());
}

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
  if (getAssociative() && getInputs().size() != 1)
    return emitOpError("expected one input of an associative scan, but got ") << getInputs().size();
  if (state != result.getElementType())
    return emitOpError("expected an initial value of the result's element type ")
           << result.getElementType() << ", but got " << state;
  return verifyRegion(*this, getCombine(), arguments, {state});
}

//===--- scatter ----------------------------------------------------------===//

ParseResult ScatterOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand updates, operand, indices;
  RankedTensorType updatesType, operandType, indicesType;
  if (parser.parseOperand(updates) || parser.parseKeyword("into") || parser.parseOperand(operand) ||
      parser.parseKeyword("at") || parser.parseOperand(indices) ||
      parseAttributes<ScatterOp>(parser, result) || parser.parseColonType(updatesType) ||
      parser.parseComma() || parser.parseType(operandType) || parser.parseComma() ||
      parser.parseType(indicesType))
    return failure();
  result.addTypes(operandType);
  return failure(parser.resolveOperand(updates, updatesType, result.operands) ||
                 parser.resolveOperand(operand, operandType, result.operands) ||
                 parser.resolveOperand(indices, indicesType, result.operands) ||
                 parseRegion(parser, result));
}

void ScatterOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getUpdates() << " into " << getOperand() << " at " << getIndices();
  printer.printOptionalAttrDict((*this)->getAttrs());
  printer << " : " << getUpdates().getType() << ", " << getOperand().getType() << ", "
          << getIndices().getType() << ' ';
  printer.printRegion(getCombine());
}

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

//===--- sort -------------------------------------------------------------===//

IntegerType SortOp::getKeyType() { return cast<IntegerType>(elementType(getKeys())); }

IntegerType SortOp::getPlaceType() { return cast<IntegerType>(elementType(getPlaces())); }

LogicalResult SortOp::verify() {
  auto keys = cast<RankedTensorType>(getKeys().getType());
  auto key = dyn_cast<IntegerType>(keys.getElementType());
  if (!key || key.getWidth() % 8)
    return emitOpError("expected integer keys of whole bytes, but got ") << keys;
  if (getDimension() >= uint64_t(keys.getRank()))
    return emitOpError("expected a dimension below the rank ") << keys.getRank();
  auto places = cast<RankedTensorType>(getPlaces().getType());
  if (!isa<IntegerType>(places.getElementType()) || places.getRank() != keys.getRank())
    return emitOpError("expected places of the keys' type, but got ") << places;
  return success();
}
