#include "compiler/cpu/KernelEmitter.h"
#include "compiler/cpu/Polynomial.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tfc::cpu;

KernelEmitter::KernelEmitter(OpBuilder &builder, Location loc, KernelShapes &shapes,
                             const Target &target, ValueRange sizes)
    : b(builder), location(loc), kernelShapes(shapes), cpu(target) {
  regions.push_back({b.getInsertionBlock(), DenseMap<Key, Value>()});
  for (Value size : sizes) {
    symbolOf[size] = getAffineSymbolExpr(symbols.size(), b.getContext());
    symbols.push_back({size, 0});
  }
}

KernelEmitter::VectorMode::VectorMode(KernelEmitter &emitter, LoopDim dim, int64_t lanes,
                                      Value mask)
    : emitter(emitter), oldDim(emitter.laneDim), oldLanes(emitter.laneCount),
      oldMask(emitter.laneMask), oldLevel(emitter.laneLevel) {
  emitter.laneDim = dim;
  emitter.laneCount = lanes;
  emitter.laneMask = mask;
  emitter.laneLevel = emitter.regions.size();
  emitter.regions.push_back({emitter.b.getInsertionBlock(), DenseMap<Key, Value>()});
}

KernelEmitter::VectorMode::~VectorMode() {
  emitter.laneDim = oldDim;
  emitter.laneCount = oldLanes;
  emitter.laneMask = oldMask;
  emitter.laneLevel = oldLevel;
  emitter.regions.pop_back();
}

KernelEmitter::Scope::Scope(KernelEmitter &emitter) : emitter(emitter) {
  emitter.regions.push_back({emitter.b.getInsertionBlock(), DenseMap<Key, Value>()});
}

KernelEmitter::Scope::~Scope() { emitter.regions.pop_back(); }

//===--- names and memory
//-----------------------------------------------------------------------===//

LoopDim KernelEmitter::addDim(Value counter) {
  dims.push_back({counter, (unsigned)regions.size() - 1});
  return cast<AffineDimExpr>(getAffineDimExpr(dims.size() - 1, b.getContext()));
}

AffineExpr KernelEmitter::addSymbol(Value value) {
  AffineExpr &symbol = symbolOf[value];
  unsigned level = regions.size() - 1;
  if (!symbol) {
    symbol = getAffineSymbolExpr(symbols.size(), b.getContext());
    symbols.push_back({value, level});
  }
  // A value that was first named in a loop may have been made outside of it.
  Named &name = symbols[cast<AffineSymbolExpr>(symbol).getPosition()];
  name.level = std::min(name.level, level);
  return symbol;
}

AffineExpr KernelEmitter::constantExpr(int64_t value) {
  return getAffineConstantExpr(value, b.getContext());
}

KernelEmitter::Key KernelEmitter::key(Value value, ArrayRef<AffineExpr> indices) {
  // Maps are uniqued: with fixed numbers of dims and symbols, equal expressions are equal keys.
  return {value, AffineMap::get(1 << 20, 1 << 20, indices, b.getContext())};
}

Value KernelEmitter::lookup(const Key &key) const {
  for (const Remembered &region : llvm::reverse(regions))
    if (Value known = region.memory.lookup(key))
      return known;
  return {};
}

const KernelEmitter::Named &KernelEmitter::named(AffineSymbolExpr symbol) {
  return symbols[symbol.getPosition()];
}

unsigned KernelEmitter::level(AffineExpr expr) {
  unsigned level = 0;
  expr.walk([&](AffineExpr e) {
    if (auto dim = dyn_cast<AffineDimExpr>(e))
      level = std::max(level, dims[dim.getPosition()].level);
    else if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
      level = std::max(level, named(symbol).level);
  });
  // What was named in a loop that has ended is used here, so it was made here or outside.
  return std::min<unsigned>(level, regions.size() - 1);
}

bool KernelEmitter::varies(AffineExpr expr) {
  if (laneCount == 1)
    return false;
  bool varying = false;
  expr.walk([&](AffineExpr e) {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
      varying |= isa<VectorType>(named(symbol).value.getType());
    varying |= e == laneDim;
  });
  return varying;
}

/// Moves the insertion point out to the block of an outer scope, before the loop it is in now.
void KernelEmitter::moveTo(unsigned level) {
  Block *block = regions[level].block, *current = b.getInsertionBlock();
  if (block == current)
    return;
  if (Operation *ancestor = block->findAncestorOpInBlock(*current->getParentOp()))
    b.setInsertionPoint(ancestor);
}

void KernelEmitter::setBuffer(Value tensor, Buffer buffer) {
  buffer.level = regions.size() - 1;
  buffers[tensor] = std::move(buffer);
}

const Buffer *KernelEmitter::buffer(Value tensor) const {
  auto known = buffers.find(tensor);
  return known == buffers.end() ? nullptr : &known->second;
}

