//===- IndexEmitter.cpp - Index values along loops and lanes --------------===//
//
// Emits index arithmetic in the outermost loop where it can be evaluated, as scalars or along the
// lanes. It knows loops and sizes only; memory and tensors belong to the classes derived from it.
//
//===----------------------------------------------------------------------===//

#include "compiler/kernels/emit/IndexEmitter.h"
#include "compiler/kernels/Polynomial.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tfc::kernels;

Value ScopedValues::lookup(const Key &key) const {
  for (const Region &region : llvm::reverse(regions))
    if (Value known = region.values.lookup(key))
      return known;
  return {};
}

IndexEmitter::IndexEmitter(OpBuilder &builder, Location loc, ValueRange sizes)
    : b(builder), location(loc) {
  values.open(b.getInsertionBlock());
  for (Value size : sizes) {
    symbolOf[size] = getAffineSymbolExpr(symbols.size(), b.getContext());
    symbols.push_back({size, 0});
  }
}

IndexEmitter::VectorMode::VectorMode(IndexEmitter &emitter, LoopDim dim, int64_t lanes, Value mask)
    : emitter(emitter), oldDim(emitter.laneDim), oldLanes(emitter.laneCount),
      oldMask(emitter.laneMask), oldLevel(emitter.laneLevel) {
  emitter.laneDim = dim;
  emitter.laneCount = lanes;
  emitter.laneMask = mask;
  emitter.laneLevel = emitter.values.depth() + 1;
  emitter.values.open(emitter.b.getInsertionBlock());
}

IndexEmitter::VectorMode::~VectorMode() {
  emitter.laneDim = oldDim;
  emitter.laneCount = oldLanes;
  emitter.laneMask = oldMask;
  emitter.laneLevel = oldLevel;
  emitter.values.close();
}

IndexEmitter::Scope::Scope(IndexEmitter &emitter) : emitter(emitter) {
  emitter.values.open(emitter.b.getInsertionBlock());
}

IndexEmitter::Scope::~Scope() { emitter.values.close(); }

//===--- names ------------------------------------------------------------===//

LoopDim IndexEmitter::addDim(Value counter) {
  dims.push_back({counter, values.depth()});
  return cast<AffineDimExpr>(getAffineDimExpr(dims.size() - 1, b.getContext()));
}

void IndexEmitter::setRange(LoopDim dim, IndexRange range) {
  dims[dim.getPosition()].range = range;
  anyRange = true;
}

std::optional<IndexRange> IndexEmitter::boundsOf(AffineExpr expr) {
  return rangeOf(expr, [&](AffineDimExpr dim) { return dims[dim.getPosition()].range; });
}

AffineExpr IndexEmitter::addSymbol(Value value) {
  AffineExpr &symbol = symbolOf[value];
  unsigned level = values.depth();
  if (!symbol) {
    symbol = getAffineSymbolExpr(symbols.size(), b.getContext());
    symbols.push_back({value, level});
  }
  // A value may be added in a loop first although it is defined outside.
  Named &name = symbols[cast<AffineSymbolExpr>(symbol).getPosition()];
  name.level = std::min(name.level, level);
  return symbol;
}

AffineExpr IndexEmitter::constantExpr(int64_t value) {
  return getAffineConstantExpr(value, b.getContext());
}

IndexEmitter::Key IndexEmitter::key(Value value, ArrayRef<AffineExpr> indices,
                                    MLIRContext *context) {
  // Maps are uniqued: with fixed numbers of dims and symbols, equal expressions have equal keys.
  return {value, AffineMap::get(1 << 20, 1 << 20, indices, context)};
}

unsigned IndexEmitter::level(AffineExpr expr) {
  unsigned level = 0;
  expr.walk([&](AffineExpr e) {
    if (auto dim = dyn_cast<AffineDimExpr>(e))
      level = std::max(level, dims[dim.getPosition()].level);
    else if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
      level = std::max(level, named(symbol).level);
  });
  // A symbol may have been added in a loop that has ended. Since its value dominates this use, it
  // is defined in this region or in an enclosing one.
  return std::min(level, values.depth());
}

