//===- StoredViews.cpp - Views that kernels store -------------------------===//
//
// Decides which views are copied to memory, although a kernel could read through them. These are
// rules about the cost of access maps, independent of how kernels are formed.
//
//===----------------------------------------------------------------------===//

#include "compiler/fusion/StoredViews.h"
#include "compiler/fusion/HostValues.h"
#include "dialects/dfg/ConvolutionOps.h"
#include "dialects/dfg/Devices.h"
#include "dialects/dfg/Labels.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::fusion {

static constexpr llvm::StringLiteral kStored = DfgDialect::StoredAttrHelper::getNameStr();

static void storeView(Operation *op) { op->setAttr(kStored, UnitAttr::get(op->getContext())); }
bool isStoredView(Operation *op) { return op->hasAttr(kStored); }

/// Returns the view that makes a value for `reader`, or null: a value that another device sends is
/// in memory, also where entries are not divided.
static Operation *viewFor(Operation *reader, Value value) {
  Operation *view = value.getDefiningOp();
  bool isSent =
      view && isOnDevice(view) && view->getAttr(kDeviceAttr) != reader->getAttr(kDeviceAttr);
  return view && !isSent && isView(view) ? view : nullptr;
}

//===----------------------------------------------------------------------===//
// Factors of products
//===----------------------------------------------------------------------===//

/// A factor is stored if the product reads each of its elements at least this many times.
static constexpr uint64_t kManyReads = 16;
/// The same for a first factor in columns: a transposed copy takes as long as some 10 reads, and
/// rows save a fifteenth of the time of the product, which packs columns for each block of rows and
/// in blocks along the summed axes, if it has this many rows and steps.
static constexpr uint64_t kColumnReads = 384, kColumnRows = 128, kColumnSteps = 256;

/// Which axes of a tensor have some property.
using AxisSet = SmallVector<bool>;

namespace {
/// How a product uses one of its factors.
struct FactorUse {
  AxisSet summed; // for each axis of the factor
  /// How often the product reads each element; saturated, and many if a size is not known.
  uint64_t reads = 1;
};
} // namespace

static uint64_t elementsOf(ArrayRef<DimExpr> sizes) {
  uint64_t elements = 1;
  for (const DimExpr &size : sizes)
    elements = llvm::SaturatingMultiply<uint64_t>(elements, size.constant().value_or(kManyReads));
  return elements;
}

/// A factor is read once for each element of the result along the axes that only the other has.
static FactorUse useOf(ContractOp product, unsigned operand) {
  Einsum einsum;
  (void)readEinsum(std::nullopt, "contract", product.getLabels(), product->getOperandTypes(),
                   /*takesDiagonals=*/false, einsum);
  FactorUse use;
  const LabelNames &own = einsum.inputs[operand];
  for (const std::string &name : own)
    use.summed.push_back(!llvm::is_contained(einsum.output, name));
  Shape others;
  for (const std::string &name : einsum.output)
    if (!llvm::is_contained(own, name))
      others.push_back(einsum.sizes.lookup(name));
  use.reads = elementsOf(others);
  return use;
}

/// Axes of a batch that the factor broadcasts are not counted.
static FactorUse useOf(MatmulOp product, unsigned operand) {
  Shape result = shapeOf(product.getType());
  size_t rank = shapeOf(product->getOperand(operand).getType()).size();
  bool isTransposed = operand == 0 ? product.getTransposeLhs() : product.getTransposeRhs();
  FactorUse use;
  use.summed.assign(rank, false);
  use.summed[(operand == 0) != isTransposed ? rank - 1 : rank - 2] = true;
  use.reads = elementsOf(operand == 0 ? result.back() : result[result.size() - 2]);
  return use;
}

static FactorUse useOf(Operation *product, unsigned operand) {
  if (auto contract = dyn_cast<ContractOp>(product))
    return useOf(contract, operand);
  return useOf(cast<MatmulOp>(product), operand);
}

/// The axes of the operand of a slice, transpose or view as another shape that correspond to `axes`
/// of its result.
static AxisSet throughView(Operation *view, const AxisSet &axes) {
  AxisSet source(shapeOf(view->getOperand(0).getType()).size(), false);
  if (auto transpose = dyn_cast<TransposeOp>(view)) {
    for (auto [axis, from] : llvm::enumerate(transpose.getPermutationVector()))
      source[from] = axes[axis];
    return source;
  }
  if (isa<SliceOp>(view))
    return axes;
  // Axes of size 1 come and go.
  SmallVector<bool> kept;
  for (auto [size, isMember] : llvm::zip_equal(shapeOf(view->getResult(0).getType()), axes))
    if (!size.isConstant(1))
      kept.push_back(isMember);
  auto next = kept.begin();
  for (auto [axis, size] : llvm::enumerate(shapeOf(view->getOperand(0).getType())))
    if (!size.isConstant(1))
      source[axis] = *next++;
  return source;
}

static bool hasSteps(SliceOp slice, const AxisSet &axes) {
  Shape shape = shapeOf(slice.getType());
  std::optional<ArrayRef<int64_t>> steps = slice.getSteps();
  return steps && llvm::any_of(llvm::seq(shape.size()), [&](size_t axis) {
           return axes[axis] && (*steps)[axis] != 1 && !shape[axis].isConstant(1);
         });
}