Buffer KernelEmitter::denseBuffer(Value tensor, Value pointer, int64_t alignment) {
  ArrayRef<AffineExpr> shape = kernelShapes.shapeOf(tensor);
  Buffer buffer{pointer, cast<RankedTensorType>(tensor.getType()).getElementType(), {}, alignment};
  buffer.strides.resize(shape.size());
  AffineExpr stride = constantExpr(1);
  for (int64_t i = (int64_t)shape.size() - 1; i >= 0; --i) {
    buffer.strides[i] = stride;
    stride = normalize(stride * shape[i]);
  }
  return buffer;
}

//===--- index values
//---------------------------------------------------------------------------===//

Value KernelEmitter::indexConstant(int64_t value) {
  return arith::ConstantIndexOp::create(b, location, value);
}

Value KernelEmitter::broadcast(Value value) {
  if (laneCount == 1 || isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(b, location, VectorType::get({laneCount}, value.getType()),
                                     value);
}

/// The constant vector 0, stride, 2*stride, ...
Value KernelEmitter::laneSteps(int64_t stride) {
  SmallVector<Attribute> steps;
  for (int64_t lane = 0; lane < laneCount; ++lane)
    steps.push_back(b.getIndexAttr(lane * stride));
  auto type = VectorType::get({laneCount}, b.getIndexType());
  return arith::ConstantOp::create(b, location, DenseElementsAttr::get(type, steps));
}

Value KernelEmitter::tailMask(Value counter, Value upper, int64_t width) {
  auto type = VectorType::get({width}, b.getI32Type());
  SmallVector<int32_t> steps = llvm::to_vector(llvm::seq<int32_t>(0, width));
  std::optional<int64_t> first = getConstantIntValue(counter), last = getConstantIntValue(upper);
  if (first && last) {
    SmallVector<bool> enabled =
        llvm::map_to_vector(steps, [&](int32_t lane) { return *first + lane < *last; });
    auto maskType = VectorType::get({width}, b.getI1Type());
    return arith::ConstantOp::create(b, location, DenseElementsAttr::get(maskType, enabled));
  }
  Value left = arith::SubIOp::create(b, location, upper, counter);
  left = arith::MinSIOp::create(b, location, left, indexConstant(width));
  left = arith::IndexCastOp::create(b, location, b.getI32Type(), left);
  left = vector::BroadcastOp::create(b, location, type, left);
  Value lane =
      arith::ConstantOp::create(b, location, DenseElementsAttr::get(type, ArrayRef(steps)));
  return arith::CmpIOp::create(b, location, arith::CmpIPredicate::slt, lane, left);
}

Value KernelEmitter::indexValue(AffineExpr expr) {
  Key k = key({}, expr);
  if (varies(expr)) // the same expression also names the scalar index of lane 0
    k.second = AffineMap::get(0, 1 << 20, expr);
  if (Value known = lookup(k))
    return known;
  if (varies(expr)) {
    Value result = varyingIndex(expr);
    remember(k, result);
    return result;
  }
  OpBuilder::InsertionGuard guard(b);
  unsigned depth = level(expr);
  moveTo(depth);
  Value result = emitIndex(expr);
  regions[depth].memory[k] = result;
  return result;
}

/// A vector of indices: base + lane * stride where it is that simple.
Value KernelEmitter::varyingIndex(AffineExpr expr) {
  AffineExpr stride, rest;
  Polynomial polynomial(expr);
  if (!polynomial.split(lane(), stride, rest) || varies(rest) || !isa<AffineConstantExpr>(stride))
    return emitIndex(expr);
  int64_t lanes = std::exchange(laneCount, 1);
  Value base = indexValue(normalize(rest + stride * laneDim));
  laneCount = lanes;
  Value steps = laneSteps(cast<AffineConstantExpr>(stride).getValue());
  return arith::AddIOp::create(b, location, broadcast(base), steps);
}

Value KernelEmitter::emitIndex(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return indexConstant(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    Value counter = dims[dim.getPosition()].value;
    if (laneCount == 1 || dim != laneDim)
      return counter;
    return arith::AddIOp::create(b, location, broadcast(counter), laneSteps(1));
  }
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return named(symbol).value;
  return emitIndexBinary(cast<AffineBinaryOpExpr>(expr));
}

/// Division towards minus infinity by a positive number, or its remainder.
Value KernelEmitter::floorDivision(Value lhs, Value rhs, bool remainder) {
  Value zero = arith::ConstantOp::create(b, location, b.getZeroAttr(lhs.getType()));
  Value rest = arith::RemSIOp::create(b, location, lhs, rhs);
  Value negative = arith::CmpIOp::create(b, location, arith::CmpIPredicate::slt, rest, zero);
  Value up = arith::AddIOp::create(b, location, rest, rhs);
  Value mod = arith::SelectOp::create(b, location, negative, up, rest);
  if (remainder)
    return mod;
  Value exact = arith::SubIOp::create(b, location, lhs, mod);
  return arith::DivSIOp::create(b, location, exact, rhs);
}

Value KernelEmitter::emitIndexBinary(AffineBinaryOpExpr expr) {
  Value lhs = indexValue(expr.getLHS()), rhs = indexValue(expr.getRHS());
  auto constant = dyn_cast<AffineConstantExpr>(expr.getRHS());
  if (isa<VectorType>(lhs.getType()) || isa<VectorType>(rhs.getType())) {
    lhs = broadcast(lhs);
    rhs = broadcast(rhs);
  }
  auto splat = [&](int64_t value) -> Value {
    Value scalar = indexConstant(value);
    return isa<VectorType>(lhs.getType()) ? broadcast(scalar) : scalar;
  };
  bool powerOfTwo = constant && llvm::isPowerOf2_64(constant.getValue());
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(b, location, lhs, rhs);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(b, location, lhs, rhs);
  case AffineExprKind::FloorDiv:
    if (powerOfTwo)
      return arith::ShRSIOp::create(b, location, lhs, splat(llvm::Log2_64(constant.getValue())));
    return floorDivision(lhs, rhs, /*remainder=*/false);
  case AffineExprKind::Mod:
    if (powerOfTwo)
      return arith::AndIOp::create(b, location, lhs, splat(constant.getValue() - 1));
    return floorDivision(lhs, rhs, /*remainder=*/true);
  default: {
    Value up = arith::AddIOp::create(b, location, lhs, rhs);
    Value last = arith::SubIOp::create(b, location, up, splat(1));
    return floorDivision(last, rhs, /*remainder=*/false);
  }
  }
}

