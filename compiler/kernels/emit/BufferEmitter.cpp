//===- BufferEmitter.cpp - Elements in memory -----------------------------===//
//
// Emits loads and stores of scalars and of contiguous, reversed or gathered vectors. It knows
// memory and lanes; KernelEmitter knows which tensors are in memory.
//
//===----------------------------------------------------------------------===//

#include "compiler/kernels/emit/BufferEmitter.h"
#include "compiler/kernels/Polynomial.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tfc::kernels;

/// Returns the type in which elements are loaded and stored. Booleans are bytes; 16-bit floats are
/// integers, because LLVM converts them to and from f32 on processors that lack them.
static Type memoryType(Type type) {
  if (type.isInteger(1))
    return IntegerType::get(type.getContext(), 8);
  return type.isBF16() || type.isF16() ? IntegerType::get(type.getContext(), 16) : type;
}

static unsigned elementBytes(Type type) {
  if (type.isIndex())
    return 8;
  return std::max(1u, memoryType(type).getIntOrFloatBitWidth() / 8);
}

/// Returns `element`, as a vector with the lanes of `like` if that is a vector.
static Type withElement(Type like, Type element) {
  if (auto vector = dyn_cast<VectorType>(like))
    return VectorType::get(vector.getShape(), element);
  return element;
}

Value BufferEmitter::fromMemory(Value value, Type elementType) {
  if (elementType == memoryType(elementType))
    return value;
  if (!elementType.isInteger(1))
    return arith::BitcastOp::create(b, location, withElement(value.getType(), elementType), value);
  Value zero = arith::ConstantOp::create(b, location, b.getZeroAttr(value.getType()));
  return arith::CmpIOp::create(b, location, arith::CmpIPredicate::ne, value, zero);
}

Value BufferEmitter::toMemory(Value value) {
  Type element = getElementTypeOrSelf(value.getType()), memory = memoryType(element);
  if (element == memory)
    return value;
  Type type = withElement(value.getType(), memory);
  if (element.isInteger(1))
    return arith::ExtUIOp::create(b, location, type, value);
  return arith::BitcastOp::create(b, location, type, value);
}

Value BufferEmitter::address(const Buffer &buffer, Value offset) {
  Type type = memoryType(buffer.elementType);
  Type i64 = b.getI64Type();
  Value number =
      arith::IndexCastOp::create(b, location, withElement(offset.getType(), i64), offset);
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  return LLVM::GEPOp::create(b, location, withElement(offset.getType(), pointer), type,
                             buffer.pointer, ArrayRef<LLVM::GEPArg>{number});
}

Value BufferEmitter::loadScalar(const Buffer &buffer, AffineExpr offset) {
  Value pointer = address(buffer, scalarIndex(offset));
  Value value = LLVM::LoadOp::create(b, location, memoryType(buffer.elementType), pointer,
                                     elementBytes(buffer.elementType));
  return fromMemory(value, buffer.elementType);
}

/// Loads the elements base, base + 1, ... or, if `reversed`, base, base - 1, ...
Value BufferEmitter::loadContiguous(const Buffer &buffer, AffineExpr base, bool reversed) {
  auto type = VectorType::get({lanes()}, memoryType(buffer.elementType));
  // There is padding only after the last element.
  Value mask = buffer.padded && !reversed ? Value() : this->mask();
  SmallVector<int64_t> backwards;
  for (int64_t lane = lanes(); lane > 0; --lane)
    backwards.push_back(lane - 1);
  if (reversed && mask)
    mask = vector::ShuffleOp::create(b, location, mask, mask, backwards);
  AffineExpr first = reversed ? base - (lanes() - 1) : base;
  Value pointer = address(buffer, scalarIndex(normalize(first)));
  unsigned bytes = elementBytes(buffer.elementType);
  Value value;
  if (mask) {
    Value zero = arith::ConstantOp::create(b, location, b.getZeroAttr(type));
    value = LLVM::MaskedLoadOp::create(b, location, type, pointer, mask, zero, bytes);
  } else {
    value = LLVM::LoadOp::create(b, location, type, pointer, bytes);
  }
  if (reversed)
    value = vector::ShuffleOp::create(b, location, value, value, backwards);
  return fromMemory(value, buffer.elementType);
}

