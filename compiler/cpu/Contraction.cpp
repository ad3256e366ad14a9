#include "compiler/cpu/Contraction.h"
#include "compiler/cpu/ContractionEmitter.h"
#include "compiler/cpu/Polynomial.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;

namespace tfc::cpu {
namespace {

/// Rows of a unit: enough to pay for a packed panel of b, few enough that a block of a stays in L2.
constexpr int64_t kUnitRows = 192;
/// Work that is worth waking a thread for.
constexpr int64_t kGrainOperations = 200 << 10;

/// The distance in bytes between two rows of factor a, if one dense input is its memory.
std::optional<int64_t> rowBytesOfA(KernelShapes &shapes, linalg::GenericOp op,
                                   const ContractionForm &form) {
  if (form.a.inputs.size() != 1 || form.m.empty())
    return std::nullopt;
  OpOperand *operand = op.getDpsInputOperand(form.a.inputs.front());
  AffineMap map = op.getMatchingIndexingMap(operand);
  AffineExpr m = getAffineDimExpr(form.m.back(), op.getContext());
  AffineExpr stride = getAffineConstantExpr(1, op.getContext());
  ArrayRef<AffineExpr> shape = shapes.shapeOf(operand->get());
  for (unsigned i = map.getNumResults(); i-- > 0; stride = stride * shape[i])
    if (map.getResult(i) == m)
      if (std::optional<int64_t> elements = constantOf(normalize(stride)))
        return *elements *
               ((getElementTypeOrSelf(operand->get().getType()).getIntOrFloatBitWidth() + 7) / 8);
  return std::nullopt;
}

/// Rows of a that the first level cache can hold side by side: rows that are a multiple of 4 KiB
/// apart compete for the lines of one set.
int64_t maxTileRows(const Target &target, std::optional<int64_t> rowBytes) {
  if (!rowBytes || *rowBytes == 0)
    return target.vectorRegisters;
  int64_t ways = target.l1Bytes / 4096;
  int64_t setsUsed = 4096 / std::gcd<int64_t>(4096, *rowBytes);
  return std::max<int64_t>(1, std::min(target.vectorRegisters, (ways - 2) * setsUsed));
}

int64_t chooseUnitRows(std::optional<int64_t> m, int64_t tileRows) {
  if (!m)
    return std::max<int64_t>(1, kUnitRows / tileRows) * tileRows;
  int64_t blocks = std::max<int64_t>(1, llvm::divideCeil(*m, kUnitRows));
  return std::max<int64_t>(tileRows, llvm::alignTo(llvm::divideCeil(*m, blocks), tileRows));
}

/// Where `value` reads `product` while it is computed at the point `indices` of its own: the
/// indices of the product, or nothing where it does not read it.
std::optional<SmallVector<AffineExpr>> productIndices(Value value, ArrayRef<AffineExpr> indices,
                                                      Value product) {
  if (value == product)
    return llvm::to_vector(indices);
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op)
    return std::nullopt;
  AffineMap outMap = op.getIndexingMapMatchingResult(cast<OpResult>(value));
  SmallVector<AffineExpr> loops(op.getNumLoops(), getAffineConstantExpr(0, value.getContext()));
  for (auto [result, index] : llvm::zip_equal(outMap.getResults(), indices))
    loops[cast<AffineDimExpr>(result).getPosition()] = index;
  for (OpOperand *input : op.getDpsInputOperands()) {
    SmallVector<AffineExpr> read;
    for (AffineExpr result : op.getMatchingIndexingMap(input).getResults())
      read.push_back(result.replaceDims(loops));
    if (auto found = productIndices(input->get(), read, product))
      return found;
  }
  return std::nullopt;
}

/// The point of `epilogue` at which it reads element `indices` of the product.
SmallVector<AffineExpr> epiloguePoint(linalg::GenericOp epilogue, Value product,
                                      ArrayRef<AffineExpr> indices) {
  MLIRContext *context = epilogue.getContext();
  SmallVector<AffineExpr> loops(epilogue.getNumLoops(), getAffineConstantExpr(0, context));
  AffineMap outMap = epilogue.getIndexingMapMatchingResult(epilogue->getResult(0));
  auto read = productIndices(epilogue->getResult(0), outMap.getResults(), product);
  for (auto [expr, index] : llvm::zip_equal(*read, indices))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      loops[dim.getPosition()] = index;
  return loops;
}

} // namespace

std::optional<ContractionPlan> planContraction(KernelShapes &shapes, const Target &target,
                                               const ContractionNest &nest) {
  linalg::GenericOp op = nest.op;
  std::optional<ContractionForm> form = matchContraction(op, shapes);
  if (!form)
    return std::nullopt;
  int64_t bits = form->computeType.getIntOrFloatBitWidth();
  ContractionSizes sizes{constantOf(form->mSize()), constantOf(form->nSize()),
                         constantOf(form->kSize())};
  ContractionPlan plan;
  plan.lanes = std::max<int64_t>(1, target.lanes(bits));
  plan.tile =
      chooseTile(target, sizes, plan.lanes, maxTileRows(target, rowBytesOfA(shapes, op, *form)));
  plan.unitRows = chooseUnitRows(sizes.m, plan.tile.rows);
  int64_t columns = plan.tile.vectors * plan.lanes;
  plan.units = normalize(form->outerSize() * form->mSize().ceilDiv(plan.unitRows) *
                         form->nSize().ceilDiv(columns));
  int64_t operations = 2 * std::min(plan.unitRows, sizes.m.value_or(plan.unitRows)) *
                       std::min(columns, sizes.n.value_or(columns)) *
                       std::max<int64_t>(1, sizes.k.value_or(64));
  plan.grain = std::max<int64_t>(1, kGrainOperations / operations);
  return plan;
}

void emitContraction(KernelEmitter &emitter, const ContractionNest &nest,
                     const ContractionPlan &plan, Value begin, Value end, Value scratch) {
  linalg::GenericOp op = nest.op;
  std::optional<ContractionForm> form = matchContraction(op, emitter.shapes());
  if (form)
    ContractionEmitter(emitter, nest, plan, *std::move(form)).emit(begin, end);
}

void storeContractionResults(KernelEmitter &emitter, const ContractionNest &nest,
                             ArrayRef<AffineExpr> indices, Value product) {
  linalg::GenericOp root = nest.op;
  Value tensor = root->getResult(0);
  emitter.bind(tensor, indices, product);
  if (nest.storesProduct)
    emitter.store(tensor, indices, product);
  for (linalg::GenericOp epilogue : nest.epilogues) {
    SmallVector<AffineExpr> loops = epiloguePoint(epilogue, tensor, indices);
    SmallVector<Value> values = emitter.body(epilogue, loops, {});
    for (auto [result, value] : llvm::zip_equal(epilogue->getResults(), values)) {
      SmallVector<AffineExpr> position;
      for (AffineExpr expr : epilogue.getIndexingMapMatchingResult(result).getResults())
        position.push_back(expr.replaceDims(loops));
      emitter.store(result, position, value);
    }
  }
}

} // namespace tfc::cpu
