//===- Grouping.cpp - Assigning operations to kernels ---------------------===//
//
// Forms groups in program order, each operation with one of its producers or alone. The class
// decides two more questions: Merging.cpp merges groups later, and Splitting.cpp divides full ones.
//
//===----------------------------------------------------------------------===//

#include "compiler/fusion/Grouping.h"
#include "compiler/fusion/CodeSize.h"
#include "compiler/fusion/HostValues.h"
#include "compiler/fusion/StoredViews.h"
#include "dialects/dfg/ConvolutionOps.h"
#include "dialects/dfg/Devices.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::fusion {

//===----------------------------------------------------------------------===//
// Kinds of operations
//===----------------------------------------------------------------------===//

/// A search for a path that visits more operations than this counts as one that finds a path.
static constexpr size_t kMaxVisited = 4096;
/// Constants of up to this many elements are embedded in the code.
static constexpr int64_t kInlineConstantElements = 16;

/// Constants of up to this many elements are embedded where contractions transform tiles by them.
static constexpr int64_t kTransformElements = 4096;

/// Returns true for a constant with axes of rows and of columns, two each, that only contractions
/// read: as the transforms of Winograd's algorithm, it becomes code.
static bool isTransform(ConstantOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  return type.getRank() == 4 && type.getElementType().isF32() &&
         type.getNumElements() <= kTransformElements &&
         llvm::all_of(op->getUsers(), [&](Operation *user) {
           auto contract = dyn_cast<ContractOp>(user);
           return contract && contract.getLhs() == op.getResult();
         });
}

/// The most operations that widen bytes again for each reader.
static constexpr int kMaxWidening = 4;

static Shape withoutUnits(Type type) {
  Shape shape = shapeOf(type);
  llvm::erase_if(shape, [](const DimExpr &size) { return size.isConstant(1); });
  return shape;
}

/// A reshape that adds and removes axes of size 1 is an access map; any other is another view of a
/// buffer, which costs the host function nothing.
static bool isUnitReshape(ReshapeOp op) {
  return withoutUnits(op.getX().getType()) == withoutUnits(op.getType());
}

bool canShareKernel(Operation *a, Operation *b) {
  return a->getAttr(kDeviceAttr) == b->getAttr(kDeviceAttr) &&
         a->getAttr(kEpochAttr) == b->getAttr(kEpochAttr);
}

void placeLike(Operation *other, Operation *op) {
  copyPlacement(other, op);
  if (Attribute epoch = other->getAttr(kEpochAttr))
    op->setAttr(kEpochAttr, epoch);
}

SmallVector<Operation *> inOrder(ArrayRef<Operation *> ops) {
  SmallVector<Operation *> result(ops);
  llvm::sort(result, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return result;
}

/// Returns true if the elements are computed from bytes in a few steps with constants, such as
/// dequantised ones: bytes are what to store.
static bool isWidened(Operation *op, int depth) {
  if (!isa<ScalarOpInterface>(op) || depth > kMaxWidening)
    return false;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (type.getElementType().getIntOrFloatBitWidth() <= 8)
    return false;
  Value wide;
  for (Value operand : op->getOperands()) {
    auto constant = operand.getDefiningOp<ConstantOp>();
    if (constant && cast<RankedTensorType>(operand.getType()).getRank() == 0)
      continue;
    if (wide || cast<RankedTensorType>(operand.getType()).getShape() != type.getShape())
      return false;
    wide = operand;
  }
  if (!wide)
    return false;
  Type from = getElementTypeOrSelf(wide.getType());
  if (isa<IntegerType>(from) && from.getIntOrFloatBitWidth() == 8)
    return isa<CastOp>(op);
  return wide.getDefiningOp() && isWidened(wide.getDefiningOp(), depth + 1);
}

/// Returns true for such values if nothing but elementwise operations and, as factors, products
/// read them, which convert bytes where they read them.
static bool isReadFromBytes(Operation *op) {
  return isWidened(op, 0) && llvm::all_of(op->getUsers(), [&](Operation *user) {
           bool isProduct = user->hasTrait<ContractionRole>() && isa<CastOp>(op) &&
                            getElementTypeOrSelf(op->getOperand(0)).getIntOrFloatBitWidth() == 8;
           return (isProduct || isa<ScalarOpInterface>(user)) && user->getBlock() == op->getBlock();
         });
}

bool isView(Operation *op, int depth) {
  if (isInRegister(op) || isStoredView(op))
    return false;
  if (op->hasTrait<ViewRole>())
    return true;
  // A scalar that depends only on sizes and constants, such as 1 / count.
  if (isa<ScalarOpInterface>(op) && depth < 4 &&
      cast<RankedTensorType>(op->getResult(0).getType()).getRank() == 0)
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      return operand.getDefiningOp() && isView(operand.getDefiningOp(), depth + 1);
    });
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return isUnitReshape(reshape);
  // Constants with fewer bits are converted where they are read.
  if (auto cast = dyn_cast<CastOp>(op))
    if (isa_and_nonnull<ConstantOp>(cast.getX().getDefiningOp()))
      return true;
  if (depth == 0 && isReadFromBytes(op))
    return true;
  auto constant = dyn_cast<ConstantOp>(op);
  if (!constant)
    return false;
  auto value = dyn_cast<DenseElementsAttr>(constant.getValue());
  return value && (value.isSplat() || value.getNumElements() <= kInlineConstantElements ||
                   isTransform(constant));
}

