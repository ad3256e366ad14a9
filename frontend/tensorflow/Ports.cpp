// Finds tensors by names such as "name:1"; a node's name alone means its first output.

#include "frontend/tensorflow/Ports.h"
#include "frontend/Fmt.h"
#include "frontend/text/syntax/Suggest.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

/// A node with a similar name, or with that name in a scope; empty if there is none.
static StringRef findSimilarNode(const Graph &graph, StringRef name) {
  std::vector<StringRef> names;
  for (const Node &node : graph.nodes)
    names.push_back(node.name);
  auto inScope = find_if(names, [&](StringRef node) {
    return node.ends_with(name) && node.drop_back(name.size()).ends_with("/");
  });
  return inScope == names.end() ? text::findSimilar(name, names) : *inScope;
}

std::optional<Edge> EntryPorts::findTensor(StringRef name, StringRef role) {
  const Graph &graph = entry.graph;
  auto parts = splitTensorName(name);
  if (role == "target") {
    if (auto found = parts ? graph.byName.find(parts->first) : graph.byName.end();
        found != graph.byName.end())
      return Edge{found->second, 0};
  } else if (std::optional<Edge> edge = graph.findTensor(name)) {
    return edge;
  }
  auto error = entry.diagnostics.error(graph.locate(entry.builder.getContext()));
  error << "entry '" << entry.spec.name << "': the graph has no node for the " << role << " '"
        << name << "' [graph-entry]";
  if (StringRef similar = findSimilarNode(graph, parts ? parts->first : name); !similar.empty())
    error.attachNote() << "help: did you mean '" << similar << "'?";
  return std::nullopt;
}

Type EntryPorts::elementTypeAt(const FeedSpec &feed, Edge edge) {
  MLIRContext *context = entry.builder.getContext();
  const Node &node = entry.graph.nodes[edge.node];
  Type given = elementTypeByName(context, feed.element);
  if (!feed.element.empty() && !given)
    entry.error(edge.node) << "'" << feed.element << "' is not an element type [dtype]";
  // Only `dtype` is sure to be that of an output.
  if (!feed.element.empty() && (!given || !node.has("dtype")))
    return given;
  std::optional<int64_t> dtype;
  for (StringRef attr : {"dtype", "T", "DstT"})
    if (!dtype && node.has(attr))
      dtype = node.number(attr);
  Type type = dtype ? elementTypeOf(context, *dtype) : Type();
  if (!dtype)
    entry.error(edge.node) << "the graph does not specify the element type of the feed: expected "
                              "it before the sizes, as in "
                           << feed.tensor << ": i64[n] [dtype]";
  else if (!type)
    entry.error(edge.node) << "cannot feed a tensor of " << dtypeName(*dtype) << " [dtype]";
  else if (given && given != type)
    entry.error(edge.node) << "expected a feed of " << dtypeName(*dtype) << ", but got "
                           << feed.element << " [dtype]";
  return given && given != type ? Type() : type;
}

void EntryPorts::addFeed(const FeedSpec &feed, Edge edge) {
  MLIRContext *context = entry.builder.getContext();
  const Node &node = entry.graph.nodes[edge.node];
  if (entry.complex.isComplex(edge)) {
    entry.error(edge.node)
        << "cannot feed complex numbers: feed real ones that a Complex node joins "
           "[graph-entry]";
    return;
  }
  const std::string &name = feed.name.empty() ? node.name : feed.name;
  GraphInput input{name, elementTypeAt(feed, edge), std::nullopt,
                   entry.graph.locate(context, edge.node)};
  if (!input.elementType)
    return;
  const PartialShape &shape = node.attr("shape").shape;
  if (node.has("shape") && shape.hasRank)
    input.shape = shape;
  RankedTensorType type = feedType(&feed, input, header, entry.diagnostics);
  if (!type)
    return;
  feeds.push_back(edge);
  header.feeds.push_back(
      {feed.name.empty() ? portName(feed.tensor) : feed.name, type, input.location});
  if (ElementsAttr reals = fedReals(feed, type))
    entry.fedReals[edge] = reals;
  if (std::optional<dfg::SizeTensor> sizes = fedSizes(feed, type))
    entry.fedSizes[edge] = std::make_shared<const dfg::SizeTensor>(std::move(*sizes));
}

void EntryPorts::addFetch(Edge edge) {
  auto read = entry.isFed(edge) ? entry.graph.reads.end() : entry.graph.reads.find(edge);
  if (read != entry.graph.reads.end())
    edge = read->second;
  else if (!entry.isFed(edge) && isHandle(entry.graph, edge))
    entry.error(edge.node) << "cannot fetch the handle of a resource [graph-entry]";
  fetches.push_back(edge);
}

void EntryPorts::find() {
  header.name = entry.spec.name;
  for (const FeedSpec &feed : entry.spec.feeds) {
    std::optional<Edge> edge = findTensor(feed.tensor, "feed");
    if (edge && !entry.fed.try_emplace(*edge).second)
      entry.error(edge->node) << "expected one feed of this name, but got two [graph-entry]";
    else if (edge)
      addFeed(feed, *edge);
  }
  for (const std::string &symbol : header.symbols)
    if (auto bound = entry.bounds.find(symbol); bound != entry.bounds.end())
      header.bounds[symbol] = bound->second;
  for (const FetchSpec &fetch : entry.spec.fetches)
    if (std::optional<Edge> edge = findTensor(fetch.tensor, "fetch"))
      addFetch(*edge);
  for (const std::string &name : entry.spec.targets)
    if (std::optional<Edge> edge = findTensor(name, "target"))
      targets.push_back(edge->node);
}

} // namespace tfc::tensorflow
