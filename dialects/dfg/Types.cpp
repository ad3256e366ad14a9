//===- Types.cpp - Shapes and element types of tensors --------------------===//
//
// Implements queries of tensor types, and inference that several families share. The inference of a
// single operation is in the file of its family.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Types.h"
#include "dialects/dfg/Dfg.h"
#include "dialects/dfg/Dtypes.h"
#include "dialects/dfg/Errors.h"
#include "dialects/dfg/OpTable.h"
#include "dialects/dfg/SizeLimits.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace tfc::dfg {

//===----------------------------------------------------------------------===//
// Types and shapes
//===----------------------------------------------------------------------===//

Shape shapeOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  if (auto dims = dyn_cast_or_null<DimsAttr>(tensor.getEncoding()))
    return dims.getExprs();
  Shape shape;
  for (int64_t size : tensor.getShape())
    shape.push_back(ShapedType::isDynamic(size) ? DimExpr::symbol("?") : DimExpr(size));
  return shape;
}

llvm::StringSet<> determinedNames(TypeRange feeds) {
  llvm::StringSet<> names;
  for (Type feed : feeds)
    if (isa<RankedTensorType>(feed))
      for (const DimExpr &size : shapeOf(feed))
        if (std::optional<DimExpr::Linear> linear = size.asLinear())
          names.insert(linear->name);
  return names;
}

Type elementTypeOf(Type type) { return cast<RankedTensorType>(type).getElementType(); }

RankedTensorType tensorOf(ArrayRef<DimExpr> shape, Type elementType) {
  SmallVector<int64_t> sizes;
  for (const DimExpr &size : shape)
    sizes.push_back(size.constant().value_or(ShapedType::kDynamic));
  Attribute encoding;
  if (llvm::is_contained(sizes, ShapedType::kDynamic))
    encoding = DimsAttr::get(elementType.getContext(), shape);
  return RankedTensorType::get(sizes, elementType, encoding);
}

DimExpr elementCount(ArrayRef<DimExpr> shape) {
  DimExpr count(1);
  for (const DimExpr &size : shape)
    count = count * size;
  return count;
}

bool isDtype(Type type) {
  if (isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type))
    return true;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.isSigned())
    return false;
  return llvm::is_contained({8u, 16u, 32u, 64u}, integer.getWidth()) || type.isSignlessInteger(1);
}

bool isValueType(Type type) { return isa<RankedTensorType, ListType, TokenType>(type); }

bool hasData(ElementsAttr elements) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(elements);
  if (!resource)
    return true;
  auto type = dyn_cast<RankedTensorType>(resource.getType());
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  std::optional<int64_t> bytes = type ? byteCount(type).constant() : std::nullopt;
  return blob && bytes && blob->getData().size() == uint64_t(*bytes);
}

bool hasNamedSizes(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.hasStaticShape() || isa_and_nonnull<DimsAttr>(tensor.getEncoding());
}

std::string toText(Type type) {
  if (auto list = dyn_cast<ListType>(type))
    return "list[" + toText(list.getElementType()) + "]";
  std::string text;
  llvm::raw_string_ostream os(text);
  auto tensor = dyn_cast<RankedTensorType>(type);
  Type element = tensor ? tensor.getElementType() : type;
  if (const Dtype *dtype = findDtype(element))
    os << dtype->name;
  else
    os << element;
  if (!tensor || tensor.getRank() == 0)
    return text;
  os << '[';
  llvm::interleaveComma(shapeOf(type), os, [&](const DimExpr &size) { os << size.str(); });
  os << ']';
  return text;
}

bool isIn(Type type, Dtypes dtypes) {
  bool isBool = type.isInteger(1);
  switch (dtypes) {
  case Dtypes::Any:
    return true;
  case Dtypes::Bool:
    return isBool;
  case Dtypes::Float:
    return isa<FloatType>(type);
  case Dtypes::Integer:
    return isa<IntegerType>(type) && !isBool;
  case Dtypes::Numeric:
    return !isBool;
  }
  return false;
}

std::optional<int64_t> normalizeAxis(int64_t axis, int64_t rank) {
  if (axis < 0)
    axis += rank;
  if (axis < 0 || axis >= rank)
    return std::nullopt;
  return axis;
}

SmallVector<int64_t> reducedAxes(DenseI64ArrayAttr axis, int64_t rank) {
  if (!axis)
    return llvm::to_vector(llvm::seq<int64_t>(0, rank));
  SmallVector<int64_t> axes;
  for (int64_t a : axis.asArrayRef())
    axes.push_back(a < 0 ? a + rank : a);
  llvm::sort(axes);
  return axes;
}

