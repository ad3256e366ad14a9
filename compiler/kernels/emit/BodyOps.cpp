// The part of KernelEmitter that emits the scalar operations in the bodies of generics, on vectors
// where a value varies along the lanes.

#include "compiler/kernels/Polynomial.h"
#include "compiler/kernels/Schedule.h"
#include "compiler/kernels/emit/KernelEmitter.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tfc::kernels;

SmallVector<Value> KernelEmitter::body(linalg::GenericOp op, ArrayRef<AffineExpr> loops,
                                       ValueRange accumulators) {
  SmallVector<AffineExpr> normal = llvm::map_to_vector(loops, normalize);
  Point point{op, normal, accumulators, DenseMap<Value, Value>()};
  SmallVector<Value> results;
  for (Value yielded : op.getBody()->getTerminator()->getOperands())
    results.push_back(value(yielded, &point));
  return results;
}

/// Returns a scalar of a body at a point of its loops; without a point, a scalar of the kernel
/// itself.
Value KernelEmitter::value(Value source, Point *point) {
  bool local = point && !point->accumulators.empty();
  Key k = keyOf(source, point ? point->loops : ArrayRef<AffineExpr>());
  if (Value known = local ? point->values.lookup(source) : values.lookup(k))
    return known;
  Value result;
  if (auto argument = dyn_cast<BlockArgument>(source)) {
    if (point && argument.getOwner() == point->op.getBody())
      result = argumentValue(argument, *point);
    else
      result = sizeArgument(argument.getArgNumber());
  } else {
    result = definedValue(cast<OpResult>(source), point);
  }
  if (local)
    point->values[source] = result;
  else
    values.remember(k, result);
  return result;
}

Value KernelEmitter::argumentValue(BlockArgument argument, Point &point) {
  linalg::GenericOp op = point.op;
  unsigned number = argument.getArgNumber();
  OpOperand &operand = op->getOpOperand(number);
  if (!isa<RankedTensorType>(operand.get().getType()))
    return value(operand.get(), nullptr);
  if (op.isDpsInit(&operand) && !point.accumulators.empty())
    return point.accumulators[number - op.getNumDpsInputs()];
  SmallVector<AffineExpr> indices;
  for (AffineExpr expr : indicesOf(op, &operand))
    indices.push_back(expr.replaceDims(point.loops));
  return element(operand.get(), indices);
}

/// Returns true if a value of a body depends on an element at computed indices.
static bool dependsOnExtract(Value value, Block *body, unsigned depth = 0) {
  constexpr unsigned kDeepest = 8;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != body || depth == kDeepest)
    return false;
  if (isa<tensor::ExtractOp>(op))
    return true;
  return llvm::any_of(op->getOperands(),
                      [&](Value operand) { return dependsOnExtract(operand, body, depth + 1); });
}

static bool selectsLoads(Operation *op) {
  auto select = cast<arith::SelectOp>(op);
  return dependsOnExtract(select.getTrueValue(), op->getBlock()) ||
         dependsOnExtract(select.getFalseValue(), op->getBlock());
}

/// Emits a select as a branch, with the loads that it selects in its regions.
Value KernelEmitter::guardedSelect(Operation *op, Point *point) {
  auto select = cast<arith::SelectOp>(op);
  Value condition = value(select.getCondition(), point);
  auto branch = scf::IfOp::create(b, location, op->getResult(0).getType(), condition,
                                  /*withElseRegion=*/true);
  auto fill = [&](Block *block, Value source) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(block);
    GuardedScope scope(*this);
    // Values of a point with accumulators are not kept by region.
    DenseMap<Value, Value> known = point ? point->values : DenseMap<Value, Value>();
    scf::YieldOp::create(b, location, value(source, point));
    if (point)
      point->values = std::move(known);
  };
  fill(branch.thenBlock(), select.getTrueValue());
  fill(branch.elseBlock(), select.getFalseValue());
  return branch.getResult(0);
}

