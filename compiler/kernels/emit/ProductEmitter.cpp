//===- ProductEmitter.cpp - Factors and results of sums of products -------===//
//
// Elements that a sum of products reads, and the results that it stores, at a point of its loops.
// Targets have emitters of their own for the loops.
//
//===----------------------------------------------------------------------===//

#include "compiler/kernels/emit/ProductEmitter.h"
#include "compiler/kernels/Polynomial.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tfc::kernels {

Value convertNumber(OpBuilder &b, Location loc, Value value, Type elementType) {
  Type from = getElementTypeOrSelf(value);
  if (from == elementType)
    return value;
  Type type = elementType;
  if (auto vectorType = dyn_cast<VectorType>(value.getType()))
    type = vectorType.clone(elementType);
  bool widens = from.getIntOrFloatBitWidth() < elementType.getIntOrFloatBitWidth();
  if (isa<FloatType>(elementType))
    return widens ? arith::ExtFOp::create(b, loc, type, value).getResult()
                  : arith::TruncFOp::create(b, loc, type, value).getResult();
  return widens ? arith::ExtSIOp::create(b, loc, type, value).getResult()
                : arith::TruncIOp::create(b, loc, type, value).getResult();
}

Value addValues(OpBuilder &b, Location loc, Value lhs, Value rhs) {
  if (isa<FloatType>(getElementTypeOrSelf(lhs)))
    return arith::AddFOp::create(b, loc, lhs, rhs);
  return arith::AddIOp::create(b, loc, lhs, rhs);
}

Value evaluateFactor(OpBuilder &b, Location loc, Value root,
                     function_ref<Value(unsigned)> element) {
  if (auto arg = dyn_cast<BlockArgument>(root))
    return element(arg.getArgNumber());
  Operation *def = root.getDefiningOp();
  if (def->hasTrait<OpTrait::ConstantLike>())
    return b.clone(*def)->getResult(0);
  SmallVector<Value> operands;
  for (Value operand : def->getOperands())
    operands.push_back(evaluateFactor(b, loc, operand, element));
  const Value *vector =
      llvm::find_if(operands, [](Value operand) { return isa<VectorType>(operand.getType()); });
  IRMapping mapping;
  for (auto [operand, mapped] : llvm::zip_equal(def->getOperands(), operands)) {
    if (vector != operands.end() && !isa<VectorType>(mapped.getType()))
      mapped = vector::BroadcastOp::create(
          b, loc, cast<VectorType>(vector->getType()).clone(mapped.getType()), mapped);
    mapping.map(operand, mapped);
  }
  Value result = b.clone(*def, mapping)->getResult(0);
  if (vector != operands.end())
    result.setType(cast<VectorType>(vector->getType()).clone(root.getType()));
  return result;
}

Value factorAt(KernelEmitter &emitter, linalg::GenericOp op, const ContractionForm &form,
               const ContractionFactor &factor, ArrayRef<AffineExpr> point) {
  OpBuilder &b = emitter.builder();
  Value value = evaluateFactor(b, emitter.loc(), factor.root, [&](unsigned input) {
    OpOperand *tensor = op.getDpsInputOperand(input);
    SmallVector<AffineExpr> indices;
    for (AffineExpr result : indicesOf(op, tensor))
      indices.push_back(result.replaceDims(point));
    return emitter.element(tensor->get(), indices);
  });
  return convertNumber(b, emitter.loc(), value, form.computeType);
}

/// Stores a result and those of the epilogues where they have memory: `indices` index the product's
/// tensor, `product` is its element there.
static void storeResults(KernelEmitter &emitter, const ContractionNest &nest,
                         ArrayRef<AffineExpr> indices, Value product) {
  linalg::GenericOp root = nest.op;
  emitter.bind(root->getResult(0), indices, product);
  SmallVector<std::tuple<Value, SmallVector<AffineExpr>, Value>> stores;
  stores.push_back({root->getResult(0), llvm::to_vector(indices), product});
  for (auto [epilogue, loopIndices] : llvm::zip(nest.epilogues, nest.epilogueLoops)) {
    linalg::GenericOp op = epilogue;
    SmallVector<AffineExpr> loops =
        llvm::map_to_vector(loopIndices, [&](unsigned index) { return indices[index]; });
    SmallVector<Value> values = emitter.body(op, loops, {});
    for (auto [result, value] : llvm::zip(op->getResults(), values)) {
      AffineMap map = op.getIndexingMapMatchingResult(result);
      SmallVector<AffineExpr> place = llvm::map_to_vector(
          map.getResults(), [&](AffineExpr expr) { return normalize(expr.replaceDims(loops)); });
      emitter.bind(result, place, value);
      stores.push_back({result, place, value});
    }
  }
  for (auto &[tensor, place, value] : stores)
    if (emitter.buffer(tensor))
      emitter.store(tensor, place, value);
}

SmallVector<AffineExpr> productIndices(linalg::GenericOp op, ArrayRef<AffineExpr> point) {
  SmallVector<AffineExpr> indices;
  for (AffineExpr result : op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResults())
    indices.push_back(result.replaceDims(point));
  return indices;
}

Value productValue(KernelEmitter &emitter, linalg::GenericOp op, const ContractionForm &form,
                   ArrayRef<AffineExpr> indices, Value sum) {
  OpBuilder &b = emitter.builder();
  Location loc = emitter.loc();
  Value init = op.getDpsInitOperand(0)->get();
  if (!init.getDefiningOp<tensor::EmptyOp>()) {
    Value start = emitter.element(init, indices);
    if (!matchPattern(start, m_AnyZeroFloat()) && !matchPattern(start, m_Zero()))
      sum =
          addValues(b, loc, sum, convertNumber(b, loc, emitter.broadcast(start), form.computeType));
  }
  return convertNumber(b, loc, sum, getElementTypeOrSelf(init.getType()));
}

void storeProduct(KernelEmitter &emitter, const ContractionNest &nest, const ContractionForm &form,
                  ArrayRef<AffineExpr> point, Value sum) {
  SmallVector<AffineExpr> indices = productIndices(nest.op, point);
  storeResults(emitter, nest, indices, productValue(emitter, nest.op, form, indices, sum));
}

} // namespace tfc::kernels