/// Returns true if a slice that `product` reads through `view` has steps along one of `axes`, and
/// no view repeats elements, such as windows: their copy would be larger than what they view.
static bool hasSteps(Operation *product, Operation *view, AxisSet axes) {
  bool found = false;
  for (; view; view = viewFor(product, view->getOperand(0))) {
    if (!view->hasTrait<SelectionRole>())
      return false;
    auto slice = dyn_cast<SliceOp>(view);
    found |= slice && hasSteps(slice, axes);
    axes = throughView(view, axes);
  }
  return found;
}

/// A reshape of a stored tensor costs nothing.
static Operation *belowReshapes(Operation *view) {
  while (isa<ReshapeOp>(view))
    view = view->getOperand(0).getDefiningOp();
  return view;
}

/// With a step, the summed axes are not one loop, over which panels of the factor would be packed
/// once: each block of rows gathers the factor again. This applies to the kernels of transposed
/// convolutions, which are reversed.
void storeSteppedFactors(EntryOp entry) {
  entry.walk([](Operation *op) {
    if (!isa<ContractOp, MatmulOp>(op))
      return;
    for (OpOperand &factor : op->getOpOperands()) {
      Operation *view = viewFor(op, factor.get());
      if (!view)
        continue;
      FactorUse use = useOf(op, factor.getOperandNumber());
      if (use.reads >= kManyReads && hasSteps(op, view, use.summed))
        storeView(belowReshapes(view));
    }
  });
}

/// Returns true if no view below `value` repeats elements.
static bool selects(Operation *product, Value value) {
  Operation *view = viewFor(product, value);
  for (; view; view = viewFor(product, view->getOperand(0)))
    if (!view->hasTrait<SelectionRole>())
      return false;
  return true;
}

/// Returns the permutation that makes the summed axes of a factor in columns the last ones, or none
/// if it is in rows, or if reading it in columns costs little.
static SmallVector<int64_t> rowOrder(Operation *product, OpOperand &factor) {
  FactorUse use = useOf(product, factor.getOperandNumber());
  Shape shape = shapeOf(factor.get().getType());
  if (use.summed.empty() || use.summed.back() || use.reads < kColumnReads)
    return {};
  uint64_t rows = shape.back().constant().value_or(kColumnRows), steps = 1;
  for (auto [size, isSummed] : llvm::zip_equal(shape, use.summed))
    if (isSummed)
      steps *= size.constant().value_or(kColumnSteps);
  if (rows < kColumnRows || steps < kColumnSteps || !selects(product, factor.get()))
    return {};
  SmallVector<int64_t> order;
  for (bool isSummed : {false, true})
    for (auto [axis, isSummedAxis] : llvm::enumerate(use.summed))
      if (isSummedAxis == isSummed)
        order.push_back(axis);
  return order;
}

/// Returns a stored copy with the axes in that order: the one of an earlier product, if there is.
static TransposeOp storedCopy(Operation *product, Value factor, ArrayRef<int64_t> order) {
  for (Operation *user : factor.getUsers())
    if (auto copy = dyn_cast<TransposeOp>(user))
      if (isStoredView(copy) && copy->getBlock() == product->getBlock() &&
          copy->isBeforeInBlock(product) && ArrayRef(copy.getPermutationVector()) == order)
        return copy;
  OpBuilder b(product);
  auto copy = TransposeOp::create(b, product->getLoc(), factor, b.getDenseI64ArrayAttr(order));
  if (Attribute device = product->getAttr(kDeviceAttr))
    copy->setAttr(kDeviceAttr, device);
  storeView(copy);
  return copy;
}

void storeTransposedFactors(EntryOp entry) {
  SmallVector<Operation *> products;
  entry.walk([&](Operation *op) {
    if (isa<ContractOp, MatmulOp>(op) && isa<FloatType>(getElementTypeOrSelf(op->getResult(0))))
      products.push_back(op);
  });
  for (Operation *product : products) {
    // Lanes run along the last axis of the result, which the second factor has.
    unsigned first = 0;
    if (auto contract = dyn_cast<ContractOp>(product)) {
      Einsum einsum;
      (void)readEinsum(std::nullopt, "contract", contract.getLabels(), product->getOperandTypes(),
                       /*takesDiagonals=*/false, einsum);
      if (einsum.output.empty())
        continue;
      first = llvm::is_contained(einsum.inputs[0], einsum.output.back()) ? 1 : 0;
    }
    OpOperand &factor = product->getOpOperand(first);
    SmallVector<int64_t> order = rowOrder(product, factor);
    if (order.empty())
      continue;
    // The product reads the copy through a view, as if it were in columns.
    TransposeOp copy = storedCopy(product, factor.get(), order);
    SmallVector<int64_t> inverse(order.size());
    for (auto [position, axis] : llvm::enumerate(order))
      inverse[axis] = position;
    OpBuilder b(product);
    auto view = TransposeOp::create(b, product->getLoc(), copy, b.getDenseI64ArrayAttr(inverse));
    if (Attribute device = product->getAttr(kDeviceAttr))
      view->setAttr(kDeviceAttr, device);
    factor.set(view);
  }
}

//===----------------------------------------------------------------------===//
// Chains of views
//===----------------------------------------------------------------------===//

/// A view of this many others is stored: an index is computed through all of them.
static constexpr int kMaxViews = 16;

void storeDeepViews(Block &block) {
  DenseMap<Operation *, int> depths;
  for (Operation &op : block) {
    if (op.getNumOperands() == 0 || !isView(&op))
      continue;
    int depth = 1;
    for (Value operand : op.getOperands())
      if (Operation *producer = viewFor(&op, operand))
        depth = std::max(depth, depths.lookup(producer) + 1);
    if (depth > kMaxViews)
      storeView(&op);
    else
      depths[&op] = depth;
  }
}

} // namespace tfc::fusion
