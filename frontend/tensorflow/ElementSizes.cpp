// Finds lists whose elements have several sizes, and changes the graph for them.

#include "dialects/dfg/SizeOps.h"
#include "frontend/tensorflow/EntryContext.h"
#include "frontend/tensorflow/Flows.h"
#include "frontend/tensorflow/VaryingLists.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

using dfg::DimExpr;

/// Sizes that grow in each attempt have no limit that the sizes of feeds express.
static constexpr unsigned kMostRevisions = 8;

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

bool VaryingLists::learn(const EntryContext &entry, unsigned count) {
  bool hasLearned = false;
  std::set<unsigned> found;
  for (const ListChange &change : entry.listChanges) {
    auto [place, isNew] = lists.try_emplace(change.array);
    VaryingList &list = place->second;
    if (isNew) {
      list.room = change.room;
      list.axes = change.axes;
      found.insert(change.array);
      hasLearned = true;
      continue;
    }
    if (list.revisions == kMostRevisions || list.room.size() != change.room.size())
      continue;
    VaryingList before = list;
    for (auto [room, wanted] : zip_equal(list.room, change.room))
      room = largerOf(room, wanted);
    list.axes.insert(change.axes.begin(), change.axes.end());
    bool isMore = list.room != before.room || list.axes != before.axes;
    list.revisions += isMore;
    hasLearned |= isMore;
  }
  for (const auto &[edge, key] : entry.structure.flows)
    if (key.source.empty() && edge.node < count && found.count(key.array))
      arrays[edge] = key.array;
  return hasLearned;
}

const VaryingList *VaryingLists::find(Edge edge) const {
  auto found = arrays.find(edge);
  return found == arrays.end() ? nullptr : &lists.at(found->second);
}

/// Returns the frame in which a size is bound, or std::nullopt for sizes of feeds.
static std::optional<unsigned> frameOfSize(EntryContext &entry, StringRef name) {
  const EntryContext::Binder *binder = entry.binderOf(name);
  return binder ? std::optional(entry.structure.frameOf[binder->node]) : std::nullopt;
}

/// Returns true if a size is bound in a loop that a node is not in, so that it differs from
/// iteration to iteration.
static bool isInner(EntryContext &entry, const DimExpr &size, unsigned node) {
  SmallVector<std::string> names;
  size.collectSymbols(names);
  return any_of(names, [&](StringRef name) {
    std::optional<unsigned> frame = frameOfSize(entry, name);
    unsigned own = entry.structure.frameOf[node];
    while (frame && own && own != *frame)
      own = entry.structure.frames[own].parent;
    return frame && *frame != own;
  });
}

static void fail(EntryContext &entry, ListChange change, RankedTensorType type) {
  entry.error(change.array) << "expected elements of sizes that are known where the list is made, "
                               "but got "
                            << dfg::toText(type) << " [dynamic-shape]";
  entry.listChanges.push_back(std::move(change));
}

bool checkElement(EntryContext &entry, unsigned array, RankedTensorType type) {
  const VaryingList *list = entry.varying ? entry.varying->getLists().find({array, 0}) : nullptr;
  auto known = entry.arrays.find(array);
  RankedTensorType given = known == entry.arrays.end() ? RankedTensorType() : known->second.type;
  dfg::Shape sizes = dfg::shapeOf(type), room = list    ? list->room
                                                : given ? dfg::shapeOf(given)
                                                        : sizes;
  if (room.size() != sizes.size())
    return true; // the operation reports it
  ListChange change{array, room, {}};
  bool isNew = false;
  for (auto [axis, size] : enumerate(sizes)) {
    bool varies = list && list->axes.count(axis);
    if (!varies && size == room[axis] && !isInner(entry, size, array))
      continue;
    DimExpr most = limitsOf(entry, size).second;
    if (varies && isAtMost(most, room[axis]))
      continue;
    change.room[axis] = largerOf(limitsOf(entry, room[axis]).second, most);
    change.axes.insert(axis);
    isNew = true;
  }
  if (!isNew)
    return true;
  fail(entry, std::move(change), type);
  return false;
}

void noteElement(EntryContext &entry, unsigned array, RankedTensorType most,
                 std::set<unsigned> axes) {
  ListChange change{array, dfg::shapeOf(most), std::move(axes)};
  for (DimExpr &size : change.room)
    size = limitsOf(entry, size).second;
  fail(entry, std::move(change), most);
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

namespace {
/// Adds the second list beside each list.
class ListRewriter {
public:
  ListRewriter(Graph &graph, const std::map<Edge, unsigned> &arrays, unsigned count)
      : graph(graph), arrays(arrays), count(count) {}

  void run();

private:
  bool isPart(Edge edge) const { return arrays.count(edge); }
  Edge usedOf(Edge edge) const {
    auto found = used.find(edge);
    return found == used.end() ? edge : found->second;
  }
  unsigned copy(unsigned of);

  Graph &graph;
  const std::map<Edge, unsigned> &arrays;
  const unsigned count;
  std::map<Edge, Edge> used;
};
} // namespace

unsigned ListRewriter::copy(unsigned of) {
  Node node = graph.nodes[of];
  node.attrs.erase("_class");
  node.name += "/used";
  return graph.add(std::move(node));
}

void ListRewriter::run() {
  SmallVector<unsigned> copies, touched;
  for (unsigned index = 0; index < count; ++index) {
    bool returns = isPart({index, 0}) || isPart({index, 1});
    if (!returns && none_of(graph.nodes[index].inputs, [&](Edge input) { return isPart(input); }))
      continue;
    if (returns && hasFlag(graph.nodes[index].op, OpRule::Passes | OpRule::Merges)) {
      unsigned made = copy(index);
      copies.push_back(made);
      used[{index, 0}] = {made, 0};
      used[{index, 1}] = {made, 1};
      continue;
    }
    touched.push_back(index);
    if (returns)
      used[{index, 0}] = {index, 1};
  }
  for (unsigned index : copies) {
    EdgeList inputs;
    for (Edge input : graph.nodes[index].inputs)
      inputs.add(usedOf(input));
    graph.nodes[index].inputs = inputs;
  }
  for (unsigned index : touched) {
    EdgeList inputs = graph.nodes[index].inputs;
    for (Edge input : graph.nodes[index].inputs)
      if (isPart(input))
        inputs.add(usedOf(input));
    graph.nodes[index].inputs = inputs;
    graph.nodes[index].attrs[kVaries.str()].number = 1;
  }
}

void VaryingLists::rewrite(Graph &graph, unsigned count) const {
  if (!lists.empty())
    ListRewriter(graph, arrays, count).run();
}

} // namespace tfc::tensorflow