//===--- elements
//-------------------------------------------------------------------------------===//

void KernelEmitter::bind(Value tensor, ArrayRef<AffineExpr> indices, Value value) {
  SmallVector<AffineExpr> normal = llvm::map_to_vector(indices, normalize);
  remember(key(tensor, normal), value);
}

AffineExpr KernelEmitter::offsetOf(const Buffer &buffer, ArrayRef<AffineExpr> indices) {
  AffineExpr offset = constantExpr(0);
  for (auto [index, stride] : llvm::zip(indices, buffer.strides))
    offset = offset + index * stride;
  return normalize(offset);
}

Value KernelEmitter::element(Value tensor, ArrayRef<AffineExpr> indices) {
  SmallVector<AffineExpr> normal = llvm::map_to_vector(indices, normalize);
  Key k = key(tensor, normal);
  if (Value known = lookup(k))
    return known;
  if (const Buffer *memory = buffer(tensor)) {
    AffineExpr offset = offsetOf(*memory, normal);
    OpBuilder::InsertionGuard guard(b);
    unsigned depth = std::max(level(offset), memory->level);
    if (varies(offset))
      depth = std::max(depth, laneLevel);
    moveTo(depth);
    Value result = loadAt(*memory, offset);
    regions[depth].memory[k] = result;
    return result;
  }
  Operation *op = tensor.getDefiningOp();
  if (auto cast = dyn_cast_or_null<tensor::CastOp>(op))
    return element(cast.getSource(), normal);
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  Value result;
  if (generic) {
    unsigned number = cast<OpResult>(tensor).getResultNumber();
    AffineMap map = generic.getIndexingMapMatchingResult(generic->getResult(number));
    SmallVector<AffineExpr> loops(generic.getNumLoops(), constantExpr(0));
    for (auto [expr, index] : llvm::zip(map.getResults(), normal))
      loops[cast<AffineDimExpr>(expr).getPosition()] = index;
    Point point{generic, loops, {}, DenseMap<Value, Value>()};
    result = value(generic.getBody()->getTerminator()->getOperand(number), &point);
  } else {
    result = constantElement(tensor, normal);
  }
  remember(k, result);
  return result;
}

void KernelEmitter::store(Value tensor, ArrayRef<AffineExpr> indices, Value value) {
  const Buffer *memory = buffer(tensor);
  storeAt(*memory, offsetOf(*memory, indices), value);
}

void KernelEmitter::vectorLoop(AffineExpr size, int64_t width, function_ref<void(LoopDim)> body) {
  Value upper = indexValue(size);
  auto stretch = [&](Value from, Value to, bool masked) {
    auto loop = scf::ForOp::create(b, location, from, to, indexConstant(width));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Scope scope(*this);
    LoopDim dim = addDim(loop.getInductionVar());
    Value mask = masked ? tailMask(loop.getInductionVar(), to, width) : Value();
    VectorMode mode(*this, dim, width, mask);
    body(dim);
  };
  if (width == 1)
    return stretch(indexConstant(0), upper, false);
  AffineExpr whole = normalize(size.floorDiv(width) * width);
  Value split = indexValue(whole);
  stretch(indexConstant(0), split, false);
  if (whole != size)
    stretch(split, upper, true);
}
