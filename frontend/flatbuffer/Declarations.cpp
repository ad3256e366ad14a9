// Creates variables, queues and entries.
#include "frontend/flatbuffer/Declarations.h"

#include "dialects/dfg/SizeComplexity.h"
#include "dialects/dfg/SizeLimits.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace llvm;

namespace tfc::flatbuffer {

void Declarations::create(const tfg::Graph &graph) {
  size_t number = 0;
  for (const tfg::Declaration *declaration : elementsOf(graph.declarations()))
    createDeclaration(*declaration, number++);
  for (const tfg::Entry *entry : elementsOf(graph.entries()))
    createEntry(*entry);
  assignInitialValues();
}

//===----------------------------------------------------------------------===//
// Variables and other symbols
//===----------------------------------------------------------------------===//

void Declarations::createDeclaration(const tfg::Declaration &declaration, size_t number) {
  if (const tfg::Variable *variable = declaration.declared_as_Variable())
    return createVariable(*variable);
  Location location = file.locate("declaration " + Twine(number));
  const tfg::Node *node = declaration.declared_as_Node();
  if (!node) {
    emitError(location) << "expected a variable or a node [graph-file]";
    return;
  }
  std::string name = ("dfg." + file.text(node->operation())).str();
  std::optional<RegisteredOperationName> registered =
      RegisteredOperationName::lookup(name, file.getContext());
  if (!registered || !registered->hasInterface<SymbolOpInterface>() ||
      registered->hasInterface<FunctionOpInterface>()) {
    emitError(location) << "'" << file.text(node->operation())
                        << "' declares nothing [unsupported-node]";
    return;
  }
  Values none(file, tables);
  none.beginRegion(/*isGraph=*/false);
  builder.toEnd(*module.getBody());
  Nodes(builder, file, tables, attributes, none, "declarations").create(*node);
  none.endRegion();
}

/// The slice that a variable holds, or null after an error.
static dfg::SliceAttr readSlice(const tfg::Slice &slice, FileContext &file, Location location) {
  return dfg::SliceAttr::getChecked([&] { return emitError(location); }, file.getContext(),
                                    StringAttr::get(file.getContext(), file.text(slice.whole())),
                                    slice.axis(), slice.first(), slice.step(), slice.size());
}

void Declarations::createVariable(const tfg::Variable &variable) {
  StringRef name = file.text(variable.name());
  Location location = tables.place(variable.place(), file.locate(name));
  (void)file.name(variable.name(), location);
  RankedTensorType type = tables.tensor(variable.type(), location);
  if (!type)
    return;
  dfg::SliceAttr slice;
  if (variable.slice() && !(slice = readSlice(*variable.slice(), file, location)))
    return;
  StringRef former = file.text(variable.formerly());
  builder.toEnd(*module.getBody());
  OpBuilder declaring(file.getContext());
  OperationState state(location, dfg::VariableOp::getOperationName());
  dfg::VariableOp::build(declaring, state, declaring.getStringAttr(name), TypeAttr::get(type),
                         variable.frozen() ? declaring.getUnitAttr() : UnitAttr(),
                         former.empty() ? StringAttr() : declaring.getStringAttr(former), slice);
  state.addAttributes(file.placement(variable.device(), variable.colocate(), location));
  builder.createDeclared(state);
  if (!variable.initial())
    return;
  ElementsAttr value = constants.read(*variable.initial(), location);
  if (value && value.getShapedType() != type)
    emitError(location) << "the initial value of '" << name << "' is "
                        << dfg::toText(value.getShapedType()) << ", but the variable is "
                        << dfg::toText(type) << " [assign-type]";
  else if (value)
    initials.push_back({name, value, location});
}

static dfg::EntryOp findInitializer(ModuleOp module) {
  for (auto entry : module.getOps<dfg::EntryOp>())
    if (entry.getInitializer())
      return entry;
  return {};
}

void Declarations::assignInitialValues() {
  if (initials.empty())
    return;
  dfg::EntryOp initializer = findInitializer(module);
  llvm::StringSet<> assigned;
  if (initializer) {
    initializer.walk([&](dfg::AssignOp assign) { assigned.insert(assign.getVariable()); });
    Block &body = initializer.getBody().front();
    if (body.empty())
      return; // an error that is reported later
    builder.before(&body.back());
  } else {
    builder.beginEntry(EntryHeader::initializer(), file.locate());
  }
  for (const Initial &initial : initials) {
    if (!assigned.insert(initial.variable).second)
      emitError(initial.location) << "the initializer also assigns '" << initial.variable
                                  << "' [duplicate-name]";
    builder.getResources().assign(
        initial.variable, builder.constant(initial.value, initial.location), initial.location);
  }
  if (!initializer)
    builder.finishEntry({}, {}, file.locate());
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

void Declarations::addSizes(const tfg::Entry &entry, EntryHeader &header, Location location) {
  for (const tfg::NamedSize *size : elementsOf(entry.sizes())) {
    header.symbols.push_back(file.name(size->name(), location).str());
    if (size->bound() < -1)
      emitError(location) << "the size '" << header.symbols.back() << "' is at most "
                          << size->bound() << " [bad-bound]";
    else if (size->bound() >= 0)
      header.bounds[header.symbols.back()] = size->bound();
  }
}

static bool isUsable(const dfg::DimExpr &size) {
  return !dfg::isOverflow(size) && !dfg::isTooComplex(size);
}

std::optional<dfg::Fact> Declarations::readFact(const tfg::Fact &fact, Location location) {
  StringRef text = file.text(fact.comparison());
  std::optional<dfg::Fact> parsed = dfg::Fact::parse(text);
  if (!parsed || !isUsable(parsed->lhs) || !isUsable(parsed->rhs)) {
    emitError(location) << "expected a comparison of sizes, but got '" << text << "' [graph-file]";
    return std::nullopt;
  }
  parsed->site = file.text(fact.site()).str();
  return parsed;
}

void Declarations::addFeeds(const tfg::Entry &entry, EntryHeader &header, Values &values,
                            Location location) {
  for (const tfg::Argument *feed : elementsOf(entry.feeds())) {
    Location place = tables.place(feed->place(), location);
    Type type = values.type(feed->value(), place);
    auto tensor = dyn_cast_or_null<RankedTensorType>(type);
    if (tensor)
      header.feeds.push_back({file.name(feed->name(), place).str(), tensor, place});
    else if (type)
      emitError(place) << "expected a tensor as the feed '" << file.text(feed->name())
                       << "' [graph-file]";
  }
}

EntryHeader Declarations::readHeader(const tfg::Entry &entry, Values &values, Location location) {
  EntryHeader header;
  header.name = file.name(entry.name(), location).str();
  header.doc = file.text(entry.doc()).str();
  header.isInitializer = entry.initializer();
  addSizes(entry, header, location);
  for (const tfg::Fact *fact : elementsOf(entry.facts()))
    if (std::optional<dfg::Fact> read = readFact(*fact, location))
      header.addFact(*read);
  for (const tfg::Fact *fact : elementsOf(entry.solved()))
    if (std::optional<dfg::Fact> read = readFact(*fact, location))
      header.solved.push_back(std::move(*read));
  addFeeds(entry, header, values, location);
  return header;
}

/// Sets the types and names of the entry's results from its return, and finishes the entry.
void Declarations::finishEntry(const tfg::Entry &entry, Location location) {
  std::vector<EntryValue> results;
  Block &body = builder.currentEntry().getBody().front();
  auto end = body.empty() ? dfg::ReturnOp() : dyn_cast<dfg::ReturnOp>(body.back());
  size_t names = entry.fetches() ? entry.fetches()->size() : 0;
  if (!end || end.getValues().size() != names) {
    emitError(location) << "expected an entry to end with 'return' and a value for each of its "
                        << names << " fetches [graph-node]";
    return;
  }
  for (auto [fetch, value] : zip(elementsOf(entry.fetches()), end.getValues())) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type) {
      emitError(location) << "expected tensors as fetches [graph-node]";
      return;
    }
    results.push_back({file.name(fetch->name(), location).str(), type, location});
  }
  builder.finishEntry(results);
}

void Declarations::createEntry(const tfg::Entry &entry) {
  std::string name = file.text(entry.name()).str();
  Location location = tables.place(entry.place(), file.locate(name));
  Values values(file, tables);
  bool isValid = values.read(file.numbers(entry.values()), location);
  EntryHeader header = readHeader(entry, values, location);
  size_t feeds = entry.feeds() ? entry.feeds()->size() : 0;
  if (!isValid || feeds != header.feeds.size())
    return; // nodes would have the same errors
  dfg::EntryOp op = builder.beginEntry(header, location);
  values.beginRegion(/*isGraph=*/false);
  for (auto [feed, argument] : zip(elementsOf(entry.feeds()), op.getBody().getArguments()))
    values.define(feed->value(), argument, argument.getLoc());
  Nodes(builder, file, tables, attributes, values, name).create(entry.nodes());
  values.endRegion();
  finishEntry(entry, location);
}

} // namespace tfc::flatbuffer
