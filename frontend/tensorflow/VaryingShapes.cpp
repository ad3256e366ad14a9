// Gives Merges of values whose sizes differ a buffer and the used sizes, by changes to the graph.

#include "dialects/dfg/SizeOps.h"
#include "frontend/tensorflow/EntryContext.h"
#include "frontend/tensorflow/LoopBounds.h"
#include "frontend/tensorflow/VaryingMerges.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

using dfg::DimExpr;

static constexpr int kInt64 = 9;
/// Sizes that grow by more in each attempt have no limit that the sizes of feeds express.
static constexpr unsigned kMostRevisions = 3;

//===----------------------------------------------------------------------===//
// Attempts
//===----------------------------------------------------------------------===//

std::pair<DimExpr, DimExpr> limitsOf(EntryContext &entry, const DimExpr &size) {
  SmallVector<dfg::BindSizeOp> binders;
  entry.builder.currentEntry().walk([&](dfg::BindSizeOp op) { binders.push_back(op); });
  std::pair<DimExpr, DimExpr> limits{size, size};
  for (dfg::BindSizeOp op : reverse(binders)) {
    auto range = [&](StringRef name) -> std::pair<DimExpr, DimExpr> {
      return name == op.getName() ? std::pair(DimExpr(0), op.getBoundExpr())
                                  : std::pair(DimExpr::symbol(name), DimExpr::symbol(name));
    };
    limits = {limits.first.limits(range).first, limits.second.limits(range).second};
  }
  return limits;
}

void noteShapeChange(EntryContext &entry, unsigned merge, Type from, Type to) {
  auto before = dyn_cast<RankedTensorType>(from), after = dyn_cast<RankedTensorType>(to);
  if (!before || !after || before.getElementType() != after.getElementType() ||
      before.getRank() != after.getRank() || entry.complex.isUsedBy(merge) ||
      entry.graph.nodes[merge].op != "Merge")
    return;
  for (auto [axis, sizes] : enumerate(zip(dfg::shapeOf(before), dfg::shapeOf(after)))) {
    auto [old, now] = sizes;
    if (old == now)
      continue;
    auto [least, most] = limitsOf(entry, now - old);
    entry.shapeChanges.push_back({merge, unsigned(axis), least, most});
  }
}

bool isAtMost(const DimExpr &a, const DimExpr &b) {
  return dfg::isNonNegative(b - a).value_or(false);
}

DimExpr largerOf(const DimExpr &a, const DimExpr &b) {
  return isAtMost(b, a) ? a : isAtMost(a, b) ? b : DimExpr::max(a, b);
}

/// Returns true if it says more than was known.
bool VaryingShapes::note(const EntryContext &entry, const ShapeChange &change) {
  auto [found, isFirst] = merges.try_emplace(change.merge);
  VaryingMerge &merge = found->second;
  if (isFirst) {
    merge.isLoop = any_of(original.nodes[change.merge].inputs, [&](Edge input) {
      return hasFlag(original.nodes[input.node].op, OpRule::LoopsBack);
    });
    if (auto trips = merge.isLoop ? tripsOf(entry, change.merge) : std::nullopt) {
      merge.trips = trips->count;
      merge.isExact = trips->isExact;
    }
  }
  auto [place, isNew] = merge.axes.try_emplace(change.axis);
  VaryingAxis &axis = place->second;
  bool shrinks = !change.least || !dfg::isNonNegative(*change.least).value_or(false);
  bool isSteady = change.least && change.most && *change.least == *change.most;
  DimExpr most = change.most ? largerOf(*change.most, DimExpr(0)) : DimExpr(0);
  if (isNew) {
    axis.limit = merge.isLoop ? largestSize(entry, change.merge, change.axis) : std::nullopt;
    axis.growth = change.most ? std::optional(most) : std::nullopt;
    axis.shrinks = shrinks;
    axis.isSteady = isSteady;
    return true;
  }
  VaryingAxis old = axis;
  axis.shrinks |= shrinks;
  if (axis.growth) {
    DimExpr larger = largerOf(*axis.growth, most);
    axis.isSteady &= isSteady && change.most == axis.growth;
    if (!change.most || axis.revisions == kMostRevisions)
      axis.growth = std::nullopt;
    else if (larger != *axis.growth) {
      axis.growth = larger;
      ++axis.revisions;
    }
  }
  return axis.shrinks != old.shrinks || axis.growth != old.growth || axis.isSteady != old.isSteady;
}

