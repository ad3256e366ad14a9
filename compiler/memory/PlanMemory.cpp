// Orders launches and chooses where their results go. Runs before kernels are generated, because a
// kernel that overwrites an operand is compiled differently. The arena is laid out after that, when
// the kernels' scratch memory is known (AllocateArena.cpp).

#include "compiler/memory/Order.h"
#include "compiler/memory/Passes.h"
#include "dialects/dfg/MemoryPlan.h"
#include "dialects/dfg/SizeOps.h"
#include "dialects/kernel/Kernel.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tfc::dfg;
using namespace tfc::memory;
namespace kernel = tfc::kernel;

namespace tfc {
#define GEN_PASS_DEF_PLANMEMORY
#include "compiler/memory/Passes.h.inc"
} // namespace tfc

/// Estimates a size for comparisons between values; a name without a bound counts as 256.
static int64_t estimate(const DimExpr &size, DictionaryAttr bounds) {
  return size
      .evaluate([&](StringRef name) -> std::optional<int64_t> {
        auto bound = bounds ? bounds.getAs<IntegerAttr>(name) : IntegerAttr();
        return bound ? bound.getInt() : 256;
      })
      .value_or(0);
}

namespace {
/// A launch and the operands that it could overwrite.
struct LaunchPlan {
  LaunchOp op;
  SmallVector<MemoryAttr> memory;
  /// Results that must overwrite an operand because both have the same fixed memory: (result,
  /// operand).
  SmallVector<std::pair<unsigned, unsigned>> forced;
  /// Results that could overwrite an operand in the arena; dropped if launches of the kernel
  /// disagree.
  SmallVector<std::pair<unsigned, unsigned>> wished;

  explicit LaunchPlan(LaunchOp op)
      : op(op), memory(op.getNumResults(), MemoryAttr::inArena(op.getContext())) {}

  bool isInArena(unsigned result) const { return memory[result].getKind() == MemoryKind::Arena; }

  bool takes(unsigned operand) const {
    auto isIt = [&](auto &pair) { return pair.second == operand; };
    return llvm::any_of(forced, isIt) || llvm::any_of(wished, isIt);
  }
};

/// Chooses order and memory for one block of an entry: its body, or a region of a branch or loop.
class BlockPlanner {
public:
  BlockPlanner(EntryOp entry, Block &block, const RunTimeSizes &sizes, SymbolTable &symbols)
      : entry(entry), block(block), sizes(sizes), symbols(symbols) {}

  LogicalResult run();
  auto &getLaunches() { return plans; }

private:
  void readEachVariableOnce();
  void placeInVariables(StepGraph &graph);
  bool placeInVariable(StepGraph &graph, AssignOp assign);
  bool placeOverOld(StepGraph &graph, LaunchPlan &plan, unsigned number, Value old);
  void placeInFetches();
  void placeInResults(StepGraph &graph);
  void placeCarried(StepGraph &graph, WhileOp loop);
  bool placeChain(StepGraph &graph, LaunchPlan &plan, unsigned number, Value old);
  bool placeOverMade(StepGraph &graph, LaunchPlan &plan, unsigned number, Value old, Value made);
  LaunchPlan *unplacedMaker(Value root);
  void reorder(const StepGraph &graph);
  void wishForOperands();
  void wishForOperand(LaunchPlan &plan, unsigned result,
                      const DenseMap<Value, Operation *> &lastReaders);
  std::optional<unsigned> operandFor(LaunchOp launch, unsigned result, Value root);
  bool isInArena(Value root) const;

  EntryOp entry;
  Block &block;
  const RunTimeSizes &sizes;
  SymbolTable &symbols;
  llvm::MapVector<Operation *, LaunchPlan> plans;
  DenseMap<Attribute, Value> reads;              // by variable
  llvm::SmallDenseSet<Attribute> keptVariables;  // old values are assigned to other variables
  llvm::SmallDenseSet<Value> assigned;           // roots of assigned values
  llvm::SmallDenseSet<Operation *> beforeChecks; // needed by steps that can fail
};
} // namespace

