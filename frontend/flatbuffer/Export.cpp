// Writes a module as a FlatBuffer followed by a section of data.
#include "frontend/flatbuffer/Export.h"

#include "dialects/dfg/Devices.h"
#include "frontend/Fmt.h"
#include "frontend/flatbuffer/AttributeWriter.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace llvm;

namespace tfc::flatbuffer {

using flatbuffers::Offset;
template <typename T> using Offsets = std::vector<Offset<T>>;
using Texts = flatbuffers::Vector<Offset<flatbuffers::String>>;

namespace {

/// Writes the tables of one graph.
class GraphWriter {
public:
  LogicalResult write(ModuleOp module);

  StringRef getFlatBuffer() const {
    return {reinterpret_cast<const char *>(buffer.GetBufferPointer()), buffer.GetSize()};
  }
  const TableWriter &getTables() const { return tables; }

private:
  /// The values of an entry, by number.
  struct Numbering {
    llvm::DenseMap<Value, uint32_t> numbers;
    std::vector<uint32_t> types;
  };

  uint32_t number(Value value);
  std::vector<uint32_t> number(ValueRange values);
  std::optional<Offset<tfg::Region>> write(Region &region);
  std::optional<Offset<tfg::Node>> write(Operation *op);
  std::optional<Offsets<tfg::Node>> write(Block &block);
  Offset<flatbuffers::String> writeDevice(Operation *op);
  Offset<Texts> writeColocation(Operation *op);
  Offset<tfg::Declaration> write(dfg::VariableOp variable);
  std::optional<Offset<tfg::Declaration>> writeDeclaration(Operation *op);
  std::optional<Offset<tfg::Entry>> write(dfg::EntryOp entry);
  Offsets<tfg::NamedSize> writeSizes(dfg::EntryOp entry);
  Offsets<tfg::Fact> writeFacts(dfg::EntryOp entry, ArrayAttr of);
  Offsets<tfg::Argument> writeFeeds(dfg::EntryOp entry);
  Offsets<tfg::Fetch> writeFetches(dfg::EntryOp entry);

