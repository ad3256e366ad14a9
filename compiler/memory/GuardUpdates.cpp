// Lets a device test checks before it changes variables, so that the host need not wait for it in
// the middle of a call. Runs when the order and the memory of launches are known.

#include "compiler/memory/Order.h"
#include "compiler/memory/Passes.h"
#include "dialects/dfg/MemoryPlan.h"
#include "dialects/dfg/Partitions.h"
#include "dialects/kernel/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tfc::dfg;
using namespace tfc::memory;
namespace kernel = tfc::kernel;

namespace tfc {
#define GEN_PASS_DEF_GUARDUPDATES
#include "compiler/memory/Passes.h.inc"
} // namespace tfc

static bool writesVariable(LaunchOp launch) {
  return llvm::any_of(llvm::seq(launch.getNumResults()), [&](unsigned i) {
    return memoryOf(launch, i).getKind() == MemoryKind::Variable;
  });
}

/// Returns true if the launch overwrites the memory of a root.
static bool overwrites(LaunchOp launch, Value root) {
  Value storage = storageOf(root);
  auto read = storage.getDefiningOp<ReadOp>();
  for (auto [i, result] : llvm::enumerate(launch.getOutputs())) {
    MemoryAttr memory = memoryOf(launch, i);
    if (read && memory == MemoryAttr::inVariable(read.getVariableAttr()))
      return true;
    if (isWrittenOverOperand(launch, i) && storageOf(result) == storage)
      return true;
  }
  return false;
}

namespace {

/// Checks for which the host waits, and the launches, scalars and received messages after them.
/// Partitions that must agree on failures do so by a commit, which ends the section.
struct Section {
  SmallVector<CheckOp> checks;
  SmallVector<LaunchOp> updates; // after all checks
  Operation *last = nullptr;     // step

  bool mayDefer() const;
};

} // namespace

static std::vector<Section> findSections(Block &body) {
  std::vector<Section> sections(1);
  for (Operation &op : body) {
    if (!isStep(&op))
      continue;
    if (isLateCheck(&op)) {
      sections.back().checks.push_back(cast<CheckOp>(op));
    } else if (auto launch = dyn_cast<LaunchOp>(op)) {
      if (!sections.back().checks.empty() && writesVariable(launch))
        sections.back().updates.push_back(launch);
    } else if (!isInRegister(&op) && !isa<ReceiveOp>(op)) {
      sections.emplace_back();
      continue;
    }
    sections.back().last = &op;
  }
  return sections;
}

/// The host reads values of failed checks after the updates.
bool Section::mayDefer() const {
  if (checks.empty() || updates.empty())
    return false;
  Operation *first = checks.front();
  for (Operation *op = first; op != last->getNextNode(); op = op->getNextNode())
    if (auto launch = dyn_cast<LaunchOp>(op))
      for (CheckOp check : checks)
        for (Value read : check->getOperands())
          if (overwrites(launch, rootOf(read)))
            return false;
  return true;
}

namespace {
struct GuardUpdatesPass : tfc::impl::GuardUpdatesBase<GuardUpdatesPass> {
  using Base::Base;

  void runOnOperation() override;

private:
  void guard(const Section &section);
  Value holdAll(const Section &section);
  Value launchConjunction(OpBuilder &b, ArrayRef<Value> conditions, kernel::FuncOp like);
  kernel::FuncOp conjunction(Location loc, unsigned count, kernel::FuncOp like);
  void markGuarded(kernel::FuncOp kernel, ArrayRef<LaunchOp> launches);

  std::optional<SymbolTable> symbols;
  DenseMap<unsigned, kernel::FuncOp> conjunctions; // by the number of conditions
};
} // namespace

/// Returns a kernel that computes whether all of `count` conditions hold, for the target of another
/// one.
kernel::FuncOp GuardUpdatesPass::conjunction(Location loc, unsigned count, kernel::FuncOp like) {
  kernel::FuncOp &kernel = conjunctions[count];
  if (kernel)
    return kernel;
  OpBuilder b(like);
  auto type = RankedTensorType::get({}, b.getI1Type());
  SmallVector<Type> inputs(count, type);
  kernel = kernel::FuncOp::create(b, loc, "all_hold", b.getFunctionType(inputs, {type}));
  kernel.setTargetAttr(like.getTargetAttr());
  symbols->insert(kernel);
  b.setInsertionPointToStart(&kernel.getBody().front());
  Value empty = tensor::EmptyOp::create(b, loc, ArrayRef<int64_t>{}, b.getI1Type());
  SmallVector<AffineMap> maps(count + 1, b.getEmptyAffineMap());
  auto all = linalg::GenericOp::create(
      b, loc, type, kernel.getArguments(), empty, maps, ArrayRef<utils::IteratorType>{},
      [&](OpBuilder &nested, Location, ValueRange conditions) {
        Value holds = conditions.front();
        for (Value condition : conditions.drop_front().drop_back())
          holds = arith::AndIOp::create(nested, loc, holds, condition);
        linalg::YieldOp::create(nested, loc, holds);
      });
  kernel::ReturnOp::create(b, loc, all.getResults());
  return kernel;
}