LogicalResult BlockPlanner::run() {
  if (failed(checkSteps(block)))
    return failure();
  readEachVariableOnce();
  for (auto launch : block.getOps<LaunchOp>())
    plans.insert({launch, LaunchPlan(launch)});
  StepGraph graph(block, sizes);
  placeInVariables(graph);
  placeInFetches();
  placeInResults(graph);
  reorder(graph);
  wishForOperands();
  return success();
}

void BlockPlanner::readEachVariableOnce() {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto assign = dyn_cast<AssignOp>(op))
      assign.getResult().replaceAllUsesWith(assign.getValue());
    auto read = dyn_cast<ReadOp>(op);
    if (!read)
      continue;
    auto [it, inserted] = reads.try_emplace(read.getVariableAttr(), read.getValue());
    if (inserted)
      continue;
    read.getValue().replaceAllUsesWith(it->second);
    read.erase();
  }
}

//===----------------------------------------------------------------------===//
// Variables and fetches
//===----------------------------------------------------------------------===//

/// Returns the operand of the launch that is `root`, if there is exactly one and the kernel's
/// result may use its memory.
std::optional<unsigned> BlockPlanner::operandFor(LaunchOp launch, unsigned result, Value root) {
  std::optional<unsigned> operand;
  for (auto [k, input] : llvm::enumerate(launch.getInputs())) {
    if (rootOf(input) != root)
      continue;
    if (operand)
      return std::nullopt;
    operand = k;
  }
  auto kernel = symbols.lookup<kernel::FuncOp>(launch.getKernel());
  if (!operand || !kernel || !kernel.mayShare(result, *operand))
    return std::nullopt;
  return operand;
}

static bool isVariable(MemoryAttr memory) { return memory.getKind() == MemoryKind::Variable; }

void BlockPlanner::placeInVariables(StepGraph &graph) {
  for (auto assign : block.getOps<AssignOp>()) {
    Value root = rootOf(assign.getValue());
    assigned.insert(root);
    // The old value of this variable is assigned to another one, so it must be live until the end.
    if (auto read = root.getDefiningOp<ReadOp>())
      keptVariables.insert(read.getVariableAttr());
  }
  if (assigned.empty())
    return;
  beforeChecks = graph.neededByChecks();
  for (auto assign : block.getOps<AssignOp>())
    placeInVariable(graph, assign);
  SmallVector<Operation *> fallible;
  llvm::copy_if(graph.getSteps(), std::back_inserter(fallible), canFail);
  for (auto &[writer, plan] : plans)
    if (llvm::any_of(plan.memory, isVariable))
      for (Operation *step : fallible)
        graph.runBefore(step, writer);
}

/// Lets the launch that produces the assigned value write into the variable, if an order exists in
/// which everything that reads the old value runs before it. If that launch updates the result of
/// another launch, that one writes into the variable, too.
bool BlockPlanner::placeInVariable(StepGraph &graph, AssignOp assign) {
  Value root = rootOf(assign.getValue());
  FlatSymbolRefAttr variable = assign.getVariableAttr();
  LaunchPlan *plan = unplacedMaker(root);
  if (!plan || beforeChecks.contains(plan->op) || keptVariables.contains(variable))
    return false;
  unsigned number = cast<OpResult>(root).getResultNumber();
  plan->memory[number] = MemoryAttr::inVariable(variable);
  if (placeChain(graph, *plan, number, reads.lookup(variable)))
    return true;
  plan->memory[number] = MemoryAttr::inArena(entry.getContext());
  return false;
}

