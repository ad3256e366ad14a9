// Parses entries of the command line: "name: feeds -> fetches ; targets". It knows no graph;
// whether the names exist is checked when an entry is built.

#include "frontend/importer/EntrySpec.h"
#include "frontend/Fmt.h"

#include "dialects/dfg/DimExpr.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tfc::importer {

/// Splits at commas outside of brackets and trims the parts; returns none if the text is blank.
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

/// "x", "x[n, 64]" or "x: i64[n, 64]". A tensor's name may contain a colon before a number.
static bool parseFeed(StringRef text, FeedSpec &feed, std::string &error) {
  auto [name, rest] = text.split('[');
  auto [tensor, element] = name.rsplit(':');
  if (element = element.trim(); !element.empty() && isAlpha(element.front())) {
    feed.element = element.str();
    name = tensor;
  }
  feed.tensor = name.trim().str();
  if (rest.size() == 0 && !text.ends_with("["))
    return true;
  if (!rest.consume_back("]")) {
    error = fmt::format("the sizes of '{}' lack a closing bracket", text);
    return false;
  }
  feed.sizes.emplace();
  for (StringRef size : splitList(rest)) {
    if (!dfg::DimExpr::parse(size)) {
      error = fmt::format("'{}' is not a size", size);
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
    error = "expected a name followed by a colon, as in 'train: x -> loss ; step'";
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
    spec.fetches.push_back({fetch.str()});
  for (StringRef target : splitList(targets))
    spec.targets.push_back(target.str());
  return spec;
}

} // namespace tfc::importer
