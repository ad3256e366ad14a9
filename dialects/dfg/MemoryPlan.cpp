// The memory of values in planned entries, which the memory plan decides and the host function
// uses.

#include "dialects/dfg/MemoryPlan.h"
#include "dialects/dfg/MessageOps.h"
#include "dialects/dfg/SizeOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::dfg {

MemoryAttr memoryOf(LaunchOp launch, unsigned result) {
  ArrayAttr memory = launch.getMemoryAttr();
  return memory ? cast<MemoryAttr>(memory[result]) : MemoryAttr::inArena(launch.getContext());
}

static MemoryAttr memoryOf(OpResult result) {
  return memoryOf(cast<LaunchOp>(result.getOwner()), result.getResultNumber());
}

/// Returns true if the operation only reads its list operand, without changing or forwarding it.
static bool onlyReadsList(Operation *op) {
  return !op->hasTrait<OpTrait::IsTerminator>() && op->getNumRegions() == 0 &&
         llvm::none_of(op->getResultTypes(), llvm::IsaPred<ListType>);
}

bool isListView(Value list) {
  return list.getDefiningOp<ListUnstackOp>() && llvm::all_of(list.getUsers(), onlyReadsList);
}

Value rootOf(Value value) {
  while (true) {
    if (auto reshape = value.getDefiningOp<ReshapeOp>())
      value = reshape.getX();
    else if (isa<ListType>(value.getType()) && isListView(value))
      value = value.getDefiningOp<ListUnstackOp>().getX();
    else
      return value;
  }
}

bool readsVariables(Operation *op) {
  bool reads = false;
  forEachRead(op, [&](Value read) { reads |= rootOf(read).getDefiningOp<ReadOp>() != nullptr; });
  return reads;
}

Value storageOf(Value root) {
  while (auto launch = root.getDefiningOp<LaunchOp>()) {
    MemoryAttr memory = memoryOf(cast<OpResult>(root));
    if (memory.getKind() != MemoryKind::Operand)
      break;
    root = rootOf(launch.getInputs()[memory.getIndex()]);
  }
  return root;
}

/// Returns true if a root is in the single buffer of a carried value: the old value, or an
/// intermediate result of computing the next one.
static bool isInSingleBuffer(Value root, WhileOp loop, int64_t carried) {
  if (root == loop.getBodyBlock().getArgument(carried))
    return true;
  auto launch = root.getDefiningOp<LaunchOp>();
  if (!launch || launch->getParentOp() != loop)
    return false;
  return memoryOf(cast<OpResult>(root)) == MemoryAttr::inResult(loop.getContext(), carried);
}

/// Returns true if a root is in the memory of a variable: its old value, or an intermediate result
/// of computing the next one.
static bool isInVariable(Value root, FlatSymbolRefAttr variable) {
  if (auto read = root.getDefiningOp<ReadOp>())
    return read.getVariableAttr() == variable;
  return root.getDefiningOp<LaunchOp>() &&
         memoryOf(cast<OpResult>(root)) == MemoryAttr::inVariable(variable);
}

bool isWrittenOverOperand(LaunchOp launch, unsigned result) {
  MemoryAttr memory = memoryOf(launch, result);
  auto loop = dyn_cast<WhileOp>(launch->getParentOp());
  if (memory.getKind() == MemoryKind::Result && loop && hasSingleBuffer(loop, memory.getIndex()))
    return llvm::any_of(launch.getInputs(), [&](Value input) {
      return isInSingleBuffer(rootOf(input), loop, memory.getIndex());
    });
  if (memory.getKind() != MemoryKind::Variable)
    return memory.getKind() == MemoryKind::Operand;
  return llvm::any_of(launch.getInputs(), [&](Value input) {
    return isInVariable(rootOf(input), memory.getVariable());
  });
}

bool isInArena(Value root) {
  Value storage = storageOf(root);
  return storage.getDefiningOp<LaunchOp>() &&
         memoryOf(cast<OpResult>(storage)).getKind() == MemoryKind::Arena;
}

DimExpr sendBufferBytes(SendOp send) {
  constexpr int64_t kAlignment = 64;
  DimExpr bytes = bytesOf(send.getValue().getType()) + DimExpr(kAlignment - 1);
  return DimExpr::floorDiv(bytes, DimExpr(kAlignment)) * DimExpr(kAlignment);
}

void setSingleBuffers(WhileOp loop, ArrayRef<int64_t> carried) {
  DfgDialect::SingleBuffersAttrHelper helper(loop.getContext());
  helper.setAttr(loop, DenseI64ArrayAttr::get(loop.getContext(), carried));
}

