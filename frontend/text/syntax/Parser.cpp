// Entry points of the parser, and the check whether a file is graph source at all.
#include "frontend/text/syntax/ParserImpl.h"
#include "frontend/text/syntax/Suggest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tfc::text {

StringRef ast::spelling(DType type) {
  static constexpr StringLiteral kNames[] = {
#define TFC_DTYPE(CODE, NAME, ...) NAME,
#include "runtime/Dtypes.inc"
      "string"};
  return kNames[size_t(type)];
}

StringRef ast::spelling(BinaryOp op) {
  static constexpr StringLiteral kNames[] = {
      "or", "and", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "//", "%", "**"};
  return kNames[size_t(op)];
}

/// Returns true if a line begins a declaration in a form that only graph source has: `entry name(`,
/// `use "`. Annotations may come before it.
static bool isDistinctive(StringRef line) {
  while (line.starts_with("@")) {
    StringRef rest = line.drop_front().drop_while([](char c) { return isAlnum(c) || c == '_'; });
    line = (rest.starts_with("(") ? rest.split(')').second : rest).ltrim(' ');
  }
  if (line.starts_with("use \""))
    return true;
  if (!line.consume_front("entry ") && !line.consume_front("fn ") && !line.consume_front("part "))
    return false;
  line = line.ltrim(' ');
  StringRef rest = line.consume_front("`")
                       ? line.split('`').second
                       : line.drop_while([](char c) { return isAlnum(c) || c == '_'; });
  rest = rest.size() < line.size() ? rest.ltrim(' ') : StringRef();
  return !rest.empty() && StringRef("([{").contains(rest.front());
}

static bool hasDistinctiveLine(StringRef text) {
  text.consume_front("\xEF\xBB\xBF");
  for (StringRef line : split(text, '\n'))
    if (isDistinctive(line))
      return true;
  return false;
}

std::unique_ptr<ast::File> parseFile(const SourceManager &sources, FileId id,
                                     DiagnosticEngine &diagnostics) {
  auto file = std::make_unique<ast::File>();
  file->id = id;
  size_t before = diagnostics.size();
  Parser parser(sources, *file, diagnostics);
  parser.parse();
  if (diagnostics.size() == before || hasDistinctiveLine(sources.text(id)))
    return file;
  std::vector<Diagnostic> errors = diagnostics.takeBack(before);
  auto first = min_element(
      errors, [](const Diagnostic &a, const Diagnostic &b) { return a.at.begin < b.at.begin; });
  if (first->at.begin >= parser.endOfFirstItem()) {
    for (Diagnostic &error : errors)
      diagnostics.add(std::move(error));
    return file;
  }
  reportForeignFile(sources, first->at, diagnostics);
  file = std::make_unique<ast::File>();
  file->id = id;
  return file;
}

ast::Expr *parseExpression(const SourceManager &sources, ast::File &file,
                           DiagnosticEngine &diagnostics) {
  return Parser(sources, file, diagnostics).parseSingle();
}

void reportForeignFile(const SourceManager &sources, SourceRange at,
                       DiagnosticEngine &diagnostics) {
  unsigned line = sources.lineColumn(at.file, at.begin).line;
  diagnostics
      .error({}, "not-a-graph",
             "this is not graph source: it does not begin with a valid declaration")
      .foreignPlace = fmt::format("{}:{}: ", sources.name(at.file), line);
}

bool isInForeignFile(const SourceManager &sources, SourceRange at) {
  if (!at.isValid() || hasDistinctiveLine(sources.text(at.file)))
    return false;
  ast::File file;
  file.id = at.file;
  DiagnosticEngine ignored(sources);
  Parser parser(sources, file, ignored);
  parser.parse();
  // The name and the type of a variable are distinctive enough.
  return !file.items.empty() && !isa<ast::VarDecl>(file.items.front()) &&
         at.begin < parser.endOfFirstItem();
}

} // namespace tfc::text
