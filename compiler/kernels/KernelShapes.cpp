// Computes the shapes and loop extents of kernels as expressions over their size arguments.

#include "compiler/kernels/KernelShapes.h"
#include "compiler/kernels/Polynomial.h"
#include "dialects/linalg_ext/LinalgExt.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tfc::kernels;
namespace kernel = tfc::kernel;

/// Replaces the symbols of a shape map by `sizes` and appends its results to `shape`.
static void appendShape(AffineMap map, ArrayRef<AffineExpr> sizes,
                        SmallVectorImpl<AffineExpr> &shape) {
  for (AffineExpr expr : map.getResults())
    shape.push_back(normalize(expr.replaceSymbols(sizes)));
}

KernelShapes::KernelShapes(kernel::FuncOp kernel) : func(kernel) {
  MLIRContext *context = kernel.getContext();
  SmallVector<AffineExpr> sizes;
  for (BlockArgument argument : kernel.getArguments()) {
    if (!isa<IndexType>(argument.getType()))
      break;
    sizes.push_back(getAffineSymbolExpr(symbols.size(), context));
    indexExprs[argument] = sizes.back();
    symbols.push_back(argument);
  }
  sizeCount = symbols.size();
  for (BlockArgument argument : kernel.getArguments())
    if (AffineMapAttr shape = kernel.getArgShape(argument.getArgNumber()))
      appendShape(shape.getValue(), sizes, shapes[argument]);
}

AffineExpr KernelShapes::symbolOf(Value index) {
  symbols.push_back(index);
  return indexExprs[index] = getAffineSymbolExpr(symbols.size() - 1, index.getContext());
}

/// Returns the expression of a binary arith operation on indices, or null.
static AffineExpr binaryExpr(Operation *op, AffineExpr lhs, AffineExpr rhs) {
  return llvm::TypeSwitch<Operation *, AffineExpr>(op)
      .Case<arith::AddIOp>([&](auto) { return lhs + rhs; })
      .Case<arith::SubIOp>([&](auto) { return lhs - rhs; })
      .Case<arith::MulIOp>([&](auto) { return lhs * rhs; })
      .Case<arith::DivUIOp, arith::FloorDivSIOp, arith::DivSIOp>(
          [&](auto) { return lhs.floorDiv(rhs); })
      .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>([&](auto) { return lhs.ceilDiv(rhs); })
      .Case<arith::RemUIOp, arith::RemSIOp>([&](auto) { return lhs % rhs; })
      .Default([](Operation *) { return AffineExpr(); });
}

AffineExpr KernelShapes::indexExpr(Value index) {
  if (auto known = indexExprs.find(index); known != indexExprs.end())
    return known->second;
  Operation *op = index.getDefiningOp();
  AffineExpr expr;
  if (auto constant = dyn_cast_or_null<arith::ConstantOp>(op)) {
    if (auto value = dyn_cast<IntegerAttr>(constant.getValue()))
      expr = getAffineConstantExpr(value.getInt(), index.getContext());
  } else if (auto apply = dyn_cast_or_null<affine::AffineApplyOp>(op)) {
    AffineMap map = apply.getAffineMap();
    SmallVector<AffineExpr> operands;
    for (Value operand : apply.getMapOperands())
      operands.push_back(indexExpr(operand));
    ArrayRef<AffineExpr> all(operands);
    expr = map.getResult(0).replaceDimsAndSymbols(all.take_front(map.getNumDims()),
                                                  all.drop_front(map.getNumDims()));
  } else if (auto dim = dyn_cast_or_null<tensor::DimOp>(op)) {
    ArrayRef<AffineExpr> shape = shapeOf(dim.getSource());
    if (std::optional<int64_t> position = dim.getConstantIndex();
        position && *position < (int64_t)shape.size())
      expr = shape[*position];
  } else if (op && op->getNumOperands() == 2 && isa<IndexType>(index.getType())) {
    expr = binaryExpr(op, indexExpr(op->getOperand(0)), indexExpr(op->getOperand(1)));
  }
  if (!expr)
    return symbolOf(index);
  return indexExprs[index] = normalize(expr);
}