Value KernelEmitter::definedValue(OpResult source, Point *point) {
  Operation *op = source.getOwner();
  // A value defined outside of the body is the same at every point.
  if (point && op->getBlock() != point->op.getBody())
    return value(source, nullptr);
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return indexValue(point->loops[index.getDim()]);
  if (isa<tensor::ExtractOp>(op))
    return extract(op, point);
  if (Value operand = knownOperand(op, point))
    return value(operand, point);
  if (lanesOfTarget.guardsLoads && isa<arith::SelectOp>(op) && selectsLoads(op))
    return guardedSelect(op, point);
  if (isa<tensor::DimOp, affine::AffineApplyOp>(op))
    return indexValue(indexExpr(source, point));
  if (op->getNumRegions() != 0 || op->getNumResults() != 1 ||
      llvm::any_of(op->getOperandTypes(), llvm::IsaPred<ShapedType>)) {
    op->emitOpError("has no code generator [not-yet]");
    hasFailed = true;
    return zero(source.getType());
  }
  return clone(op, point);
}

/// Sets the disabled lanes of a divisor to 1; they hold zeros, which would trap.
void KernelEmitter::disableLanesOfDivisor(Operation *op, SmallVectorImpl<Value> &operands) {
  if (!mask() || !tfc::kernels::isDivision(op) || !isa<VectorType>(operands[1].getType()) ||
      !getElementTypeOrSelf(operands[1].getType()).isIntOrIndex())
    return;
  Type type = operands[1].getType();
  Value one = arith::ConstantOp::create(b, location, b.getOneAttr(type));
  operands[1] = arith::SelectOp::create(b, location, mask(), operands[1], one);
}

Value KernelEmitter::clone(Operation *op, Point *point) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(value(operand, point));
  return copy(op, operands);
}

Value KernelEmitter::inlineRegion(Region &region, ValueRange arguments) {
  IRMapping mapping;
  mapping.map(region.getArguments(), arguments);
  auto inside = [&](Value source) {
    Value known = mapping.lookupOrNull(source);
    return known ? known : scalar(source);
  };
  for (Operation &op : region.front().without_terminator())
    mapping.map(op.getResult(0), copy(&op, llvm::map_to_vector(op.getOperands(), inside)));
  return inside(region.front().getTerminator()->getOperand(0));
}

/// Divides a vector by a scalar: multiplies by the reciprocal and corrects the product, so that the
/// result is rounded as by a division.
///
/// If the reciprocal would overflow or underflow, divisor and dividend are scaled. If the quotient
/// is not finite, neither is the remainder, and the product is the result; if the quotient is zero,
/// the product has the right sign.
static Value divideByScalar(OpBuilder &b, Location loc, Value dividend, Value divisor) {
  Type type = divisor.getType(), vector = dividend.getType();
  const llvm::fltSemantics &semantics = cast<FloatType>(type).getFloatSemantics();
  auto constant = [&](const APFloat &value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
  };
  auto splat = [&](Value value) -> Value {
    return vector::BroadcastOp::create(b, loc, vector, value);
  };
  auto less = [&](Value lhs, Value rhs) -> Value {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, lhs, rhs);
  };
  Value one = constant(APFloat(semantics, 1));
  auto scaledBy = [&](const APFloat &value, int exponent) {
    return constant(scalbn(value, exponent, APFloat::rmNearestTiesToEven));
  };
  Value up = scaledBy(APFloat(semantics, 1), 64), down = scaledBy(APFloat(semantics, 1), -64);
  Value smallest = constant(APFloat::getSmallestNormalized(semantics));
  Value large = scaledBy(APFloat::getLargest(semantics), -4);
  Value size = math::AbsFOp::create(b, loc, divisor);
  Value isTiny = less(size, smallest), isHuge = less(large, size);
  Value scale = arith::SelectOp::create(b, loc, isHuge, down, one);
  scale = arith::SelectOp::create(b, loc, isTiny, up, scale);
  Value scaled = arith::MulFOp::create(b, loc, divisor, scale);
  Value reciprocal = splat(arith::DivFOp::create(b, loc, one, scaled));
  Value numerator = arith::MulFOp::create(b, loc, dividend, splat(scale));
  Value product = arith::MulFOp::create(b, loc, numerator, reciprocal);
  Value negative = splat(arith::NegFOp::create(b, loc, scaled));
  Value rest = math::FmaOp::create(b, loc, product, negative, numerator);
  Value quotient = math::FmaOp::create(b, loc, rest, reciprocal, product);
  quotient = math::CopySignOp::create(b, loc, quotient, product);
  Value infinity = splat(constant(APFloat::getInf(semantics)));
  Value finite = less(math::AbsFOp::create(b, loc, rest), infinity);
  return arith::SelectOp::create(b, loc, finite, quotient, product);
}

