//===- LimitSizes.cpp - Refusing tensors that exceed any memory -----------===//
//
// Runs when all tensors of an entry are known, including those of gradients and
// of decomposed composites, and before they become part of kernels.
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/ModelInfo.h"
#include "compiler/simplify/Passes.h"
#include "dialects/dfg/Build.h"
#include "dialects/dfg/Dfg.h"
#include "dialects/dfg/RunTimeSizes.h"
#include "dialects/dfg/SizeLimits.h"
#include "dialects/dfg/WindowOps.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;

namespace tfc {
#define GEN_PASS_DEF_LIMITSIZES
#include "compiler/simplify/Passes.h.inc"
} // namespace tfc

/// Fails with an error if the result of an operation is too large in every call.
static LogicalResult checkSizes(Operation *op, llvm::DenseMap<Type, bool> &isLarge) {
  auto isTooLarge = [&](Type type) {
    auto [known, inserted] = isLarge.try_emplace(type, false);
    if (inserted)
      known->second = dfg::isTooLarge(type);
    return known->second;
  };
  StringRef name = op->getName().stripDialect();
  if (llvm::any_of(op->getResultTypes(), isTooLarge))
    return dfg::checkSizes(op->getLoc(), name, op->getResultTypes());
  if (!isa_and_present<DfgDialect>(op->getDialect()))
    return success();
  return success(succeeded(dfg::checkSizes(op->getLoc(), name, op->getAttrs())) &&
                 succeeded(checkNumbers(op)));
}

namespace {
/// The sizes of an entry that its bounds do not limit, for one kind of limit.
class Limits {
public:
  Limits(EntryOp entry, const EntryInfo &info, const SizeLimit &limit)
      : info(info), limit(limit), current(entry) {}

  /// Sets the operation to which the next sizes belong.
  void setOperation(Operation *op) { current = op; }
  void add(Type type);
  void add(DimsAttr dims);
  void add(const DimExpr &size);
  /// Returns true if the bounds of the names allow the size to exceed the limit.
  bool mayExceed(const DimExpr &size) const;
  /// Adds the attribute. Fails if the bounds allow a data-dependent size to exceed the limit.
  LogicalResult appendTo(SmallVectorImpl<Attribute> &attributes) const;

private:
  void refuse(const DimExpr &size);

  const EntryInfo &info;
  const SizeLimit &limit;
  Operation *current;
  SmallVector<DimExpr> sizes;
  llvm::DenseSet<Attribute> seen;
  llvm::DenseSet<Type> seenTypes;
  llvm::StringSet<> texts;
  bool hasErrors = false;
};
} // namespace

/// Reports a data-dependent size whose bounds are too large.
void Limits::refuse(const DimExpr &size) {
  hasErrors = true;
  InFlightDiagnostic error = current->emitError();
  if (limit.use == SizeUse::Memory)
    error << "a tensor of " << size.str() << " bytes is too large for any memory when its sizes "
          << "reach their bounds [too-large]";
  else
    error << "the bounds of sizes allow " << size.str() << " to exceed "
          << stringifySizeUse(limit.use) << " [number-range]";
}

bool Limits::mayExceed(const DimExpr &size) const {
  auto largest = [&](StringRef name) -> uint64_t {
    return info.boundsOf(name).second.value_or(INT64_MAX);
  };
  return largestMagnitude(info.atMost(size), largest) > uint64_t(limit.most);
}

void Limits::add(const DimExpr &size) {
  DimExpr most = info.atMost(size);
  if (!mayExceed(size) || !texts.insert(most.str()).second)
    return;
  if (most.constant() || isOverflow(most))
    refuse(size);
  else
    sizes.push_back(most);
}

LogicalResult Limits::appendTo(SmallVectorImpl<Attribute> &attributes) const {
  MLIRContext *context = current->getContext();
  if (!sizes.empty())
    attributes.push_back(LimitAttr::get(context, limit.use, DimsAttr::get(context, sizes)));
  return failure(hasErrors);
}

void Limits::add(Type type) {
  if (auto list = dyn_cast<ListType>(type))
    type = list.getElementType();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.hasStaticShape() || !seenTypes.insert(type).second)
    return;
  add(byteCount(tensor));
  // Another axis may be empty.
  if (tensor.getNumDynamicDims() > 1)
    for (const DimExpr &size : shapeOf(tensor))
      add(size);
}

void Limits::add(DimsAttr dims) {
  if (!seen.insert(dims).second)
    return;
  for (const DimExpr &size : dims.getExprs())
    if (!size.constant())
      add(size);
}

/// Returns the largest distances between elements that an operation reads or writes, which its code
/// computes in addition to the sizes in types and attributes.
static SmallVector<DimExpr> distancesOf(Operation *op) {
  SmallVector<DimExpr> distances;
  auto add = [&](std::optional<ArrayRef<int64_t>> steps, Shape sizes) {
    for (auto [axis, size] : llvm::enumerate(sizes))
      if (steps)
        distances.push_back((size - 1) * (*steps)[steps->size() == 1 ? 0 : axis]);
  };
  auto addWindows = [&](auto windows, Type type, size_t rank) {
    Shape shape = shapeOf(type);
    add(windows.getStride(), Shape(ArrayRef(shape).slice(1, rank)));
    add(windows.getDilation(), Shape(ArrayRef(shape).slice(1 + rank, rank)));
  };
  if (auto place = dyn_cast<PlaceOp>(op))
    add(place.getSteps(), shapeOf(place.getX().getType()));
  if (auto windows = dyn_cast<WindowsOp>(op))
    addWindows(windows, windows.getType(), windows.getSize().getSizes().size());
  if (auto windows = dyn_cast<PlaceWindowsOp>(op))
    addWindows(windows, windows.getX().getType(), windows.getShape().getSizes().size());
  return distances;
}