/// Orders everything that reads `old` before the launch that overwrites it; returns false if no
/// order allows that. A null value has no readers.
bool BlockPlanner::placeOverOld(StepGraph &graph, LaunchPlan &plan, unsigned number, Value old) {
  SmallVector<Operation *> readers;
  for (Operation *step : graph.getSteps())
    if (old && graph.rootsReadBy(step).contains(old))
      readers.push_back(step);
  for (Operation *reader : readers)
    if (reader != plan.op && graph.reaches(plan.op, reader))
      return false;
  if (llvm::is_contained(readers, plan.op.getOperation())) {
    std::optional<unsigned> operand = operandFor(plan.op, number, old);
    if (!operand || plan.takes(*operand))
      return false;
    plan.forced.push_back({number, *operand});
  }
  for (Operation *reader : readers)
    if (reader != plan.op)
      graph.runBefore(reader, plan.op);
  return true;
}

void BlockPlanner::placeInFetches() {
  if (!isa<tfc::dfg::ReturnOp>(block.getTerminator()))
    return;
  for (auto [i, value] : llvm::enumerate(block.getTerminator()->getOperands())) {
    auto result = dyn_cast<OpResult>(rootOf(value));
    auto it = result ? plans.find(result.getOwner()) : plans.end();
    if (it == plans.end())
      continue;
    LaunchPlan &plan = it->second;
    if (plan.isInArena(result.getResultNumber()))
      plan.memory[result.getResultNumber()] = MemoryAttr::inFetch(entry.getContext(), i);
  }
}

/// Returns the launch in this block that produces the value, if the value has no other memory yet.
LaunchPlan *BlockPlanner::unplacedMaker(Value root) {
  auto result = dyn_cast<OpResult>(root);
  auto it = result ? plans.find(result.getOwner()) : plans.end();
  if (it == plans.end() || !it->second.isInArena(result.getResultNumber()))
    return nullptr;
  return &it->second;
}

/// Lets launches write the results of branches directly, and the next values of loops into the
/// loop's buffers.
void BlockPlanner::placeInResults(StepGraph &graph) {
  Operation *parent = block.getParentOp();
  if (auto loop = dyn_cast<WhileOp>(parent)) {
    if (&block == &loop.getBodyBlock())
      placeCarried(graph, loop);
    return;
  }
  if (!isa<IfOp>(parent))
    return;
  for (auto [i, value] : llvm::enumerate(block.getTerminator()->getOperands())) {
    Value root = rootOf(value);
    LaunchPlan *plan = unplacedMaker(root);
    if (plan && !isRegisterType(value.getType()))
      plan->memory[cast<OpResult>(root).getResultNumber()] =
          MemoryAttr::inResult(entry.getContext(), i);
  }
}

void BlockPlanner::placeCarried(StepGraph &graph, WhileOp loop) {
  OperandRange yielded = loop.getYield().getValues();
  SmallVector<int64_t> single;
  for (auto [i, value] : llvm::enumerate(yielded)) {
    Value old = block.getArgument(i), root = rootOf(value);
    if (isRegisterType(value.getType()) || isa<ListType>(value.getType()))
      continue;
    if (root == old) {
      single.push_back(i);
      continue;
    }
    LaunchPlan *plan = unplacedMaker(root);
    if (!plan)
      continue;
    unsigned number = cast<OpResult>(root).getResultNumber();
    plan->memory[number] = MemoryAttr::inResult(entry.getContext(), i);
    bool isYieldedElsewhere =
        llvm::any_of(yielded, [&](Value other) { return other != value && rootOf(other) == old; });
    if (!isYieldedElsewhere && placeChain(graph, *plan, number, old))
      single.push_back(i);
  }
  setSingleBuffers(loop, single);
}

/// Like placeOverOld, for a launch whose result has its memory. If the launch updates the result of
/// another launch, that result gets the same memory, so that a chain of updates runs in one buffer.
bool BlockPlanner::placeChain(StepGraph &graph, LaunchPlan &plan, unsigned number, Value old) {
  for (Value input : plan.op.getInputs())
    if (placeOverMade(graph, plan, number, old, rootOf(input)))
      return true;
  return placeOverOld(graph, plan, number, old);
}