/// Clones an elementwise operation, on vectors if one of its operands is a vector.
Value KernelEmitter::copy(Operation *op, SmallVector<Value> operands) {
  auto isVector = [](Value v) { return isa<VectorType>(v.getType()); };
  bool vectors = llvm::any_of(operands, isVector);
  if (vectors && isa<arith::DivFOp>(op) && !isVector(operands[1]) && lanesOfTarget.hasFma &&
      !divisorsVary)
    return divideByScalar(b, location, operands[0], operands[1]);
  if (vectors)
    for (auto [i, operand] : llvm::enumerate(operands))
      if (!isa<arith::SelectOp>(op) || i != 0)
        operand = broadcast(operand);
  if (vectors && operands.size() == 2)
    disableLanesOfDivisor(op, operands);
  IRMapping mapping;
  Operation *copy = op->cloneWithoutRegions(mapping);
  copy->setOperands(operands);
  copy->setLoc(location);
  if (vectors)
    copy->getResult(0).setType(VectorType::get({lanes()}, op->getResult(0).getType()));
  auto fast = dyn_cast<arith::ArithFastMathInterface>(copy);
  if (fast && copy->hasTrait<OpTrait::SameOperandsAndResultType>()) {
    arith::FastMathFlags flags = arith::FastMathFlags::contract;
    if (arith::FastMathFlagsAttr given = fast.getFastMathFlagsAttr())
      flags = flags | given.getValue();
    copy->setAttr(fast.getFastMathAttrName(), arith::FastMathFlagsAttr::get(b.getContext(), flags));
  }
  b.insert(copy);
  return copy->getResult(0);
}

Value KernelEmitter::extract(Operation *op, Point *point) {
  auto read = cast<tensor::ExtractOp>(op);
  SmallVector<AffineExpr> indices;
  for (Value index : read.getIndices())
    indices.push_back(indexExpr(index, point));
  return element(read.getTensor(), indices);
}

/// Returns a symbol for a data-dependent number.
AffineExpr KernelEmitter::indexSymbol(Value number) {
  Type type = number.getType(), element = getElementTypeOrSelf(type);
  if (element.isIndex())
    return addSymbol(number);
  Value &index = indexCasts[number];
  if (!index) {
    Type wide = b.getIndexType();
    if (auto vector = dyn_cast<VectorType>(type))
      wide = VectorType::get(vector.getShape(), wide);
    index = arith::IndexCastOp::create(b, location, wide, number);
  }
  return addSymbol(index);
}

/// Returns an index of a body as an expression over loop dims and symbols.
AffineExpr KernelEmitter::indexExpr(Value source, Point *point) {
  Operation *op = source.getDefiningOp();
  auto inner = [&](unsigned i) { return indexExpr(op->getOperand(i), point); };
  if (!op || (op->getNumResults() == 1 && !isa<IndexType, IntegerType>(source.getType())))
    return indexSymbol(value(source, point));
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return constantExpr(cast<IntegerAttr>(constant.getValue()).getInt());
  if (auto index = dyn_cast<linalg::IndexOp>(op); index && point)
    return point->loops[index.getDim()];
  if (isa<tensor::DimOp>(op))
    return kernelShapes.indexExpr(source);
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    SmallVector<AffineExpr> operands;
    for (Value operand : apply.getMapOperands())
      operands.push_back(indexExpr(operand, point));
    ArrayRef<AffineExpr> all(operands);
    AffineMap map = apply.getAffineMap();
    return normalize(map.getResult(0).replaceDimsAndSymbols(all.take_front(map.getNumDims()),
                                                            all.drop_front(map.getNumDims())));
  }
  bool wide = source.getType().isIndex() || source.getType().isInteger(64);
  bool castsWide = isa<arith::IndexCastOp>(op) && (op->getOperand(0).getType().isInteger(64) ||
                                                   op->getOperand(0).getType().isIndex());
  if (wide && castsWide)
    return inner(0);
  if (wide && isa<arith::AddIOp>(op))
    return normalize(inner(0) + inner(1));
  if (wide && isa<arith::SubIOp>(op))
    return normalize(inner(0) - inner(1));
  if (wide && isa<arith::MulIOp>(op))
    return normalize(inner(0) * inner(1));
  if (AffineExpr division = divisionExpr(op, point))
    return division;
  if (Value operand = knownOperand(op, point))
    return indexExpr(operand, point);
  return indexSymbol(value(source, point));
}

