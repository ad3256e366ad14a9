#include "frontend/text/ElaborateImpl.h"
#include "frontend/text/Locations.h"
#include "frontend/text/Refusals.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace llvm;

namespace tfc::text {

namespace {
/// Effects of an operation of a dataflow block on one variable or queue.
struct Effect {
  mlir::Operation *op;
  mlir::Operation *place;
  bool writes;
};

/// Questions about the order of the operations of a dataflow block.
class Order {
public:
  explicit Order(mlir::Block &body) : body(body) {}

  /// Whether a path of data and control edges orders the two within one iteration, or one of them
  /// is in a loop that ends before the other.
  bool orders(mlir::Operation *a, mlir::Operation *b) const {
    if (reaches(a, b, /*inIteration=*/true) || reaches(b, a, /*inIteration=*/true))
      return true;
    return reaches(a, b, false) != reaches(b, a, false);
  }

  /// Whether a predicate lets only one of the two run.
  bool excludes(mlir::Operation *a, mlir::Operation *b) const {
    auto guards = guardsOf(a);
    return any_of(guardsOf(b), [&](const auto &guard) {
      return is_contained(guards, std::pair(guard.first, !guard.second));
    });
  }

private:
  /// Calls `visit` for each value of the block that `op`, or what is in it, takes.
  void forEachInput(mlir::Operation *op, function_ref<void(mlir::Value)> visit) const {
    op->walk([&](mlir::Operation *nested) {
      for (mlir::Value operand : nested->getOperands())
        if (mlir::Operation *producer = operand.getDefiningOp();
            producer && producer->getBlock() == &body && producer != op)
          visit(operand);
    });
  }

  static bool isNextIteration(mlir::Operation *op) {
    bool found = isa<dfg::NextIterationOp>(op);
    if (auto node = dyn_cast<dfg::NodeOp>(op))
      found = !node.getBody().front().getOps<dfg::NextIterationOp>().empty();
    return found;
  }

  bool reaches(mlir::Operation *from, mlir::Operation *to, bool inIteration) const {
    SmallVector<mlir::Operation *> work{to};
    SmallPtrSet<mlir::Operation *, 16> seen{to};
    while (!work.empty()) {
      mlir::Operation *op = work.pop_back_val();
      if (op == from && op != to)
        return true;
      if (inIteration && op != to && isNextIteration(op))
        continue;
      forEachInput(op, [&](mlir::Value value) {
        if (seen.insert(value.getDefiningOp()).second)
          work.push_back(value.getDefiningOp());
      });
    }
    return false;
  }

  SmallVector<std::pair<mlir::Value, bool>> guardsOf(mlir::Operation *start) const {
    SmallVector<std::pair<mlir::Value, bool>> guards;
    SmallVector<mlir::Operation *> work{start};
    SmallPtrSet<mlir::Operation *, 16> seen{start};
    while (!work.empty()) {
      mlir::Operation *op = work.pop_back_val();
      if (isa<dfg::MergeOp>(op) || isNextIteration(op))
        continue;
      forEachInput(op, [&](mlir::Value value) {
        mlir::Operation *producer = value.getDefiningOp();
        if (auto choice = dyn_cast<dfg::SwitchOp>(producer))
          guards.emplace_back(choice.getPredicate(), value == choice.getOnTrue());
        if (seen.insert(producer).second)
          work.push_back(producer);
      });
    }
    return guards;
  }

  mlir::Block &body;
};
} // namespace

/// The effects of a block on what has a name, by that name.
static std::map<std::string, SmallVector<Effect>> collectEffects(mlir::Block &body) {
  std::map<std::string, SmallVector<Effect>> effects;
  for (mlir::Operation &place : body)
    place.walk([&](mlir::Operation *op) {
      auto interface = dyn_cast<mlir::MemoryEffectOpInterface>(op);
      if (!interface || op->getNumRegions())
        return;
      SmallVector<mlir::MemoryEffects::EffectInstance> found;
      interface.getEffects(found);
      for (const auto &effect : found)
        if (auto symbol = effect.getSymbolRef())
          effects[symbol.getLeafReference().str()].push_back(
              {op, &place, isa<mlir::MemoryEffects::Write>(effect.getEffect())});
    });
  return effects;
}

std::vector<UnorderedEffects> findUnorderedEffects(dfg::DataflowOp op) {
  mlir::Block &body = op.getBody().front();
  Order order(body);
  std::vector<UnorderedEffects> found;
  for (auto &[name, effects] : collectEffects(body))
    for (size_t i = 0; i < effects.size(); ++i)
      for (size_t j = 0; j < i; ++j) {
        const Effect &a = effects[j], &b = effects[i];
        if (a.place == b.place || !(a.writes || b.writes) || order.orders(a.place, b.place) ||
            order.excludes(a.place, b.place))
          continue;
        found.push_back({name, a.op, b.op});
      }
  return found;
}

void Elaborator::checkEffectOrder(dfg::DataflowOp op) {
  for (const UnorderedEffects &effects : findUnorderedEffects(op))
    error(toRange(effects.second->getLoc(), sources), "unordered-effects",
          "this and another use of '" + effects.name +
              "', which one of them changes, may run in any order")
        .note(toRange(effects.first->getLoc(), sources), "the other one")
        .help("a control edge orders them, as in f(x, after: [a])");
}

} // namespace tfc::text
