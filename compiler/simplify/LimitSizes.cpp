//===- LimitSizes.cpp - Tensors that no memory holds ----------------------===//
//
// Stands where all tensors of an entry are known, with those of gradients and
// of the parts of composites, and none has gone into a kernel yet.
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/Model.h"
#include "compiler/simplify/Passes.h"
#include "dialects/dfg/Dfg.h"
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
  return isa_and_present<DfgDialect>(op->getDialect())
             ? dfg::checkSizes(op->getLoc(), name, op->getAttrs())
             : success();
}

namespace {
/// The sizes of an entry that its bounds do not limit.
class Limits {
public:
  explicit Limits(const EntryInfo &info) : info(info) {}

  void add(Type type);
  void add(Attribute attribute);
  void add(const DimExpr &size);
  ArrayRef<DimExpr> get() const { return sizes; }

private:
  const EntryInfo &info;
  SmallVector<DimExpr> sizes;
  llvm::DenseSet<Attribute> seen;
  llvm::DenseSet<Type> seenTypes;
  llvm::StringSet<> texts;
};
} // namespace

void Limits::add(const DimExpr &size) {
  DimExpr most = info.atMost(size);
  auto largest = [&](StringRef name) -> uint64_t {
    return info.boundsOf(name).second.value_or(INT64_MAX);
  };
  if (largestMagnitude(most, largest) > uint64_t(kMaxTensorBytes) &&
      texts.insert(most.str()).second)
    sizes.push_back(most);
}

void Limits::add(Type type) {
  if (auto list = dyn_cast<ListType>(type))
    type = list.getElementType();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.hasStaticShape() || !seenTypes.insert(type).second)
    return;
  add(byteCount(tensor));
  // Another axis may have no elements.
  if (tensor.getNumDynamicDims() > 1)
    for (const DimExpr &size : shapeOf(tensor))
      add(size);
}

void Limits::add(Attribute attribute) {
  auto dims = dyn_cast<DimsAttr>(attribute);
  if (!dims || !seen.insert(dims).second)
    return;
  for (const DimExpr &size : dims.getExprs())
    if (!size.constant())
      add(size);
}

/// How far the elements that an operation puts somewhere, or takes, may be from each other: what
/// its code computes beside the sizes in types and attributes.
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

static void limitSizes(EntryOp entry, const EntryInfo &info) {
  Limits limits(info);
  for (Type type : entry.getArgumentTypes())
    limits.add(type);
  entry.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      limits.add(type);
    for (NamedAttribute attribute : op->getAttrs())
      limits.add(attribute.getValue());
    for (const DimExpr &distance : distancesOf(op))
      if (!distance.constant())
        limits.add(distance);
  });
  if (!limits.get().empty())
    entry->setAttr(kLimitsAttr, DimsAttr::get(entry.getContext(), limits.get()));
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
    auto info = model->entries.begin();
    for (auto entry : module.getOps<EntryOp>())
      limitSizes(entry, entry.getInitializer() ? *model->init : *info++);
  }
};
} // namespace
