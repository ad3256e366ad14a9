// Plans a contraction: how it is divided into parallel units and blocked for the caches. The
// emitter only follows the plan.

#include "compiler/cpu/Contraction.h"
#include "compiler/cpu/ContractionEmitter.h"
#include "compiler/cpu/TileTransform.h"
#include "compiler/cpu/WinogradEmitter.h"
#include "compiler/kernels/Polynomial.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
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
/// Products with at most this many rows read b in place: packing would cost more than it saves.
constexpr int64_t kFewRows = 6;
/// Assumed depth if it is unknown: packing is not profitable for a small depth.
constexpr int64_t kUnknownSteps = 96;
/// The same, where it is assumed to be large, and the third-level cache of a processor, in second
/// ones.
constexpr int64_t kUnknownDepth = 1 << 10, kThirdCaches = 8;
/// Products with at most so many rows, and a b in memory, read it in runs of so many columns: few
/// enough for several units, and many enough for the processor to fetch the next lines of a row.
constexpr int64_t kRunRows = 128, kFewestColumns = 256, kMostColumns = 1024;
/// The units of such a product, and of one that reads b in place, where runs are not too short.
constexpr int64_t kRunUnits = 4, kStreamUnits = 8;
/// The steps of a sum in a register, where b is read in place, and the vectors of columns that
/// share factors which no register keeps.
constexpr int64_t kStreamSteps = 8, kFewestStreamSteps = 4, kStreamVectors = 2;
/// Registers for bytes that become numbers of 16 bits before they are multiplied, or corrections.
constexpr int64_t kWideningRegisters = 5;
/// The tiles, and the divisions of convolutions with transformed weights, that measurements
/// compare.
constexpr size_t kMostTiles = 4, kMostDivisions = 3;
/// Estimated operations for each term and each result of a transform.
constexpr int64_t kOperationsOfElement = 8;

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

