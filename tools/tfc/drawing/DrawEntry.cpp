// Turns the partitions of an entry into boxes and lines. Constants and sizes have no boxes: they
// are in the text of their readers.
#include "compiler/pipeline/ModelInfo.h"
#include "dialects/dfg/Devices.h"
#include "dialects/dfg/HostForm.h"
#include "dialects/dfg/MemoryPlan.h"
#include "dialects/dfg/NodeName.h"
#include "dialects/dfg/Partitions.h"
#include "frontend/Fmt.h"
#include "tools/tfc/drawing/Drawing.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Locale.h"
#include <fmt/format.h>

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;
using namespace tfc::drawing;

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

/// Cuts a text that is too long for a box.
static std::string cut(StringRef text, size_t limit = 40) {
  size_t end = 0;
  for (size_t count = 0; end < text.size(); ++end)
    if ((text[end] & 0xC0) != 0x80 && ++count > limit)
      return fmt::format("{}...", text.take_front(end));
  return text.str();
}

/// A device's name; without job and task for those of this process.
static std::string shortName(const DeviceName &device) {
  return device.job == "local" ? fmt::format("{}:{}", device.kind, *device.index) : device.str();
}

static std::string numberOf(Attribute value) {
  if (auto integer = dyn_cast<IntegerAttr>(value)) {
    if (integer.getType().isInteger(1))
      return integer.getValue().isZero() ? "false" : "true";
    return llvm::toString(integer.getValue(), 10, !integer.getType().isUnsignedInteger());
  }
  auto number = dyn_cast<FloatAttr>(value);
  return number ? fmt::format("{:g}", number.getValueAsDouble()) : "";
}

/// The text of a value without a box; empty for other values.
static std::string textOfConstant(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto size = dyn_cast_or_null<SizeOp>(op))
    return size.getValue().getExprs().front().str();
  DenseElementsAttr elements;
  if (!op || !op->hasTrait<OpTrait::ConstantLike>())
    return "";
  bool isNumber = matchPattern(value, m_Constant(&elements)) && elements.isSplat();
  return isNumber ? numberOf(elements.getSplatValue<Attribute>()) : toText(value.getType());
}

/// The operands after the operation's name, if some are constants: "(_, 0.5)".
static std::string textOfOperands(ValueRange operands) {
  auto texts = llvm::map_to_vector(operands, textOfConstant);
  if (llvm::all_of(texts, [](const std::string &text) { return text.empty(); }))
    return "";
  for (std::string &text : texts)
    text = text.empty() ? "_" : text;
  return fmt::format("({})", llvm::join(texts, ", "));
}

static std::string nameOf(Operation *op) {
  std::string name = op->getName().stripDialect().str();
  for (NamedAttribute attribute : op->getAttrDictionary())
    if (auto symbol = dyn_cast<FlatSymbolRefAttr>(attribute.getValue()))
      name += fmt::format(" {}", symbol.getValue());
  return name;
}

static std::string typesOf(TypeRange types) {
  if (types.empty())
    return "";
  std::string first = toText(types.front());
  return types.size() == 1 ? first : fmt::format("{} and {} more", first, types.size() - 1);
}

/// The author's line and the name of the node, as far as they are known.
static std::string placeOf(Operation *op) {
  std::string site = siteOf(op->getLoc());
  StringRef node = nodeOf(op->getLoc());
  bool hasLine = !site.empty() && !StringRef(site).starts_with("node ");
  if (node.empty())
    return site;
  return hasLine ? fmt::format("{} {}", node, site) : node.str();
}

static std::string bytesText(double bytes) {
  constexpr const char *kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  unsigned unit = 0;
  for (; bytes >= 10240 && unit < 4; ++unit)
    bytes /= 1024;
  return fmt::format("{:.0f} {}", bytes, kUnits[unit]);
}

