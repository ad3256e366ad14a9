// The formatter's handling of comments and blank lines, and its entry point.
#include "frontend/text/format/Format.h"

#include "frontend/text/format/Formatter.h"
#include "frontend/text/syntax/Lexer.h"
#include "frontend/text/syntax/Parser.h"

using namespace llvm;

namespace tfc::text {

//===----------------------------------------------------------------------===//
// Anchors and comments
//===----------------------------------------------------------------------===//

static bool isAnchor(TokenKind kind) {
  return kind < TokenKind::LParen || kind == TokenKind::LBrace || kind == TokenKind::RBrace;
}

Formatter::Formatter(const SourceManager &sources, const File &file)
    : sources(sources), file(file), comments(file.comments) {
  StringRef text = sources.text(file.id);
  DiagnosticEngine ignored(sources);
  for (const Token &token : lex(sources, {file.id, 0, uint32_t(text.size())}, ignored).tokens)
    if (isAnchor(token.kind))
      anchors.push_back(token.begin);
}

uint32_t Formatter::nextAnchor(uint32_t from) const {
  auto it = lower_bound(anchors, from);
  return it == anchors.end() ? ~0u : *it;
}

void Formatter::anchor(StringRef text, uint32_t begin, uint32_t end) {
  auto suffixUpTo = [&](uint32_t limit, bool onlyTrailing) {
    while (!comments.empty() && comments.front().range.begin < limit &&
           !(onlyTrailing && comments.front().ownLine)) {
      layout.suffix(source(comments.front().range));
      lastEnd = comments.front().range.end;
      comments = comments.drop_front();
    }
  };
  // A comment on its own line at a position where the canonical form has no line for it.
  suffixUpTo(begin, /*onlyTrailing=*/false);
  layout.text(text);
  lastEnd = std::max(lastEnd, end);
  suffixUpTo(nextAnchor(end), /*onlyTrailing=*/true);
}

void Formatter::name(const Name &name) {
  anchor(isPlainName(name.text) ? name.text : source(name.range), name.range.begin, name.range.end);
}

bool Formatter::commentBetween(uint32_t begin, uint32_t end) const {
  auto it = partition_point(file.comments, [&](const Comment &c) { return c.range.begin < begin; });
  return it != file.comments.end() && it->range.begin < end;
}

/// Prints the comments before an element or statement on their own lines.
void Formatter::ownLineComments(uint32_t before) {
  while (!comments.empty() && comments.front().range.begin < before) {
    keepBlankLine(comments.front().range.begin);
    layout.text(source(comments.front().range));
    layout.newline();
    lastEnd = comments.front().range.end;
    comments = comments.drop_front();
  }
}

/// Prints one blank line if the author had any between the last line and `begin`.
void Formatter::keepBlankLine(uint32_t begin) {
  StringRef gap = sources.text(file.id).slice(lastEnd, begin);
  if (lastEnd != 0 && gap.count('\n') > 1)
    layout.blankLine();
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

std::string Formatter::run() {
  if (file.name) {
    ownLineComments(file.headerRange.begin);
    keepBlankLine(file.headerRange.begin);
    keyword("graph", file.headerRange.begin);
    layout.text(" ");
    name(file.name);
    if (file.edition) {
      layout.text(" edition ");
      edition = std::to_string(*file.edition);
      anchor(edition, file.headerRange.end, file.headerRange.end);
    }
    layout.newline();
    lastEnd = std::max(lastEnd, file.headerRange.end);
  }
  stmts(file.items, ~0u);
  return layout.render();
}

std::optional<std::string> formatSource(const SourceManager &sources, FileId id,
                                        DiagnosticEngine &diagnostics) {
  unsigned before = diagnostics.errorCount();
  std::unique_ptr<File> file = parseFile(sources, id, diagnostics);
  if (diagnostics.errorCount() != before)
    return std::nullopt;
  return Formatter(sources, *file).run();
}

std::optional<std::string> formatSource(StringRef text) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  return formatSource(sources, sources.add("<text>", text), diagnostics);
}

} // namespace tfc::text
