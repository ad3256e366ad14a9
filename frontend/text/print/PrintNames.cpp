#include "dialects/dfg/OpTable.h"
#include "dialects/dfg/SizeOps.h"
#include "frontend/text/print/PrintImpl.h"
#include "llvm/Support/ConvertUTF.h"

using namespace llvm;
using namespace mlir;

namespace tfc::text {

//===----------------------------------------------------------------------===//
// Names that have no text
//===----------------------------------------------------------------------===//

/// Returns true if the name can stand in backquotes.
static bool hasText(StringRef name) {
  auto *begin = reinterpret_cast<const UTF8 *>(name.data());
  auto isForbidden = [](char c) { return c == '`' || static_cast<uint8_t>(c) < 0x20 || c == 0x7f; };
  return !name.empty() && none_of(name, isForbidden) &&
         isLegalUTF8String(&begin, begin + name.size());
}

static void collectNames(ArrayAttr list, SmallVectorImpl<StringRef> &names) {
  if (list)
    for (Attribute name : list)
      names.push_back(cast<StringAttr>(name).getValue());
}

/// Fails at the first declaration with a name that cannot be written.
LogicalResult GraphPrinter::checkNames() {
  auto check = [](Operation *op, StringRef name) -> LogicalResult {
    if (hasText(name))
      return success();
    return op->emitError("the name '") << name << "' cannot be written in backquotes [no-text]";
  };
  if (module.getSymName() && failed(check(module, *module.getSymName())))
    return failure();
  bool isEmpty = true;
  for (Operation &op : *module.getBody()) {
    SmallVector<StringRef> names;
    auto entry = dyn_cast<dfg::EntryOp>(op);
    if (auto symbol = dyn_cast<SymbolOpInterface>(op))
      names.push_back(symbol.getName());
    if (auto queue = dyn_cast<dfg::QueueOp>(op))
      collectNames(queue.getNames(), names);
    if (entry) {
      collectNames(entry.getSymbolsAttr(), names);
      for (unsigned i = 0; i < entry.getNumArguments(); ++i)
        if (auto name = entry.getArgAttrOfType<StringAttr>(i, "dfg.name"))
          names.push_back(name.getValue());
      for (unsigned i = 0; i < entry.getNumResults(); ++i)
        if (auto name = entry.getResultAttrOfType<StringAttr>(i, "dfg.name"))
          names.push_back(name.getValue());
    }
    isEmpty &= entry && entry.getInitializer();
    for (StringRef name : names)
      if (failed(check(&op, name)))
        return failure();
  }
  if (isEmpty)
    return module.emitError("the graph has no entries and no state: a file of it would declare "
                            "nothing [no-text]");
  return success();
}

//===----------------------------------------------------------------------===//
// Names in use
//===----------------------------------------------------------------------===//

static llvm::StringSet<> feedsOf(dfg::EntryOp entry) {
  llvm::StringSet<> feeds;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    auto name = entry.getArgAttrOfType<StringAttr>(i, "dfg.name");
    feeds.insert(name ? name.getValue().str() : "x" + std::to_string(i));
  }
  return feeds;
}

/// The sizes that the types of an entry name, and those that its data decide.
static llvm::StringSet<> sizesOf(dfg::EntryOp entry) {
  SmallVector<std::string> found;
  for (TypeRange types : {TypeRange(entry.getArgumentTypes()), TypeRange(entry.getResultTypes())})
    for (Type type : types)
      for (const dfg::DimExpr &size : dfg::shapeOf(type))
        size.collectSymbols(found);
  if (entry.getSymbolsAttr())
    for (Attribute name : entry.getSymbolsAttr())
      found.push_back(cast<StringAttr>(name).getValue().str());
  entry.walk([&](dfg::BindSizeOp op) { found.push_back(op.getName()); });
  llvm::StringSet<> sizes;
  for (const std::string &name : found)
    sizes.insert(name);
  return sizes;
}

static void insertAll(llvm::StringSet<> &into, const llvm::StringSet<> &names) {
  for (const auto &name : names)
    into.insert(name.getKey());
}

void GraphPrinter::reserveNames() {
  for (const dfg::OpSignature &op : dfg::allOps())
    reserved.insert(op.name);
  for (StringRef name : {"assign", "bounded", "cast", "gradients", "load", "f32", "f64", "f16",
                         "bf16", "i8", "i16", "i32", "i64", "u8", "bool", "broadcast", "all", "pi"})
    reserved.insert(name);
  for (Operation &op : *module.getBody()) {
    if (auto symbol = dyn_cast<SymbolOpInterface>(op)) {
      reserved.insert(symbol.getName());
      declared.insert(symbol.getName());
    }
    if (auto entry = dyn_cast<dfg::EntryOp>(op)) {
      insertAll(reserved, sizesOf(entry));
      insertAll(interfaces, feedsOf(entry));
      insertAll(interfaces, sizesOf(entry));
    }
  }
}