//===--- conditions that the ranges of loops decide -----------------------===//

/// Returns bounds of an index of a body, if the ranges of loops say so; emits nothing.
std::optional<IndexRange> KernelEmitter::boundsOf(Value source, Point *point) {
  if (std::optional<int64_t> constant = getConstantIntValue(source))
    return IndexRange{*constant, *constant};
  Operation *op = source.getDefiningOp();
  if (!op || !source.getType().isIndex() || op->getBlock() != point->op.getBody())
    return std::nullopt;
  if (Value operand = knownOperand(op, point))
    return boundsOf(operand, point);
  if (isa<linalg::IndexOp, arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) &&
      llvm::all_of(op->getOperands(), [&](Value v) { return boundsOf(v, point).has_value(); }))
    return IndexEmitter::boundsOf(indexExpr(source, point));
  if (AffineExpr division = divisionExpr(op, point))
    return IndexEmitter::boundsOf(division);
  return std::nullopt;
}

/// Returns the quotient or the remainder of an index and a constant, if the ranges of loops say
/// that it is the one of a division that rounds down; emits nothing.
AffineExpr KernelEmitter::divisionExpr(Operation *op, Point *point) {
  if (!point || !hasRanges() || !isa<arith::DivSIOp, arith::RemSIOp>(op))
    return {};
  std::optional<int64_t> divisor = getConstantIntValue(op->getOperand(1));
  std::optional<IndexRange> range = boundsOf(op->getOperand(0), point);
  if (!divisor || *divisor <= 0 || !range)
    return {};
  AffineExpr index = indexExpr(op->getOperand(0), point), rest = normalize(index % *divisor);
  if (range->first < 0 && rest != constantExpr(0))
    return {};
  return isa<arith::RemSIOp>(op) ? rest : normalize(index.floorDiv(*divisor));
}

/// Returns the value of a condition, if the ranges of loops decide it.
std::optional<bool> KernelEmitter::knownCondition(Value condition, Point *point) {
  Operation *op = condition.getDefiningOp();
  if (isa_and_nonnull<arith::AndIOp>(op)) {
    std::optional<bool> lhs = knownCondition(op->getOperand(0), point);
    std::optional<bool> rhs = knownCondition(op->getOperand(1), point);
    if (lhs == false || rhs == false)
      return false;
    return lhs && rhs ? lhs : std::nullopt;
  }
  auto comparison = dyn_cast_or_null<arith::CmpIOp>(op);
  if (!comparison)
    return std::nullopt;
  std::optional<IndexRange> lhs = boundsOf(comparison.getLhs(), point);
  std::optional<IndexRange> rhs = lhs ? boundsOf(comparison.getRhs(), point) : std::nullopt;
  if (!rhs)
    return std::nullopt;
  switch (comparison.getPredicate()) {
  case arith::CmpIPredicate::ult:
    if (lhs->first >= 0 && lhs->last < rhs->first)
      return true;
    if (rhs->first >= 0 && (lhs->last < 0 || lhs->first >= rhs->last))
      return false;
    return std::nullopt;
  case arith::CmpIPredicate::slt:
    return lhs->last < rhs->first    ? std::optional(true)
           : lhs->first >= rhs->last ? std::optional(false)
                                     : std::nullopt;
  case arith::CmpIPredicate::sge:
    return lhs->first >= rhs->last  ? std::optional(true)
           : lhs->last < rhs->first ? std::optional(false)
                                    : std::nullopt;
  case arith::CmpIPredicate::eq:
    if (lhs->last < rhs->first || rhs->last < lhs->first)
      return false;
    return lhs->first == lhs->last && rhs->first == rhs->last ? std::optional(true) : std::nullopt;
  default:
    return std::nullopt;
  }
}

