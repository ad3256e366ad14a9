// Assigns positions to a drawing: sizes from the inside out, rows that all devices share, then the
// lines between boxes. Lines are vertical in rows and bend between them, so they pass no box.
#include "tools/tfc/drawing/Rows.h"

using namespace llvm;
using namespace tfc::drawing;

static constexpr double kBetweenRows = 30, kPadding = 12, kBetweenLanes = 40;

namespace {

class Layout {
public:
  explicit Layout(Drawing &drawing) : drawing(drawing), links(drawing) {}

  void run();

private:
  void layOutAreas(ArrayRef<unsigned> areas);
  void measure(Box &box);
  void stackRows(ArrayRef<unsigned> areas);
  void settle(unsigned area, Point corner);
  void route(Edge &edge, ArrayRef<double> bends);

  Drawing &drawing;
  Links links;
  Bends bends;
};

} // namespace

static size_t charactersOf(StringRef text) {
  return llvm::count_if(text, [](char c) { return (c & 0xC0) != 0x80; });
}

/// Sets the size of a box, which that of its text or of its areas determines.
void Layout::measure(Box &box) {
  size_t longest = 0;
  for (const std::string &line : box.lines)
    longest = std::max(longest, charactersOf(line));
  box.place.width = longest * kCharacter + 2 * kMargin;
  box.place.height = box.lines.size() * kLine + kMargin;
  if (box.kind == BoxKind::Inlet)
    box.place.width = 2, box.place.height = 0;
  if (box.areas.empty())
    return;
  double width = kPadding, height = 0;
  for (unsigned area : box.areas) {
    Rectangle &place = drawing.areas[area].place;
    place.x = width;
    place.y = kHeader;
    width += place.width + kPadding;
    height = std::max(height, place.height);
  }
  for (unsigned area : box.areas)
    drawing.areas[area].place.height = height;
  box.place.width = std::max(box.place.width, width);
  box.place.height = kHeader + height + kPadding;
}

/// Sets the vertical positions in areas side by side. Sends are at the bottom of their rows, next
/// to the space between rows through which messages pass.
void Layout::stackRows(ArrayRef<unsigned> areas) {
  std::vector<double> heights;
  for (unsigned area : areas)
    for (unsigned i : drawing.areas[area].boxes) {
      const Box &box = drawing.boxes[i];
      heights.resize(std::max<size_t>(heights.size(), box.row + 1));
      heights[box.row] = std::max(heights[box.row], box.place.height);
    }
  double y = kHeader;
  std::vector<std::pair<double, double>> rows;
  for (double height : heights) {
    rows.emplace_back(y, y + height);
    y += height + kBetweenRows;
  }
  for (unsigned number : areas) {
    Area &area = drawing.areas[number];
    area.rows = rows;
    area.place.height = (rows.empty() ? kHeader : rows.back().second) + kPadding;
    for (unsigned i : area.boxes) {
      Box &box = drawing.boxes[i];
      auto [top, bottom] = rows[box.row];
      box.place.y = box.kind == BoxKind::Send ? bottom - box.place.height : top;
    }
  }
}

void Layout::layOutAreas(ArrayRef<unsigned> areas) {
  for (ArrayRef<unsigned> group : rankBoxes(drawing, links, areas)) {
    SmallVector<unsigned> inside;
    for (unsigned box : group)
      append_range(inside, drawing.boxes[box].areas);
    layOutAreas(inside);
  }
  for (unsigned area : areas) {
    for (unsigned box : drawing.areas[area].boxes)
      measure(drawing.boxes[box]);
    drawing.areas[area].place.width = charactersOf(drawing.areas[area].title) * kCharacter + 40;
    placeInRows(drawing, links, area, bends);
  }
  stackRows(areas);
}

/// Makes positions absolute.
void Layout::settle(unsigned number, Point corner) {
  Area &area = drawing.areas[number];
  area.place.x += corner.x;
  area.place.y += corner.y;
  for (auto &[top, bottom] : area.rows) {
    top += area.place.y;
    bottom += area.place.y;
  }
  for (unsigned i : area.boxes) {
    Box &box = drawing.boxes[i];
    box.place.x += area.place.x;
    box.place.y += area.place.y;
    for (unsigned inside : box.areas)
      settle(inside, {box.place.x, box.place.y});
  }
}

void Layout::route(Edge &edge, ArrayRef<double> bends) {
  const Box &from = drawing.boxes[edge.from], &to = drawing.boxes[edge.to];
  const Area &area = drawing.areas[from.area];
  double x = from.place.x + edge.fromShare * from.place.width;
  edge.points = {{x, from.place.bottom()}, {x, area.rows[from.row].second}};
  for (auto [i, bend] : enumerate(bends)) {
    auto [top, bottom] = area.rows[from.row + 1 + i];
    edge.points.push_back({area.place.x + bend, top});
    edge.points.push_back({area.place.x + bend, bottom});
  }
  const Rectangle &end = edge.inlet ? drawing.boxes[*edge.inlet].place : to.place;
  x = end.x + (edge.inlet ? 0.5 : edge.toShare) * end.width;
  edge.points.push_back({x, area.rows[to.row].first});
  edge.points.push_back({x, end.y});
}

void Layout::run() {
  layOutAreas(drawing.lanes);
  double x = kPadding;
  for (unsigned lane : drawing.lanes) {
    Area &area = drawing.areas[lane];
    settle(lane, {x, 2 * kHeader});
    drawing.height = std::max(drawing.height, area.place.bottom() + kPadding);
    x = area.place.x + area.place.width + kBetweenLanes;
  }
  drawing.width = std::max(x - kBetweenLanes + kPadding,
                           charactersOf(drawing.title) * kCharacter * 1.3 + 2 * kPadding);
  for (auto [i, edge] : enumerate(drawing.edges))
    route(edge, bends.lookup(i));
  for (Transfer &transfer : drawing.transfers) {
    const Box &send = drawing.boxes[transfer.send], &receive = drawing.boxes[transfer.receive];
    double from = send.place.x + send.place.width / 2;
    double to = receive.place.x + receive.place.width / 2;
    transfer.points = {{from, send.place.bottom()},
                       {from, drawing.areas[send.area].rows[send.row].second},
                       {to, drawing.areas[receive.area].rows[receive.row].first},
                       {to, receive.place.y}};
  }
}

void tfc::drawing::layOut(Drawing &drawing) { Layout(drawing).run(); }