LogicalResult ListType::verify(function_ref<InFlightDiagnostic()> emitError,
                               RankedTensorType elementType) {
  if (isDtype(elementType.getElementType()) && hasNamedSizes(elementType))
    return success();
  return emitError() << "expected elements of a list to be tensors, but got "
                     << toText(elementType);
}

//===----------------------------------------------------------------------===//
// Broadcasting
//===----------------------------------------------------------------------===//

static std::optional<DimExpr> broadcastSize(const DimExpr &lhs, const DimExpr &rhs) {
  if (lhs == rhs || rhs.isConstant(1))
    return lhs;
  if (lhs.isConstant(1))
    return rhs;
  return std::nullopt;
}

std::optional<Shape> broadcastShapes(ArrayRef<DimExpr> lhs, ArrayRef<DimExpr> rhs) {
  if (lhs.size() < rhs.size())
    std::swap(lhs, rhs);
  Shape shape(lhs);
  size_t missing = lhs.size() - rhs.size();
  for (size_t i = 0; i < rhs.size(); ++i) {
    std::optional<DimExpr> size = broadcastSize(lhs[missing + i], rhs[i]);
    if (!size)
      return std::nullopt;
    shape[missing + i] = *size;
  }
  return shape;
}

/// Emits an error about the pair of sizes that does not match, and fails.
static LogicalResult emitMismatch(std::optional<Location> location, StringRef op, Type lhs,
                                  Type rhs) {
  Shape a = shapeOf(lhs), b = shapeOf(rhs);
  for (size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
    const DimExpr &x = a[a.size() - i], &y = b[b.size() - i];
    if (broadcastSize(x, y))
      continue;
    std::string types = toText(lhs) + " and " + toText(rhs);
    if ((x - y).constant())
      return emitDetailedError(location, {.isForAllSizes = true}, quotedName(location, op),
                               " expects sizes that are equal or 1, but got ", types,
                               " [unequal-dimensions]");
    return emitUnproven(location, x, y, quotedName(location, op), " on ", types,
                        " needs [unequal-dimensions]");
  }
  return failure();
}

FailureOr<Shape> inferBroadcast(std::optional<Location> location, StringRef op, TypeRange types) {
  Shape shape;
  Type widest = types.front();
  for (Type type : types) {
    Shape operand = shapeOf(type);
    std::optional<Shape> joined = broadcastShapes(shape, operand);
    if (!joined)
      return emitMismatch(location, op, widest, type);
    shape = *joined;
    widest = tensorOf(shape, elementTypeOf(types.front()));
  }
  return shape;
}

//===----------------------------------------------------------------------===//
// Inference of families
//===----------------------------------------------------------------------===//

static StringRef describe(Dtypes dtypes) {
  switch (dtypes) {
  case Dtypes::Bool:
    return "a bool";
  case Dtypes::Float:
    return "a floating-point";
  case Dtypes::Integer:
    return "an integer";
  case Dtypes::Numeric:
  case Dtypes::Any:
    break;
  }
  return "a numeric";
}

LogicalResult checkDtypes(std::optional<Location> location, StringRef op, Dtypes dtypes,
                          Type type) {
  if (isIn(elementTypeOf(type), dtypes))
    return success();
  return emitErrorAbout(location, op, "expects ", describe(dtypes), " tensor, but got ",
                        toText(type), " [dtype]");
}

static bool isTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isDtype(tensor.getElementType()) && hasNamedSizes(tensor);
}

static bool isOfKind(Type type, OperandKind kind) {
  switch (kind) {
  case OperandKind::Tensor:
    return isTensor(type);
  case OperandKind::Predicate:
    return isTensor(type) && elementTypeOf(type).isInteger(1) && shapeOf(type).empty();
  case OperandKind::List:
    return isa<ListType>(type);
  case OperandKind::Token:
    return isa<TokenType>(type);
  case OperandKind::Any:
    return isTensor(type) || isa<ListType>(type);
  }
  return false;
}

static StringRef describe(OperandKind kind) {
  switch (kind) {
  case OperandKind::Tensor:
    return "a tensor";
  case OperandKind::Predicate:
    return "a bool";
  case OperandKind::List:
    return "a list";
  case OperandKind::Token:
    return "a control edge";
  case OperandKind::Any:
    break;
  }
  return "a tensor or a list";
}

