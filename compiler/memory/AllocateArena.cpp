// Writes arena offsets and chunk numbers to the operations of planned entries. Runs after kernels
// have been generated, because the arena holds their scratch memory.

#include "compiler/memory/Arena.h"
#include "compiler/memory/Lists.h"
#include "compiler/memory/Passes.h"
#include "dialects/dfg/MemoryPlan.h"
#include "dialects/rt/Rt.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;
using namespace tfc::memory;

namespace tfc {
#define GEN_PASS_DEF_ALLOCATEARENA
#include "compiler/memory/Passes.h.inc"
} // namespace tfc

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static rt::SlotAttr toAttr(Arena::Slot slot, MLIRContext *context) {
  return rt::SlotAttr::get(context, slot.region, slot.offset);
}

/// Sets an attribute with an element for each result, unless none of the results has memory.
static void setMemory(Operation *op, StringRef name, function_ref<Attribute(Value)> memoryOf) {
  SmallVector<Attribute> memory;
  bool isNeeded = false;
  for (Value result : op->getResults()) {
    Attribute own = memoryOf(result);
    isNeeded |= bool(own);
    memory.push_back(own ? own : UnitAttr::get(op->getContext()));
  }
  op->removeAttr(name);
  if (isNeeded)
    op->setAttr(name, ArrayAttr::get(op->getContext(), memory));
}

static void setMemory(Operation *op, const Arena &arena, const ListPlan &lists) {
  MLIRContext *context = op->getContext();
  setMemory(op, rt::kMemoryAttr, [&](Value result) -> Attribute {
    if (std::optional<Arena::Slot> slot = arena.slotOf(result))
      return toAttr(*slot, context);
    if (std::optional<unsigned> chunk = lists.chunkOf(result))
      return rt::ChunkAttr::get(context, *chunk);
    return {};
  });
  if (isa<WhileOp>(op))
    setMemory(op, rt::kAlternateAttr, [&](Value result) -> Attribute {
      std::optional<Arena::Slot> slot = arena.otherSlotOf(result);
      return slot ? toAttr(*slot, context) : Attribute();
    });
  if (!isa<LaunchOp, SendOp>(op))
    return;
  op->removeAttr(rt::kScratchAttr);
  if (std::optional<Arena::Slot> slot = arena.scratchOf(op))
    op->setAttr(rt::kScratchAttr, toAttr(*slot, context));
}

static void setRegions(EntryOp entry, const Arena &arena, const ListPlan &lists) {
  MLIRContext *context = entry.getContext();
  SmallVector<int64_t> counts;
  SmallVector<DimExpr> units;
  for (const Arena::Region &region : arena.getRegions()) {
    counts.push_back(region.units);
    units.push_back(region.unit);
  }
  entry->setAttr(rt::kArenaAttr,
                 rt::ArenaAttr::get(context, counts, DimsAttr::get(context, units)));
  entry->removeAttr(rt::kTapesAttr);
  SmallVector<Attribute> tapes;
  for (TapeOp tape : lists.getTapes())
    tapes.push_back(FlatSymbolRefAttr::get(tape));
  if (!tapes.empty())
    entry->setAttr(rt::kTapesAttr, ArrayAttr::get(context, tapes));
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Checks that launched kernels exist; they declare how much scratch memory they need.
static LogicalResult checkKernels(EntryOp entry, SymbolTable &symbols) {
  WalkResult known = entry.walk([&](LaunchOp launch) {
    if (symbols.lookup(launch.getKernel()))
      return WalkResult::advance();
    launch.emitOpError("expects ") << launch.getKernelAttr() << " to exist";
    return WalkResult::interrupt();
  });
  return failure(known.wasInterrupted());
}

namespace {
struct AllocateArenaPass : tfc::impl::AllocateArenaBase<AllocateArenaPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<ModelInfo> model = describeModel(module);
    if (failed(model))
      return signalPassFailure();
    SymbolTable symbols(module);
    for (auto entry : module.getOps<EntryOp>())
      if (failed(allocate(entry, model->infoOf(entry), symbols)))
        return signalPassFailure();
  }

private:
  LogicalResult allocate(EntryOp entry, const EntryInfo &info, SymbolTable &symbols) {
    if (failed(checkKernels(entry, symbols)) || failed(checkAllSteps(entry)))
      return failure();
    Arena arena(entry, info, symbols);
    if (arena.isTooLarge())
      return entry.emitError() << "the values of '" << info.name
                               << "' do not fit in memory for the largest sizes that its bounds "
                                  "allow [too-large]";
    ListPlan lists(entry);
    entry.getBody().walk([&](Operation *op) { setMemory(op, arena, lists); });
    setRegions(entry, arena, lists);
    return success();
  }
};
} // namespace