bool Grouping::staysInHost(Operation *op) {
  if (op->getNumRegions() > 0 || !isMemoryEffectFree(op) || op->hasTrait<OpTrait::IsTerminator>() ||
      isInRegister(op) || usesLists(op))
    return true;
  // A view whose value the host needs is computed by a kernel, except for reshapes and constants,
  // which are in memory already.
  return (op->hasTrait<AliasRole>() || isa<ConstantOp>(op)) && !isView(op);
}

/// Returns true if the host function reads the value from memory.
static bool isReadByHost(OpOperand &use) {
  // The host computes constants and sizes itself if it needs them in registers.
  bool isScalar = isHostConstant(use.get().getDefiningOp());
  return Grouping::staysInHost(use.getOwner()) && !(isScalar && takesRegister(use));
}

/// Returns true if an operation on another device reads the result: it is sent.
static bool isReadElsewhere(Operation *op) {
  return isOnDevice(op) && llvm::any_of(op->getUsers(), [&](Operation *user) {
           return isOnDevice(user) && user->getAttr(kDeviceAttr) != op->getAttr(kDeviceAttr);
         });
}

RepeatedOps::RepeatedOps(Block &block) {
  for (Operation &op : block)
    if (isView(&op) && llvm::none_of(op.getUses(), isReadByHost) && !isReadElsewhere(&op))
      ops.insert(&op);
}

static bool isParallel(Operation *op) {
  return isa<ScalarOpInterface>(op) || op->hasTrait<ParallelRole>() || isView(op);
}

/// Returns the axes that a reduction removes.
static SmallVector<int64_t> axesOf(Operation *op) {
  int64_t rank = cast<RankedTensorType>(op->getOperand(0).getType()).getRank();
  return reducedAxes(op->getAttrOfType<DenseI64ArrayAttr>("axis"), rank);
}

bool isRowReduction(Operation *op) {
  SmallVector<int64_t> axes = axesOf(op);
  int64_t rank = cast<RankedTensorType>(op->getOperand(0).getType()).getRank();
  if (axes.empty() || int64_t(axes.size()) == rank)
    return false;
  return axes.front() == rank - int64_t(axes.size());
}

static Shape rowsOf(Operation *reduction) {
  Shape shape = shapeOf(reduction->getOperand(0).getType());
  shape.truncate(shape.size() - axesOf(reduction).size());
  return shape;
}

//===----------------------------------------------------------------------===//
// Grouping
//===----------------------------------------------------------------------===//

Grouping::Grouping(Block &block, const RunTimeSizes &sizes, const DenseSet<Operation *> &inputs,
                   const AttentionKernels &attention, bool fuse)
    : repeated(block), sizes(sizes), inputs(inputs), attention(attention), fuse(fuse) {
  unsigned position = 0;
  Operation *lastEffect = nullptr;
  for (Operation &op : block) {
    positions[&op] = position++;
    if (!hasOrderedEffects(&op))
      continue;
    if (lastEffect)
      effects[&op] = lastEffect;
    lastEffect = &op;
  }
  for (Operation &op : block)
    visit(&op);
  if (!fuse)
    return;
  buildDependences(block);
  mergeAll();
}

