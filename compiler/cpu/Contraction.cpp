// Plans a contraction: the ways in which it may be emitted, the order of packed constants, and the
// units that ContractionUnits.cpp chooses. The emitter only follows the plan.

#include "compiler/cpu/Contraction.h"
#include "compiler/cpu/ContractionEmitter.h"
#include "compiler/cpu/ContractionUnits.h"
#include "compiler/cpu/TileTransform.h"
#include "compiler/cpu/WinogradEmitter.h"
#include "compiler/kernels/Polynomial.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tfc::cpu {
namespace {

/// The divisions of convolutions with transformed weights that measurements compare.
constexpr size_t kMostDivisions = 3;
/// Estimated operations for each term and each result of a transform.
constexpr int64_t kOperationsOfElement = 8;

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

} // namespace

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
  chooseUnits(plan, target, sizes, form, op, shapes, variation);
  int64_t columns = plan.unitColumns();
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
  int64_t columns = std::min(plan.tileColumns(), sizes->front());
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