LogicalResult verifyOperandKinds(Location location, StringRef name, ValueRange operands) {
  const OpSignature *op = lookupOp(StringRef(name).split('.').second);
  for (auto [i, type] : llvm::enumerate(operands.getTypes())) {
    // Only the last operand of a definition is variadic.
    const OperandSignature &operand = op->operands[std::min(i, op->operands.size() - 1)];
    if (isOfKind(type, operand.kind))
      continue;
    auto error = emitError(location)
                 << quotedName(location, op->name) << " expects " << describe(operand.kind)
                 << " for " << operand.name << ", but got ";
    if (isOfKind(type, OperandKind::Any))
      return error << toText(type) << " [dtype]";
    return error << type << " [dtype]";
  }
  return success();
}

LogicalResult checkIndices(std::optional<Location> location, StringRef op, Type type) {
  Type element = elementTypeOf(type);
  if (element.isSignlessInteger(32) || element.isSignlessInteger(64))
    return success();
  return emitErrorAbout(location, op, "expects i32 or i64 indices, but got ", toText(type),
                        " [dtype]");
}

FailureOr<int64_t> checkAxis(std::optional<Location> location, StringRef op, int64_t axis,
                             int64_t rank, Type type) {
  if (std::optional<int64_t> normal = normalizeAxis(axis, rank))
    return *normal;
  if (rank == 0)
    return emitErrorAbout(location, op, "expects an axis, but ", toText(type), " has none [axis]");
  return emitErrorAbout(location, op, "expects an axis from ", -rank, " to ", rank - 1,
                        ", but got ", axis, " for ", toText(type), " [axis]");
}

DimExpr sizeOfAxis(Type type, int64_t axis) {
  Shape shape = shapeOf(type);
  return shape[*normalizeAxis(axis, shape.size())];
}

std::optional<bool> isNonNegative(const DimExpr &expr) {
  // Conditions cannot be checked for sizes that cannot be computed.
  if (isOverflow(expr))
    return false;
  auto [least, most] = expr.interval();
  if (least && *least >= 0)
    return true;
  if (most && *most < 0)
    return false;
  return std::nullopt;
}

/// Checks element types and returns the broadcast shape of the operands.
static FailureOr<Shape> inferOperands(std::optional<Location> location, StringRef op, Dtypes dtypes,
                                      ValueRange operands) {
  Type first = operands.front().getType();
  for (Value operand : operands) {
    if (failed(checkDtypes(location, op, dtypes, operand.getType())))
      return failure();
    if (elementTypeOf(operand.getType()) != elementTypeOf(first))
      return emitErrorAbout(location, op, "expects operands of one dtype, but got ", toText(first),
                            " and ", toText(operand.getType()), " [dtype]");
  }
  return inferBroadcast(location, op, operands.getTypes());
}

LogicalResult inferElementwise(std::optional<Location> location, StringRef op, Dtypes dtypes,
                               ValueRange operands, SmallVectorImpl<Type> &results) {
  FailureOr<Shape> shape = inferOperands(location, op, dtypes, operands);
  if (failed(shape))
    return failure();
  results.push_back(tensorOf(*shape, elementTypeOf(operands.front().getType())));
  return success();
}

LogicalResult inferComparison(std::optional<Location> location, StringRef op, Dtypes dtypes,
                              ValueRange operands, SmallVectorImpl<Type> &results) {
  FailureOr<Shape> shape = inferOperands(location, op, dtypes, operands);
  if (failed(shape))
    return failure();
  results.push_back(tensorOf(*shape, IntegerType::get(operands.front().getContext(), 1)));
  return success();
}

LogicalResult inferReduction(std::optional<Location> location, StringRef op, Dtypes dtypes,
                             Type operand, DenseI64ArrayAttr axis, bool keepDims,
                             SmallVectorImpl<Type> &results) {
  if (failed(checkDtypes(location, op, dtypes, operand)))
    return failure();
  Shape shape = shapeOf(operand);
  int64_t rank = shape.size();
  llvm::SmallDenseSet<int64_t> reduced;
  for (int64_t a : axis ? axis.asArrayRef() : ArrayRef<int64_t>()) {
    FailureOr<int64_t> normal = checkAxis(location, op, a, rank, operand);
    if (failed(normal))
      return failure();
    if (!reduced.insert(*normal).second)
      return emitErrorAbout(location, op, "names axis ", a, " twice [axis]");
  }
  Shape result;
  for (int64_t i = 0; i < rank; ++i) {
    bool isReduced = !axis || reduced.contains(i);
    if (!isReduced)
      result.push_back(shape[i]);
    else if (keepDims)
      result.push_back(DimExpr(1));
  }
  results.push_back(tensorOf(result, elementTypeOf(operand)));
  return success();
}

} // namespace tfc::dfg