bool hasSingleBuffer(WhileOp loop, unsigned carried) {
  DfgDialect::SingleBuffersAttrHelper helper(loop.getContext());
  DenseI64ArrayAttr single = helper.getAttr(loop);
  return single && llvm::is_contained(single.asArrayRef(), int64_t(carried));
}

bool isReadFromMemory(Value scalar) {
  return llvm::any_of(scalar.getUses(), [](OpOperand &use) { return !takesRegister(use); });
}

bool isRegister(Value value) {
  if (!isRegisterType(value.getType()))
    return false;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return !isa<EntryOp>(argument.getOwner()->getParentOp());
  Operation *producer = value.getDefiningOp();
  return isInRegister(producer) || producer->getNumRegions() > 0 ||
         isa<ListSizeOp, ReceiveOp>(producer);
}

SmallVector<AssignOp> copiedAtEnd(Block &block) {
  SmallVector<AssignOp> copies;
  for (auto assign : block.getOps<AssignOp>()) {
    if (!isInVariable(rootOf(assign.getValue()), assign.getVariableAttr()))
      copies.push_back(assign);
  }
  return copies;
}

SmallVector<ReadOp> savedBeforeCopies(Block &block) {
  llvm::SmallDenseSet<Attribute> changed;
  for (auto assign : block.getOps<AssignOp>())
    changed.insert(assign.getVariableAttr());
  llvm::SetVector<Operation *> saved;
  for (AssignOp assign : copiedAtEnd(block)) {
    auto read = rootOf(assign.getValue()).getDefiningOp<ReadOp>();
    if (read && changed.contains(read.getVariableAttr()))
      saved.insert(read);
  }
  return llvm::map_to_vector(saved, [](Operation *op) { return cast<ReadOp>(op); });
}

DimExpr launchSize(LaunchOp launch, AffineMapAttr size) {
  SmallVector<DimExpr> sizes = launch.getSizes().getExprs();
  // The launch was verified to pass every size of the ABI.
  return *sizeInLaunch(size.getValue().getResult(0), sizes);
}

bool isStep(Operation *op) {
  return !op->hasTrait<SourceRole>() && !op->hasTrait<AliasRole>() &&
         !op->hasTrait<OpTrait::IsTerminator>();
}

static bool isHostOp(Operation *op) {
  return !isStep(op) || op->hasTrait<StepRole>() || op->getNumRegions() > 0 || isInRegister(op) ||
         usesLists(op) || hasOrderedEffects(op);
}

LogicalResult checkSteps(Block &block) {
  llvm::SmallDenseSet<Attribute> seen;
  for (Operation &op : block) {
    if (!isHostOp(&op))
      return op.emitOpError("is not allowed in an entry whose memory is planned");
    if (isa<ReadOp, AssignOp>(op) && !isa<EntryOp>(block.getParentOp()))
      return op.emitOpError("expects to be outside of branches and loops");
    if (auto read = dyn_cast<ReadOp>(op); read && seen.contains(read.getVariableAttr()))
      return read.emitOpError("expects reads of ")
             << read.getVariableAttr() << " to precede its assignment";
    if (auto assign = dyn_cast<AssignOp>(op);
        assign && !seen.insert(assign.getVariableAttr()).second)
      return assign.emitOpError("expects one assignment of ") << assign.getVariableAttr();
  }
  return success();
}

/// A launch that writes to the memory of a fetch must compute the value of that fetch.
static LogicalResult checkFetches(LaunchOp launch) {
  auto entry = launch->getParentOfType<EntryOp>();
  Operation *end = entry.getBody().front().getTerminator();
  for (OpResult result : launch->getResults()) {
    MemoryAttr memory = memoryOf(result);
    if (memory.getKind() != MemoryKind::Fetch)
      continue;
    int64_t fetch = memory.getIndex();
    bool isFetched =
        fetch >= 0 && fetch < end->getNumOperands() && rootOf(end->getOperand(fetch)) == result;
    if (!isFetched)
      return launch.emitOpError("expects result ")
             << result.getResultNumber() << " to be fetch " << fetch << ", in whose memory it is";
  }
  return success();
}

LogicalResult checkAllSteps(EntryOp entry) {
  WalkResult result = entry.walk([](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (failed(checkSteps(block)))
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  result = entry.walk([](LaunchOp launch) {
    return failed(checkFetches(launch)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

int64_t elementBytes(Type elementType) {
  return llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
}

DimExpr bytesOf(Type tensor) {
  return elementCount(shapeOf(tensor)) * DimExpr(elementBytes(elementTypeOf(tensor)));
}

} // namespace tfc::dfg
