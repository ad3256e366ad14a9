// Writes a drawing as SVG. Lines come before boxes, so that the long ones pass under them.
#include "frontend/Fmt.h"
#include "tools/tfc/drawing/Drawing.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <fmt/format.h>

using namespace llvm;
using namespace tfc::drawing;

/// The colour of the sends of each device, and of its lane's frame.
static constexpr const char *kColours[] = {"#1f6fb4", "#c2410c", "#15803d", "#7e22ce",
                                           "#b91c1c", "#0e7490", "#a16207", "#be185d"};

static constexpr const char *kStyle = R"(
text { font: 11px "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #1f2937 }
text.title { font-weight: bold; font-size: 13px }
text.frame { paint-order: stroke; stroke: #f9fafb; stroke-width: 4px }
text.light { fill: #6b7280 }
text.on { fill: white }
path { fill: none; stroke: #6b7280; stroke-width: 1.1 }
path.long { stroke: #d1d5db; stroke-dasharray: 5 3 }
path.transfer { stroke-width: 2.2 }
rect { stroke: #9ca3af; fill: white }
rect.lane { fill: #f9fafb; stroke-width: 1.5 }
rect.control { fill: #eef2f7; stroke: #64748b }
rect.area { fill: white; stroke: #cbd5e1 }
rect.state { fill: #fef3c7; stroke: #d97706 }
rect.feed, rect.fetch { fill: #dcfce7; stroke: #16a34a }
rect.argument, rect.result { fill: #e0e7ff; stroke: #6366f1 }
rect.send, rect.receive { stroke: none }
)";

static StringRef className(BoxKind kind) {
  switch (kind) {
  case BoxKind::Operation:
    return "operation";
  case BoxKind::State:
    return "state";
  case BoxKind::Feed:
    return "feed";
  case BoxKind::Fetch:
    return "fetch";
  case BoxKind::Inlet:
    return "inlet";
  case BoxKind::Argument:
    return "argument";
  case BoxKind::Result:
    return "result";
  case BoxKind::Send:
    return "send";
  case BoxKind::Receive:
    return "receive";
  case BoxKind::Control:
    return "control";
  }
}

/// XML has no control characters and requires valid UTF-8.
static std::string escape(StringRef text) {
  std::string escaped;
  for (char c : json::fixUTF8(text)) {
    if (c == '&')
      escaped += "&amp;";
    else if (c == '<')
      escaped += "&lt;";
    else if (c == '>')
      escaped += "&gt;";
    else
      escaped += static_cast<unsigned char>(c) < ' ' && c != '\n' ? '?' : c;
  }
  return escaped;
}

namespace {

class SvgWriter {
public:
  SvgWriter(const Drawing &drawing, raw_ostream &os) : drawing(drawing), os(os) {}

  void write();

private:
  template <typename... Args> void line(fmt::format_string<Args...> format, Args &&...arguments) {
    os << fmt::format(format, std::forward<Args>(arguments)...) << '\n';
  }
  StringRef colourOf(unsigned area) const {
    return kColours[drawing.areas[area].device % std::size(kColours)];
  }
  void text(double x, double y, StringRef style, StringRef text);
  void rectangle(const Rectangle &place, StringRef style, double radius, StringRef attributes);
  void writeFrames(unsigned area);
  void writePath(ArrayRef<Point> points, StringRef style, StringRef attributes);
  void writeBox(const Box &box);

  const Drawing &drawing;
  raw_ostream &os;
};

} // namespace

void SvgWriter::text(double x, double y, StringRef style, StringRef text) {
  line("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", style, x, y, escape(text));
}

void SvgWriter::rectangle(const Rectangle &place, StringRef style, double radius,
                          StringRef attributes = "") {
  line(R"(<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="{}"{}/>)",
       style, place.x, place.y, place.width, place.height, radius, attributes);
}

/// The frames of an area and of everything in it, outermost first. Titles come later, so that no
/// line crosses them.
void SvgWriter::writeFrames(unsigned number) {
  const Area &area = drawing.areas[number];
  if (area.owner)
    rectangle(area.place, "area", 4);
  else
    rectangle(area.place, "lane", 6, fmt::format(" style=\"stroke: {}\"", colourOf(number)));
  for (unsigned i : area.boxes) {
    const Box &box = drawing.boxes[i];
    if (box.areas.empty())
      continue;
    rectangle(box.place, className(box.kind), 6);
    for (unsigned inside : box.areas)
      writeFrames(inside);
  }
}

/// Draws vertical lines with curves between them. A curve begins and ends vertically.
void SvgWriter::writePath(ArrayRef<Point> points, StringRef style, StringRef attributes) {
  std::string path = fmt::format("M{:.1f} {:.1f}", points.front().x, points.front().y);
  for (size_t i = 1; i < points.size(); ++i) {
    auto [x, y] = points[i];
    auto [oldX, oldY] = points[i - 1];
    double middle = (y + oldY) / 2;
    if (i % 2 == 1 || std::abs(x - oldX) < 0.5)
      path += fmt::format("L{:.1f} {:.1f}", x, y);
    else
      path +=
          fmt::format("C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", oldX, middle, x, middle, x, y);
  }
  line("<path class=\"{}\" d=\"{}\"{}/>", style, path, attributes);
}

void SvgWriter::writeBox(const Box &box) {
  if (box.kind == BoxKind::Inlet)
    return;
  if (!box.areas.empty())
    return text(box.place.x + kMargin, box.place.y + 15, "frame", box.lines.front());
  os << "<g><title>" << escape(box.details) << "</title>\n";
  bool isMessage = box.kind == BoxKind::Send || box.kind == BoxKind::Receive;
  bool isRound = isMessage || box.kind == BoxKind::Feed || box.kind == BoxKind::Fetch;
  std::string fill = isMessage ? fmt::format(" style=\"fill: {}\"", colourOf(box.area)) : "";
  rectangle(box.place, className(box.kind), isRound ? 9 : 3, fill);
  double y = box.place.y + 15;
  for (const std::string &content : box.lines) {
    text(box.place.x + kMargin, y, isMessage ? "on" : y < box.place.y + 16 ? "" : "light", content);
    y += kLine;
  }
  os << "</g>\n";
}

void SvgWriter::write() {
  line(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0:.0f}" height="{1:.0f}" viewBox="0 0 {0:.0f} {1:.0f}">)",
      drawing.width, drawing.height);
  os << "<style>" << kStyle << "</style>\n";
  os << R"(<defs><marker id="arrow" viewBox="0 0 6 6" refX="5.5" refY="3" markerWidth="6" markerHeight="6" )"
     << R"(orient="auto"><path d="M0 0L6 3L0 6z" style="fill: #6b7280; stroke: none"/></marker></defs>)"
     << '\n';
  os << R"(<rect width="100%" height="100%" style="fill: white; stroke: none"/>)" << '\n';
  text(14, 24, "title", drawing.title);
  for (unsigned lane : drawing.lanes)
    writeFrames(lane);
  for (const Edge &edge : drawing.edges)
    writePath(edge.points, edge.isLong ? "long" : "value",
              edge.inlet && drawing.boxes[*edge.inlet].kind == BoxKind::Inlet
                  ? ""
                  : " marker-end=\"url(#arrow)\"");
  for (const Transfer &transfer : drawing.transfers)
    writePath(transfer.points, "transfer",
              fmt::format(" style=\"stroke: {}\"", colourOf(drawing.boxes[transfer.send].area)));
  for (const Area &area : drawing.areas)
    text(area.place.x + kMargin, area.place.y + 15, area.owner ? "frame light" : "title",
         area.title);
  for (const Box &box : drawing.boxes)
    writeBox(box);
  os << "</svg>\n";
}

void tfc::drawing::writeSvg(const Drawing &drawing, raw_ostream &os) {
  SvgWriter(drawing, os).write();
}