bool BlockPlanner::placeOverMade(StepGraph &graph, LaunchPlan &plan, unsigned number, Value old,
                                 Value made) {
  LaunchPlan *maker = unplacedMaker(made);
  std::optional<unsigned> operand = operandFor(plan.op, number, made);
  auto isMade = [&](Value value) { return rootOf(value) == made; };
  if (!maker || !operand || plan.takes(*operand) || assigned.contains(made) ||
      beforeChecks.contains(maker->op) ||
      bytesOf(made.getType()) != bytesOf(plan.op.getResult(number).getType()) ||
      llvm::any_of(block.getTerminator()->getOperands(), isMade))
    return false;
  SmallVector<Operation *> readers;
  for (Operation *step : graph.getSteps())
    if (step != plan.op && graph.rootsReadBy(step).contains(made))
      readers.push_back(step);
  if (llvm::any_of(readers, [&](Operation *reader) { return graph.reaches(plan.op, reader); }))
    return false;
  unsigned makerNumber = cast<OpResult>(made).getResultNumber();
  maker->memory[makerNumber] = plan.memory[number];
  if (!placeChain(graph, *maker, makerNumber, old)) {
    maker->memory[makerNumber] = MemoryAttr::inArena(entry.getContext());
    return false;
  }
  plan.forced.push_back({number, *operand});
  for (Operation *reader : readers)
    graph.runBefore(reader, plan.op);
  return true;
}

