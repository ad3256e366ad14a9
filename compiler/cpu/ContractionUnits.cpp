// Chooses the register tile of a contraction and what a unit of it covers: rows, columns and steps
// that suit the caches and balance threads.

#include "compiler/cpu/ContractionUnits.h"
#include "compiler/cpu/ContractionEmitter.h"
#include "compiler/kernels/Polynomial.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;

namespace tfc::cpu {
namespace {

/// Rows of a unit: few enough to keep a block of a in L2, and, if a is packed, all copies. A unit
/// that packs b itself has more (`mostRows`).
constexpr int64_t kUnitRows = 384, kUnitRowsPacked = 192;
/// The number of panels from which on packing a is profitable, and the assumed number if it is
/// unknown. The packed rows of a tile are used for so many columns that packed panels of b have
/// this many steps.
constexpr int64_t kPackedPanels = 4, kUnknownPanels = 128, kPackedSteps = 160;
/// Number of operations that is worth waking a thread for, and the number of units from which on
/// threads have the same amount of work.
constexpr int64_t kGrainOperations = 200 << 10, kBalancedUnits = 16;
/// Assumed steps where more of them need more memory, and the third-level cache of a processor, in
/// second ones.
constexpr int64_t kUnknownDepth = 1 << 10, kThirdCaches = 8;
/// The stack that the sums of a unit may need, beside copies of at most as much.
constexpr int64_t kMostSumBytes = 512 << 10;
/// Products with at most so many rows, and a b in memory, read it in runs of so many columns: few
/// enough for several units, and many enough for the processor to fetch the next lines of a row.
constexpr int64_t kRunRows = 128, kFewestColumns = 256, kMostColumns = 1024;
/// The units of such a product, unless runs become too short.
constexpr int64_t kRunUnits = 8;
/// The most steps of a stream, the fewest for which registers that keep the factors pay off, and
/// the vectors of columns that share factors otherwise.
constexpr int64_t kStreamSteps = 8, kFewestStreamSteps = 4, kStreamVectors = 2;
/// Registers for bytes that become numbers of 16 bits before they are multiplied, or corrections.
constexpr int64_t kWideningRegisters = 5;

} // namespace

int64_t packedBytes(const ContractionForm &form, int64_t steps, int64_t columns) {
  return steps * columns * form.computeType.getIntOrFloatBitWidth() / 8;
}

bool packsRows(const Target &target, const ContractionForm &form,
               const std::optional<LinearAccess> &a, int64_t elementBytes,
               const ContractionPlan &plan) {
  bool hasPairs = plan.group == PairSteps::kGroup;
  if (!form.kOuter.empty() || (plan.group > 1 && !hasPairs))
    return false;
  if (!a || (form.converts(form.a) && !hasPairs) || (!constantOf(a->across) && plan.tile.rows > 1))
    return true;
  std::optional<int64_t> stride = constantOf(a->k);
  if (hasPairs)
    return stride != 1;
  int64_t panels = constantOf(form.nSize()).value_or(1 << 10) / plan.tileColumns();
  if (stride == 1 || stride == 0 || panels < kPackedPanels)
    return false;
  return !fitsFirstCache(target, stride ? *stride * elementBytes : stride,
                         constantOf(form.kSize()).value_or(kUnknownSteps),
                         plan.tile.rows * elementBytes);
}

int64_t grainOf(int64_t operations) {
  return std::max<int64_t>(1, kGrainOperations / std::max<int64_t>(1, operations));
}

int64_t unitOperations(const ContractionPlan &plan, const ContractionSizes &sizes) {
  int64_t columns = plan.unitColumns();
  return 2 * plan.unitPoints * std::min(plan.unitRows, sizes.m.value_or(plan.unitRows)) *
         std::min(columns, sizes.n.value_or(columns)) * std::max<int64_t>(1, sizes.k.value_or(64));
}

namespace {

int64_t inputBytes(linalg::GenericOp op, const ContractionFactor &factor) {
  Value tensor = op.getDpsInputOperand(factor.inputs.front())->get();
  return std::max(1u, getElementTypeOrSelf(tensor.getType()).getIntOrFloatBitWidth() / 8);
}

/// Returns the number of rows of a that fit into the first-level cache without conflicts.
int64_t maxTileRows(const Target &target, const std::optional<LinearAccess> &a, int64_t bytes) {
  std::optional<int64_t> across = a ? constantOf(a->across) : std::nullopt;
  if (!across || constantOf(a->k) != 1)
    return target.vectorRegisters;
  int64_t ways = target.l1Bytes / 4096;
  int64_t setsUsed = 4096 / std::max<int64_t>(1, std::gcd<int64_t>(4096, *across * bytes));
  return std::max<int64_t>(1, std::min(target.vectorRegisters, (ways - 2) * setsUsed));
}

int64_t chooseUnitRows(std::optional<int64_t> m, int64_t tileRows, int64_t most) {
  if (!m)
    return std::max<int64_t>(1, most / tileRows) * tileRows;
  int64_t blocks = std::max<int64_t>(1, llvm::divideCeil(*m, most));
  return std::max<int64_t>(tileRows, llvm::alignTo(llvm::divideCeil(*m, blocks), tileRows));
}

/// The memory that is left for the sums of a unit.
int64_t sumBytes(const Target &target) { return std::min(target.l2Bytes / 2, kMostSumBytes); }

/// Returns the rows of a unit that packs `columns` columns of b, `others` times of which cover all.
/// Packed columns are used for as many rows as possible, because packing moves as much memory as
/// several rows of tiles. But the rows of a are expected to stay in the third-level cache, and sums
/// of blocks along k in the second and on the stack, and there are enough units to balance threads.
int64_t mostRows(const Target &target, const ContractionSizes &sizes, int64_t columns,
                 std::optional<int64_t> others, int64_t bytes) {
  int64_t steps = std::max<int64_t>(sizes.k.value_or(kUnknownDepth), 1);
  int64_t most =
      std::min(sumBytes(target) / columns, kThirdCaches * target.l2Bytes / steps) / bytes;
  if (sizes.m && others.value_or(0) > 0)
    most = std::min<int64_t>(most,
                             llvm::divideCeil(*sizes.m, llvm::divideCeil(kBalancedUnits, *others)));
  return std::max(kUnitRows, most);
}

/// Returns the number of steps of all reduction loops except the outer `blockLoops` loops, where
/// `group` steps are one.
std::optional<int64_t> stepsBehind(const ContractionForm &form, unsigned blockLoops,
                                   int64_t group) {
  AffineExpr steps = form.kSize().ceilDiv(group);
  for (unsigned loop : ArrayRef(form.kOuter).drop_front(blockLoops))
    steps = steps * form.loopSizes[loop];
  return constantOf(normalize(steps));
}

/// Chooses the loops of kOuter that run inside the tiles: as many as fit in packed copies of b or,
/// if columns of a are read again for each panel, in the second-level cache.
void chooseBlocks(ContractionPlan &plan, const Target &target, const ContractionForm &form,
                  const std::optional<LinearAccess> &a, const std::optional<LinearAccess> &b,
                  int64_t elementBytes) {
  int64_t columns = plan.unitColumns();
  int64_t group = plan.group == PairSteps::kGroup ? plan.group : 1;
  std::optional<int64_t> steps = stepsBehind(form, 0, group);
  plan.copiesB = !plan.isPacked && (group > 1 || !b || constantOf(b->across) != 1);
  if (!plan.isPacked && !plan.copiesB && plan.unitRows * plan.unitPoints >= kPackingRows) {
    std::optional<int64_t> stride = constantOf(b->k);
    plan.copiesB = stride && *stride * elementBytes >= kFarBytes &&
                   !fitsFirstCache(target, *stride * elementBytes, steps, columns * elementBytes);
  }
  auto fits = [&](std::optional<int64_t> count) {
    if (plan.copiesB)
      return count && packedBytes(form, *count, columns) <= kPanelBytes;
    bool isReadAgain = a && constantOf(a->k) != 1;
    int64_t rows = plan.unitRows * plan.unitPoints;
    return !isReadAgain ||
           (count && *count * (rows + columns) * elementBytes <= target.l2Bytes / 2);
  };
  while (plan.blockLoops < form.kOuter.size() && !fits(stepsBehind(form, plan.blockLoops, group)))
    ++plan.blockLoops;
}

/// Lets a unit that copies all steps of its columns of b use the copies for more rows, as long as
/// there are about enough units to balance threads, and sums of a buffered unit stay in the
/// second-level cache. Each panel reads the rows of a again, which takes little time beside the
/// products of all steps.
void shareCopies(ContractionPlan &plan, const Target &target, const ContractionSizes &sizes,
                 const ContractionForm &form) {
  std::optional<int64_t> outer = constantOf(form.outerSize());
  std::optional<int64_t> points = constantOf(normalize(form.mOuterSize()));
  if (!plan.copiesB || plan.blockLoops != 0 || !outer || !points || !sizes.n)
    return;
  int64_t columns = plan.tileColumns(), bytes = packedBytes(form, 1, columns);
  int64_t panels = std::max<int64_t>(1, *outer * llvm::divideCeil(*sizes.n, columns));
  int64_t most = sumBytes(target) / (bytes * plan.unitRows);
  int64_t shared = llvm::divideCeil(*points, llvm::divideCeil(kBalancedUnits, panels));
  plan.unitPoints = std::max(plan.unitPoints, std::min(most, shared));
}

/// Divides `count` into equal parts of at most `most`, and returns their size.
int64_t equalParts(int64_t count, int64_t most) {
  return llvm::divideCeil(count, llvm::divideCeil(count, most));
}

/// Lets units cover fewer rows if there are too few of them to balance threads. All rows of packed
/// constants are read again by each unit, but then they are few.
void balanceUnits(ContractionPlan &plan, const ContractionSizes &sizes,
                  const ContractionForm &form) {
  std::optional<int64_t> outer = constantOf(form.outerSize());
  std::optional<int64_t> points = constantOf(normalize(form.mOuterSize()));
  if (!sizes.m || !sizes.n || !sizes.k || !outer || !points || !plan.isPacked)
    return;
  plan.unitPoints = equalParts(*points, plan.unitPoints);
  int64_t columns = plan.unitColumns();
  int64_t others = *outer * llvm::divideCeil(*sizes.n, columns);
  // Rows of tiles at all points, how many of them a unit covers, and how many it should.
  int64_t tileRows = plan.tile.rows, most = plan.unitPoints * (plan.unitRows / tileRows);
  int64_t all = *points * llvm::divideCeil(*sizes.m, tileRows);
  int64_t wanted = all * others / kBalancedUnits;
  wanted = std::max(wanted, kGrainOperations * most / unitOperations(plan, sizes));
  if (wanted >= most)
    return;
  int64_t rowsOfPoint = plan.unitRows / tileRows;
  plan.unitPoints = equalParts(*points, std::max<int64_t>(wanted / rowsOfPoint, 1));
  if (wanted < rowsOfPoint)
    plan.unitRows = std::max<int64_t>(wanted, 1) * tileRows;
}

/// Varies the rows of units. More rows need more memory where they are copied.
void varyRows(ContractionPlan &plan, const Variation &variation, const ContractionSizes &sizes,
              bool copies, int64_t bytes) {
  int64_t tileRows = plan.tile.rows;
  int64_t rowBytes = plan.unitPoints * plan.unitColumns() * bytes;
  if (variation.rows == Variation::Half)
    plan.unitRows = llvm::alignTo(llvm::divideCeil(plan.unitRows, 2), tileRows);
  if (variation.rows == Variation::Twice && !copies &&
      2 * plan.unitRows * rowBytes <= kMostSumBytes)
    plan.unitRows = std::min<int64_t>(2 * plan.unitRows,
                                      llvm::alignTo(sizes.m.value_or(plan.unitRows), tileRows));
}

/// Lets the units of a product with few rows, whose b comes from memory, read it in long runs of
/// columns, which processors fetch in advance: rows of b in place if there are very few of a, else
/// copies of blocks along k. Returns false for other products.
bool chooseRuns(ContractionPlan &plan, const Target &target, const ContractionSizes &sizes,
                const ContractionForm &form, const std::optional<LinearAccess> &b, int64_t bBytes) {
  int64_t k = sizes.k.value_or(kUnknownDepth), n = sizes.n.value_or(kUnknownDepth);
  int64_t bytes = packedBytes(form, 1, 1), rows = sizes.m.value_or(0);
  if (!b || constantOf(b->across) != 1 || !form.mOuter.empty() || rows < 1 || rows > kRunRows ||
      !isFar(target, k * n * bBytes) || n * bBytes < kFarBytes)
    return false;
  int64_t columns;
  if (rows <= kFewRows) {
    plan.unitRows = rows;
    columns = std::min(target.l1Bytes / 2 / (rows * bytes), std::max(kMostColumns, n / kRunUnits));
    int64_t registers = (target.vectorRegisters - rows - 1) / rows;
    bool keepsFactors = registers >= kFewestStreamSteps;
    plan.streamSteps = keepsFactors ? std::min(registers, kStreamSteps) : kStreamSteps;
    plan.tile = {rows, keepsFactors ? 1 : kStreamVectors};
  } else {
    columns = std::min(sumBytes(target) / 2 / (plan.unitRows * bytes),
                       std::clamp(n / kRunUnits, kFewestColumns, kMostColumns));
  }
  int64_t panel = plan.tileColumns();
  plan.unitPanels = std::clamp<int64_t>(columns / panel, 1, llvm::divideCeil(n, panel));
  if (!plan.streamSteps)
    plan.blockSteps = llvm::alignTo(copyBytes(target) / (plan.unitColumns() * bytes), plan.lanes);
  return true;
}

/// Chooses how many panels of b are packed for a unit, and how many rows read them: each row of a
/// is read for all panels of a unit, and expected in a farther cache.
void choosePanels(ContractionPlan &plan, const Target &target, const ContractionSizes &sizes,
                  const ContractionForm &form, int64_t panels) {
  int64_t bytes = packedBytes(form, 1, 1);
  int64_t columns = plan.tileColumns();
  std::optional<int64_t> others = constantOf(normalize(form.outerSize() * form.mOuterSize()));
  int64_t most = std::min(panels, kMostSumBytes / (kUnitRows * columns * bytes));
  if (sizes.m && sizes.k && others && isFar(target, *sizes.m * *sizes.k * bytes))
    plan.unitPanels = std::clamp<int64_t>(
        copyBytes(target) / ((llvm::alignTo(*sizes.k, plan.lanes) + plan.lanes) * columns * bytes),
        1, std::max<int64_t>(1, std::min(most, *others * panels / kBalancedUnits)));
  if (others)
    *others *= llvm::divideCeil(panels, plan.unitPanels);
  int64_t rows = mostRows(target, sizes, plan.unitPanels * columns, others, bytes);
  plan.unitRows = chooseUnitRows(sizes.m, plan.tile.rows, rows);
}

} // namespace

void chooseUnits(ContractionPlan &plan, const Target &target, const ContractionSizes &sizes,
                 const ContractionForm &form, linalg::GenericOp op, KernelShapes &shapes,
                 const Variation &variation) {
  std::optional<LinearAccess> a = denseAccess(shapes, op, form, true);
  std::optional<LinearAccess> b = denseAccess(shapes, op, form, false);
  int64_t aBytes = inputBytes(op, form.a), bBytes = inputBytes(op, form.b) * plan.group;
  bool fewRows = sizes.m && *sizes.m <= kFewRows;
  if (!plan.isPacked && fewRows && form.kOuter.empty() && a && b && constantOf(a->k) == 1 &&
      constantOf(b->k) == 1 && constantOf(b->across) != 1 &&
      sizes.k.value_or(plan.lanes) >= plan.lanes) {
    plan.lanesAlongK = true;
    int64_t elements = constantOf(normalize(form.outerSize())).value_or(1) *
                       sizes.n.value_or(1 << 10) * sizes.k.value_or(1 << 10);
    plan.streamsB = isFar(target, elements * bBytes);
    plan.unitRows = std::max<int64_t>(1, *sizes.m);
    return;
  }
  Target registers = target;
  if (std::optional<ByteSteps> bytes = matchBytes(form);
      plan.group > 1 && bytes && byteFormOf(target, *bytes) != ByteForm::Direct)
    registers.vectorRegisters -= kWideningRegisters;
  SmallVector<RegisterTile> tiles =
      rankTiles(registers, sizes, plan.lanes, maxTileRows(target, a, aBytes), kMostTiles);
  if (!tiles.empty())
    plan.tile = tiles[std::min(variation.tile, tiles.size() - 1)];
  bool packsA = packsRows(target, form, a, aBytes, plan);
  int64_t columns = plan.tileColumns();
  int64_t panels = sizes.n ? llvm::divideCeil(*sizes.n, columns) : kUnknownPanels;
  plan.unitRows = chooseUnitRows(sizes.m, plan.tile.rows, packsA ? kUnitRowsPacked : kUnitRows);
  if (packsA)
    plan.unitPanels = std::clamp<int64_t>(panelBytes(target) / (kPackedSteps * bBytes * columns), 1,
                                          std::max<int64_t>(1, panels));
  else if (!plan.isPacked && form.kOuter.empty() &&
           !chooseRuns(plan, target, sizes, form, b, bBytes))
    choosePanels(plan, target, sizes, form, panels);
  int64_t points = constantOf(normalize(form.mOuterSize())).value_or(kUnitRows);
  plan.unitPoints =
      std::clamp<int64_t>(kUnitRowsPacked / plan.unitRows, 1, std::max<int64_t>(1, points));
  balanceUnits(plan, sizes, form);
  if (!plan.streamSteps)
    varyRows(plan, variation, sizes, packsA || !form.kOuter.empty(), packedBytes(form, 1, 1));
  if (form.kOuter.empty())
    return;
  chooseBlocks(plan, target, form, a, b, std::max(aBytes, bBytes));
  shareCopies(plan, target, sizes, form);
}

} // namespace tfc::cpu
