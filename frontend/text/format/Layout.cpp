// Breaks text into lines. It knows groups and possible breaks, and nothing about the language.
#include "frontend/text/format/Layout.h"

#include "llvm/Support/Unicode.h"
#include <algorithm>

using namespace llvm;

namespace tfc::text {

static unsigned width(StringRef text) {
  int columns = sys::unicode::columnWidthUTF8(text);
  return columns < 0 ? text.size() : columns;
}

void Layout::text(StringRef text) { items.push_back({Kind::Text, text}); }
void Layout::mayBreak(StringRef flat) { items.push_back({Kind::MayBreak, flat}); }
void Layout::newline() { items.push_back({Kind::Newline}); }
void Layout::blankLine() { items.push_back({Kind::BlankLine}); }
void Layout::suffix(StringRef comment) { items.push_back({Kind::Suffix, comment}); }
void Layout::beginGroup(bool consistent) { items.push_back({Kind::Begin, {}, consistent}); }
void Layout::endGroup() { items.push_back({Kind::End}); }
void Layout::indent(unsigned columns) { items.push_back({Kind::Indent, {}, columns}); }
void Layout::beginBlock() { items.push_back({Kind::BlockBase}); }
void Layout::indentBlock(unsigned columns) { items.push_back({Kind::BlockIndent, {}, columns}); }
void Layout::unindent() { items.push_back({Kind::Unindent}); }

/// Returns true if the group that begins at `from` fits on the rest of the line; if `from` is a
/// possible break, the text up to the next break of its group must fit. Includes following text
/// that cannot be separated from it.
bool Layout::fits(size_t from) const {
  unsigned used = current.code.empty() ? lineIndentation() : column;
  bool isGroup = items[from].kind == Kind::Begin;
  bool inside = true;
  int depth = 0;
  for (size_t i = from; i < items.size() && used <= maxWidth; ++i) {
    const Item &item = items[i];
    if (item.kind == Kind::Newline || item.kind == Kind::BlankLine)
      return true;
    if (item.kind == Kind::Begin)
      ++depth;
    if (item.kind == Kind::End)
      inside &= --depth >= (isGroup ? 1 : 0);
    if (item.kind == Kind::MayBreak) {
      bool endsPiece = !isGroup && depth == 0 && i > from;
      if (!inside || endsPiece)
        return true;
    }
    if (item.kind == Kind::Text || item.kind == Kind::MayBreak)
      used += width(item.text);
  }
  return used <= maxWidth;
}

void Layout::write(StringRef text) {
  if (text.empty())
    return;
  if (current.code.empty()) {
    column = lineIndentation();
    current.code.assign(column, ' ');
  }
  current.code += text;
  column += width(text);
}

unsigned Layout::lineIndentation() const {
  if (current.code.empty())
    return lineStart.value_or(indentation);
  return StringRef(current.code).find_first_not_of(' ');
}

void Layout::endLine() {
  if (current.code.empty() && !current.comment.empty()) {
    write(current.comment);
    current.comment.clear();
  }
  while (!current.code.empty() && current.code.back() == ' ')
    current.code.pop_back();
  lines.push_back(std::move(current));
  current = {};
  lineStart.reset();
}

/// Aligns the comments of neighbouring lines, unless one would become too long.
void Layout::alignComments() {
  for (size_t begin = 0; begin < lines.size();) {
    size_t end = begin;
    unsigned code = 0, comment = 0;
    while (end < lines.size() && !lines[end].comment.empty() && !lines[end].code.empty()) {
      code = std::max(code, width(lines[end].code));
      comment = std::max(comment, width(lines[end].comment));
      ++end;
    }
    for (size_t i = begin; i < end; ++i) {
      unsigned own = width(lines[i].code);
      unsigned gap = code + 2 + comment <= maxWidth ? code + 2 - own : 2;
      lines[i].code.append(gap, ' ').append(lines[i].comment);
      lines[i].comment.clear();
    }
    begin = std::max(end, begin + 1);
  }
}

std::string Layout::render() {
  std::vector<Group> groups;
  std::vector<unsigned> indentations;
  for (size_t i = 0; i < items.size(); ++i) {
    const Item &item = items[i];
    switch (item.kind) {
    case Kind::Text:
      write(item.text);
      break;
    case Kind::MayBreak: {
      bool breaks =
          !groups.empty() && !groups.back().flat && (groups.back().consistent || !fits(i));
      if (breaks)
        endLine();
      else
        write(item.text);
      break;
    }
    case Kind::Newline:
      endLine();
      break;
    case Kind::BlankLine:
      lines.push_back({});
      break;
    case Kind::Suffix:
      current.comment += (current.comment.empty() ? "" : "  ") + item.text.str();
      break;
    case Kind::Begin:
      groups.push_back({fits(i), item.value != 0});
      break;
    case Kind::End:
      groups.pop_back();
      break;
    case Kind::Indent:
      indentations.push_back(indentation);
      if (current.code.empty())
        lineStart = lineIndentation();
      indentation = lineIndentation() + item.value;
      break;
    case Kind::BlockBase:
      indentations.push_back(indentation);
      indentation = std::min(lineIndentation(), indentation);
      break;
    case Kind::BlockIndent:
      indentations.push_back(indentation);
      indentation += item.value;
      break;
    case Kind::Unindent:
      indentation = indentations.back();
      indentations.pop_back();
      break;
    }
  }
  if (!current.code.empty() || !current.comment.empty())
    endLine();
  alignComments();
  std::string result;
  for (Line &line : lines)
    result += line.code + line.comment + '\n';
  return result;
}

} // namespace tfc::text
