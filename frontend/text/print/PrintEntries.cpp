// Prints entries: their signatures, the names of their sizes, and their bodies.
#include "frontend/text/print/PrintImpl.h"

#include "dialects/dfg/Dfg.h"
#include "dialects/dfg/SizeOps.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;
using namespace mlir;

namespace tfc::text {

void GraphPrinter::printDoc(dfg::EntryOp entry) {
  if (std::optional<StringRef> doc = entry.getDoc()) {
    SmallVector<StringRef> lines;
    doc->split(lines, '\n');
    for (StringRef line : lines)
      *os << "## " << line << '\n';
  }
}

/// The parameters, results and facts of an entry, or of a function that it calls, to which its
/// bounds do not apply.
void GraphPrinter::printSignature(dfg::EntryOp entry, bool hasBounds) {
  DictionaryAttr bounds = hasBounds ? entry.getBoundsAttr() : DictionaryAttr();
  llvm::StringSet<> bounded;
  auto feedType = [&](Type type) {
    std::string text = typeText(type);
    dfg::Shape shape = dfg::shapeOf(type);
    if (shape.empty())
      return text;
    text = text.substr(0, text.find('[')) + "[";
    for (auto [i, size] : enumerate(shape)) {
      text += (i ? ", " : "") + sizeText(size);
      std::optional<StringRef> symbol = size.asSymbol();
      Attribute bound = symbol && bounds ? bounds.get(*symbol) : Attribute();
      if (bound && bounded.insert(*symbol).second)
        text += " <= " + std::to_string(cast<IntegerAttr>(bound).getInt());
    }
    return text + "]";
  };
  *os << '(';
  Block &body = entry.getBody().front();
  for (auto [i, argument] : enumerate(body.getArguments())) {
    auto attr = entry.getArgAttrOfType<StringAttr>(i, dfg::kNameAttr);
    std::string name = attr ? attr.getValue().str() : "x" + std::to_string(i);
    names.set(argument, quoteName(name));
    *os << (i ? ", " : "") << quoteName(name) << ": " << feedType(argument.getType());
  }
  *os << ')';
  ArrayRef<Type> results = entry.getResultTypes();
  for (auto [i, type] : enumerate(results)) {
    auto attr = entry.getResultAttrOfType<StringAttr>(i, dfg::kNameAttr);
    std::string name = attr ? attr.getValue().str() : "result" + std::to_string(i);
    *os << (i ? ", " : " -> (") << quoteName(name) << ": " << typeText(type);
  }
  if (!results.empty())
    *os << ')';
  std::string facts;
  ArrayRef<Attribute> where;
  if (entry.getWhereAttr())
    where = entry.getWhereAttr().getValue();
  for (Attribute fact : where)
    facts +=
        (facts.empty() ? " where " : ", ") + quoteWords(cast<dfg::FactAttr>(fact).getFact().str());
  if (bounds)
    for (NamedAttribute bound : bounds)
      if (!bounded.contains(bound.getName().getValue()))
        facts += (facts.empty() ? " where " : ", ") + quoteName(bound.getName().getValue()) +
                 " <= " + std::to_string(cast<IntegerAttr>(bound.getValue()).getInt());
  *os << facts << " {\n";
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

/// In an expression, a name shared by a size and a feed denotes the feed, and the name of a
/// variable cannot be bound. Defines another name for such a size, from the shape of a feed; a
/// data-dependent size is bound under the other name.
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
    if (!names.isFeed(name) && !(isBound && isVariable))
      continue;
    std::string source;
    for (BlockArgument feed : entry.getBody().front().getArguments())
      for (auto [axis, size] : enumerate(dfg::shapeOf(feed.getType())))
        if (source.empty() && size.asSymbol() == name)
          source =
              names.function("shape") + "(" + names.use(feed) + ")[" + std::to_string(axis) + "]";
    if (isBound ? is_contained(ofResults, name) : source.empty())
      return entry.emitError("the size '")
             << name << "' has the name of a " << (names.isFeed(name) ? "feed" : "variable")
             << ", and expressions of the graph language cannot tell them apart [no-text]";
    std::string alias = names.create((name + "_size").str());
    names.aliasSize(name, alias);
    if (!isBound)
      *os << indent << "let " << quoteName(alias) << " = " << source << '\n';
  }
  return success();
}

LogicalResult GraphPrinter::printBody(dfg::EntryOp entry) {
  if (failed(printSizeAliases(entry)))
    return failure();
  Block &body = entry.getBody().front();
  for (Operation &op : body.without_terminator())
    if (failed(printStatement(op)))
      return failure();
  if (body.getTerminator()->getNumOperands())
    *os << "  return " << names.use(body.getTerminator()->getOperands()) << '\n';
  *os << "}\n" << std::exchange(declarations, {});
  return success();
}

LogicalResult GraphPrinter::printEntry(dfg::EntryOp entry) {
  names.enterEntry(entry);
  Block &body = entry.getBody().front();
  // The results of a function have no sizes of their own.
  bool isCall = hasFunctions && body.getOps<dfg::BindSizeOp>().empty();
  std::string function = isCall ? names.createFunction("network") : "";
  *os << '\n';
  if (isCall) {
    *os << "fn " << function;
    printSignature(entry, /*hasBounds=*/false);
    if (failed(printBody(entry)))
      return failure();
    *os << '\n';
  }
  printDoc(entry);
  *os << "entry " << quoteName(entry.getSymName());
  printSignature(entry, /*hasBounds=*/true);
  if (!isCall)
    return printBody(entry);
  *os << (body.getTerminator()->getNumOperands() ? "  return " : "  ") << function << "("
      << names.use(body.getArguments()) << ")\n}\n";
  return success();
}

} // namespace tfc::text
