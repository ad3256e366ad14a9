//===- Labels.cpp - Patterns of axis names --------------------------------===//
//
// Parses patterns of axis names and matches them with shapes. It is apart from LabelOps.cpp because
// fusion, lowering and the oracle read the labels of `contract`, too.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Labels.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tfc::dfg {

/// Splits off the next name, parenthesis or `..`.
static StringRef takeToken(StringRef &text) {
  text = text.ltrim();
  size_t length = 1;
  if (text.starts_with("..."))
    length = 3;
  else if (text.starts_with(".."))
    length = 2;
  else if (!text.empty() && (isAlnum(text[0]) || text[0] == '_'))
    while (length < text.size() && (isAlnum(text[length]) || text[length] == '_'))
      ++length;
  StringRef token = text.take_front(length);
  text = text.drop_front(token.size());
  return token;
}

static bool isName(StringRef token) { return isAlpha(token[0]) || token[0] == '_'; }

/// Parses a term up to the end of `text`; returns the error, if there is one.
static std::optional<LabelError> parseTerm(StringRef text, LabelTerm &term) {
  bool isInGroup = false;
  for (text = text.trim(); !text.empty(); text = text.ltrim()) {
    StringRef token = takeToken(text);
    if (token == "(" && !isInGroup) {
      isInGroup = true;
      term.emplace_back();
    } else if (token == ")" && isInGroup) {
      isInGroup = false;
    } else if (token == "1" && !isInGroup) {
      term.emplace_back();
    } else if ((token == ".." || token == "...") && !isInGroup) {
      term.push_back({".."});
    } else if (!isName(token)) {
      return LabelError{"'" + token.str() + "' is not a valid axis name", token.str()};
    } else if (isInGroup) {
      term.back().push_back(token.str());
    } else {
      term.push_back({token.str()});
    }
  }
  return isInGroup ? std::optional(LabelError{"a ')' is missing"}) : std::nullopt;
}

static std::optional<LabelError> findRepeated(const LabelTerm &term) {
  SmallVector<StringRef> seen;
  for (const AxisLabels &axis : term)
    for (const std::string &name : axis) {
      if (is_contained(seen, name))
        return LabelError{"'" + name + "' occurs twice in '" + toText(term) + "'", name};
      seen.push_back(name);
    }
  return std::nullopt;
}

std::optional<LabelError> LabelPattern::parse(StringRef text, bool takesDiagonals) {
  if (text.count("->") != 1)
    return LabelError{"expected one '->' between operands and result"};
  auto [left, right] = text.split("->");
  SmallVector<StringRef> parts;
  left.split(parts, ',');
  for (StringRef part : parts) {
    std::optional<LabelError> error = parseTerm(part, inputs.emplace_back());
    if (!error && !takesDiagonals)
      error = findRepeated(inputs.back());
    if (error)
      return error;
  }
  std::optional<LabelError> error = parseTerm(right, output);
  return error ? error : findRepeated(output);
}

bool expandEllipsis(LabelTerm &term, size_t rank) {
  auto it = find_if(term, isEllipsis);
  if (it == term.end())
    return term.size() == rank;
  if (term.size() - 1 > rank)
    return false;
  size_t count = rank + 1 - term.size();
  LabelTerm names;
  for (size_t i = 0; i < count; ++i)
    names.push_back({".." + std::to_string(i)});
  it = term.erase(it);
  term.insert(it, names.begin(), names.end());
  return true;
}

std::string toText(const LabelTerm &term) {
  std::string text;
  for (const AxisLabels &axis : term) {
    text += text.empty() ? "" : " ";
    if (axis.empty())
      text += "1";
    else if (axis.size() == 1)
      text += axis[0];
    else
      text += "(" + llvm::join(axis, " ") + ")";
  }
  return text;
}

} // namespace tfc::dfg