/// Returns the operand that has the shape of result `number` of `op`, or null.
static Value sameShapedOperand(Operation *op, unsigned number) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<linalg::LinalgOp>([&](auto linalg) { return linalg.getDpsInits()[number]; })
      .Case<tfc::linalg_ext::ScanOp>([&](auto scan) { return scan.getInputs().front(); })
      .Case<tfc::linalg_ext::ScatterOp>([&](auto scatter) { return scatter.getOperand(); })
      .Case<tfc::linalg_ext::SortOp>([&](auto sort) { return sort.getInto(); })
      .Case<tensor::CastOp>([&](auto cast) { return cast.getSource(); })
      .Default([](Operation *) { return Value(); });
}

ArrayRef<AffineExpr> KernelShapes::shapeOf(Value tensor) {
  if (auto known = shapes.find(tensor); known != shapes.end())
    return known->second;
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<AffineExpr> shape;
  Operation *op = tensor.getDefiningOp();
  if (auto empty = dyn_cast_or_null<tensor::EmptyOp>(op)) {
    unsigned next = 0;
    for (int64_t size : type.getShape())
      shape.push_back(ShapedType::isDynamic(size) ? indexExpr(empty.getDynamicSizes()[next++])
                                                  : getAffineConstantExpr(size, type.getContext()));
  } else if (Value operand =
                 op ? sameShapedOperand(op, cast<OpResult>(tensor).getResultNumber()) : Value()) {
    shape.assign(shapeOf(operand).begin(), shapeOf(operand).end());
  }
  for (auto [i, size] : llvm::enumerate(type.getShape()))
    if (!ShapedType::isDynamic(size)) {
      if (i < shape.size())
        shape[i] = getAffineConstantExpr(size, type.getContext());
      else
        shape.push_back(getAffineConstantExpr(size, type.getContext()));
    } else if (i >= shape.size()) {
      shape.push_back(AffineExpr());
    }
  return shapes[tensor] = shape;
}

SmallVector<AffineExpr> KernelShapes::loopSizes(linalg::GenericOp op) {
  SmallVector<AffineExpr> sizes(op.getNumLoops());
  // Outputs come first: their maps are projected permutations and their shapes are those of
  // tensor.empty.
  SmallVector<OpOperand *> operands;
  for (OpOperand &operand : llvm::reverse(op->getOpOperands()))
    operands.push_back(&operand);
  for (OpOperand *operand : operands) {
    if (!isa<RankedTensorType>(operand->get().getType()))
      continue;
    AffineMap map = op.getMatchingIndexingMap(operand);
    ArrayRef<AffineExpr> shape = shapeOf(operand->get());
    for (auto [expr, size] : llvm::zip(map.getResults(), shape)) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim || !size)
        continue;
      AffineExpr &known = sizes[dim.getPosition()];
      if (!known || (isa<AffineConstantExpr>(size) && !isa<AffineConstantExpr>(known)))
        known = size;
    }
  }
  return sizes;
}

SmallVector<AffineExpr> tfc::kernels::indicesOf(linalg::GenericOp op, OpOperand *operand) {
  auto type = cast<RankedTensorType>(operand->get().getType());
  SmallVector<AffineExpr> indices(op.getMatchingIndexingMap(operand).getResults());
  for (auto [index, size] : llvm::zip_equal(indices, type.getShape()))
    if (auto rest = dyn_cast<AffineBinaryOpExpr>(index);
        index.getKind() == AffineExprKind::Mod &&
        rest.getRHS() == getAffineConstantExpr(size, op.getContext()))
      index = rest.getLHS();
  return indices;
}

AffineExpr KernelShapes::numElements(Value tensor) {
  AffineExpr product = getAffineConstantExpr(1, tensor.getContext());
  for (AffineExpr size : shapeOf(tensor))
    product = product * size;
  return normalize(product);
}