/// A launch has at most 512 arguments.
static constexpr size_t kMostConditions = 64;

/// Returns a scalar of the device that tells whether all checks pass.
Value GuardUpdatesPass::holdAll(const Section &section) {
  llvm::SetVector<Value> distinct;
  for (CheckOp check : section.checks)
    distinct.insert(check.getCondition());
  LaunchOp update = section.updates.front();
  auto like = symbols->lookup<kernel::FuncOp>(update.getKernel());
  OpBuilder b(update);
  SmallVector<Value> conditions = distinct.takeVector();
  while (conditions.size() > 1) {
    SmallVector<Value> next;
    for (size_t i = 0; i < conditions.size(); i += kMostConditions)
      next.push_back(launchConjunction(
          b, ArrayRef(conditions).slice(i, std::min(kMostConditions, conditions.size() - i)),
          like));
    conditions = next;
  }
  return conditions.front();
}

/// Launches the conjunction of conditions.
Value GuardUpdatesPass::launchConjunction(OpBuilder &b, ArrayRef<Value> conditions,
                                          kernel::FuncOp like) {
  if (conditions.size() == 1)
    return conditions.front();
  Location loc = conditions.front().getLoc();
  kernel::FuncOp kernel = conjunction(loc, conditions.size(), like);
  auto launch = LaunchOp::create(b, loc, conditions.front().getType(), kernel.getSymName(),
                                 conditions, DimsAttr::get(b.getContext(), ArrayRef<DimExpr>{}),
                                 b.getArrayAttr(MemoryAttr::inArena(b.getContext())));
  return launch.getOutputs().front();
}

void GuardUpdatesPass::guard(const Section &section) {
  Value holds = holdAll(section);
  for (LaunchOp update : section.updates)
    update.setGuard(holds);
  guardedCount += section.updates.size();
  OpBuilder b(&getContext());
  b.setInsertionPointAfter(section.last);
  if (section.checks.size() == 1)
    return CheckOp(section.checks.front())->moveAfter(section.last);
  // The host reads one scalar unless a check has failed.
  auto branch = IfOp::create(b, holds.getLoc(), TypeRange(), holds);
  for (Block *block : {&branch.getThenBlock(), &branch.getElseBlock()}) {
    b.setInsertionPointToStart(block);
    YieldOp::create(b, holds.getLoc(), ValueRange());
  }
  for (CheckOp check : section.checks)
    check->moveBefore(branch.getElseYield());
}

/// Marks the kernel, or a copy of it if it has other launches, too.
void GuardUpdatesPass::markGuarded(kernel::FuncOp kernel, ArrayRef<LaunchOp> launches) {
  auto isGuarded = [](LaunchOp launch) { return bool(launch.getGuard()); };
  if (llvm::none_of(launches, isGuarded))
    return;
  if (!llvm::all_of(launches, isGuarded)) {
    auto copy = kernel.clone();
    copy.setSymName((kernel.getSymName() + "_guarded").str());
    symbols->insert(copy, std::next(kernel->getIterator()));
    kernel = copy;
  }
  kernel.setGuarded(true);
  for (LaunchOp launch : llvm::make_filter_range(launches, isGuarded))
    launch.setKernelAttr(FlatSymbolRefAttr::get(kernel.getSymNameAttr()));
}

void GuardUpdatesPass::runOnOperation() {
  symbols.emplace(getOperation());
  for (auto entry : getOperation().getOps<EntryOp>()) {
    if (!isRemote(entry))
      continue;
    for (const Section &section : findSections(entry.getBody().front()))
      if (section.mayDefer())
        guard(section);
  }
  llvm::MapVector<Operation *, SmallVector<LaunchOp>> launches;
  getOperation().walk([&](LaunchOp launch) {
    if (auto kernel = symbols->lookup<kernel::FuncOp>(launch.getKernel()))
      launches[kernel].push_back(launch);
  });
  for (auto &[kernel, all] : launches)
    markGuarded(cast<kernel::FuncOp>(kernel), all);
  markAnalysesPreserved<kernel::BodyAnalyses>();
}
