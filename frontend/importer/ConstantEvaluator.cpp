// Finds the operations on which a tensor depends. Apart from Reals.cpp, which evaluates a few
// operations on its own, also on sizes that callers pass.

#include "frontend/importer/ConstantEvaluator.h"

#include "dialects/dfg/ConstantEvaluation.h"
#include "dialects/dfg/Dfg.h"
#include "dialects/dfg/RunTimeSizes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace llvm;

namespace tfc::importer {

DenseElementsAttr constantOf(const dfg::SizeTensor &sizes) {
  auto numbers = sizes.getConstants();
  if (!numbers)
    return {};
  unsigned width = sizes.elementType.getIntOrFloatBitWidth();
  auto bits = map_to_vector(
      *numbers, [&](int64_t number) { return APInt(64, uint64_t(number)).trunc(width); });
  return DenseElementsAttr::get(sizes.getType(), bits);
}

static bool isFunction(Operation *op) {
  if (isa<dfg::BindSizeOp, dfg::CheckOp>(op))
    return true;
  // Random numbers differ from call to call, and gradients depend on what has been executed before.
  return !isa<dfg::RandomOpInterface>(op) && !isa<dfg::GradientsOp>(op) &&
         (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() || isMemoryEffectFree(op));
}

bool ConstantEvaluator::areFunctions(ArrayRef<Operation *> ops) {
  return all_of(ops, [](Operation *op) {
    return !op->walk([](Operation *nested) {
                return isFunction(nested) ? WalkResult::advance() : WalkResult::interrupt();
              }).wasInterrupted();
  });
}

namespace {
/// Lists operations after those that they depend on; with control flow, in any order.
class Dependences {
public:
  Dependences(const KnownValues &given, ConstantEvaluator::FindBinder findBinder)
      : given(given), findBinder(findBinder) {}

  /// Adds operations and their dependences. Returns false if there are others than constants and
  /// given values, or too many.
  bool add(ArrayRef<Operation *> ops);
  ArrayRef<Operation *> getOrder() const { return order.getArrayRef(); }
  size_t getNumVisits() const { return numVisits; }
  /// The given values that the operations read.
  const KnownValues &getInputs() const { return inputs; }

private:
  static constexpr size_t kMostOperations = 4096, kMostNodes = 512;

  bool visit(ArrayRef<Operation *> ops);
  std::optional<SmallVector<Operation *>> dependencesOf(Operation *op);
  Operation *binderOf(StringRef name) const;

  const KnownValues &given;
  KnownValues inputs;
  ConstantEvaluator::FindBinder findBinder;
  StringMap<Operation *> ownBinders; // of sizes that added operations bind
  llvm::SetVector<Operation *> order;
  bool isGraph = false; // there is control flow
  size_t numVisits = 0;
};
} // namespace

Operation *Dependences::binderOf(StringRef name) const {
  Operation *own = ownBinders.lookup(name);
  return own ? own : findBinder(name);
}

/// Returns std::nullopt if the operation depends on data or on a size of feeds.
std::optional<SmallVector<Operation *>> Dependences::dependencesOf(Operation *op) {
  SmallVector<Operation *> before;
  llvm::SetVector<Value> values;
  // The tokens of a node only say whether it runs, which depends on control flow.
  if (isGraph || !isa<dfg::NodeOp>(op))
    values.insert(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  for (Value value : values) {
    if (auto known = given.find(value); known != given.end()) {
      inputs.insert(*known);
      continue;
    }
    if (!value.getDefiningOp())
      return std::nullopt;
    before.push_back(value.getDefiningOp());
  }
  std::set<std::string> names;
  op->walk([&](Operation *nested) {
    for (std::string &name : dfg::RunTimeSizes::namesIn(nested))
      names.insert(std::move(name));
  });
  for (const std::string &name : names) {
    Operation *binder = binderOf(name);
    if (!binder)
      return std::nullopt;
    if (binder != op)
      before.push_back(binder);
  }
  return before;
}

/// Returns false, and may find that there is control flow.
bool Dependences::visit(ArrayRef<Operation *> ops) {
  SmallVector<Operation *> work(reverse(ops));
  llvm::DenseSet<Operation *> visited;
  order.clear();
  while (!work.empty()) {
    Operation *op = work.back();
    if (order.contains(op) || !visited.insert(op).second) {
      work.pop_back();
      order.insert(op);
      continue;
    }
    ++numVisits;
    isGraph |= dfg::isRouting(op);
    auto before = dependencesOf(op);
    if (!before || visited.size() > (isGraph ? kMostNodes : kMostOperations) ||
        !ConstantEvaluator::areFunctions(op))
      return false;
    for (Operation *other : *before) {
      // Loop variables depend on each other.
      if (visited.contains(other) && !order.contains(other) && !isGraph)
        return false;
      if (!visited.contains(other))
        work.push_back(other);
    }
  }
  return true;
}

bool Dependences::add(ArrayRef<Operation *> ops) {
  for (Operation *op : ops)
    op->walk([&](dfg::BindSizeOp binder) { ownBinders[binder.getName()] = op; });
  bool isDone = visit(ops);
  if (!isDone || !isGraph)
    return isDone;
  // Tokens matter to the nodes that were visited before control flow was found.
  return visit(ops);
}

SmallVector<ElementsAttr> ConstantEvaluator::evaluate(ArrayRef<Operation *> ops,
                                                      ArrayRef<Value> results,
                                                      const KnownValues &given,
                                                      FindBinder findBinder) {
  Dependences dependences(given, findBinder);
  auto *dialect = context->getLoadedDialect<dfg::DfgDialect>();
  auto *evaluation = dialect->getRegisteredInterface<dfg::ConstantEvaluationInterface>();
  if (!evaluation || workLeft <= 0)
    return {};
  bool areConstants = dependences.add(ops);
  workLeft -= kWorkOfVisit * double(dependences.getNumVisits());
  if (!areConstants || workLeft <= 0)
    return {};
  double left = std::min(workLeft, kMostWorkAtOnce), before = left;
  SmallVector<ElementsAttr> found =
      evaluation->evaluate(dependences.getOrder(), dependences.getInputs(), results, left);
  workLeft -= before - left;
  return found;
}

} // namespace tfc::importer
