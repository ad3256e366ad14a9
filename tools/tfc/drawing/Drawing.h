// A graph as boxes, areas and lines, before and after they have positions.
#pragma once

#include "dialects/dfg/Dfg.h"
#include <string>
#include <vector>

namespace tfc {
struct EntryInfo;
} // namespace tfc

namespace tfc::drawing {

struct Point {
  double x = 0, y = 0;
};

/// The upper left corner is relative to the area around a box, or to the box around an area, until
/// the layout has finished.
struct Rectangle {
  double x = 0, y = 0, width = 0, height = 0;

  double bottom() const { return y + height; }
};

/// Inlet: where a value from outside enters the areas of a box. Argument: a carried value of a
/// loop. Result: the end of an area. Control: a branch or loop, which has areas.
enum class BoxKind {
  Operation,
  State,
  Feed,
  Fetch,
  Inlet,
  Argument,
  Result,
  Send,
  Receive,
  Control
};

struct Box {
  BoxKind kind;
  unsigned area;                  // around it
  std::vector<std::string> lines; // as written in the box
  std::string details = {};       // the whole text, for those who point at it
  std::vector<unsigned> areas = {};
  Rectangle place = {};
  unsigned row = 0;
};

/// A partition of the entry, or a region of a branch or loop.
struct Area {
  std::string title;
  unsigned device;
  std::optional<unsigned> owner = {}; // the box around it
  std::vector<unsigned> boxes = {};
  Rectangle place = {};
  /// The upper and lower ends of its rows, which the areas beside it on other devices share.
  std::vector<std::pair<double, double>> rows = {};
};

/// A value that a box makes and another in the same area reads. `fromShare` and `toShare` say where
/// the line meets the boxes, 0 at the left and 1 at the right. With an inlet, the line goes on to
/// that box inside of `to`.
struct Edge {
  unsigned from, to;
  double fromShare, toShare;
  std::optional<unsigned> inlet = {};
  bool isLong = false;            // passes under other boxes
  std::vector<Point> points = {}; // pairs are vertical lines, with curves between them
};

/// A value that crosses from one device to another.
struct Transfer {
  unsigned send, receive;
  std::vector<Point> points = {};
};

struct Drawing {
  std::string title;
  std::vector<Box> boxes;
  std::vector<Area> areas;
  std::vector<unsigned> lanes; // the areas of the partitions, in the order of devices
  std::vector<Edge> edges;
  std::vector<Transfer> transfers;
  double width = 0, height = 0;
};

/// The size of a character of the fixed-width font, and the space around a text.
inline constexpr double kCharacter = 6.7, kLine = 14, kMargin = 8;
/// The height of the title of a lane or of a branch or loop.
inline constexpr double kHeader = 22;

/// Draws an entry of a module after the stage `partition`, without positions.
Drawing drawEntry(dfg::EntryOp entry, const EntryInfo &info, mlir::SymbolTable &symbols);

/// Assigns positions: a column for each device, and rows that all devices share, so that every
/// value comes from above. The time is linear in the number of boxes and lines, but for sorting.
void layOut(Drawing &drawing);

/// Writes the drawing as SVG.
void writeSvg(const Drawing &drawing, llvm::raw_ostream &os);

} // namespace tfc::drawing
