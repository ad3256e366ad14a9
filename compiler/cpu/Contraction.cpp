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

} // namespace tfc::cpu
