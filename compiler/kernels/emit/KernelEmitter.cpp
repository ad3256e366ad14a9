//===- KernelEmitter.cpp - Elements of tensors ----------------------------===//
//
// Returns the elements of tensors, loaded from their buffers or computed where they are read. The
// other part of the class, which emits the scalar operations of bodies, is in BodyOps.cpp.
//
//===----------------------------------------------------------------------===//

#include "compiler/kernels/emit/KernelEmitter.h"
#include "compiler/kernels/Polynomial.h"

using namespace mlir;
using namespace tfc::kernels;

KernelEmitter::KernelEmitter(OpBuilder &builder, Location loc, KernelShapes &shapes,
                             const LaneTarget &target, ValueRange sizes)
    : BufferEmitter(builder, loc, sizes), kernelShapes(shapes), lanesOfTarget(target) {}

//===--- memory -----------------------------------------------------------===//

void KernelEmitter::setBuffer(Value tensor, Buffer buffer) {
  buffer.level = values.depth();
  buffers[tensor] = std::move(buffer);
}

const Buffer *KernelEmitter::buffer(Value tensor) const {
  auto known = buffers.find(tensor);
  return known == buffers.end() ? nullptr : &known->second;
}

void KernelEmitter::setWorkspace(Operation *op, SmallVector<Buffer> buffers) {
  for (Buffer &buffer : buffers)
    buffer.level = values.depth();
  workspaces[op] = std::move(buffers);
}

ArrayRef<Buffer> KernelEmitter::workspace(Operation *op) const {
  return workspaces.find(op)->second;
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

//===--- elements ---------------------------------------------------------===//

void KernelEmitter::bind(Value tensor, ArrayRef<AffineExpr> indices, Value value) {
  SmallVector<AffineExpr> normal = llvm::map_to_vector(indices, normalize);
  values.remember(keyOf(tensor, normal), value);
}

AffineExpr KernelEmitter::offsetOf(const Buffer &buffer, ArrayRef<AffineExpr> indices) {
  AffineExpr offset = constantExpr(0);
  for (auto [index, stride] : llvm::zip(indices, buffer.strides))
    offset = offset + index * stride;
  return normalize(offset);
}

Value KernelEmitter::element(Value tensor, ArrayRef<AffineExpr> indices) {
  SmallVector<AffineExpr> normal = llvm::map_to_vector(indices, normalize);
  Key k = keyOf(tensor, normal);
  if (Value known = values.lookup(k))
    return known;
  if (const Buffer *memory = buffer(tensor)) {
    AffineExpr offset = offsetOf(*memory, normal);
    OpBuilder::InsertionGuard guard(b);
    unsigned depth = std::max({level(offset), memory->level, loadDepth});
    if (varies(offset))
      depth = std::max(depth, laneDepth());
    moveTo(depth);
    Value result = loadAt(*memory, offset);
    values.remember(k, result, depth);
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
  values.remember(k, result);
  return result;
}

Value KernelEmitter::addressOf(Value tensor, ArrayRef<AffineExpr> indices) {
  const Buffer *memory = buffer(tensor);
  return address(*memory, scalarIndex(offsetOf(*memory, indices)));
}

void KernelEmitter::store(Value tensor, ArrayRef<AffineExpr> indices, Value value) {
  const Buffer *memory = buffer(tensor);
  storeAt(*memory, offsetOf(*memory, indices), value);
}
