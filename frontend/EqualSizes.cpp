// Compares computations of sizes, and where their operands are live.

#include "frontend/EqualSizes.h"

#include "dialects/dfg/Dfg.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <set>

using namespace mlir;

namespace tfc {

//===----------------------------------------------------------------------===//
// Where values are live
//===----------------------------------------------------------------------===//

namespace {
/// A value is live if all conditions are met: that a predicate holds or does not, or that a value
/// of which nothing else is known is live.
struct Condition {
  enum Kind { IsFalse, IsTrue, IsLive };
  void *value;
  Kind kind;
  bool operator<(const Condition &other) const {
    return std::pair(value, kind) < std::pair(other.value, other.kind);
  }
};
using Conditions = std::set<Condition>;

class Liveness {
public:
  /// Returns when a value of a graph is live.
  Conditions conditionsOf(Value value);

private:
  Conditions find(Value value);
  /// Returns the conditions of a value that is live if one of two values is, if they are the sides
  /// of one predicate.
  static std::optional<Conditions> joined(const Conditions &left, const Conditions &right);

  llvm::DenseMap<Value, Conditions> known;
  unsigned depth = 0;
};
} // namespace

std::optional<Conditions> Liveness::joined(const Conditions &left, const Conditions &right) {
  Conditions common;
  std::vector<Condition> others;
  std::set_intersection(left.begin(), left.end(), right.begin(), right.end(),
                        std::inserter(common, common.end()));
  std::set_symmetric_difference(left.begin(), left.end(), right.begin(), right.end(),
                                std::back_inserter(others));
  bool isEither = others.size() == 2 && others[0].value == others[1].value &&
                  others[0].kind == Condition::IsFalse && others[1].kind == Condition::IsTrue;
  return isEither || others.empty() ? std::optional(common) : std::nullopt;
}

Conditions Liveness::find(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  if (auto node = dyn_cast<dfg::NodeOp>(op->getParentOp()))
    return conditionsOf(node.getDone());
  auto merge = dyn_cast<dfg::MergeOp>(op);
  if (merge && merge.getInputs().size() == 2)
    if (auto both = joined(conditionsOf(merge.getInputs()[0]), conditionsOf(merge.getInputs()[1])))
      return *both;
  auto node = dyn_cast<dfg::NodeOp>(op);
  bool isOrdinary = node ? !node.getAlways() && node.getBody().getOps<dfg::MergeOp>().empty()
                         : op->getNumRegions() == 0;
  if (merge || !isOrdinary || isa<dfg::EnterOp, dfg::ExitOp, dfg::NextIterationOp>(op))
    return {{value.getAsOpaquePointer(), Condition::IsLive}};
  Conditions conditions;
  auto add = [&](Value operand) {
    Conditions more = conditionsOf(operand);
    conditions.insert(more.begin(), more.end());
  };
  llvm::for_each(op->getOperands(), add);
  if (node)
    node.getBody().walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!node.getBody().isAncestor(operand.getParentRegion()))
          add(operand);
    });
  if (auto branch = dyn_cast<dfg::SwitchOp>(op))
    conditions.insert({branch.getPredicate().getAsOpaquePointer(),
                       value == branch.getOnTrue() ? Condition::IsTrue : Condition::IsFalse});
  return conditions;
}

Conditions Liveness::conditionsOf(Value value) {
  // A value on a cycle depends on itself. Nothing is known of values after long computations.
  constexpr unsigned kMostDepth = 100;
  auto [found, isNew] =
      known.try_emplace(value, Conditions{{value.getAsOpaquePointer(), Condition::IsLive}});
  if (!isNew || depth == kMostDepth)
    return found->second;
  ++depth;
  Conditions conditions = find(value);
  --depth;
  return known[value] = std::move(conditions);
}

//===----------------------------------------------------------------------===//
// How they are computed
//===----------------------------------------------------------------------===//

