// Stores values of varying size in buffers, and loads them; VaryingMerges.h explains what for.

#include "frontend/tensorflow/NodeBuilder.h"
#include "frontend/tensorflow/Values.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

using dfg::DimExpr;

namespace {
/// The sizes along an axis: from `base` to `base + room`.
struct Room {
  DimExpr base, room;
};
} // namespace

static const VaryingMerge &mergeOf(NodeBuilder &node) {
  return node.entry.varying->getMerge(node.entry.varying->accessOf(node.index)->merge);
}

static VaryingShapes::Role roleOf(NodeBuilder &node) {
  return node.entry.varying->accessOf(node.index)->role;
}

/// Returns limits of a size of a branch that are known outside of it: sizes of feeds, or those of
/// loop variables in iterations.
static std::pair<DimExpr, DimExpr> limitsOutside(EntryContext &entry, const DimExpr &size) {
  SmallVector<std::string> names, outside;
  size.collectSymbols(names);
  for (const auto &[place, known] : entry.varyingSizes)
    known.collectSymbols(outside);
  bool isKnown = all_of(names, [&](StringRef name) { return is_contained(outside, name); });
  return isKnown ? std::pair(size, size) : limitsOf(entry, size);
}

/// Returns the limits of the sizes with which a loop begins, or that the branches return. Waits for
/// the other branches.
static std::optional<std::pair<DimExpr, DimExpr>> initialSizes(NodeBuilder &node, unsigned axis) {
  std::optional<std::pair<DimExpr, DimExpr>> limits;
  for (unsigned store : mergeOf(node).stores) {
    NodeBuilder stored(node.entry, store);
    if (roleOf(stored) == VaryingShapes::Role::Next)
      continue;
    Edge value = *stored.edge(0);
    if (!node.entry.isFed(value) && node.entry.states[value.node].status != NodeState::Built) {
      node.waitForNode(value.node);
      return std::nullopt;
    }
    RankedTensorType type = stored.typeOf(0);
    if (!type || axis >= type.getRank())
      return std::nullopt;
    DimExpr size = dfg::shapeOf(type)[axis];
    auto [least, most] =
        mergeOf(node).isLoop ? std::pair(size, size) : limitsOutside(node.entry, size);
    if (!limits) {
      limits = {least, most};
      continue;
    }
    limits->first = isAtMost(limits->first, least)   ? limits->first
                    : isAtMost(least, limits->first) ? least
                                                     : DimExpr(0);
    limits->second = largerOf(limits->second, most);
  }
  return limits;
}

static std::string boundHelp(const Node &merge) {
  return fmt::format("with --bound '{}=SIZE' calls find it, up to that size", merge.name);
}

/// Returns the sizes for which there is room, or std::nullopt after errors.
static std::optional<Room> roomOf(NodeBuilder &node, unsigned number, const VaryingAxis &axis) {
  EntryContext &entry = node.entry;
  unsigned index = entry.varying->accessOf(node.index)->merge;
  const VaryingMerge &merge = mergeOf(node);
  auto limits = initialSizes(node, number);
  if (!limits)
    return std::nullopt;
  auto [base, most] = *limits;
  const Node &source = entry.graph.nodes[index];
  if (auto bound = entry.bounds.find(source.name); bound != entry.bounds.end()) {
    bool isBase = !axis.shrinks && isAtMost(base, bound->second);
    return isBase ? Room{base, DimExpr(bound->second) - base} : Room{0, bound->second};
  }
  if (!merge.isLoop)
    return Room{base, most - base};
  if (axis.growth && axis.limit)
    most = DimExpr::max(most, DimExpr(*axis.limit) + *axis.growth);
  else if (axis.growth && (merge.trips || axis.growth->isConstant(0)))
    most = most + *axis.growth * DimExpr(merge.trips.value_or(0));
  else {
    auto error = entry.error(index);
    error << "expected the condition of the loop to limit the size of a variable that grows "
             "[dynamic-shape]";
    error.attachNote() << "help: " << boundHelp(source);
    return std::nullopt;
  }
  return axis.shrinks ? Room{0, most} : Room{base, most - base};
}

