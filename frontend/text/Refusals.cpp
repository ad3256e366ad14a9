// Finds graphs that the language refuses although the dialect has them, for the elaborator and the
// printer.
#include "frontend/text/Refusals.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include <map>

using namespace llvm;
using namespace mlir;

namespace tfc::text {

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// The elements of a constant; null for any other value.
static DenseElementsAttr constantOf(mlir::Value value) {
  DenseElementsAttr elements;
  matchPattern(value, m_Constant(&elements));
  return elements;
}

static bool hasZero(mlir::Value divisor) {
  DenseElementsAttr elements = constantOf(divisor);
  return elements && isa<IntegerType>(elements.getElementType()) &&
         any_of(elements.getValues<APInt>(), [](const APInt &number) { return number.isZero(); });
}

/// The value of a constant whose elements are all equal.
static std::optional<double> numberOf(mlir::Value value) {
  DenseElementsAttr elements = constantOf(value);
  if (!elements || !elements.isSplat())
    return std::nullopt;
  if (isa<FloatType>(elements.getElementType())) {
    APFloat number = elements.getSplatValue<APFloat>();
    bool losesInfo;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
    return number.convertToDouble();
  }
  APInt number = elements.getSplatValue<APInt>();
  bool isSigned = elements.getElementType().isSignlessInteger();
  return isSigned ? double(number.getSExtValue()) : double(number.getZExtValue());
}

std::optional<Refusal> findMeaninglessConstants(Operation *op, StringRef name) {
  // In a branch or loop the operation may never run.
  bool divides = isa<dfg::FloordivOp, dfg::ModOp>(op) && isa<dfg::EntryOp>(op->getParentOp());
  if (divides && hasZero(op->getOperand(1)))
    return Refusal{"division-by-zero",
                   ("'" + name + "' of integers by zero makes every call fail").str()};
  auto clamp = dyn_cast<dfg::ClampOp>(op);
  if (!clamp)
    return std::nullopt;
  std::optional<double> low = numberOf(clamp.getMin()), high = numberOf(clamp.getMax());
  if (!low || !high || !(*low > *high))
    return std::nullopt;
  std::string got;
  raw_string_ostream(got) << format("%g and %g", *low, *high);
  return Refusal{"clamp-limits", "'clamp' expects 'min' to be at most 'max', but got " + got};
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Returns true if an operation of a loop may end the call or observe effects of other calls.
static bool mayIntervene(mlir::Operation *op) {
  if (isa<dfg::CheckedOpInterface>(op))
    return true;
  bool isAccess = isa<dfg::ReadOp, dfg::AssignOp>(op);
  return !isAccess && op->getNumRegions() == 0 && !mlir::isMemoryEffectFree(op);
}

/// Returns true if the condition may change in the next iteration.
static bool mayChange(dfg::WhileOp loop) {
  llvm::StringSet<> assigned;
  loop.getBodyRegion().walk([&](dfg::AssignOp assign) { assigned.insert(assign.getVariable()); });
  mlir::Block &condition = loop.getConditionBlock();
  auto isOther = [&](mlir::Value operand) {
    auto argument = dyn_cast<mlir::BlockArgument>(operand);
    if (!argument || argument.getOwner() != &condition)
      return false;
    unsigned place = argument.getArgNumber();
    return loop.getYield().getValues()[place] != loop.getBodyBlock().getArgument(place);
  };
  return condition
      .walk([&](mlir::Operation *op) {
        auto read = dyn_cast<dfg::ReadOp>(op);
        bool changes = any_of(op->getOperands(), isOther) || isa<dfg::AssignOp>(op) ||
                       (read && assigned.contains(read.getVariable()));
        return changes ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

std::optional<bool> knownCondition(dfg::WhileOp loop) {
  mlir::DenseElementsAttr constant;
  if (!matchPattern(loop.getCondition().getCondition(), mlir::m_Constant(&constant)))
    return std::nullopt;
  return constant.getSplatValue<bool>();
}

bool neverEnds(dfg::WhileOp loop) {
  auto visit = [](mlir::Operation *op) {
    return mayIntervene(op) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  };
  return !loop.getConditionRegion().walk(visit).wasInterrupted() &&
         !loop.getBodyRegion().walk(visit).wasInterrupted() && !mayChange(loop) &&
         knownCondition(loop) != false; // false: the loop never begins
}

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

namespace {

/// Effects of an operation of a dataflow block on one variable or queue.
struct Effect {
  mlir::Operation *op;
  mlir::Operation *place;
  bool writes;
};

/// Predicates of switches that let an operation run, each with a bit for either output.
using Guards = llvm::DenseMap<mlir::Value, unsigned>;
constexpr unsigned kOnFalse = 1, kOnTrue = 2;

/// Answers queries about the order of the operations of a dataflow block. Each operation is
/// searched from at most once.
class Order {
public:
  explicit Order(mlir::Block &body);

  /// Returns true if a path of data and control edges orders the two within one iteration, or one
  /// of them is in a loop that ends before the other.
  bool orders(mlir::Operation *a, mlir::Operation *b) {
    if (reaches(a, b, /*inIteration=*/true) || reaches(b, a, /*inIteration=*/true))
      return true;
    return reaches(a, b, false) != reaches(b, a, false);
  }

  /// Returns true if a predicate lets only one of the two run.
  bool excludes(mlir::Operation *a, mlir::Operation *b) {
    const Guards &guards = guardsOf(a);
    return any_of(guardsOf(b), [&](const auto &guard) {
      unsigned outputs = guards.lookup(guard.first);
      return ((outputs & kOnFalse) && (guard.second & kOnTrue)) ||
             ((outputs & kOnTrue) && (guard.second & kOnFalse));
    });
  }

private:
  struct Node {
    mlir::Operation *op;
    bool isNextIteration;
    /// Values of the block that the operation, or operations nested in it, use, and their
    /// producers.
    llvm::SetVector<mlir::Value> inputs;
    SmallVector<unsigned> producers;
  };

  static bool isNextIteration(mlir::Operation *op) {
    bool found = isa<dfg::NextIterationOp>(op);
    if (auto node = dyn_cast<dfg::NodeOp>(op))
      found = !node.getBody().front().getOps<dfg::NextIterationOp>().empty();
    return found;
  }

  bool reaches(mlir::Operation *from, mlir::Operation *to, bool inIteration) {
    unsigned target = numbers.lookup(to);
    std::optional<llvm::BitVector> &sources = reached[inIteration][target];
    if (!sources)
      sources = reachedFrom(target, [&](const Node &node) {
        return inIteration && node.op != to && node.isNextIteration;
      });
    return sources->test(numbers.lookup(from));
  }

  const Guards &guardsOf(mlir::Operation *start);
  llvm::BitVector reachedFrom(unsigned start, llvm::function_ref<bool(const Node &)> isEnd) const;

  std::vector<Node> nodes;
  llvm::DenseMap<mlir::Operation *, unsigned> numbers;
  /// The operations that lead to an operation: all, and those of the same iteration.
  std::vector<std::optional<llvm::BitVector>> reached[2];
  std::vector<std::optional<Guards>> guards;
};

Order::Order(mlir::Block &body) {
  for (mlir::Operation &op : body) {
    numbers[&op] = nodes.size();
    nodes.push_back({&op, isNextIteration(&op), {}, {}});
  }
  for (Node &node : nodes) {
    node.op->walk([&](mlir::Operation *nested) {
      for (mlir::Value operand : nested->getOperands())
        if (mlir::Operation *producer = operand.getDefiningOp();
            producer && producer->getBlock() == &body && producer != node.op)
          node.inputs.insert(operand);
    });
    for (mlir::Value input : node.inputs)
      node.producers.push_back(numbers.lookup(input.getDefiningOp()));
  }
  for (auto &sets : reached)
    sets.resize(nodes.size());
  guards.resize(nodes.size());
}

/// The operations from which edges lead to `start`, not through those where the search ends.
llvm::BitVector Order::reachedFrom(unsigned start,
                                   llvm::function_ref<bool(const Node &)> isEnd) const {
  llvm::BitVector seen(nodes.size());
  SmallVector<unsigned> work{start};
  seen.set(start);
  while (!work.empty()) {
    const Node &node = nodes[work.pop_back_val()];
    if (isEnd(node))
      continue;
    for (unsigned producer : node.producers)
      if (!seen.test(producer)) {
        seen.set(producer);
        work.push_back(producer);
      }
  }
  return seen;
}

const Guards &Order::guardsOf(mlir::Operation *start) {
  std::optional<Guards> &found = guards[numbers.lookup(start)];
  if (found)
    return *found;
  found.emplace();
  auto isEnd = [](const Node &node) { return isa<dfg::MergeOp>(node.op) || node.isNextIteration; };
  for (unsigned number : reachedFrom(numbers.lookup(start), isEnd).set_bits()) {
    if (isEnd(nodes[number]))
      continue;
    for (mlir::Value input : nodes[number].inputs)
      if (auto choice = input.getDefiningOp<dfg::SwitchOp>())
        (*found)[choice.getPredicate()] |= input == choice.getOnTrue() ? kOnTrue : kOnFalse;
  }
  return *found;
}

} // namespace

/// The effects of a block on variables and queues, by name.
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

void findUnorderedEffects(dfg::DataflowOp op,
                          llvm::function_ref<bool(const UnorderedEffects &)> visit) {
  mlir::Block &body = op.getBody().front();
  Order order(body);
  for (auto &[name, effects] : collectEffects(body))
    for (auto [i, b] : enumerate(effects)) {
      auto isUnordered = [&, &b = b](const Effect &a) {
        return a.place != b.place && (a.writes || b.writes) && !order.orders(a.place, b.place) &&
               !order.excludes(a.place, b.place);
      };
      ArrayRef<Effect> before = ArrayRef(effects).take_front(i);
      const Effect *a = find_if(before, isUnordered);
      if (a != before.end() && !visit({name, a->op, b.op}))
        return;
    }
}

} // namespace tfc::text