void GraphPrinter::enterEntry(dfg::EntryOp entry) {
  sizeAliases.clear();
  feeds = feedsOf(entry);
  taken = feeds;
  inScope = feeds;
  insertAll(inScope, sizesOf(entry));
}

std::string GraphPrinter::newDeclaredName(StringRef base, unsigned &count) const {
  std::string name;
  do
    name = base.str() + std::to_string(++count);
  while (declared.contains(name) || interfaces.contains(name));
  return name;
}

std::string GraphPrinter::functionName(StringRef name) const {
  bool isHidden = declared.contains(name) || inScope.contains(name);
  return isHidden ? ("`dfg." + name + "`").str() : name.str();
}

std::string GraphPrinter::stateName(StringRef name) {
  if (!inScope.contains(name))
    return quoteName(name);
  std::string &alias = stateAliases[name];
  if (alias.empty()) {
    alias = newDeclaredName("_state_", stateCount);
    declarations += "\nlet " + alias + " = " + quoteName(name) + "\n";
  }
  return alias;
}

//===----------------------------------------------------------------------===//
// Sizes whose names mean something else
//===----------------------------------------------------------------------===//

std::string GraphPrinter::sizeInEntry(const dfg::DimExpr &size) const {
  if (sizeAliases.empty())
    return sizeText(size);
  std::optional<dfg::DimExpr> other = size.substitute([&](StringRef name) {
    auto alias = sizeAliases.find(name);
    return std::optional(dfg::DimExpr::symbol(alias == sizeAliases.end() ? name : alias->second));
  });
  return sizeText(other ? *other : size);
}

llvm::StringSet<> mentionedSizes(Region &region) {
  SmallVector<std::string> found;
  auto collect = [&](Attribute attribute) {
    if (auto dims = dyn_cast<dfg::DimsAttr>(attribute))
      for (const dfg::DimExpr &size : dims.getExprs())
        size.collectSymbols(found);
  };
  region.walk([&](Operation *op) {
    for (NamedAttribute attribute : op->getAttrs()) {
      collect(attribute.getValue());
      if (auto sizes = dyn_cast<DictionaryAttr>(attribute.getValue()))
        for (NamedAttribute size : sizes)
          collect(size.getValue());
    }
  });
  llvm::StringSet<> names;
  for (const std::string &name : found)
    names.insert(name);
  return names;
}

/// In an expression, the name of a size that is also a feed's means the feed, and the name of a
/// variable cannot be bound. Gives such a size another name, from the shape of a feed; one that the
/// data decide is bound under the other name.
LogicalResult GraphPrinter::printSizeAliases(dfg::EntryOp entry) {
  llvm::StringSet<> bound;
  entry.walk([&](dfg::BindSizeOp binder) { bound.insert(binder.getName()); });
  SmallVector<std::string> ofResults;
  for (Type type : entry.getResultTypes())
    for (const dfg::DimExpr &size : dfg::shapeOf(type))
      size.collectSymbols(ofResults);
  for (const auto &mentioned : mentionedSizes(entry.getBody())) {
    StringRef name = mentioned.getKey();
    bool isBound = bound.contains(name);
    bool isVariable = isa_and_nonnull<dfg::VariableOp>(module.lookupSymbol(name));
    if (!feeds.contains(name) && !(isBound && isVariable))
      continue;
    std::string source;
    for (BlockArgument feed : entry.getBody().front().getArguments())
      for (auto [axis, size] : enumerate(dfg::shapeOf(feed.getType())))
        if (source.empty() && size.asSymbol() == name)
          source = functionName("shape") + "(" + use(feed) + ")[" + std::to_string(axis) + "]";
    if (isBound ? is_contained(ofResults, name) : source.empty())
      return entry.emitError("the size '")
             << name << "' has the name of a " << (feeds.contains(name) ? "feed" : "variable")
             << ", and expressions of the graph language cannot tell them apart [no-text]";
    std::string alias = newName((name + "_size").str());
    sizeAliases[name] = alias;
    if (!isBound)
      *os << indent << "let " << quoteName(alias) << " = " << source << '\n';
  }
  return success();
}

} // namespace tfc::text