namespace {
/// The numbers that an entry computes from sizes. A call checks those of its own sizes at its
/// start, the others as soon as their sizes are bound.
class NumberLimits {
public:
  NumberLimits(EntryOp entry, const EntryInfo &info) : info(info), found(entry) {
    for (const SizeLimit &limit : kNumberLimits)
      limits.emplace_back(entry, info, limit);
  }

  void add(Operation *op, const DimExpr &number, Type type);
  /// Inserts the checks of late numbers; otherwise like `Limits::appendTo`.
  LogicalResult appendTo(SmallVectorImpl<Attribute> &attributes) const;

private:
  /// A number that is known after `binder`.
  struct Late {
    BindSizeOp binder;
    Location location;
    DimExpr number;
    const SizeLimit *limit;
  };
  Limits &limitsOf(const SizeLimit &limit) { return limits[&limit - kNumberLimits]; }
  static void check(const Late &late);

  const EntryInfo &info;
  RunTimeSizes found;
  SmallVector<Limits> limits;
  SmallVector<Late> lateOnes;
  llvm::DenseMap<Operation *, llvm::StringSet<>> seen;
};
} // namespace

void NumberLimits::add(Operation *op, const DimExpr &number, Type type) {
  const SizeLimit &limit = numberLimitOf(type), &widest = std::end(kNumberLimits)[-1];
  BindSizeOp binder = found.findLast(number, op->getBlock());
  bool isLate = binder && !info.atMost(number).constant() && limitsOf(limit).mayExceed(number);
  // A late number is computed in 64 bits when it is checked.
  Limits &atStart = limitsOf(isLate ? widest : limit);
  atStart.setOperation(op);
  atStart.add(number);
  if (isLate && &limit != &widest &&
      seen[binder].insert((stringifySizeUse(limit.use) + " " + number.str()).str()).second)
    lateOnes.push_back({binder, op->getLoc(), number, &limit});
}

void NumberLimits::check(const Late &late) {
  OpBuilder b(late.binder->getContext());
  b.setInsertionPointAfter(late.binder);
  Value number = sizeAs(b, late.location, late.number, b.getI64Type());
  double most = late.limit->most;
  Message message = misfitMessage(b, late.binder, *late.limit, late.number);
  auto insert = [&](Value isInRange) {
    CheckOp::create(b, late.location, isInRange, message, Failure::OutOfRange);
  };
  insert(LessEqualOp::create(b, late.location, number, scalarLike(b, number, most)));
  if (isNonNegative(late.number) != true)
    insert(GreaterEqualOp::create(b, late.location, number, scalarLike(b, number, -most)));
}

LogicalResult NumberLimits::appendTo(SmallVectorImpl<Attribute> &attributes) const {
  llvm::for_each(lateOnes, check);
  bool isLimited = true;
  for (const Limits &limit : limits)
    isLimited &= succeeded(limit.appendTo(attributes));
  return success(isLimited);
}

static LogicalResult limitSizes(EntryOp entry, const EntryInfo &info) {
  Limits memory(entry, info, kMemoryLimit);
  NumberLimits numbers(entry, info);
  for (Type type : entry.getArgumentTypes())
    memory.add(type);
  entry.walk([&](Operation *op) {
    memory.setOperation(op);
    for (Type type : op->getResultTypes())
      memory.add(type);
    for (NamedAttribute attribute : op->getAttrs()) {
      auto dims = dyn_cast<DimsAttr>(attribute.getValue());
      if (dims && limitOf(op->getName().stripDialect(), attribute.getName()) == AttrLimit::Memory)
        memory.add(dims);
    }
    if (auto numbering = dyn_cast<NumberingOpInterface>(op))
      for (auto [number, type] : numbering.getNumbers())
        if (!number.constant())
          numbers.add(op, number, type);
    for (const DimExpr &distance : distancesOf(op))
      if (!distance.constant())
        memory.add(distance);
  });
  SmallVector<Attribute> attributes;
  bool isLimited = succeeded(memory.appendTo(attributes));
  isLimited &= succeeded(numbers.appendTo(attributes));
  if (!attributes.empty())
    entry.setLimitsAttr(ArrayAttr::get(entry.getContext(), attributes));
  return success(isLimited);
}

namespace {
struct LimitSizesPass : tfc::impl::LimitSizesBase<LimitSizesPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::DenseMap<Type, bool> isLarge;
    bool failedOnce = false;
    module.walk([&](Operation *op) { failedOnce |= failed(checkSizes(op, isLarge)); });
    if (failedOnce)
      return signalPassFailure();
    FailureOr<ModelInfo> model = describeModel(module);
    if (failed(model))
      return signalPassFailure();
    for (auto entry : module.getOps<EntryOp>())
      if (failed(limitSizes(entry, model->infoOf(entry))))
        signalPassFailure();
  }
};
} // namespace