/// Returns a mask that enables all lanes.
static Value fullMask(OpBuilder &b, Location loc, int64_t lanes) {
  auto type = VectorType::get({lanes}, b.getI1Type());
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, true));
}

Value BufferEmitter::gather(const Buffer &buffer, AffineExpr offset) {
  auto type = VectorType::get({lanes()}, memoryType(buffer.elementType));
  Value pointers = address(buffer, indexValue(offset));
  Value enabled = mask() ? mask() : fullMask(b, location, lanes());
  Value zero = arith::ConstantOp::create(b, location, b.getZeroAttr(type));
  Value value = LLVM::masked_gather::create(b, location, type, pointers, enabled, ValueRange{zero},
                                            b.getI32IntegerAttr(elementBytes(buffer.elementType)));
  return fromMemory(value, buffer.elementType);
}

/// Returns the distance between lanes if it is constant, else std::nullopt.
static std::optional<int64_t> constantStride(AffineExpr offset, LoopDim lane, AffineExpr &rest) {
  AffineExpr stride;
  if (!Polynomial(offset).split(lane, stride, rest))
    return std::nullopt;
  rest = normalize(rest + stride * lane);
  if (auto constant = dyn_cast<AffineConstantExpr>(stride))
    return constant.getValue();
  return std::nullopt;
}

Value BufferEmitter::loadAt(const Buffer &buffer, AffineExpr offset) {
  if (!varies(offset))
    return loadScalar(buffer, offset);
  AffineExpr base, rest, stride;
  std::optional<int64_t> step = constantStride(offset, lane(), base);
  bool uniformBase = step && Polynomial(offset).split(lane(), stride, rest) && !varies(rest);
  if (uniformBase && (*step == 1 || *step == -1))
    return loadContiguous(buffer, base, *step == -1);
  return gather(buffer, offset);
}

void BufferEmitter::storeContiguous(const Buffer &buffer, AffineExpr base, Value value) {
  Value pointer = address(buffer, scalarIndex(base));
  unsigned bytes = elementBytes(buffer.elementType);
  if (mask() && !buffer.padded)
    LLVM::MaskedStoreOp::create(b, location, value, pointer, mask(), bytes);
  else
    LLVM::StoreOp::create(b, location, value, pointer, bytes);
}

void BufferEmitter::storeAt(const Buffer &buffer, AffineExpr offset, Value value) {
  value = toMemory(value);
  unsigned bytes = elementBytes(buffer.elementType);
  if (!varies(offset)) {
    Value pointer = address(buffer, scalarIndex(normalize(offset)));
    LLVM::StoreOp::create(b, location, value, pointer, bytes);
    return;
  }
  value = broadcast(value);
  AffineExpr base, rest, stride;
  std::optional<int64_t> step = constantStride(offset, lane(), base);
  if (step == 1 && Polynomial(offset).split(lane(), stride, rest) && !varies(rest))
    return storeContiguous(buffer, base, value);
  Value enabled = mask() ? mask() : fullMask(b, location, lanes());
  LLVM::masked_scatter::create(b, location, value, address(buffer, indexValue(offset)), enabled,
                               b.getI32IntegerAttr(bytes));
}

Value tfc::kernels::stackMemory(OpBuilder &b, Location loc, Type elementType, int64_t elements) {
  OpBuilder::InsertionGuard guard(b);
  Operation *function = b.getInsertionBlock()->getParentOp();
  while (!isa<FunctionOpInterface>(function))
    function = function->getParentOp();
  b.setInsertionPointToStart(&function->getRegion(0).front());
  Value count = LLVM::ConstantOp::create(b, loc, b.getI64Type(), b.getI64IntegerAttr(elements));
  return LLVM::AllocaOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()), elementType,
                                count, 64);
}