void Grouping::forEachPrevious(Operation *op, function_ref<void(Operation *)> visit) const {
  if (Operation *effect = effects.lookup(op))
    visit(effect);
  if (sizes.empty())
    return;
  SmallVector<Operation *> work{op};
  while (!work.empty()) {
    Operation *reader = work.pop_back_val();
    sizes.forEachPrerequisite(reader, [&](Operation *earlier) {
      if (earlier->getBlock() == op->getBlock())
        visit(earlier);
    });
    forEachRead(reader, [&](Value read) {
      if (Operation *producer = read.getDefiningOp(); producer && isRepeated(producer))
        work.push_back(producer);
    });
  }
}

void Grouping::forEachSource(Operation *op, function_ref<void(Value)> visit) const {
  llvm::SmallDenseSet<Operation *> seen;
  SmallVector<Value> work;
  auto pushReads = [&](Operation *reader) {
    size_t first = work.size();
    forEachRead(reader, [&](Value read) { work.push_back(read); });
    std::reverse(work.begin() + first, work.end());
  };
  pushReads(op);
  while (!work.empty()) {
    Value value = work.pop_back_val();
    Operation *producer = value.getDefiningOp();
    if (!producer || !isRepeated(producer))
      visit(value);
    else if (seen.insert(producer).second)
      pushReads(producer);
  }
}

int Grouping::groupOf(Operation *op) const {
  auto it = groupIds.find(op);
  return it == groupIds.end() ? -1 : it->second;
}

void Grouping::visit(Operation *op) {
  if (staysInHost(op) || isRepeated(op)) {
    nodes[op] = order.append();
    return;
  }
  if (auto kernel = attention.find(op); kernel != attention.end())
    return addToAttention(op, kernel->second);
  int home = fuse ? findHome(op) : -1;
  if (home < 0)
    return found(op);
  Group &group = groups[home];
  if (op->hasTrait<ReductionRole>() && isRowReduction(op)) {
    group.root = Root::Rows;
    group.full = shapeOf(op->getOperand(0).getType());
    group.space = rowsOf(op);
  } else if (op->hasTrait<ReductionRole>()) {
    group.root = Root::Reduction;
    group.space = shapeOf(op->getResult(0).getType());
  }
  add(group, op);
}

/// Adds an operation to the kernel that was chosen for it, unless another path comes back to that.
void Grouping::addToAttention(Operation *op, unsigned kernel) {
  auto [place, isNew] = attentionGroups.try_emplace(kernel, -1);
  if (!isNew && staysConvex(place->second, op))
    return add(groups[place->second], op);
  place->second = int(groups.size());
  found(op);
  groups.back().root = Root::Attention;
}

void Grouping::add(Group &group, Operation *op) {
  group.ops.push_back(op);
  group.codeSize += codeSizeOf(op);
  groupIds[op] = &group - groups.data();
}

void Grouping::found(Operation *op) {
  Group &group = groups.emplace_back();
  group.node = order.append();
  group.space = shapeOf(op->getResult(0).getType());
  if (op->hasTrait<ContractionRole>()) {
    group.root = Root::Contraction;
  } else if (op->hasTrait<ReductionRole>() && isRowReduction(op)) {
    group.root = Root::Rows;
    group.full = shapeOf(op->getOperand(0).getType());
    group.space = rowsOf(op);
  } else if (op->hasTrait<ReductionRole>()) {
    group.root = Root::Reduction;
  } else {
    group.root = isParallel(op) ? Root::Parallel : Root::Opaque;
  }
  add(group, op);
}

bool Grouping::movesElements(Operation *op) {
  return op->hasTrait<ParallelRole>() || isa<SliceOp, TransposeOp>(op);
}

/// Returns the groups whose values `op` reads, directly or through repeated operations that do not
/// move elements; the latest comes first.
SmallVector<int> Grouping::producers(Operation *op) {
  SmallVector<int> result;
  SmallVector<Operation *> work{op};
  while (!work.empty()) {
    Operation *reader = work.pop_back_val();
    if (movesElements(reader))
      continue;
    for (Value operand : reader->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (!producer)
        continue;
      if (int group = groupOf(producer); group >= 0)
        result.push_back(group);
      else if (isRepeated(producer))
        work.push_back(producer);
    }
  }
  llvm::sort(result, std::greater<int>());
  result.erase(llvm::unique(result), result.end());
  return result;
}