/// Checks what has been assumed about the sizes for the next iteration. Other facts lead to another
/// attempt.
static bool checkNext(NodeBuilder &node, unsigned number, const VaryingAxis &axis, const Room &room,
                      const DimExpr &size) {
  EntryContext &entry = node.entry;
  unsigned index = entry.varying->accessOf(node.index)->merge;
  if (entry.bounds.count(entry.graph.nodes[index].name))
    return true;
  auto before = entry.varyingSizes.find({index, number});
  std::optional<DimExpr> least, most;
  if (before != entry.varyingSizes.end())
    std::tie(least, most) = limitsOf(entry, size - before->second);
  auto [smallest, largest] = limitsOf(entry, size);
  DimExpr end = room.base + room.room;
  bool fits = isAtMost(largest, end) || (most && axis.growth && isAtMost(*most, *axis.growth)),
       begins = axis.shrinks || (least && isAtMost(0, *least)) || isAtMost(room.base, smallest),
       isSteady = !axis.isSteady || !mergeOf(node).isExact ||
                  (least && most && *least == *most && most == axis.growth);
  if (fits && begins && isSteady)
    return true;
  entry.shapeChanges.push_back({index, number, begins ? least.value_or(DimExpr(0)) : least,
                                fits && !most ? axis.growth : most});
  node.error() << "expected a loop variable to keep its size [loop-type]";
  return false;
}

/// Returns the buffer with a value, and how much of it that uses beyond the least size of each
/// axis.
static Outcome buildStore(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  if (!x)
    return Outcome::Failed;
  SmallVector<NodeValue> used;
  for (const auto &[number, axis] : mergeOf(node).axes) {
    std::optional<Room> room = roomOf(node, number, axis);
    if (!room || !x)
      return Outcome::Failed;
    DimExpr size = dfg::shapeOf(x.getType())[number], beyond = size - room->base;
    if (roleOf(node) == VaryingShapes::Role::Next && !checkNext(node, number, axis, *room, size))
      return Outcome::Failed;
    auto stored =
        node.library().on("_stored", {x},
                          {{"axis", dfg::Shape{DimExpr(number)}},
                           {"base", dfg::Shape{room->base}},
                           {"room", dfg::Shape{room->room}},
                           {"fits", isAtMost(0, beyond) && isAtMost(beyond, room->room)}});
    if (!stored)
      return Outcome::Failed;
    x = (*stored)[0];
    used.push_back((*stored)[1]);
  }
  Value numbers = node.valueOf(node.op("stack", used, node.attrs.integer("axis", 0)));
  // They may be constants, but are there only if the value is. Only this is put into a node of its
  // own, because later ones use the sizes that have been bound here.
  Edge value = *node.edge(0);
  Value token = node.entry.isFed(value) ? Value() : Tokens(node.entry).tokenOf(value);
  if (numbers && token)
    numbers = Values(node.entry).addNode(node.index, {}, token, numbers).getResults().front();
  return node.done({x, numbers});
}

/// Returns the used part of the buffer.
static Outcome buildLoad(NodeBuilder &node, const OpRule &) {
  using Role = VaryingShapes::Role;
  NodeValue x = node.in(0), used = node.in(1);
  if (!x || !used)
    return Outcome::Failed;
  const VaryingMerge &merge = mergeOf(node);
  auto isFull = [&](const auto &axis) { return axis.second.isSteady && axis.second.growth; };
  unsigned index = node.entry.varying->accessOf(node.index)->merge;
  bool isBounded = node.entry.bounds.count(node.entry.graph.nodes[index].name);
  if (roleOf(node) == Role::Result && merge.isExact && !isBounded && all_of(merge.axes, isFull)) {
    node.followInput(1);
    return node.done({x});
  }
  for (auto [i, axis] : enumerate(merge.axes)) {
    const auto &[number, facts] = axis;
    std::optional<Room> room = roomOf(node, number, facts);
    if (!room)
      return Outcome::Failed;
    DimExpr most = room->room;
    bool isLimited = roleOf(node) == Role::Body && facts.limit && !isBounded &&
                     isAtMost(room->base, *facts.limit);
    if (isLimited)
      most = DimExpr(*facts.limit) - room->base;
    NodeValue place = node.slice(used, {DimExpr(int64_t(i))}, {DimExpr(1)});
    x = node.library().compute("_loaded", {x, node.reshape(place, {})},
                               {{"axis", dfg::Shape{DimExpr(number)}},
                                {"base", dfg::Shape{room->base}},
                                {"room", dfg::Shape{most}}});
    if (!x)
      return Outcome::Failed;
    if (roleOf(node) == Role::Body)
      node.entry.varyingSizes[{index, number}] = dfg::shapeOf(x.getType())[number];
  }
  return node.done({x});
}

static constexpr OpRule kStore = {"_VaryingShape", "1 -> 2", buildStore};
static constexpr OpRule kLoad = {"_VaryingShape", "2 -> 1", buildLoad};

const OpRule *VaryingShapes::ruleOf(unsigned node) const {
  const Access *found = accessOf(node);
  if (!found && changed && changed->nodes[node].number(kVaries))
    return &varyingListRule(changed->nodes[node].op);
  bool stores = found && (found->role == Role::Initial || found->role == Role::Next);
  return found ? stores ? &kStore : &kLoad : nullptr;
}

} // namespace tfc::tensorflow