/// Returns the value that a switch or a node forwards or computes, or `value`.
static Value throughGates(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    auto node = dyn_cast<dfg::NodeOp>(op);
    if (auto branch = dyn_cast<dfg::SwitchOp>(op))
      value = branch.getData();
    else if (node && value != node.getDone())
      value = node.getBody().front().getTerminator()->getOperand(
          cast<OpResult>(value).getResultNumber());
    else
      break;
  }
  return value;
}

/// Returns a value with the same elements in the same order before reshapes.
static Value throughReshapes(Value value) {
  constexpr unsigned kMostReshapes = 16;
  value = throughGates(value);
  for (unsigned i = 0; i < kMostReshapes; ++i)
    if (auto reshape = value.getDefiningOp<dfg::ReshapeOp>())
      value = throughGates(reshape.getX());
  return value;
}

/// Operands of a merge may be added later, and may depend on its result.
static bool isFunctionOfOperands(Operation *op) {
  return op && !isa<dfg::MergeOp>(op) && op->getNumRegions() == 0 && isMemoryEffectFree(op);
}

/// Returns true if two values are equal wherever both are live.
static bool isEqual(Value a, Value b) {
  constexpr unsigned kMostPairs = 512;
  SmallVector<std::pair<Value, Value>> waiting;
  llvm::DenseSet<std::pair<Value, Value>> visited;
  auto visit = [&](Value left, Value right) {
    left = throughGates(left);
    right = throughGates(right);
    // Tensors of one type are equal if those are from which they are reshaped.
    Value first = throughReshapes(left), other = throughReshapes(right);
    if (left.getType() == right.getType() && first.getType() == other.getType())
      std::tie(left, right) = std::pair(first, other);
    if (left != right && visited.insert({left, right}).second)
      waiting.emplace_back(left, right);
    return success();
  };
  (void)visit(a, b);
  while (!waiting.empty()) {
    auto [left, right] = waiting.pop_back_val();
    Operation *op = left.getDefiningOp(), *other = right.getDefiningOp();
    if (visited.size() > kMostPairs || !isFunctionOfOperands(op) || !isFunctionOfOperands(other) ||
        cast<OpResult>(left).getResultNumber() != cast<OpResult>(right).getResultNumber() ||
        !OperationEquivalence::isEquivalentTo(op, other, visit, /*markEquivalent=*/nullptr,
                                              OperationEquivalence::IgnoreLocations))
      return false;
  }
  return true;
}

dfg::BindSizeOp findEqualSize(Block &block, Value count, const dfg::DimExpr &bound) {
  constexpr unsigned kMostCompared = 32;
  SmallVector<dfg::BindSizeOp> binders;
  auto add = [&](dfg::BindSizeOp binder) {
    if (binder.getBoundExpr() == bound)
      binders.push_back(binder);
  };
  for (Operation &op : block) {
    if (auto binder = dyn_cast<dfg::BindSizeOp>(op))
      add(binder);
    if (auto node = dyn_cast<dfg::NodeOp>(op))
      llvm::for_each(node.getBody().getOps<dfg::BindSizeOp>(), add);
  }
  Liveness liveness;
  auto isBoundTo = [&](dfg::BindSizeOp binder) {
    if (!isEqual(count, binder->getOperand(0)))
      return false;
    auto node = dyn_cast<dfg::NodeOp>(binder->getParentOp());
    Conditions needed = liveness.conditionsOf(node ? node.getDone() : binder->getOperand(0));
    Conditions given = liveness.conditionsOf(count);
    return std::includes(given.begin(), given.end(), needed.begin(), needed.end());
  };
  // The latest ones are compared, if there are many.
  ArrayRef<dfg::BindSizeOp> compared(binders);
  compared = compared.take_back(kMostCompared);
  const auto *found = llvm::find_if(compared, isBoundTo);
  return found == compared.end() ? dfg::BindSizeOp() : *found;
}

} // namespace tfc