bool BlockPlanner::isInArena(Value root) const {
  auto result = dyn_cast<OpResult>(root);
  auto it = result ? plans.find(result.getOwner()) : plans.end();
  return it != plans.end() && it->second.isInArena(result.getResultNumber());
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Orders reads and constants first, then the steps, with each reshape before its first reader.
void BlockPlanner::reorder(const StepGraph &graph) {
  DictionaryAttr bounds = entry.getBoundsAttr();
  std::vector<Operation *> order = graph.order([&](Value value) {
    return isInArena(value) ? estimate(bytesOf(value.getType()), bounds) : 0;
  });
  SmallVector<Operation *> sources, reshapes;
  for (Operation &op : block) {
    if (op.hasTrait<SourceRole>())
      sources.push_back(&op);
    else if (isa<ReshapeOp>(op))
      reshapes.push_back(&op);
  }
  SmallVector<AssignOp> assigns(block.getOps<AssignOp>());
  Operation *end = &block.back();
  for (AssignOp assign : assigns)
    assign->moveBefore(end);
  if (!assigns.empty())
    end = assigns.front();
  for (Operation *op : sources)
    op->moveBefore(end);
  for (Operation *step : order)
    step->moveBefore(end);
  // Keeping the block's old order ensures that a reshape of a reshape comes after its operand.
  for (Operation *reshape : reshapes) {
    Operation *producer = reshape->getOperand(0).getDefiningOp();
    if (producer && producer->getBlock() == &block)
      reshape->moveAfter(producer);
    else
      reshape->moveBefore(&block, block.begin());
  }
}

//===----------------------------------------------------------------------===//
// Memory of operands
//===----------------------------------------------------------------------===//

/// Lets results reuse the memory of operands at their last use.
void BlockPlanner::wishForOperands() {
  DenseMap<Value, Operation *> lastReaders;
  for (Operation &op : block)
    if (isStep(&op) || isa<YieldOp>(op))
      forEachRead(&op, [&](Value value) { lastReaders[rootOf(value)] = &op; });
  for (auto &[op, plan] : plans)
    for (unsigned i = 0; i < plan.memory.size(); ++i)
      if (plan.isInArena(i))
        wishForOperand(plan, i, lastReaders);
}

void BlockPlanner::wishForOperand(LaunchPlan &plan, unsigned result,
                                  const DenseMap<Value, Operation *> &lastReaders) {
  for (Value input : plan.op.getInputs()) {
    Value root = rootOf(input);
    if (!isInArena(root) || assigned.contains(root) ||
        lastReaders.lookup(root) != plan.op.getOperation() ||
        bytesOf(root.getType()) != bytesOf(plan.op.getResult(result).getType()))
      continue;
    std::optional<unsigned> operand = operandFor(plan.op, result, root);
    if (!operand || plan.takes(*operand))
      continue;
    plan.wished.push_back({result, *operand});
    return;
  }
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

namespace {
struct PlanMemoryPass : tfc::impl::PlanMemoryBase<PlanMemoryPass> {
  using Base::Base;

  void runOnOperation() override;

private:
  void settle(kernel::FuncOp kernel, MutableArrayRef<LaunchPlan *> launches, SymbolTable &symbols);
  void writeInPlace(kernel::FuncOp kernel, ArrayRef<LaunchPlan *> launches);
};
} // namespace

/// Sets `kernel.in_place` on a kernel whose launches all have the same forced results.
void PlanMemoryPass::writeInPlace(kernel::FuncOp kernel, ArrayRef<LaunchPlan *> launches) {
  auto set = [&](std::pair<unsigned, unsigned> pair) {
    kernel.setInPlace(pair.first, pair.second);
    inPlaceCount += launches.size();
  };
  for (auto pair : launches.front()->forced)
    set(pair);
  for (auto pair : launches.front()->wished) {
    if (!llvm::all_of(launches, [&](auto *plan) { return llvm::is_contained(plan->wished, pair); }))
      continue;
    set(pair);
    for (LaunchPlan *plan : launches)
      plan->memory[pair.first] = MemoryAttr::inOperand(&getContext(), pair.second);
  }
}

/// Clones the kernel for each group of launches that overwrite different operands.
void PlanMemoryPass::settle(kernel::FuncOp kernel, MutableArrayRef<LaunchPlan *> launches,
                            SymbolTable &symbols) {
  std::map<std::vector<std::pair<unsigned, unsigned>>, SmallVector<LaunchPlan *>> groups;
  for (LaunchPlan *plan : launches) {
    llvm::sort(plan->forced);
    groups[{plan->forced.begin(), plan->forced.end()}].push_back(plan);
  }
  SmallVector<kernel::FuncOp> kernels{kernel};
  for (size_t i = 1; i < groups.size(); ++i) {
    kernel::FuncOp clone = kernel.clone();
    clone.setSymName((kernel.getSymName() + "_inplace").str());
    symbols.insert(clone, std::next(kernel->getIterator()));
    kernels.push_back(clone);
    ++cloneCount;
  }
  for (auto [target, group] : llvm::zip(kernels, groups)) {
    for (LaunchPlan *plan : group.second)
      plan->op.setKernelAttr(FlatSymbolRefAttr::get(target.getSymNameAttr()));
    writeInPlace(target, group.second);
  }
}

void PlanMemoryPass::runOnOperation() {
  SymbolTable symbols(getOperation());
  SmallVector<std::unique_ptr<BlockPlanner>> planners;
  llvm::MapVector<Operation *, SmallVector<LaunchPlan *>> launchesOf;
  bool failedOnce = false;
  auto plan = [&](EntryOp entry, Block &block, const RunTimeSizes &sizes) {
    planners.push_back(std::make_unique<BlockPlanner>(entry, block, sizes, symbols));
    failedOnce |= failed(planners.back()->run());
    for (auto &[op, plan] : planners.back()->getLaunches())
      if (auto kernel = symbols.lookup<kernel::FuncOp>(plan.op.getKernel()))
        launchesOf[kernel].push_back(&plan);
  };
  for (auto entry : getOperation().getOps<EntryOp>()) {
    RunTimeSizes sizes(entry);
    plan(entry, entry.getBody().front(), sizes);
    entry.getBody().walk([&](Operation *op) {
      for (Region &region : op->getRegions())
        plan(entry, region.front(), sizes);
    });
  }
  if (failedOnce)
    return signalPassFailure();
  for (auto &[kernel, launches] : launchesOf)
    settle(cast<kernel::FuncOp>(kernel), launches, symbols);
  for (auto &planner : planners)
    for (auto &[op, plan] : planner->getLaunches())
      plan.op.setMemoryAttr(
          ArrayAttr::get(&getContext(), llvm::to_vector_of<Attribute>(plan.memory)));
  markAnalysesPreserved<kernel::BodyAnalyses>();
}
