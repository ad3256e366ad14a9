//===- Groups.cpp - Operations that share a device ------------------------===//
//
// Joins members by union-find, and then merges what they say about their device, as in section
// 3.2.1 of the first TensorFlow paper (Abadi et al., 2015).
//
//===----------------------------------------------------------------------===//

#include "compiler/placement/Groups.h"
#include "dialects/dfg/HostForm.h"
#include "dialects/dfg/NodeName.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::placement {

static bool isState(Operation *op) { return isa<VariableOp, QueueOp, TapeOp>(op); }

/// The place next to which a symbol asks for something to be.
static Operation *findState(StringRef name, SymbolTable &symbols) {
  Operation *state = symbols.lookup(name);
  return state && isState(state) ? state : nullptr;
}

LogicalResult Groups::colocate(Operation *op, SymbolTable &symbols) {
  for (FlatSymbolRefAttr symbol : colocatedWith(op)) {
    Operation *state = findState(symbol.getValue(), symbols);
    if (!state)
      return op->emitError("there is no variable and no queue '")
             << symbol.getValue() << "' with which to colocate this [placement]";
    joinWith(op, state);
  }
  return success();
}

void Groups::joinWith(Operation *op, Operation *state) {
  join(op, state);
  partners[op].push_back(state);
  partners[state].push_back(op);
}

/// Joins an operation with the variable, queue or tape that it uses.
void Groups::joinState(Operation *op, SymbolTable &symbols) {
  if (!isa<SymbolUserOpInterface>(op))
    return;
  for (NamedAttribute attribute : op->getAttrs())
    if (auto symbol = dyn_cast<FlatSymbolRefAttr>(attribute.getValue()))
      if (Operation *state = findState(symbol.getValue(), symbols))
        joinWith(op, state);
}

/// Joins the operations on a list with the list, also across the regions of branches and loops:
/// what enters a region and what leaves it is one list.
void Groups::joinLists(Operation *op) {
  auto isList = [](Value value) { return isa<ListType>(value.getType()); };
  auto joinAll = [&](ValueRange values) {
    for (Value value : values)
      if (isList(value))
        join(op, value.getAsOpaquePointer());
  };
  bool isBranch = op->getNumRegions() != 0 || op->hasTrait<OpTrait::IsTerminator>();
  if (!isBranch) {
    joinAll(op->getOperands());
    joinAll(op->getResults());
    return;
  }
  auto joinPairs = [&](ValueRange from, ValueRange to) {
    for (auto [a, b] : llvm::zip(from, to))
      if (isList(a) && isList(b))
        join(a.getAsOpaquePointer(), b.getAsOpaquePointer());
  };
  if (auto branch = dyn_cast<IfOp>(op)) {
    for (Region &region : branch->getRegions())
      joinPairs(region.front().getTerminator()->getOperands(), branch.getResults());
  } else if (auto loop = dyn_cast<WhileOp>(op)) {
    joinPairs(loop.getInits(), loop.getResults());
    joinPairs(loop.getInits(), loop.getConditionBlock().getArguments());
    joinPairs(loop.getInits(), loop.getBodyBlock().getArguments());
    joinPairs(loop.getInits(), loop.getBodyBlock().getTerminator()->getOperands());
  }
}

static std::string describe(Operation *op) {
  if (auto symbol = dyn_cast<SymbolOpInterface>(op))
    return (op->getName().stripDialect() + " '" + symbol.getName() + "'").str();
  std::string text = ("'" + op->getName().stripDialect() + "'").str();
  if (StringRef node = nodeOf(op->getLoc()); !node.empty())
    text += (" of '" + node + "'").str();
  return text;
}

/// Adds a note for each operation that joins two variables, queues or tapes on the shortest path
/// from one member of a group to another.
void Groups::noteJoins(InFlightDiagnostic &error, Operation *from, Operation *to) const {
  DenseMap<Operation *, Operation *> reachedFrom{{to, nullptr}};
  SmallVector<Operation *> reached{to};
  for (size_t i = 0; i < reached.size() && !reachedFrom.contains(from); ++i)
    for (Operation *partner : partners.lookup(reached[i]))
      if (reachedFrom.try_emplace(partner, reached[i]).second)
        reached.push_back(partner);
  Operation *last = nullptr;
  for (Operation *op = from; op; last = std::exchange(op, reachedFrom.lookup(op)))
    if (Operation *next = reachedFrom.lookup(op);
        last && next && (!isState(op) || !colocatedWith(op).empty()))
      error.attachNote(op->getLoc())
          << "this is on the same device as " << describe(last) << " and " << describe(next);
}

/// Merges what `op` says with what other members of its group say.
LogicalResult Groups::constrain(Operation *op) {
  DeviceName device = deviceOf(op);
  if (device.isOpen())
    return success();
  SmallVector<Constraint, 1> &known = constraintsOf[members.getOrInsertLeaderValue(op)];
  for (const Constraint &other : known) {
    if (DeviceName::both(device, other.device))
      continue;
    InFlightDiagnostic error = op->emitError() << describe(op) << " cannot be on " << device.str()
                                               << ", because it is on the same device as "
                                               << describe(other.source) << " [placement]";
    noteJoins(error, op, other.source);
    error.attachNote(other.source->getLoc()) << "this is on " << other.device.str();
    return error;
  }
  known.push_back({device, op});
  return success();
}

LogicalResult Groups::build(ModuleOp module) {
  SymbolTable symbols(module);
  bool failed = false;
  module.walk([&](Operation *op) {
    failed |= llvm::failed(colocate(op, symbols));
    joinState(op, symbols);
    joinLists(op);
  });
  module.walk([&](Operation *op) {
    failed |= llvm::failed(constrain(op));
    if (readsInput(op)) {
      members.insert(op);
      hostGroups.insert(find(op));
    }
    if (!isState(op))
      return;
    members.insert(op);
    states.try_emplace(find(op), op);
    if (isa<QueueOp>(op))
      hostGroups.insert(find(op));
  });
  return failure(failed);
}

/// Returns the device that satisfies all constraints of a group.
static Groups::Constraint merge(ArrayRef<Groups::Constraint> known) {
  Groups::Constraint all = known.front();
  for (const Groups::Constraint &other : known)
    all.device = *DeviceName::both(all.device, other.device);
  return all;
}

SmallVector<Groups::Constraint> Groups::requests() const {
  SmallVector<Constraint> all;
  for (const auto &[leader, known] : constraintsOf)
    all.append(known);
  return all;
}

SmallVector<Groups::Constraint> Groups::constraints() const {
  SmallVector<Constraint> merged;
  for (const auto &[leader, known] : constraintsOf)
    merged.push_back(merge(known));
  return merged;
}

std::optional<Groups::Constraint> Groups::constraintOf(Id group) const {
  auto known = constraintsOf.find(group);
  return known == constraintsOf.end() ? std::nullopt : std::optional(merge(known->second));
}

} // namespace tfc::placement