bool VaryingShapes::learn(const EntryContext &entry) {
  bool hasLearned = lists.learn(entry, original.nodes.size());
  for (const ShapeChange &change : entry.shapeChanges)
    if (change.merge < original.nodes.size())
      hasLearned |= note(entry, change);
  if (hasLearned)
    rewrite();
  return hasLearned;
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

void VaryingShapes::rewrite() {
  changed = original;
  accesses.clear();
  lists.rewrite(*changed, original.nodes.size());
  for (auto &[index, merge] : merges)
    rewriteMerge(index, merge);
}

static EdgeList listOf(ArrayRef<Edge> edges) {
  EdgeList list;
  for (Edge edge : edges)
    list.add(edge);
  return list;
}

/// Returns a copy of a node that passes on the used sizes or, for an empty `part`, the buffer.
unsigned VaryingShapes::copy(unsigned of, StringRef part, ArrayRef<Edge> inputs) {
  Node node = changed->nodes[of];
  node.attrs.erase("_class");
  node.name += ("/" + part).str();
  if (part == "used" && node.has("T"))
    node.attrs["T"].number = kInt64;
  node.inputs = listOf(inputs);
  return changed->add(std::move(node));
}

/// Returns a node that stores or loads a value.
unsigned VaryingShapes::access(unsigned of, unsigned merge, Role role, ArrayRef<Edge> inputs) {
  Node node;
  node.name = changed->nodes[of].name + "/size";
  node.op = "_VaryingShape";
  node.device = changed->nodes[of].device;
  node.inputs = listOf(inputs);
  unsigned index = changed->add(std::move(node));
  accesses[index] = {merge, role};
  return index;
}

/// Lets a node load the result that it passed on.
void VaryingShapes::loadAt(unsigned index, unsigned merge, Edge buffer, Edge used) {
  changed->nodes[index].op = "_VaryingShape";
  changed->nodes[index].inputs = listOf({buffer, used});
  accesses[index] = {merge, Role::Result};
}

/// Lets the readers of an edge, except some, read another one.
void VaryingShapes::redirect(Edge from, Edge to, ArrayRef<unsigned> except) {
  for (unsigned index = 0; index < changed->nodes.size(); ++index) {
    Node &node = changed->nodes[index];
    if (index == to.node || is_contained(except, index) || !is_contained(node.inputs, from))
      continue;
    EdgeList inputs;
    for (Edge input : node.inputs)
      inputs.add(input == from ? to : input);
    node.inputs = inputs;
  }
}

void VaryingShapes::rewriteMerge(unsigned index, VaryingMerge &merge) {
  merge.stores.clear();
  SmallVector<Edge> buffers, used;
  SmallVector<Edge> inputs(changed->nodes[index].inputs.begin(),
                           changed->nodes[index].inputs.end());
  for (Edge input : inputs) {
    const Node &from = changed->nodes[input.node];
    bool isNext = hasFlag(from.op, OpRule::LoopsBack);
    bool isPassed = (isNext || hasFlag(from.op, OpRule::Enters)) && from.inputs.first();
    Edge value = isPassed ? *from.inputs.first() : input;
    unsigned store = access(index, index, isNext ? Role::Next : Role::Initial, value);
    // The store of a value that enters a loop, or leaves a branch, runs if that is there.
    merge.stores.push_back(store);
    if (!isPassed) {
      buffers.push_back({store, 0});
      used.push_back({store, 1});
      continue;
    }
    buffers.push_back({copy(input.node, "buffer", Edge{store, 0}), 0});
    used.push_back({copy(input.node, "used", Edge{store, 1}), 0});
  }
  unsigned lengths = copy(index, "used", used);
  if (!merge.isLoop) {
    // The node becomes the one that loads the result, under its name.
    unsigned buffer = copy(index, "buffer", buffers);
    redirect({index, 1}, {buffer, 1}, {});
    changed->results.try_emplace(changed->edgeName({index, 1}), Edge{buffer, 1});
    return loadAt(index, index, {buffer, 0}, {lengths, 0});
  }
  changed->nodes[index].inputs = listOf(buffers);
  SmallVector<unsigned> carrying;
  for (unsigned user = 0; user < original.nodes.size(); ++user) {
    const Node &node = changed->nodes[user];
    std::optional<Edge> predicate = node.inputs.at(1);
    if (hasFlag(node.op, OpRule::Switches) && node.inputs.first() == Edge{index, 0} && predicate &&
        changed->nodes[predicate->node].op == "LoopCond")
      carrying.push_back(user);
  }
  unsigned load = access(index, index, Role::Condition, {{index, 0}, {lengths, 0}});
  redirect({index, 0}, {load, 0}, carrying);
  for (unsigned user : carrying)
    rewriteSwitch(user, lengths, index);
}

/// Passes the used sizes on beside the buffer; loads the value in the body and after the loop.
void VaryingShapes::rewriteSwitch(unsigned index, unsigned lengths, unsigned merge) {
  unsigned used = copy(index, "used", {{lengths, 0}, *changed->nodes[index].inputs.at(1)});
  unsigned body = access(index, merge, Role::Body, {{index, 1}, {used, 1}});
  redirect({index, 1}, {body, 0}, {});
  SmallVector<unsigned> exits;
  for (unsigned user = 0; user < original.nodes.size(); ++user)
    if (hasFlag(changed->nodes[user].op, OpRule::Exits) &&
        changed->nodes[user].inputs.first() == Edge{index, 0})
      exits.push_back(user);
  // The node that leaves the loop becomes the one that loads the result, under its name.
  for (unsigned user : exits) {
    unsigned buffer = copy(user, "buffer", Edge{index, 0}),
             last = copy(user, "used", Edge{used, 0});
    loadAt(user, merge, {buffer, 0}, {last, 0});
  }
  // The other readers of the value that leaves the loop.
  SmallVector<unsigned> leaving;
  for (unsigned user = 0; user < changed->nodes.size(); ++user)
    if (hasFlag(changed->nodes[user].op, OpRule::Exits))
      leaving.push_back(user);
  unsigned last = access(index, merge, Role::Condition, {{index, 0}, {used, 0}});
  redirect({index, 0}, {last, 0}, leaving);
}

const VaryingShapes::Access *VaryingShapes::accessOf(unsigned node) const {
  auto found = accesses.find(node);
  return found == accesses.end() ? nullptr : &found->second;
}

} // namespace tfc::tensorflow
