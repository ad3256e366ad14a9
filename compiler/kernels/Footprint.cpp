// Finds the reads and operations of a stage at one point of its loops.

#include "compiler/kernels/Polynomial.h"
#include "compiler/kernels/Schedule.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tfc::kernels;

namespace {

/// Collects a footprint by walking through the producers that are computed in place.
class Walker {
public:
  Walker(function_ref<bool(Operation *)> isStage, Footprint &out) : isStage(isStage), out(out) {}

  void visit(linalg::GenericOp op, ArrayRef<AffineExpr> loops);
  void visitTensor(Value tensor, ArrayRef<AffineExpr> indices);

private:
  AffineExpr indexExpr(Value source, linalg::GenericOp op, ArrayRef<AffineExpr> loops);
  void addCheck(arith::CmpIOp check, linalg::GenericOp op, ArrayRef<AffineExpr> loops);

  function_ref<bool(Operation *)> isStage;
  Footprint &out;
  DenseSet<std::pair<Value, AffineMap>> seen;
  /// Next symbol for a data-dependent value.
  unsigned nextUnknown = 1 << 16;
};

} // namespace

bool tfc::kernels::isDivision(Operation *op) {
  return isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
             arith::FloorDivSIOp, arith::RemFOp, arith::RemSIOp, arith::RemUIOp>(op);
}

int64_t tfc::kernels::costOf(Operation *op) {
  if (isa<arith::ConstantOp>(op) || isa<linalg::IndexOp>(op) ||
      op->hasTrait<OpTrait::IsTerminator>())
    return 0;
  if (isa<math::MathDialect>(op->getDialect()))
    return isa<math::AbsFOp>(op) || isa<math::FmaOp>(op) ? 1 : 16;
  return isDivision(op) ? 6 : 1;
}

AffineExpr Walker::indexExpr(Value source, linalg::GenericOp op, ArrayRef<AffineExpr> loops) {
  Operation *def = source.getDefiningOp();
  auto inner = [&](unsigned i) { return indexExpr(def->getOperand(i), op, loops); };
  if (auto index = dyn_cast_or_null<linalg::IndexOp>(def))
    return loops[index.getDim()];
  if (isa_and_nonnull<arith::AddIOp>(def))
    return inner(0) + inner(1);
  if (isa_and_nonnull<arith::SubIOp>(def))
    return inner(0) - inner(1);
  if (isa_and_nonnull<arith::MulIOp>(def))
    return inner(0) * inner(1);
  if (isa_and_nonnull<arith::IndexCastOp>(def))
    return inner(0);
  if (auto constant = dyn_cast_or_null<arith::ConstantOp>(def))
    if (auto value = dyn_cast<IntegerAttr>(constant.getValue()))
      return getAffineConstantExpr(value.getInt(), source.getContext());
  return getAffineSymbolExpr(nextUnknown++, source.getContext());
}

void Walker::addCheck(arith::CmpIOp check, linalg::GenericOp op, ArrayRef<AffineExpr> loops) {
  auto division = check.getLhs().getDefiningOp<arith::DivSIOp>();
  auto divisor = division ? getConstantIntValue(division.getRhs()) : std::nullopt;
  bool isQuotient = divisor && *divisor > 0;
  Value dividend = isQuotient ? division.getLhs() : check.getLhs();
  AffineExpr index = normalize(indexExpr(dividend, op, loops));
  if (isQuotient)
    index = index.floorDiv(*divisor);
  AffineExpr bound = normalize(indexExpr(check.getRhs(), op, loops));
  switch (check.getPredicate()) {
  case arith::CmpIPredicate::ult:
  case arith::CmpIPredicate::slt:
    out.checks.push_back({index, bound});
    break;
  case arith::CmpIPredicate::sge:
    out.checks.push_back({normalize(index - bound), AffineExpr()});
    break;
  default:
    break;
  }
}

