// Assigns boxes to rows by the longest path, across all devices. It knows nothing of positions.
#include "tools/tfc/drawing/Ranks.h"
#include "llvm/ADT/MapVector.h"
#include <deque>
#include <numeric>

using namespace llvm;
using namespace tfc::drawing;

/// The box and those around it, outermost first.
static SmallVector<unsigned> pathTo(const Drawing &drawing, unsigned box) {
  SmallVector<unsigned> path{box};
  while (std::optional<unsigned> owner = drawing.areas[drawing.boxes[path.back()].area].owner)
    path.push_back(*owner);
  std::reverse(path.begin(), path.end());
  return path;
}

/// A message is sent and received in the same region of a branch or loop, which stands on both
/// devices; so the boxes around both are parts of the same one.
Links::Links(const Drawing &drawing)
    : edges(drawing.boxes.size()), before(drawing.boxes.size()), partners(drawing.boxes.size()) {
  for (auto [i, edge] : enumerate(drawing.edges))
    edges[edge.from].push_back(i);
  for (const Transfer &transfer : drawing.transfers) {
    SmallVector<unsigned> from = pathTo(drawing, transfer.send);
    SmallVector<unsigned> to = pathTo(drawing, transfer.receive);
    for (auto [depth, pair] : enumerate(zip(from, to))) {
      auto [sender, receiver] = pair;
      if (depth + 1 < from.size() && depth + 1 < to.size())
        partners[sender].push_back(receiver);
      else
        before[receiver].push_back(sender);
    }
  }
}

namespace {

class Ranking {
public:
  Ranking(Drawing &drawing, const Links &links, ArrayRef<unsigned> areas)
      : drawing(drawing), links(links) {
    for (unsigned area : areas)
      append_range(boxes, drawing.areas[area].boxes);
    for (auto [i, box] : enumerate(boxes))
      index[box] = i;
    leader.resize(boxes.size());
    std::iota(leader.begin(), leader.end(), 0);
  }

  std::vector<SmallVector<unsigned>> run() {
    joinPartners();
    addArrows();
    assign();
    sinkSources();
    for (auto [i, box] : enumerate(boxes))
      drawing.boxes[box].row = isInlet(i) ? 0 : rows[find(i)];
    return groups();
  }

private:
  unsigned find(unsigned i) {
    while (leader[i] != i)
      i = leader[i] = leader[leader[i]];
    return i;
  }
  bool isInlet(unsigned i) {
    BoxKind kind = drawing.boxes[boxes[i]].kind;
    return kind == BoxKind::Inlet || kind == BoxKind::Argument;
  }
  void joinPartners();
  void addArrows();
  void drain(std::deque<unsigned> &ready);
  void assign();
  void sinkSources();
  std::vector<SmallVector<unsigned>> groups();

  Drawing &drawing;
  const Links &links;
  std::vector<unsigned> boxes;
  DenseMap<unsigned, unsigned> index;       // in `boxes`
  std::vector<unsigned> leader;             // of each box's group
  std::vector<SmallVector<unsigned>> below; // of leaders
  std::vector<unsigned> above;              // arrows into leaders that are not yet ranked
  std::vector<unsigned> rows;               // of leaders
  std::vector<unsigned> order;              // of leaders, so that lines lead from earlier ones
  std::vector<bool> isDone;
};

} // namespace

void Ranking::joinPartners() {
  for (auto [i, box] : enumerate(boxes))
    for (unsigned partner : links.partners[box])
      if (auto other = index.find(partner); other != index.end())
        leader[find(other->second)] = find(i);
}

void Ranking::addArrows() {
  below.resize(boxes.size());
  above.resize(boxes.size());
  auto add = [&](unsigned from, unsigned to) {
    auto source = index.find(from);
    if (source == index.end() || find(source->second) == find(index[to]))
      return;
    below[find(source->second)].push_back(find(index[to]));
    ++above[find(index[to])];
  };
  for (unsigned box : boxes) {
    for (unsigned edge : links.edges[box])
      add(box, drawing.edges[edge].to);
    for (unsigned sender : links.before[box])
      add(sender, box);
  }
}

/// Ranks the groups whose predecessors are ranked, beginning with `ready`.
void Ranking::drain(std::deque<unsigned> &ready) {
  while (!ready.empty()) {
    unsigned i = ready.front();
    ready.pop_front();
    if (isDone[i])
      continue;
    isDone[i] = true;
    order.push_back(i);
    for (unsigned reader : below[i]) {
      if (!isDone[reader])
        rows[reader] = std::max(rows[reader], rows[i] + 1);
      if (--above[reader] == 0)
        ready.push_back(reader);
    }
  }
}

/// A circle, which no correct partition has, is opened at its first box.
void Ranking::assign() {
  auto numbers = seq<unsigned>(0, boxes.size());
  unsigned first = any_of(numbers, [&](unsigned i) { return isInlet(i); });
  rows.assign(boxes.size(), first);
  isDone.resize(boxes.size());
  std::deque<unsigned> ready;
  for (unsigned i : numbers)
    if (find(i) == i && above[i] == 0)
      ready.push_back(i);
  drain(ready);
  for (unsigned i : numbers)
    if (find(i) == i && !isDone[i]) {
      ready.push_back(i);
      drain(ready);
    }
}

/// Moves what depends on nothing but sources, and those, down to the first reader.
void Ranking::sinkSources() {
  std::vector<bool> isFixed(boxes.size());
  for (auto [i, box] : enumerate(boxes)) {
    const Box &candidate = drawing.boxes[box];
    bool isSource = candidate.areas.empty() && candidate.kind != BoxKind::Receive && !isInlet(i);
    isFixed[find(i)] = isFixed[find(i)] || !isSource;
  }
  for (unsigned i : order)
    for (unsigned reader : below[i])
      isFixed[reader] = isFixed[reader] || isFixed[i];
  for (unsigned i : reverse(order)) {
    if (isFixed[i] || below[i].empty())
      continue;
    unsigned lowest = UINT_MAX;
    for (unsigned reader : below[i])
      lowest = std::min(lowest, rows[reader]);
    rows[i] = std::max(rows[i], lowest - std::min(lowest, 1u));
  }
}

std::vector<SmallVector<unsigned>> Ranking::groups() {
  MapVector<unsigned, SmallVector<unsigned>> found;
  for (auto [i, box] : enumerate(boxes))
    if (!drawing.boxes[box].areas.empty())
      found[find(i)].push_back(box);
  std::vector<SmallVector<unsigned>> groups;
  for (auto &[first, group] : found)
    groups.push_back(std::move(group));
  return groups;
}

std::vector<SmallVector<unsigned>> tfc::drawing::rankBoxes(Drawing &drawing, const Links &links,
                                                           ArrayRef<unsigned> areas) {
  return Ranking(drawing, links, areas).run();
}