/// Returns the rows of a unit that packs `columns` columns of b, `others` times of which cover all.
/// Packed columns are used for as many rows as possible, because packing moves as much memory as
/// several rows of tiles. But the rows of a are expected to stay in the third-level cache, and sums
/// of blocks along k in the second, and there are enough units to balance threads.
int64_t mostRows(const Target &target, const ContractionSizes &sizes, int64_t columns,
                 std::optional<int64_t> others, int64_t bytes) {
  int64_t steps = std::max<int64_t>(sizes.k.value_or(kUnknownDepth), 1);
  int64_t most =
      std::min(target.l2Bytes / 2 / columns, kThirdCaches * target.l2Bytes / steps) / bytes;
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
  int64_t columns = plan.unitPanels * plan.tile.vectors * plan.lanes;
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

/// Returns the number of a value among the tensors of the kernel if it is an argument that is
/// always a constant, and that nothing else in the kernel reads.
std::optional<unsigned> constantNumber(Value tensor) {
  auto argument = dyn_cast<BlockArgument>(tensor);
  if (!argument || !argument.hasOneUse())
    return std::nullopt;
  auto kernel = dyn_cast<kernel::FuncOp>(argument.getOwner()->getParentOp());
  if (!kernel || argument.getArgNumber() < kernel.getNumSizes())
    return std::nullopt;
  unsigned number = argument.getArgNumber() - kernel.getNumSizes();
  return kernel.isConstant(number) ? std::optional(number) : std::nullopt;
}

/// The same for b.
std::optional<unsigned> constantNumber(linalg::GenericOp op, const ContractionForm &form) {
  Value tensor = op.getDpsInputOperand(form.b.inputs.front())->get();
  return form.b.inputs.size() == 1 ? constantNumber(tensor) : std::nullopt;
}

int64_t unitOperations(const ContractionPlan &plan, const ContractionSizes &sizes) {
  int64_t columns = plan.unitPanels * plan.tile.vectors * plan.lanes;
  return 2 * plan.unitPoints * std::min(plan.unitRows, sizes.m.value_or(plan.unitRows)) *
         std::min(columns, sizes.n.value_or(columns)) * std::max<int64_t>(1, sizes.k.value_or(64));
}

/// The number of units of so many operations that is worth waking a thread for.
int64_t grainOf(int64_t operations) {
  return std::max<int64_t>(1, kGrainOperations / std::max<int64_t>(1, operations));
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
  int64_t columns = plan.unitPanels * plan.tile.vectors * plan.lanes;
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

/// A deviation from what the cost model chooses: another tile of those that it finds nearly as
/// fast, or units of half or twice as many rows.
struct Variation {
  size_t tile = 0;
  enum { Same, Half, Twice } rows = Same;
};

/// Varies the rows of units. More rows need more memory where they are copied.
void varyRows(ContractionPlan &plan, const Variation &variation, const ContractionSizes &sizes,
              bool copies) {
  int64_t tileRows = plan.tile.rows;
  if (variation.rows == Variation::Half)
    plan.unitRows = llvm::alignTo(llvm::divideCeil(plan.unitRows, 2), tileRows);
  if (variation.rows == Variation::Twice && !copies)
    plan.unitRows = std::min<int64_t>(2 * plan.unitRows,
                                      llvm::alignTo(sizes.m.value_or(plan.unitRows), tileRows));
}

/// Lets the units of a product with few rows, whose b comes from memory, read it in long runs of
/// columns, which processors fetch in advance: rows of b in place if there are very few of a, else
/// copies of blocks along k. Returns false for other products.
bool chooseRuns(ContractionPlan &plan, const Target &target, const ContractionSizes &sizes,
                const ContractionForm &form, const std::optional<LinearAccess> &b, int64_t bBytes) {
  int64_t k = sizes.k.value_or(kUnknownDepth), n = sizes.n.value_or(kUnknownDepth);
  int64_t bytes = form.computeType.getIntOrFloatBitWidth() / 8, rows = sizes.m.value_or(0);
  if (!b || constantOf(b->across) != 1 || !form.mOuter.empty() || rows < 1 || rows > kRunRows ||
      k * n * bBytes <= target.l2Bytes / 2 || n * bBytes < kFarBytes)
    return false;
  int64_t columns, panel = plan.tile.vectors * plan.lanes;
  if (rows <= kFewRows) {
    plan.unitRows = rows;
    columns =
        std::min(target.l1Bytes / 2 / (rows * bytes), std::max(kMostColumns, n / kStreamUnits));
    int64_t registers = (target.vectorRegisters - rows - 1) / rows;
    bool keepsFactors = registers >= kFewestStreamSteps;
    plan.stream = RowStream{keepsFactors ? std::min(registers, kStreamSteps) : kStreamSteps,
                            keepsFactors ? 1 : kStreamVectors};
  } else {
    columns = std::min(target.l2Bytes / 4 / (plan.unitRows * bytes),
                       std::clamp(n / kRunUnits, kFewestColumns, kMostColumns));
  }
  plan.unitPanels = std::clamp<int64_t>(columns / panel, 1, llvm::divideCeil(n, panel));
  if (!plan.stream)
    plan.blockSteps =
        llvm::alignTo(copyBytes(target) / (plan.unitPanels * panel * bytes), plan.lanes);
  return true;
}

/// Chooses how many panels of b are packed for a unit, and how many rows read them: each row of a
/// is read for all panels of a unit, and expected in a farther cache.
void choosePanels(ContractionPlan &plan, const Target &target, const ContractionSizes &sizes,
                  const ContractionForm &form, int64_t panels) {
  int64_t bytes = form.computeType.getIntOrFloatBitWidth() / 8;
  int64_t columns = plan.tile.vectors * plan.lanes;
  std::optional<int64_t> others = constantOf(normalize(form.outerSize() * form.mOuterSize()));
  if (sizes.m && sizes.k && others && *sizes.m * *sizes.k * bytes > target.l2Bytes / 2)
    plan.unitPanels = std::clamp<int64_t>(copyBytes(target) / (*sizes.k * columns * bytes), 1,
                                          std::max<int64_t>(1, *others * panels / kBalancedUnits));
  if (others)
    *others *= llvm::divideCeil(panels, plan.unitPanels);
  int64_t rows = mostRows(target, sizes, plan.unitPanels * columns, others, bytes);
  plan.unitRows = chooseUnitRows(sizes.m, plan.tile.rows, rows);
}

/// Chooses the plan's tile and what a unit covers.
void chooseShapes(ContractionPlan &plan, const Target &target, const ContractionSizes &sizes,
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
    plan.streamsB = elements * bBytes > target.l2Bytes / 2;
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
  int64_t columns = plan.tile.vectors * plan.lanes;
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
  if (!plan.stream)
    varyRows(plan, variation, sizes, packsA || !form.kOuter.empty());
  if (!form.kOuter.empty())
    chooseBlocks(plan, target, form, a, b, std::max(aBytes, bBytes));
}

} // namespace

int64_t packedBytes(const ContractionForm &form, int64_t steps, int64_t columns) {
  return steps * columns * form.computeType.getIntOrFloatBitWidth() / 8;
}

/// Returns true for an element of bytes that is widened to i32, and whether it has a sign.
static bool isWidenedByte(const ContractionFactor &factor, bool &isSigned) {
  Operation *widening = factor.root.getDefiningOp();
  isSigned = isa_and_nonnull<arith::ExtSIOp>(widening);
  return (isSigned || isa_and_nonnull<arith::ExtUIOp>(widening)) &&
         isa<BlockArgument>(widening->getOperand(0)) &&
         widening->getOperand(0).getType().isInteger(8);
}

std::optional<ByteSteps> matchBytes(const ContractionForm &form) {
  std::optional<int64_t> steps = constantOf(form.kSize());
  ByteSteps bytes;
  if (!form.computeType.isInteger(32) || !form.factorType.isInteger(32) || !steps ||
      !isWidenedByte(form.a, bytes.isSignedA) || !isWidenedByte(form.b, bytes.isSignedB))
    return std::nullopt;
  bytes.steps = *steps;
  return bytes;
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
  int64_t panels = constantOf(form.nSize()).value_or(1 << 10) / (plan.tile.vectors * plan.lanes);
  if (stride == 1 || stride == 0 || panels < kPackedPanels)
    return false;
  return !fitsFirstCache(target, stride ? *stride * elementBytes : stride,
                         constantOf(form.kSize()).value_or(kUnknownSteps),
                         plan.tile.rows * elementBytes);
}

/// Returns true for an element of bf16 that is used as it is.
static bool isShortFloat(const ContractionFactor &factor) {
  Value element = factor.root;
  if (auto widening = element.getDefiningOp<arith::ExtFOp>())
    element = widening.getIn();
  return isa<BlockArgument>(element) && element.getType().isBF16();
}

bool areShortFloats(const ContractionForm &form) {
  return form.computeType.isF32() && isShortFloat(form.a) && isShortFloat(form.b);
}

/// Returns the steps that one instruction multiplies, where an operand that is no packed constant
/// is copied in words if its elements are not adjacent along k. Products with few rows read b in
/// place.
static int64_t stepsOfPairs(KernelShapes &shapes, const Target &target, linalg::GenericOp op,
                            const ContractionForm &form, bool isPacked) {
  if (!target.hasPairProducts || !areShortFloats(form) || constantOf(form.kSize()) == 1)
    return 1;
  std::optional<LinearAccess> a = denseAccess(shapes, op, form, true);
  std::optional<LinearAccess> b = denseAccess(shapes, op, form, false);
  std::optional<int64_t> rows = constantOf(form.mSize());
  bool readsInPlace = !isPacked && form.kOuter.empty() && rows && *rows <= kFewRows && b &&
                      constantOf(b->across) == 1;
  bool isAdjacent = a && constantOf(a->k) == 1;
  return readsInPlace || (!form.kOuter.empty() && !isAdjacent) ? 1 : PairSteps::kGroup;
}

/// Returns the steps of b that are adjacent, if it is a packed constant, and in the tiles that read
/// it.
static int64_t groupOf(KernelShapes &shapes, const Target &target, linalg::GenericOp op,
                       const ContractionForm &form, kernel::PackingAttr packing) {
  return packing ? packing.getGroup() : stepsOfPairs(shapes, target, op, form, false);
}

/// With a `group`, so many steps are one.
static ContractionPlan makePlan(KernelShapes &shapes, const Target &target, linalg::GenericOp op,
                                const ContractionForm &form, bool isPacked, int64_t group,
                                const Variation &variation = {}) {
  AffineExpr steps = form.kOuterSize() * form.kSize().ceilDiv(group);
  ContractionSizes sizes{constantOf(form.mSize()), constantOf(form.nSize()),
                         constantOf(normalize(steps))};
  ContractionPlan plan;
  plan.isPacked = isPacked;
  plan.group = group;
  plan.lanes = std::max<int64_t>(1, target.lanes(form.computeType.getIntOrFloatBitWidth()));
  chooseShapes(plan, target, sizes, form, op, shapes, variation);
  int64_t columns = plan.unitPanels * plan.tile.vectors * plan.lanes;
  plan.units = normalize(form.outerSize() * form.mOuterSize().ceilDiv(plan.unitPoints) *
                         form.mSize().ceilDiv(plan.unitRows) * form.nSize().ceilDiv(columns));
  plan.grain = grainOf(unitOperations(plan, sizes));
  return plan;
}

static std::string nameOf(const ContractionPlan &plan) {
  return llvm::formatv("direct:{0}x{1}:{2}x{3}x{4}", plan.tile.rows, plan.tile.vectors,
                       plan.unitPoints, plan.unitRows, plan.unitPanels);
}

/// The plans of a product that measurements compare, that of the cost model first.
static SmallVector<ContractionPlan> plansOf(KernelShapes &shapes, const Target &target,
                                            linalg::GenericOp op, const ContractionForm &form,
                                            bool isPacked, int64_t group) {
  SmallVector<ContractionPlan> plans;
  llvm::StringSet<> names;
  auto add = [&](const Variation &variation) {
    ContractionPlan plan = makePlan(shapes, target, op, form, isPacked, group, variation);
    if (!plan.lanesAlongK && names.insert(nameOf(plan)).second)
      plans.push_back(plan);
  };
  for (size_t tile = 0; tile < kMostTiles; ++tile)
    add({tile, Variation::Same});
  add({0, Variation::Half});
  add({0, Variation::Twice});
  return plans;
}

/// The plan that the kernel names, or that of the cost model.
static ContractionPlan choosePlan(KernelShapes &shapes, const Target &target, linalg::GenericOp op,
                                  const ContractionForm &form, bool isPacked, int64_t group) {
  if (StringRef way = kernel::scheduleOf(shapes.kernel()).way; !way.empty())
    for (const ContractionPlan &plan : plansOf(shapes, target, op, form, isPacked, group))
      if (nameOf(plan) == way)
        return plan;
  return makePlan(shapes, target, op, form, isPacked, group);
}

/// The same for a convolution with transformed weights.
static WinogradPlan chooseWinograd(kernel::FuncOp kernel, const Target &target,
                                   const ImageConvolution &convolution) {
  SmallVector<WinogradPlan> plans = rankWinograd(target, convolution, kMostDivisions);
  for (const WinogradPlan &plan : plans)
    if (plan.name() == kernel::scheduleOf(kernel).way)
      return plan;
  return plans.front();
}

/// Plans a product with a small constant, each point of which is a unit.
static ContractionPlan planTransform(const Target &target, const ContractionForm &form,
                                     const TileTransform &transform) {
  ContractionPlan plan;
  plan.isTransform = true;
  plan.lanes = std::max<int64_t>(1, target.lanes(32));
  plan.units = form.extentOf(transform.points);
  int64_t operations = constantOf(form.nSize()).value_or(kUnknownSteps) *
                       (transform.terms() + transform.results()) * kOperationsOfElement;
  plan.grain = grainOf(operations);
  return plan;
}

static ContractionPlan planTransformed(KernelShapes &shapes, const Target &target,
                                       const ImageConvolution &convolution) {
  ContractionPlan plan;
  plan.winograd = chooseWinograd(shapes.kernel(), target, convolution);
  plan.lanes = target.lanes(32);
  std::optional<unsigned> constant = constantNumber(convolution.weights);
  plan.isPacked = constant && shapes.kernel().getPacking(*constant);
  int64_t panels = llvm::divideCeil(convolution.features, plan.winograd->columns(plan.lanes));
  int64_t units = llvm::divideCeil(convolution.tiles(), plan.winograd->tiles) *
                  llvm::divideCeil(panels, plan.winograd->panels * plan.winograd->groups);
  plan.units = getAffineConstantExpr(units, shapes.kernel().getContext());
  int64_t operations = 2 * convolution.tileElements() * convolution.channels *
                       convolution.features * convolution.tiles() / units;
  plan.grain = grainOf(operations);
  return plan;
}

ContractionPlan planContraction(KernelShapes &shapes, const Target &target, linalg::GenericOp op) {
  if (std::optional<ImageConvolution> convolution = matchTransformed(op))
    return planTransformed(shapes, target, *convolution);
  std::optional<ContractionForm> form = matchContraction(op, shapes);
  if (std::optional<TileTransform> transform = matchTransform(op, *form))
    return planTransform(target, *form, *transform);
  std::optional<unsigned> constant = constantNumber(op, *form);
  kernel::PackingAttr packing = constant ? shapes.kernel().getPacking(*constant) : nullptr;
  return choosePlan(shapes, target, op, *form, packing != nullptr,
                    groupOf(shapes, target, op, *form, packing));
}

SmallVector<std::string> waysOf(KernelShapes &shapes, const Target &target, linalg::GenericOp op,
                                bool winograd) {
  std::optional<ContractionForm> form = matchContraction(op, shapes);
  if (!form || matchTransform(op, *form))
    return {};
  auto packing = choosePacking(shapes, target, op);
  int64_t group = groupOf(shapes, target, op, *form, packing ? packing->second : nullptr);
  SmallVector<std::string> ways, transformed;
  for (const ContractionPlan &plan : plansOf(shapes, target, op, *form, packing.has_value(), group))
    ways.push_back(nameOf(plan));
  std::optional<ImageConvolution> convolution = matchConvolution(op);
  std::optional<ImageConvolution> tiled;
  if (winograd && convolution && transformableWeights(op))
    tiled = chooseTiles(target, *convolution, /*way=*/"");
  if (!tiled)
    return ways;
  for (const WinogradPlan &plan : rankWinograd(target, *convolution, kMostDivisions))
    transformed.push_back(plan.name());
  // Fewer of those that are estimated to be slower.
  if (!isWinogradFaster(target, *tiled))
    std::swap(ways, transformed);
  transformed.append(ways.begin(), ways.begin() + std::min(ways.size(), kMostDivisions));
  return transformed;
}

/// Returns the sizes of the columns of b and of all steps, the outermost first, if they are
/// constant.
static std::optional<SmallVector<int64_t>> stepSizes(const ContractionForm &form) {
  SmallVector<AffineExpr> sizes{form.nSize()};
  for (unsigned loop : form.kOuter)
    sizes.push_back(form.loopSizes[loop]);
  sizes.push_back(form.kSize());
  SmallVector<int64_t> constants;
  for (AffineExpr size : sizes)
    if (std::optional<int64_t> constant = constantOf(normalize(size)))
      constants.push_back(*constant);
  return constants.size() == sizes.size() ? std::optional(constants) : std::nullopt;
}

/// Panels of transformed weights have the matrices of all elements of tiles, for channels that are
/// transformed together.
static std::optional<std::pair<unsigned, kernel::PackingAttr>>
packTransformed(const Target &target, const ImageConvolution &c) {
  std::optional<unsigned> constant = constantNumber(c.weights);
  if (!constant)
    return std::nullopt;
  auto kernel = cast<kernel::FuncOp>(Value(c.weights).getParentBlock()->getParentOp());
  WinogradPlan plan = chooseWinograd(kernel, target, c);
  int64_t columns = plan.columns(target.lanes(32)), matrix = c.channels * c.features;
  int64_t block = std::min(plan.channels, c.channels);
  auto packing = kernel::PackingAttr::get(c.weights.getContext(), std::min(columns, c.features),
                                          {c.features, c.channels / block, c.tileElements(), block},
                                          {1, block * c.features, matrix, c.features}, /*group=*/1);
  return std::pair(*constant, packing);
}

std::optional<std::pair<unsigned, kernel::PackingAttr>>
choosePacking(KernelShapes &shapes, const Target &target, linalg::GenericOp op) {
  if (std::optional<ImageConvolution> convolution = matchTransformed(op))
    return packTransformed(target, *convolution);
  std::optional<ContractionForm> form = matchContraction(op, shapes);
  std::optional<unsigned> constant = constantNumber(op, *form);
  std::optional<LinearAccess> access;
  if (constant)
    access = denseAccess(shapes, op, *form, /*isA=*/false);
  std::optional<SmallVector<int64_t>> sizes = stepSizes(*form);
  if (!access || !sizes || constantOf(access->base) != 0)
    return std::nullopt;
  SmallVector<AffineExpr> strides{access->across};
  llvm::append_range(strides, access->kOuter);
  strides.push_back(access->k);
  SmallVector<int64_t> steps;
  for (auto [stride, size] : llvm::zip_equal(strides, *sizes))
    steps.push_back(size == 1 ? 1 : constantOf(stride).value_or(0));
  int64_t count = 1;
  for (int64_t size : *sizes)
    count *= size;
  auto type =
      cast<RankedTensorType>(shapes.kernel().getArgumentTypes()[shapes.numSizes() + *constant]);
  if (!type.hasStaticShape() || type.getNumElements() != count)
    return std::nullopt;
  std::optional<LinearAccess> a = denseAccess(shapes, op, *form, /*isA=*/true);
  bool isGrouped = matchBytes(*form) && a && constantOf(a->k) == 1;
  int64_t group =
      isGrouped ? ByteSteps::kGroup : stepsOfPairs(shapes, target, op, *form, /*isPacked=*/true);
  ContractionPlan plan = choosePlan(shapes, target, op, *form, /*isPacked=*/true, group);
  // Fails for elements that are read several times or never.
  auto emitError = [] { return InFlightDiagnostic(); };
  int64_t columns = std::min(plan.tile.vectors * plan.lanes, sizes->front());
  auto packing = kernel::PackingAttr::getChecked(emitError, op.getContext(), columns,
                                                 ArrayRef(*sizes), ArrayRef(steps), group);
  return packing ? std::optional(std::pair(*constant, packing)) : std::nullopt;
}

void emitContraction(KernelEmitter &emitter, const Target &target, const ContractionNest &nest,
                     const ContractionPlan &plan, Value begin, Value end) {
  linalg::GenericOp op = nest.op;
  std::optional<ContractionForm> form = matchContraction(op, emitter.shapes());
  if (!form)
    return;
  if (std::optional<ImageConvolution> convolution = matchTransformed(op))
    WinogradEmitter(emitter, target, nest, plan, *form, *convolution).emit(begin, end);
  else if (plan.isTransform)
    emitTransform(emitter, target, nest, plan, *form, begin, end);
  else
    ContractionEmitter(emitter, target, nest, plan, *std::move(form)).emit(begin, end);
}

} // namespace tfc::cpu