  flatbuffers::FlatBufferBuilder buffer;
  TableWriter tables{buffer};
  AttributeWriter attributes{buffer, tables};
  Numbering values;
  uint32_t edition = kFirstEdition;
};

} // namespace

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// The number of a value; operands of a graph may be numbered before their definition.
uint32_t GraphWriter::number(Value value) {
  auto [known, isNew] = values.numbers.try_emplace(value, values.types.size());
  if (isNew)
    values.types.push_back(tables.number(value.getType()));
  return known->second;
}

std::vector<uint32_t> GraphWriter::number(ValueRange range) {
  std::vector<uint32_t> numbers;
  for (Value value : range)
    numbers.push_back(number(value));
  return numbers;
}

/// Reports an operation that only later stages create.
static std::nullopt_t failWithoutForm(Operation *op) {
  op->emitError("'") << op->getName().stripDialect() << "' has no binary form [no-binary-form]";
  return std::nullopt;
}

std::optional<Offset<tfg::Region>> GraphWriter::write(Region &region) {
  if (!region.hasOneBlock())
    return failWithoutForm(region.getParentOp());
  Offsets<tfg::Argument> arguments;
  for (BlockArgument argument : region.getArguments())
    arguments.push_back(
        tfg::CreateArgument(buffer, number(argument), 0, tables.number(argument.getLoc())));
  std::optional<Offsets<tfg::Node>> nodes = write(region.front());
  if (!nodes)
    return std::nullopt;
  auto written = buffer.CreateVector(arguments);
  return tfg::CreateRegion(buffer, written, buffer.CreateVector(*nodes));
}

Offset<flatbuffers::String> GraphWriter::writeDevice(Operation *op) {
  dfg::DeviceName device = dfg::deviceOf(op);
  if (device.isOpen())
    return {};
  edition = std::max(edition, kDevicesEdition);
  return tables.text(device.str());
}

Offset<Texts> GraphWriter::writeColocation(Operation *op) {
  Offsets<flatbuffers::String> symbols;
  for (FlatSymbolRefAttr symbol : dfg::colocatedWith(op))
    symbols.push_back(tables.text(symbol.getValue()));
  if (symbols.empty())
    return {};
  edition = std::max(edition, kDevicesEdition);
  return buffer.CreateVector(symbols);
}

std::optional<Offset<tfg::Node>> GraphWriter::write(Operation *op) {
  if (!dfg::lookupOp(op->getName().stripDialect()) || !isa<dfg::DfgDialect>(op->getDialect()))
    return failWithoutForm(op);
  std::vector<uint32_t> operands = number(op->getOperands()), results = number(op->getResults());
  Offsets<tfg::Region> regions;
  for (Region &region : op->getRegions()) {
    std::optional<Offset<tfg::Region>> written = write(region);
    if (!written)
      return std::nullopt;
    regions.push_back(*written);
  }
  FailureOr<AttributeWriter::Offsets> named = attributes.write(op);
  if (failed(named))
    return std::nullopt;
  auto vectorOf = [&](const auto &list) { return list.empty() ? 0 : buffer.CreateVector(list); };
  auto name = tables.text(op->getName().stripDialect());
  auto writtenOperands = vectorOf(operands);
  auto writtenResults = vectorOf(results);
  auto writtenAttributes = vectorOf(*named);
  auto writtenRegions = vectorOf(regions);
  auto device = writeDevice(op);
  auto colocate = writeColocation(op);
  return tfg::CreateNode(buffer, name, writtenOperands, writtenResults, writtenAttributes,
                         writtenRegions, tables.number(op->getLoc()), 0, device, colocate);
}

std::optional<Offsets<tfg::Node>> GraphWriter::write(Block &block) {
  Offsets<tfg::Node> nodes;
  for (Operation &op : block) {
    std::optional<Offset<tfg::Node>> node = write(&op);
    if (!node)
      return std::nullopt;
    nodes.push_back(*node);
  }
  return nodes;
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

Offset<tfg::Declaration> GraphWriter::write(dfg::VariableOp variable) {
  std::optional<StringRef> former = variable.getFormerly();
  auto name = tables.text(variable.getSymName());
  auto formerly = former ? tables.text(*former) : Offset<flatbuffers::String>();
  auto device = writeDevice(variable);
  auto colocate = writeColocation(variable);
  Offset<tfg::Slice> slice;
  if (dfg::SliceAttr attr = variable.getSliceAttr()) {
    edition = kSlicesEdition;
    auto whole = tables.text(attr.getWhole());
    slice = tfg::CreateSlice(buffer, whole, attr.getAxis(), attr.getFirst(), attr.getStep(),
                             attr.getSize());
  }
  auto declared =
      tfg::CreateVariable(buffer, name, tables.number(variable.getType()), variable.getFrozen(),
                          formerly, 0, tables.number(variable.getLoc()), device, colocate, slice);
  return tfg::CreateDeclaration(buffer, tfg::Declared::Variable, declared.Union());
}

std::optional<Offset<tfg::Declaration>> GraphWriter::writeDeclaration(Operation *op) {
  if (auto variable = dyn_cast<dfg::VariableOp>(op))
    return write(variable);
  if (!isa<SymbolOpInterface>(op) || isa<FunctionOpInterface>(op))
    return failWithoutForm(op);
  std::optional<Offset<tfg::Node>> node = write(op);
  if (!node)
    return std::nullopt;
  return tfg::CreateDeclaration(buffer, tfg::Declared::Node, node->Union());
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

Offsets<tfg::NamedSize> GraphWriter::writeSizes(dfg::EntryOp entry) {
  Offsets<tfg::NamedSize> sizes;
  DictionaryAttr bounds = entry.getBoundsAttr();
  ArrayAttr symbols = entry.getSymbolsAttr();
  for (Attribute attribute : symbols ? symbols.getValue() : ArrayRef<Attribute>()) {
    StringRef name = cast<StringAttr>(attribute).getValue();
    auto bound = bounds ? bounds.getAs<IntegerAttr>(name) : IntegerAttr();
    sizes.push_back(tfg::CreateNamedSize(buffer, tables.text(name), bound ? bound.getInt() : -1));
  }
  return sizes;
}

Offsets<tfg::Fact> GraphWriter::writeFacts(dfg::EntryOp entry, ArrayAttr of) {
  Offsets<tfg::Fact> facts;
  for (Attribute attribute : of ? of.getValue() : ArrayRef<Attribute>()) {
    auto fact = cast<dfg::FactAttr>(attribute);
    std::string text = fmt::format("{} {} {}", fact.getLhs().getValue(),
                                   spelling(fact.getComparison()), fact.getRhs().getValue());
    std::string site = dfg::withSite(fact.getFact(), entry).site;
    facts.push_back(
        tfg::CreateFact(buffer, tables.text(text),
                        site.empty() ? Offset<flatbuffers::String>() : tables.text(site)));
  }
  return facts;
}

static std::string nameOf(DictionaryAttr attributes, StringRef otherwise, size_t position) {
  auto name = attributes ? attributes.getAs<StringAttr>(dfg::kNameAttr) : StringAttr();
  return name ? name.getValue().str() : (otherwise + Twine(position)).str();
}

Offsets<tfg::Argument> GraphWriter::writeFeeds(dfg::EntryOp entry) {
  Offsets<tfg::Argument> feeds;
  for (auto [i, argument] : enumerate(entry.getBody().getArguments())) {
    std::string name = nameOf(entry.getArgAttrDict(i), "x", i);
    feeds.push_back(tfg::CreateArgument(buffer, number(argument), tables.text(name),
                                        tables.number(argument.getLoc())));
  }
  return feeds;
}

Offsets<tfg::Fetch> GraphWriter::writeFetches(dfg::EntryOp entry) {
  Offsets<tfg::Fetch> fetches;
  for (size_t i = 0; i < entry.getResultTypes().size(); ++i)
    fetches.push_back(
        tfg::CreateFetch(buffer, tables.text(nameOf(entry.getResultAttrDict(i), "result", i))));
  return fetches;
}

std::optional<Offset<tfg::Entry>> GraphWriter::write(dfg::EntryOp entry) {
  if (entry.getLimitsAttr())
    return failWithoutForm(entry);
  values = Numbering();
  auto feeds = buffer.CreateVector(writeFeeds(entry));
  std::optional<Offsets<tfg::Node>> nodes = write(entry.getBody().front());
  if (!nodes)
    return std::nullopt;
  auto body = buffer.CreateVector(*nodes);
  auto types = buffer.CreateVector(values.types);
  auto sizes = buffer.CreateVector(writeSizes(entry));
  auto facts = buffer.CreateVector(writeFacts(entry, entry.getWhereAttr()));
  auto solved = buffer.CreateVector(writeFacts(entry, entry.getSolvedAttr()));
  auto fetches = buffer.CreateVector(writeFetches(entry));
  auto name = tables.text(entry.getSymName());
  std::optional<StringRef> text = entry.getDoc();
  auto doc = text ? tables.text(*text) : Offset<flatbuffers::String>();
  return tfg::CreateEntry(buffer, name, doc, entry.getInitializer(), types, sizes, facts, feeds,
                          fetches, body, tables.number(dfg::withSites(entry.getLoc(), {})), solved);
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

LogicalResult GraphWriter::write(ModuleOp module) {
  Offsets<tfg::Declaration> declarations;
  Offsets<tfg::Entry> entries;
  for (Operation &op : *module.getBody()) {
    if (auto entry = dyn_cast<dfg::EntryOp>(op)) {
      std::optional<Offset<tfg::Entry>> written = write(entry);
      if (!written)
        return failure();
      entries.push_back(*written);
    } else {
      std::optional<Offset<tfg::Declaration>> written = writeDeclaration(&op);
      if (!written)
        return failure();
      declarations.push_back(*written);
    }
  }
  int32_t place = tables.number(module.getLoc());
  auto name =
      module.getSymName() ? tables.text(*module.getSymName()) : Offset<flatbuffers::String>();
  auto types = tables.writeTypes();
  auto places = tables.writePlaces();
  auto declared = buffer.CreateVector(declarations);
  auto written = buffer.CreateVector(entries);
  buffer.Finish(tfg::CreateGraph(buffer, edition, name, types, places, declared, written,
                                 tables.getSectionBytes(), place),
                tfg::GraphIdentifier());
  return success();
}

LogicalResult exportGraph(ModuleOp module, raw_ostream &os) {
  GraphWriter writer;
  if (failed(writer.write(module)))
    return failure();
  auto writePadded = [&](StringRef bytes) {
    os << bytes;
    os.write_zeros(alignTo(bytes.size(), kDataAlignment) - bytes.size());
  };
  writePadded(writer.getFlatBuffer());
  for (ArrayRef<char> data : writer.getTables().getSection())
    writePadded(StringRef(data.data(), data.size()));
  return success();
}

} // namespace tfc::flatbuffer