/// Returns the operand that a select, a minimum or a maximum of indices returns, if the ranges of
/// loops decide that; null otherwise.
Value KernelEmitter::knownOperand(Operation *op, Point *point) {
  if (!point || !hasRanges())
    return {};
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    std::optional<bool> condition = knownCondition(select.getCondition(), point);
    if (!condition)
      return {};
    return *condition ? select.getTrueValue() : select.getFalseValue();
  }
  bool isMin = isa<arith::MinSIOp>(op);
  if (!isMin && !isa<arith::MaxSIOp>(op))
    return {};
  std::optional<IndexRange> lhs = boundsOf(op->getOperand(0), point);
  std::optional<IndexRange> rhs = lhs ? boundsOf(op->getOperand(1), point) : std::nullopt;
  if (!rhs)
    return {};
  if (lhs->last <= rhs->first)
    return op->getOperand(isMin ? 0 : 1);
  return rhs->last <= lhs->first ? op->getOperand(isMin ? 1 : 0) : Value();
}

Value KernelEmitter::zero(Type elementType) {
  return arith::ConstantOp::create(b, location, b.getZeroAttr(elementType));
}

/// Creates a private constant with the given elements.
LLVM::GlobalOp KernelEmitter::createGlobal(DenseElementsAttr elements) {
  OpBuilder::InsertionGuard guard(b);
  Operation *parent = b.getInsertionBlock()->getParentOp();
  auto function = dyn_cast<LLVM::LLVMFuncOp>(parent);
  if (!function)
    function = parent->getParentOfType<LLVM::LLVMFuncOp>();
  if (elements.getElementType().isInteger(1)) {
    auto widen = [](const APInt &value) { return value.zext(8); };
    elements = cast<DenseIntElementsAttr>(elements).mapValues(b.getI8Type(), widen);
  }
  // The names of kernels are unique, so these are as well.
  std::string name = (function.getName() + ".constant" + Twine(numConstants++)).str();
  b.setInsertionPoint(function);
  Type type = LLVM::LLVMArrayType::get(elements.getElementType(), elements.getNumElements());
  auto flat = elements.reshape(
      RankedTensorType::get({elements.getNumElements()}, elements.getElementType()));
  return LLVM::GlobalOp::create(b, location, type, /*isConstant=*/true, LLVM::Linkage::Private,
                                name, flat, /*alignment=*/64);
}

/// Returns an element of a tensor that is not computed in a loop.
Value KernelEmitter::constantElement(Value tensor, ArrayRef<AffineExpr> indices) {
  Type type = cast<RankedTensorType>(tensor.getType()).getElementType();
  Operation *op = tensor.getDefiningOp();
  if (isa_and_nonnull<tensor::EmptyOp>(op))
    return zero(type);
  DenseElementsAttr elements;
  if (auto constant = dyn_cast_or_null<arith::ConstantOp>(op))
    elements = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!elements) {
    emitError(tensor.getLoc(), "this tensor has no code generator [not-yet]");
    hasFailed = true;
    return zero(type);
  }
  if (elements.isSplat())
    return arith::ConstantOp::create(b, location, elements.getSplatValue<TypedAttr>());
  LLVM::GlobalOp global = createGlobal(elements);
  {
    OpBuilder::InsertionGuard guard(b);
    moveTo(0);
    Value pointer = LLVM::AddressOfOp::create(b, location, global);
    buffers[tensor] = denseBuffer(tensor, pointer, 64);
  }
  return element(tensor, indices);
}