void Walker::visit(linalg::GenericOp op, ArrayRef<AffineExpr> loops) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()) ||
        op.getMatchingBlockArgument(&operand).use_empty())
      continue;
    // The initial value of a reduction is read once, not at every point.
    if (op.isDpsInit(&operand) && op.getNumReductionLoops() != 0)
      continue;
    SmallVector<AffineExpr> indices;
    for (AffineExpr expr : indicesOf(op, &operand))
      indices.push_back(expr.replaceDims(loops));
    visitTensor(operand.get(), indices);
  }
  for (Operation &inner : op.getBody()->getOperations()) {
    out.cost += costOf(&inner);
    if (auto read = dyn_cast<tensor::ExtractOp>(inner)) {
      SmallVector<AffineExpr> indices;
      for (Value index : read.getIndices())
        indices.push_back(indexExpr(index, op, loops));
      visitTensor(read.getTensor(), indices);
    } else if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      out.indexUses.push_back(loops[index.getDim()]);
    } else if (auto check = dyn_cast<arith::CmpIOp>(inner);
               check && check.getLhs().getType().isIndex()) {
      addCheck(check, op, loops);
    }
  }
}

void Walker::visitTensor(Value tensor, ArrayRef<AffineExpr> indices) {
  while (auto cast = tensor.getDefiningOp<tensor::CastOp>())
    tensor = cast.getSource();
  SmallVector<AffineExpr> normal = llvm::map_to_vector(indices, normalize);
  if (!seen.insert({tensor, AffineMap::get(1 << 20, 1 << 20, normal, tensor.getContext())}).second)
    return;
  auto producer = tensor.getDefiningOp<linalg::GenericOp>();
  Operation *def = tensor.getDefiningOp();
  // Constant tables are read from memory, too.
  DenseElementsAttr constant;
  bool isTable = def && matchPattern(def, m_Constant(&constant)) && !constant.isSplat();
  if (!def || isStage(def) || isTable) {
    out.reads.push_back({tensor, normal});
    return;
  }
  if (!producer)
    return;
  out.inlined.push_back({tensor, normal});
  AffineMap map = producer.getIndexingMapMatchingResult(cast<OpResult>(tensor));
  SmallVector<AffineExpr> loops(producer.getNumLoops(),
                                getAffineConstantExpr(0, tensor.getContext()));
  for (auto [expr, index] : llvm::zip(map.getResults(), normal))
    loops[cast<AffineDimExpr>(expr).getPosition()] = index;
  visit(producer, loops);
}

Footprint tfc::kernels::footprintOf(linalg::GenericOp op, function_ref<bool(Operation *)> isStage) {
  Footprint footprint;
  SmallVector<AffineExpr> loops;
  for (unsigned i = 0; i < op.getNumLoops(); ++i)
    loops.push_back(getAffineDimExpr(i, op.getContext()));
  Walker(isStage, footprint).visit(op, loops);
  return footprint;
}

void Footprint::addTensors(DenseSet<Value> &tensors) const {
  for (const Access &read : reads)
    if (cast<RankedTensorType>(read.tensor.getType()).getRank() != 0)
      tensors.insert(read.tensor);
}

Footprint tfc::kernels::specialFootprint(Operation *op, function_ref<bool(Operation *)> isStage) {
  Footprint footprint;
  Walker walker(isStage, footprint);
  unsigned unknown = 1 << 15;
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type)
      continue;
    SmallVector<AffineExpr> indices;
    for (int64_t i = 0; i < type.getRank(); ++i)
      indices.push_back(getAffineSymbolExpr(unknown++, op->getContext()));
    walker.visitTensor(operand, indices);
  }
  return footprint;
}

Operation *tfc::kernels::combinerOf(linalg::GenericOp op, unsigned number) {
  BlockArgument accumulator = op.getRegionOutputArgs()[number];
  Value yielded = op.getBody()->getTerminator()->getOperand(number);
  Operation *combiner = yielded.getDefiningOp();
  if (!combiner || combiner->getBlock() != op.getBody() || combiner->getNumOperands() != 2 ||
      !accumulator.hasOneUse() || *accumulator.user_begin() != combiner)
    return nullptr;
  // `lhs - acc` is not a combiner, and neither is an operation without a neutral element.
  if (!arith::getNeutralElement(combiner) || isa<arith::SubFOp>(combiner) ||
      isa<arith::SubIOp>(combiner))
    return nullptr;
  return combiner;
}