bool IndexEmitter::varies(AffineExpr expr) {
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

void IndexEmitter::moveTo(unsigned level) {
  Block *block = values.block(level), *current = b.getInsertionBlock();
  if (block == current)
    return;
  if (Operation *ancestor = block->findAncestorOpInBlock(*current->getParentOp()))
    b.setInsertionPoint(ancestor);
}

//===--- index values -----------------------------------------------------===//

Value IndexEmitter::indexConstant(int64_t value) {
  return arith::ConstantIndexOp::create(b, location, value);
}

Value IndexEmitter::broadcast(Value value) {
  if (laneCount == 1 || isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(b, location, VectorType::get({laneCount}, value.getType()),
                                     value);
}

/// The constant vector 0, stride, 2*stride, ...
Value IndexEmitter::laneSteps(int64_t stride) {
  SmallVector<Attribute> steps;
  for (int64_t lane = 0; lane < laneCount; ++lane)
    steps.push_back(b.getIndexAttr(lane * stride));
  auto type = VectorType::get({laneCount}, b.getIndexType());
  return arith::ConstantOp::create(b, location, DenseElementsAttr::get(type, steps));
}

Value IndexEmitter::tailMask(Value counter, Value upper, int64_t width) {
  if (width == 1)
    return {};
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

Value IndexEmitter::indexValue(AffineExpr expr) {
  bool varying = varies(expr);
  Key k = key({}, expr, b.getContext());
  if (varying) // the same expression also names the scalar index of lane 0
    k.second = AffineMap::get(0, 1 << 20, expr);
  if (Value known = values.lookup(k))
    return known;
  OpBuilder::InsertionGuard guard(b);
  unsigned depth = varying ? std::max(level(expr), laneDepth()) : level(expr);
  moveTo(depth);
  Value result = varying ? varyingIndex(expr) : emitIndex(expr);
  values.remember(k, result, depth);
  return result;
}

Value IndexEmitter::scalarIndex(AffineExpr expr) {
  int64_t count = std::exchange(laneCount, 1);
  Value index = indexValue(expr);
  laneCount = count;
  return index;
}

/// Returns a vector of indices, computed as base + lane * stride where possible.
Value IndexEmitter::varyingIndex(AffineExpr expr) {
  AffineExpr stride, rest;
  Polynomial polynomial(expr);
  if (!polynomial.split(lane(), stride, rest) || varies(rest) || !isa<AffineConstantExpr>(stride))
    return emitIndex(expr);
  Value base = scalarIndex(normalize(rest + stride * laneDim));
  Value steps = laneSteps(cast<AffineConstantExpr>(stride).getValue());
  return arith::AddIOp::create(b, location, broadcast(base), steps);
}

Value IndexEmitter::emitIndex(AffineExpr expr) {
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

/// Division by a positive number that rounds toward negative infinity, or its remainder.
Value IndexEmitter::floorDivision(Value lhs, Value rhs, bool remainder) {
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

Value IndexEmitter::emitIndexBinary(AffineBinaryOpExpr expr) {
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

SmallVector<Value>
IndexEmitter::forLoop(Value lower, Value upper, int64_t step, SmallVector<Value> carried,
                      function_ref<SmallVector<Value>(LoopDim, SmallVector<Value>)> body) {
  std::optional<int64_t> first = getConstantIntValue(lower), last = getConstantIntValue(upper);
  if (first && last && *first >= *last)
    return carried;
  if (first && last && *last - *first <= step) {
    Scope scope(*this);
    return body(addDim(lower), carried);
  }
  auto loop = scf::ForOp::create(b, location, lower, upper, indexConstant(step), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Scope scope(*this);
  SmallVector<Value> results =
      body(addDim(loop.getInductionVar()), SmallVector<Value>(loop.getRegionIterArgs()));
  if (!carried.empty())
    scf::YieldOp::create(b, location, results);
  return SmallVector<Value>(loop.getResults());
}

void IndexEmitter::laneLoop(AffineExpr size, int64_t width, function_ref<void(LoopDim)> body) {
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
