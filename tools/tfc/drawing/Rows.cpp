// Orders boxes within rows and moves them towards their neighbours, one area at a time: the
// barycentre heuristic of Sugiyama, with the positions of a row found by isotonic regression.
#include "tools/tfc/drawing/Rows.h"
#include "llvm/ADT/MapVector.h"
#include <algorithm>

using namespace llvm;
using namespace tfc::drawing;

/// The rows that a line may pass with a place of its own in each. Longer ones pass under the boxes,
/// so that the number of places is linear in that of values.
static constexpr unsigned kMostBends = 8;
static constexpr double kBetweenBoxes = 18;
static constexpr int kSweeps = 8;

namespace {

/// A box or a bend.
struct Item {
  double width;
  unsigned row;
  double x = 0; // of its middle
  SmallVector<unsigned, 2> up = {}, down = {};
};

class Rows {
public:
  Rows(Drawing &drawing, const Links &links, unsigned area)
      : drawing(drawing), links(links), area(drawing.areas[area]) {}

  void place(Bends &bends);

private:
  struct Chain {
    unsigned first, length;
  };

  unsigned addItem(double width, unsigned row);
  void addLines();
  void addLine(unsigned from, unsigned edge, unsigned first, unsigned bends);
  void sweep(bool isDown);
  void moveTo(MutableArrayRef<unsigned> row, ArrayRef<double> wanted);

  Drawing &drawing;
  const Links &links;
  Area &area;
  std::vector<Item> items; // first the boxes of the area, in order
  DenseMap<unsigned, unsigned> itemOf;
  std::vector<std::vector<unsigned>> rows; // from left to right
  MapVector<unsigned, Chain> chains;       // by edge
  double widest = 600;                     // of the rows; long chains do not drift out of it
};

} // namespace

unsigned Rows::addItem(double width, unsigned row) {
  items.push_back({width, row});
  if (rows.size() <= row)
    rows.resize(row + 1);
  rows[row].push_back(items.size() - 1);
  return items.size() - 1;
}

/// Connects the items of a line, of which `bends` begin at item `first`.
void Rows::addLine(unsigned from, unsigned edge, unsigned first, unsigned bends) {
  unsigned to = itemOf[drawing.edges[edge].to];
  unsigned last = bends ? first + bends - 1 : from;
  items[last].down.push_back(to);
  items[to].up.push_back(last);
  chains[edge] = {first, bends};
}

/// Lines of one value share their bends.
void Rows::addLines() {
  for (unsigned box : area.boxes) {
    unsigned from = itemOf[box];
    MapVector<int64_t, SmallVector<unsigned>> values; // edges, by the share
    for (unsigned edge : links.edges[box])
      values[int64_t(drawing.edges[edge].fromShare * (1 << 20))].push_back(edge);
    for (auto &[share, edges] : values) {
      auto bendsOf = [&](unsigned edge) {
        unsigned row = drawing.boxes[drawing.edges[edge].to].row, begin = items[from].row + 1;
        return row > begin ? row - begin : 0;
      };
      unsigned most = 0, first = items.size();
      for (unsigned edge : edges) {
        drawing.edges[edge].isLong = bendsOf(edge) > kMostBends;
        if (!drawing.edges[edge].isLong)
          most = std::max(most, bendsOf(edge));
      }
      for (unsigned i = 0; i < most; ++i) {
        unsigned bend = addItem(2, items[from].row + 1 + i), above = i ? bend - 1 : from;
        items[above].down.push_back(bend);
        items[bend].up.push_back(above);
      }
      for (unsigned edge : edges)
        if (!drawing.edges[edge].isLong)
          addLine(from, edge, first, bendsOf(edge));
    }
  }
}

/// Moves the items of a row as near to the wanted positions as their order permits: in the least
/// squares sense, by pooling neighbours that would overlap.
void Rows::moveTo(MutableArrayRef<unsigned> row, ArrayRef<double> wanted) {
  struct Pool {
    double sum, weight;
    size_t end;
  };
  SmallVector<Pool> pools;
  SmallVector<double> offsets(row.size());
  for (size_t i = 1; i < row.size(); ++i)
    offsets[i] =
        offsets[i - 1] + kBetweenBoxes + (items[row[i - 1]].width + items[row[i]].width) / 2;
  for (size_t i = 0; i < row.size(); ++i) {
    pools.push_back({wanted[i] - offsets[i], 1, i + 1});
    while (pools.size() > 1) {
      Pool &a = pools[pools.size() - 2], &b = pools.back();
      if (a.sum / a.weight <= b.sum / b.weight)
        break;
      a = {a.sum + b.sum, a.weight + b.weight, b.end};
      pools.pop_back();
    }
  }
  size_t i = 0;
  for (const Pool &pool : pools)
    for (; i < pool.end; ++i)
      items[row[i]].x = pool.sum / pool.weight + offsets[i];
}

void Rows::sweep(bool isDown) {
  for (size_t step = 0; step < rows.size(); ++step) {
    std::vector<unsigned> &row = rows[isDown ? step : rows.size() - 1 - step];
    std::vector<std::pair<double, unsigned>> order; // the wanted position and the present one
    for (auto [k, i] : enumerate(row)) {
      const auto &neighbours = isDown ? items[i].up : items[i].down;
      double sum = 0;
      for (unsigned neighbour : neighbours)
        sum += items[neighbour].x;
      double x = neighbours.empty() ? items[i].x : sum / neighbours.size();
      double most = std::max(0.0, (widest - items[i].width) / 2);
      order.emplace_back(std::clamp(x, -most, most), k);
    }
    sort(order);
    std::vector<unsigned> before = row;
    SmallVector<double> wanted;
    for (auto [i, entry] : enumerate(order)) {
      row[i] = before[entry.second];
      wanted.push_back(entry.first);
    }
    moveTo(row, wanted);
  }
}

void Rows::place(Bends &bends) {
  for (unsigned box : area.boxes)
    itemOf[box] = addItem(drawing.boxes[box].place.width, drawing.boxes[box].row);
  addLines();
  for (std::vector<unsigned> &row : rows) {
    moveTo(row, SmallVector<double>(row.size(), 0));
    if (!row.empty())
      widest = std::max(widest, 2 * (items[row.back()].x + items[row.back()].width / 2));
  }
  for (int i = 0; i < kSweeps; ++i)
    sweep(/*isDown=*/i % 2 == 0);
  double left = 0, right = 0;
  for (auto [i, item] : enumerate(items)) {
    left = i ? std::min(left, item.x - item.width / 2) : item.x - item.width / 2;
    right = i ? std::max(right, item.x + item.width / 2) : item.x + item.width / 2;
  }
  area.place.width = std::max(area.place.width, right - left + 2 * kMargin);
  double shift = (area.place.width - (right - left)) / 2 - left;
  for (unsigned box : area.boxes) {
    const Item &item = items[itemOf[box]];
    drawing.boxes[box].place.x = item.x - item.width / 2 + shift;
  }
  for (auto &[edge, chain] : chains)
    for (unsigned i = 0; i < chain.length; ++i)
      bends[edge].push_back(items[chain.first + i].x + shift);
}

void tfc::drawing::placeInRows(Drawing &drawing, const Links &links, unsigned area, Bends &bends) {
  Rows(drawing, links, area).place(bends);
}
