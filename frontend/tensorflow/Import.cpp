#include "frontend/tensorflow/Import.h"

#include "frontend/tensorflow/Importer.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

std::string portName(StringRef tensor) {
  tensor.consume_back(":0");
  return tensor.str();
}

/// Splits at commas outside of brackets; parts are trimmed, and none if the text is blank.
static std::vector<StringRef> splitList(StringRef text) {
  std::vector<StringRef> parts;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size()) {
      depth += text[i] == '[' ? 1 : text[i] == ']' ? -1 : 0;
      if (text[i] != ',' || depth > 0)
        continue;
    }
    parts.push_back(text.slice(begin, i).trim());
    begin = i + 1;
  }
  if (parts.size() == 1 && parts.front().empty())
    parts.clear();
  return parts;
}

/// "x:0" or "x:0[n, 64]".
static bool parseFeed(StringRef text, FeedSpec &feed, std::string &error) {
  auto [name, rest] = text.split('[');
  feed.tensor = name.trim().str();
  if (rest.size() == 0 && !text.ends_with("["))
    return true;
  if (!rest.consume_back("]")) {
    error = ("the sizes of '" + text + "' lack a closing bracket").str();
    return false;
  }
  feed.sizes.emplace();
  for (StringRef size : splitList(rest)) {
    if (!dfg::DimExpr::parse(size)) {
      error = ("'" + size + "' is not a size").str();
      return false;
    }
    feed.sizes->push_back(size.str());
  }
  return true;
}

static bool isIdentifier(StringRef name) {
  return !name.empty() && !isDigit(name.front()) &&
         llvm::all_of(name, [](char c) { return isAlnum(c) || c == '_'; });
}

std::optional<EntrySpec> parseEntrySpec(StringRef text, std::string &error) {
  EntrySpec spec;
  auto [name, body] = text.split(':');
  spec.name = name.trim().str();
  if (!isIdentifier(spec.name) || name.size() == text.size()) {
    error = "expected a name and a colon in front, as in 'train: x:0 -> loss:0 ; train'";
    return std::nullopt;
  }
  auto [values, targets] = body.split(';');
  auto [feeds, fetches] = values.split("->");
  if (feeds.size() == values.size() && !values.trim().empty()) {
    error = "expected '->' between feeds and fetches";
    return std::nullopt;
  }
  for (StringRef feed : splitList(feeds))
    if (!parseFeed(feed, spec.feeds.emplace_back(), error))
      return std::nullopt;
  for (StringRef fetch : splitList(fetches))
    spec.fetches.push_back(fetch.str());
  for (StringRef target : splitList(targets))
    spec.targets.push_back(target.str());
  return spec;
}

OwningOpRef<ModuleOp> importGraphDef(MLIRContext &context, StringRef path, StringRef bytes,
                                     ArrayRef<EntrySpec> entries, const ImportOptions &options) {
  std::optional<Graph> graph = readGraphDef(&context, path, bytes);
  if (!graph)
    return {};
  Location location = graph->locate(&context);
  if (entries.empty()) {
    emitError(location) << "a GraphDef says no entries: expected --entry 'name: feeds -> fetches ; "
                           "targets' [graph-entry]";
    return {};
  }
  OwningOpRef<ModuleOp> module(ModuleOp::create(location));
  GraphBuilder builder(*module);
  ModuleSymbols symbols;
  Handles handles(*graph);
  text::LibraryCalls functions(builder, "tensorflow", options);
  bool hasErrors = false;
  llvm::StringSet<> names;
  for (const EntrySpec &entry : entries) {
    symbols.claim(entry.name, ModuleSymbols::Kind::Entry);
    if (!names.insert(entry.name).second) {
      emitError(location) << "expected one entry '" << entry.name << "', but got two [graph-entry]";
      hasErrors = true;
    }
    hasErrors |= failed(EntryBuilder(builder, *graph, symbols, handles, functions, entry).build());
  }
  return hasErrors ? OwningOpRef<ModuleOp>() : std::move(module);
}

} // namespace tfc::tensorflow