/// The bytes of a message: a number, the most that a call may send, or an expression.
static std::string bytesOfMessage(Type type, const EntryInfo &info) {
  DimExpr bytes = info.atMost(bytesOf(type));
  if (std::optional<int64_t> constant = bytes.constant())
    return bytesText(*constant);
  auto most = bytes.interval([&](StringRef name) { return info.boundsOf(name); }).second;
  return most ? fmt::format("at most {}", bytesText(*most)) : fmt::format("{} B", bytes.str());
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

namespace {

class EntryDrawer {
public:
  EntryDrawer(EntryOp entry, const EntryInfo &info, SymbolTable &symbols)
      : info(info), partitions(partitionsOf(entry, symbols)) {
    if (ArrayAttr all = entry.getSlotsAttr())
      slots = llvm::to_vector(all.getAsRange<SlotAttr>());
    ends.resize(slots.size());
  }

  Drawing draw();

private:
  struct Maker {
    unsigned box;
    double share;
  };

  unsigned addArea(std::string title, unsigned device, std::optional<unsigned> owner);
  unsigned addBox(BoxKind kind, unsigned area, ArrayRef<std::string> lines);
  void drawBlock(Block &block, unsigned area);
  void drawOperation(Operation &op, unsigned area);
  void drawControl(Operation &op, unsigned area);
  unsigned drawRegion(Operation &op, Region &region, unsigned box, unsigned area);
  void drawArguments(Operation &op, Block &block, unsigned area);
  void drawMessage(Operation &op, unsigned area, unsigned slot);
  void drawEnd(Operation &op, unsigned area);
  void setMaker(Operation &op, unsigned box);
  void connect(Value value, unsigned to, double share, std::optional<unsigned> inlet = {});
  void connectAll(ValueRange values, unsigned to);
  std::string deviceName(unsigned partition) {
    DeviceAttr device = partitions[partition].getDeviceAttr();
    return shortName(device ? device.getDevice() : callersDevice());
  }

  const EntryInfo &info;
  SmallVector<EntryOp> partitions;
  SmallVector<SlotAttr> slots;
  SmallVector<std::pair<unsigned, unsigned>> ends; // of each slot
  Drawing drawing;
  DenseMap<Value, Maker> makers;
  DenseMap<std::pair<unsigned, Value>, unsigned> inlets; // of values, by area
};

} // namespace

unsigned EntryDrawer::addArea(std::string title, unsigned device, std::optional<unsigned> owner) {
  drawing.areas.push_back({std::move(title), device, owner});
  return drawing.areas.size() - 1;
}

unsigned EntryDrawer::addBox(BoxKind kind, unsigned area, ArrayRef<std::string> lines) {
  Box box{kind, area, {}};
  for (const std::string &line : lines) {
    if (line.empty())
      continue;
    box.lines.push_back(cut(line));
    box.details += (box.details.empty() ? "" : "\n") + line;
  }
  drawing.boxes.push_back(std::move(box));
  drawing.areas[area].boxes.push_back(drawing.boxes.size() - 1);
  return drawing.boxes.size() - 1;
}

void EntryDrawer::setMaker(Operation &op, unsigned box) {
  for (OpResult result : op.getResults())
    makers[result] = {box, (result.getResultNumber() + 1.0) / (op.getNumResults() + 1)};
}

/// Adds a line from the box that makes the value; where that is outside of the area, through an
/// inlet of the area.
void EntryDrawer::connect(Value value, unsigned to, double share, std::optional<unsigned> inlet) {
  auto maker = makers.find(value);
  if (maker == makers.end())
    return;
  unsigned area = drawing.boxes[to].area;
  if (drawing.boxes[maker->second.box].area == area) {
    drawing.edges.push_back({maker->second.box, to, maker->second.share, share, inlet});
    return;
  }
  auto [known, isNew] = inlets.try_emplace({area, value}, drawing.boxes.size());
  unsigned here = known->second;
  if (isNew) {
    unsigned owner = *drawing.areas[area].owner;
    addBox(BoxKind::Inlet, area, {});
    connect(value, owner, 0.5, here);
  }
  drawing.edges.push_back({here, to, 0.5, share, inlet});
}

void EntryDrawer::connectAll(ValueRange values, unsigned to) {
  auto hasLine = [&](Value value) { return makers.contains(value); };
  size_t count = llvm::count_if(values, hasLine), i = 0;
  for (Value value : values)
    if (hasLine(value))
      connect(value, to, ++i / (count + 1.0));
}

void EntryDrawer::drawMessage(Operation &op, unsigned area, unsigned slot) {
  bool isSend = op.getNumResults() == 0;
  if (isSend) {
    unsigned box =
        addBox(BoxKind::Send, area, {fmt::format("to {}", deviceName(slots[slot].getReceiver()))});
    connectAll(op.getOperands(), box);
    ends[slot].first = box;
    return;
  }
  Type type = op.getResult(0).getType();
  ends[slot].second =
      addBox(BoxKind::Receive, area,
             {fmt::format("{} from {}", toText(type), deviceName(slots[slot].getSender())),
              bytesOfMessage(type, info)});
  setMaker(op, ends[slot].second);
}

/// Boxes for the carried values of a loop that its region reads.
void EntryDrawer::drawArguments(Operation &op, Block &block, unsigned area) {
  for (auto [argument, init] : llvm::zip(block.getArguments(), op.getOperands())) {
    if (argument.use_empty())
      continue;
    std::string start = textOfConstant(init);
    std::string name = fmt::format("carried {}", argument.getArgNumber());
    unsigned box = addBox(BoxKind::Argument, area,
                          {start.empty() ? name : fmt::format("{} from {}", name, start),
                           toText(argument.getType())});
    makers[argument] = {box, 0.5};
    connect(init, *drawing.areas[area].owner, 0.5, box);
  }
}

unsigned EntryDrawer::drawRegion(Operation &op, Region &region, unsigned box, unsigned area) {
  static constexpr StringLiteral kOfBranch[] = {"then", "else"}, kOfLoop[] = {"condition", "body"};
  StringRef title = (isa<IfOp>(op) ? kOfBranch : kOfLoop)[region.getRegionNumber() % 2];
  unsigned inside = addArea(title.str(), drawing.areas[area].device, box);
  drawing.boxes[box].areas.push_back(inside);
  return inside;
}

void EntryDrawer::drawControl(Operation &op, unsigned area) {
  std::string title = fmt::format(
      "{}{} {}", nameOf(&op), isa<IfOp>(op) ? textOfOperands(op.getOperands()) : "", placeOf(&op));
  unsigned box = addBox(BoxKind::Control, area, {title});
  if (isa<IfOp>(op))
    connectAll(op.getOperands(), box);
  for (Region &region : op.getRegions()) {
    unsigned inside = drawRegion(op, region, box, area);
    drawArguments(op, region.front(), inside);
    drawBlock(region.front(), inside);
  }
  setMaker(op, box);
}

/// The fetches of the entry, or what a region yields.
void EntryDrawer::drawEnd(Operation &op, unsigned area) {
  if (op.getNumOperands() == 0)
    return;
  if (drawing.areas[area].owner) {
    bool isNext = isa<WhileOp>(op.getParentOp()) && isa<YieldOp>(op);
    std::string name = isNext ? "next" : nameOf(&op);
    connectAll(op.getOperands(),
               addBox(BoxKind::Result, area, {name + textOfOperands(op.getOperands())}));
    return;
  }
  for (auto [value, fetch] : llvm::zip(op.getOperands(), info.fetches)) {
    std::string constant = textOfConstant(value);
    std::string name = constant.empty() ? fetch.name : fmt::format("{} = {}", fetch.name, constant);
    connect(value,
            addBox(BoxKind::Fetch, area, {fmt::format("fetch {}", name), toText(fetch.type)}), 0.5);
  }
}

void EntryDrawer::drawOperation(Operation &op, unsigned area) {
  if (op.getNumRegions() > 0)
    return drawControl(op, area);
  if (op.hasTrait<OpTrait::IsTerminator>())
    return drawEnd(op, area);
  if (isa<SendOp, ReceiveOp>(op))
    return drawMessage(op, area, *slotOf(&op));
  bool isOrder = usesMessages(&op); // without a value
  if (isOrder || (op.getNumResults() == 1 && !textOfConstant(op.getResult(0)).empty()))
    return;
  std::string name = nameOf(&op);
  bool isState = StringRef(name).contains(' ');
  unsigned box =
      addBox(isState ? BoxKind::State : BoxKind::Operation, area,
             {name + textOfOperands(op.getOperands()), typesOf(op.getResultTypes()), placeOf(&op)});
  connectAll(op.getOperands(), box);
  setMaker(op, box);
}

void EntryDrawer::drawBlock(Block &block, unsigned area) {
  for (Operation &op : block)
    drawOperation(op, area);
}

Drawing EntryDrawer::draw() {
  for (auto [i, partition] : llvm::enumerate(partitions)) {
    unsigned area = addArea(deviceName(i), i, std::nullopt);
    drawing.lanes.push_back(area);
    Block &body = partition.getBody().front();
    for (auto [argument, feed] : llvm::zip(body.getArguments(), info.feeds))
      makers[argument] = {
          addBox(BoxKind::Feed, area, {fmt::format("feed {}", feed.name), toText(feed.type)}), 0.5};
    drawBlock(body, area);
  }
  for (auto [send, receive] : ends)
    drawing.transfers.push_back({send, receive});
  auto count = [](size_t number, StringRef noun) {
    return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
  };
  drawing.title = fmt::format("entry {}: {}, {}", info.name, count(partitions.size(), "device"),
                              count(drawing.transfers.size(), "transfer"));
  return std::move(drawing);
}

Drawing tfc::drawing::drawEntry(EntryOp entry, const EntryInfo &info, SymbolTable &symbols) {
  return EntryDrawer(entry, info, symbols).draw();
}
