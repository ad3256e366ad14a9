// Computes the scalars that the host function keeps in registers: counters, predicates and sizes.
// All other values have addresses (Addresses.cpp).

#include "compiler/host/Scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;
using namespace tfc::host;

Type tfc::host::registerType(Type tensor) {
  Type element = elementTypeOf(tensor);
  if (isa<FloatType>(element))
    return element;
  return IntegerType::get(tensor.getContext(), element.getIntOrFloatBitWidth());
}

static Type memoryType(Type scalar) {
  return scalar.isInteger(1) ? IntegerType::get(scalar.getContext(), 8) : scalar;
}

Value Scalars::get(Value value) {
  if (Value scalar = known.lookup(value))
    return scalar;
  return find(value);
}

Value Scalars::find(Value value) {
  Type type = registerType(value.getType());
  Operation *producer = value.getDefiningOp();
  if (auto size = dyn_cast_or_null<SizeOp>(producer))
    return this->size(size, type);
  auto constant = dyn_cast_or_null<ConstantOp>(producer);
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (!elements)
    return load(value, type);
  auto splat = elements.getSplatValue<Attribute>();
  if (auto integer = dyn_cast<IntegerAttr>(splat))
    splat = IntegerAttr::get(type, integer.getValue());
  return known[value] =
             arith::ConstantOp::create(context.start, context.loc, cast<TypedAttr>(splat));
}

Value Scalars::size(SizeOp op, Type type) {
  DimExpr expr = op.getValue().getExprs().front();
  bool isBoundLater = sizes.isBoundLater(expr);
  OpBuilder &at = isBoundLater ? context.b : context.start;
  Value scalar = sizes.build(expr);
  if (!type.isInteger(64))
    scalar = arith::TruncIOp::create(at, context.loc, type, scalar);
  // A later iteration may bind a different value.
  if (!isBoundLater)
    known[op.getResult()] = scalar;
  return scalar;
}

Value Scalars::load(Value value, Type type) {
  OpBuilder &b = context.b;
  Value from = addresses.of(rootOf(value)), loaded;
  if (context.isRemote)
    loaded = rt::DeviceReadOp::create(b, context.loc, memoryType(type), context.frame, from);
  else
    loaded = LLVM::LoadOp::create(b, context.loc, memoryType(type), from);
  if (!type.isInteger(1))
    return loaded;
  Value zero = arith::ConstantOp::create(b, context.loc, b.getI8IntegerAttr(0));
  return context.compare(arith::CmpIPredicate::ne, loaded, zero);
}

Value Scalars::position(Value value) {
  Value scalar = get(value);
  Type i64 = context.b.getI64Type();
  return scalar.getType() == i64
             ? scalar
             : arith::ExtSIOp::create(context.b, context.loc, i64, scalar).getResult();
}

void Scalars::set(Value value, Value scalar) {
  known[value] = scalar;
  if (isReadFromMemory(value))
    store(scalar, addresses.of(value));
}

void Scalars::store(Value scalar, Value to) {
  if (scalar.getType().isInteger(1))
    scalar = arith::ExtUIOp::create(context.b, context.loc, context.b.getI8Type(), scalar);
  if (context.isRemote)
    rt::DeviceWriteOp::create(context.b, context.loc, context.frame, to, scalar);
  else
    LLVM::StoreOp::create(context.b, context.loc, scalar, to);
}

/// Multiplications and additions may be contracted, as in kernels.
void Scalars::compute(Operation *op) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(get(operand));
  OpBuilder &b = context.b;
  Block *block = b.getInsertionBlock();
  Block::iterator end = b.getInsertionPoint();
  Operation *last = end == block->begin() ? nullptr : &*std::prev(end);
  Value result = cast<ScalarOpInterface>(op).buildScalar(b, operands);
  Block::iterator first = last ? std::next(last->getIterator()) : block->begin();
  auto contract = arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::contract);
  for (Operation &built : llvm::make_range(first, end))
    if (auto fast = dyn_cast<arith::ArithFastMathInterface>(built))
      built.setAttr(fast.getFastMathAttrName(), contract);
  set(op->getResult(0), result);
}

/// Binds a data-dependent size. A size that its check rejects is clamped to the planned bound,
/// because steps may run before the check.
void Scalars::bind(BindSizeOp op) {
  OpBuilder &b = context.b;
  Value most = sizes.build(op.getBoundExpr());
  Value count = arith::MinSIOp::create(b, context.loc, position(op.getCount()), most);
  count = arith::MaxSIOp::create(b, context.loc, count, sizes.constant(0));
  std::string name = op.getName();
  sizes.bind(name, count, b);
  const std::vector<std::string> &found = context.info.found;
  auto number = llvm::find(found, name) - found.begin();
  auto entry = dyn_cast<EntryOp>(op->getParentOp());
  if (number == int64_t(found.size()) || !entry || entry.isPartition())
    return;
  Value place = LLVM::GEPOp::create(b, context.loc, context.pointer, b.getI64Type(),
                                    addresses.field(rt::Field::Found),
                                    ArrayRef<LLVM::GEPArg>{int32_t(number)});
  LLVM::StoreOp::create(b, context.loc, count, place);
}
