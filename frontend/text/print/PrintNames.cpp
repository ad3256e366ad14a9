// Chooses the names of a printed file, and refuses those that no file can have.
#include "dialects/dfg/Dtypes.h"
#include "dialects/dfg/OpTable.h"
#include "dialects/dfg/SizeOps.h"
#include "frontend/text/print/PrintImpl.h"
#include "frontend/text/syntax/Lexer.h"
#include "llvm/ADT/StringExtras.h"
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

LogicalResult checkNames(ModuleOp module) {
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
    if (auto dataset = dyn_cast<dfg::DatasetOp>(op))
      collectNames(dataset.getNames(), names);
    if (entry && entry.isPartition())
      return entry.emitError("entries that are divided among devices cannot be written in the "
                             "graph language [no-text]");
    if (entry) {
      collectNames(entry.getSymbolsAttr(), names);
      for (unsigned i = 0; i < entry.getNumArguments(); ++i)
        if (auto name = entry.getArgAttrOfType<StringAttr>(i, dfg::kNameAttr))
          names.push_back(name.getValue());
      for (unsigned i = 0; i < entry.getNumResults(); ++i)
        if (auto name = entry.getResultAttrOfType<StringAttr>(i, dfg::kNameAttr))
          names.push_back(name.getValue());
    }
    isEmpty &= entry && entry.getInitializer();
    for (StringRef name : names)
      if (failed(check(&op, name)))
        return failure();
  }
  if (isEmpty)
    return module.emitError(
        "the graph has no entries and no state: its file would declare nothing [no-text]");
  return success();
}

//===----------------------------------------------------------------------===//
// Names in use
//===----------------------------------------------------------------------===//

static llvm::StringSet<> feedsOf(dfg::EntryOp entry) {
  llvm::StringSet<> feeds;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    auto name = entry.getArgAttrOfType<StringAttr>(i, dfg::kNameAttr);
    feeds.insert(name ? name.getValue().str() : "x" + std::to_string(i));
  }
  return feeds;
}

/// The sizes that the types of an entry mention, including data-dependent ones.
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

PrintNames::PrintNames(ModuleOp module) {
  for (const dfg::OpSignature &op : dfg::allOps())
    reserved.insert(op.name);
  for (const dfg::Dtype &dtype : dfg::getDtypes())
    reserved.insert(dtype.name);
  for (StringRef name :
       {"assign", "bounded", "cast", "gradients", "load", "broadcast", "all", "pi"})
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

void PrintNames::enterEntry(dfg::EntryOp entry) {
  scope.sizeAliases.clear();
  scope.feeds = feedsOf(entry);
  scope.taken = scope.feeds;
  scope.hiding = scope.feeds;
  insertAll(scope.hiding, sizesOf(entry));
}

PrintNames::Scope PrintNames::enterFunction(ArrayRef<std::string> sizes) {
  Scope outer = std::exchange(scope, Scope());
  for (const std::string &size : sizes) {
    scope.taken.insert(size);
    scope.hiding.insert(size);
  }
  return outer;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static bool isKeyword(StringRef word) { return classifyWord(word) != TokenKind::Name; }

std::string PrintNames::create(StringRef base) {
  std::string name = base.str();
  for (unsigned i = 1; reserved.contains(name) || isKeyword(name) || scope.taken.contains(name);
       ++i)
    name = (base + "_" + Twine(i)).str();
  scope.taken.insert(name);
  return name;
}

/// It never begins with an underscore, as what the printer declares in the file does.
std::string PrintNames::create(Value value) {
  std::string base = "v";
  Location location = value.getLoc();
  if (auto named = dyn_cast<NameLoc>(location)) {
    StringRef last = named.getName().getValue();
    last = last.substr(last.rfind('/') + 1).ltrim('_');
    bool isWord = !last.empty() && last != "return" && isAlpha(last.front()) &&
                  all_of(last, [](char c) { return isAlnum(c) || c == '_' || c == '.'; });
    if (isWord) {
      base = last.str();
      llvm::replace(base, '.', '_');
    }
  }
  return scope.values[value] = create(base);
}

std::string PrintNames::define(ValueRange results) {
  std::string targets;
  for (Value result : results) {
    targets += targets.empty() ? "" : ", ";
    targets += result.use_empty() ? "_" : has(result) ? use(result) : create(result);
  }
  return targets;
}

std::string PrintNames::use(ValueRange values) const {
  std::string text;
  for (Value value : values)
    text += (text.empty() ? "" : ", ") + use(value);
  return text;
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

std::string PrintNames::createDeclared(StringRef base) {
  std::string name;
  do
    name = base.str() + std::to_string(++counts[base]);
  while (declared.contains(name) || interfaces.contains(name));
  return name;
}

std::string PrintNames::createFunction(StringRef base) {
  bool isTaken = declared.contains(base) || interfaces.contains(base);
  std::string name = isTaken ? createDeclared(base) : base.str();
  declared.insert(name);
  return name;
}

std::string PrintNames::function(StringRef name) const {
  bool isHidden = declared.contains(name) || scope.hiding.contains(name);
  return isHidden ? ("`dfg." + name + "`").str() : name.str();
}

std::string PrintNames::state(StringRef name, std::string &declarations) {
  if (!scope.hiding.contains(name))
    return quoteName(name);
  std::string &alias = stateAliases[name];
  if (alias.empty()) {
    alias = createDeclared("_state_");
    declarations += "\nlet " + alias + " = " + quoteName(name) + "\n";
  }
  return alias;
}

std::string PrintNames::size(const dfg::DimExpr &size) const {
  if (scope.sizeAliases.empty())
    return sizeText(size);
  std::optional<dfg::DimExpr> other = size.substitute([&](StringRef name) {
    auto alias = scope.sizeAliases.find(name);
    return std::optional(
        dfg::DimExpr::symbol(alias == scope.sizeAliases.end() ? name : alias->second));
  });
  return sizeText(other ? *other : size);
}

} // namespace tfc::text