int Grouping::findHome(Operation *op) {
  if (op->hasTrait<ContractionRole>() || op->getNumResults() != 1)
    return -1;
  bool isReduction = op->hasTrait<ReductionRole>();
  if (!isReduction && !isParallel(op))
    return -1;
  for (int candidate : producers(op)) {
    const Group &group = groups[candidate];
    if ((inputs.contains(op) && !inputs.contains(group.ops.front())) ||
        !canShareKernel(group.ops.front(), op))
      continue;
    bool fits = isReduction ? acceptsReduction(group, op) : accepts(group, op);
    if (!fits || !staysConvex(candidate, op))
      continue;
    if (group.codeSize + codeSizeOf(op) <= kMaxCodeSize)
      return candidate;
    if (group.root == Root::Parallel)
      return split(candidate);
  }
  return -1;
}

/// Returns true if an elementwise operation has the iteration space of the group.
bool Grouping::accepts(const Group &group, Operation *op) {
  Shape shape = shapeOf(op->getResult(0).getType());
  if (group.root == Root::Opaque || group.root == Root::Attention)
    return false;
  if (group.root == Root::Contraction && !isa<ScalarOpInterface>(op))
    return false;
  if (shape == group.space)
    return true;
  if (group.root != Root::Rows)
    return false;
  Shape kept = group.space;
  kept.resize(group.full.size(), DimExpr(1));
  return shape == group.full || shape == kept;
}

bool Grouping::acceptsReduction(const Group &group, Operation *op) {
  Shape shape = shapeOf(op->getOperand(0).getType());
  if (isRowReduction(op)) {
    if (group.root == Root::Rows)
      return shape == group.full && rowsOf(op) == group.space;
    return group.root == Root::Parallel && shape == group.space;
  }
  // Other reductions iterate in a different order: they are fused only with producers without other
  // readers.
  return group.root == Root::Parallel && shape == group.space && isReadBy(group, op);
}

/// Returns true if `only` is the only reader of the group outside of it.
bool Grouping::isReadBy(const Group &group, Operation *only) {
  int id = groupOf(group.ops.front());
  SmallVector<Operation *> work(group.ops);
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    for (Operation *user : op->getUsers()) {
      if (user == only || groupOf(user) == id)
        continue;
      if (user->getBlock() != op->getBlock() || !isRepeated(user))
        return false;
      work.push_back(user);
    }
  }
  return true;
}

int Grouping::nodeOf(Operation *op) const {
  int group = groupOf(op);
  return group < 0 ? nodes.lookup(op) : groups[group].node;
}

/// Returns true if no operand of `op` outside the group depends on the group, so that all of them
/// can be computed before the group.
bool Grouping::staysConvex(int group, Operation *op) {
  SmallVector<Operation *> sources;
  forEachPrevious(op, [&](Operation *other) { sources.push_back(other); });
  // Values of the group itself, also through repeated operations, do not leave it.
  llvm::SmallDenseSet<Operation *> seenRepeated;
  SmallVector<Operation *> readers{op};
  while (!readers.empty()) {
    for (Value operand : readers.pop_back_val()->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (!producer || groupOf(producer) == group)
        continue;
      if (!isRepeated(producer))
        sources.push_back(producer);
      else if (seenRepeated.insert(producer).second)
        readers.push_back(producer);
    }
  }
  return moveBefore(sources, group);
}

/// Moves the kernels of `sources`, and those that they need, before the group in the order of
/// kernels. Returns false if one of them depends on the group.
bool Grouping::moveBefore(ArrayRef<Operation *> sources, int group) {
  Block *block = groups[group].ops.front()->getBlock();
  SmallVector<Operation *> work;
  SmallVector<int> later;
  llvm::SmallDenseSet<int> seen;
  auto push = [&](Operation *source) {
    if (source->getBlock() != block)
      return;
    int node = nodeOf(source);
    if (order.isBefore(node, groups[group].node) || !seen.insert(node).second)
      return;
    later.push_back(node);
    work.push_back(source);
  };
  llvm::for_each(sources, push);
  while (!work.empty()) {
    Operation *source = work.pop_back_val();
    int id = groupOf(source);
    ++visits;
    if (id == group || seen.size() > kMaxVisited)
      return false;
    // A kernel needs the operands of all its operations before it starts.
    ArrayRef<Operation *> siblings = id < 0 ? ArrayRef(source) : ArrayRef(groups[id].ops);
    for (Operation *sibling : siblings) {
      forEachPrevious(sibling, push);
      forEachRead(sibling, [&](Value read) {
        if (read.getDefiningOp())
          push(read.getDefiningOp());
      });
    }
  }
  order.moveBefore(later, groups[group].node);
  return true;
}

} // namespace tfc::fusion
