// Decides which line breaks end statements, and reports and recovers from syntax errors. The rules
// of the grammar are in the parser files.
#include "frontend/text/syntax/ParserImpl.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace tfc::text {

TokenStream::TokenStream(const SourceManager &sources, ast::File &file,
                         DiagnosticEngine &diagnostics)
    : sources(sources), file(file), diagnostics(diagnostics) {
  LexedFile lexed = lex(sources, {file.id, 0, uint32_t(sources.text(file.id).size())}, diagnostics);
  tokens = std::move(lexed.tokens);
  comments = std::move(lexed.comments);
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

/// Returns true if a newline after this token ends a statement.
static bool canEndStatement(TokenKind kind) {
  switch (kind) {
  case TokenKind::Name:
  case TokenKind::DType:
  case TokenKind::Int:
  case TokenKind::Float:
  case TokenKind::String:
  case TokenKind::RParen:
  case TokenKind::RBracket:
  case TokenKind::RBrace:
  case TokenKind::Return:
  case TokenKind::Yield:
  case TokenKind::True:
  case TokenKind::False:
  case TokenKind::Inf:
  case TokenKind::Nan:
  case TokenKind::List:
  case TokenKind::Dim:
  case TokenKind::DotDot:
    return true;
  default:
    return false;
  }
}

static bool continuesStatement(TokenKind kind) {
  return kind == TokenKind::Arrow || kind == TokenKind::Where || kind == TokenKind::With ||
         kind == TokenKind::Else;
}

/// The next token, or Newline where a line break before it ends the statement.
TokenKind TokenStream::kind() const {
  const Token &next = token();
  bool canEnd = canEndStatement(previous().kind) || misused.contains(spelled(previous()));
  bool ends = isAfterLineBreak() && brackets == 0 && canEnd && !continuesStatement(next.kind);
  bool isEnd = next.kind == TokenKind::End || next.kind == TokenKind::RBrace;
  return ends && !isEnd ? TokenKind::Newline : next.kind;
}

bool TokenStream::atNewBinding() const {
  return isAfterLineBreak() && token().kind == TokenKind::Name &&
         tokens[position + 1].kind == TokenKind::Assign;
}

bool TokenStream::atMisusedWord() const {
  if (!misused.contains(spelled(token())))
    return false;
  const Token &next = tokens[position + 1];
  switch (token().kind) {
  case TokenKind::For:
  case TokenKind::Scan:
    return next.kind != TokenKind::Name;
  case TokenKind::Dataflow:
    return next.kind != TokenKind::LBrace;
  case TokenKind::If:
  case TokenKind::While:
  case TokenKind::Not:
    return next.startsLine || next.kind == TokenKind::Comma || next.kind == TokenKind::RParen;
  default:
    return token().kind != TokenKind::End;
  }
}

bool TokenStream::startsBlock() const {
  for (size_t i = position; tokens[i].kind != TokenKind::End; ++i) {
    if (i > position && tokens[i].startsLine)
      return false;
    if (tokens[i].kind == TokenKind::LBrace)
      return true;
  }
  return false;
}

bool TokenStream::atFatArrow() const {
  return token().kind == TokenKind::Assign && tokens[position + 1].kind == TokenKind::Greater &&
         tokens[position + 1].begin == token().end;
}

bool TokenStream::isAfterLineBreak() const { return token().startsLine && position != lineStart; }

SourceRange TokenStream::rangeFrom(uint32_t begin) const {
  return {file.id, begin, std::max(begin, previous().end)};
}

SourceRange TokenStream::endOfPrevious() const { return {file.id, previous().end, previous().end}; }

StringRef TokenStream::spelled(const Token &token) const {
  return sources.text(file.id).slice(token.begin, token.end);
}

void TokenStream::advance() {
  if (token().kind != TokenKind::End)
    ++position;
}

bool TokenStream::accept(TokenKind expected) {
  if (recovering || !at(expected))
    return false;
  advance();
  return true;
}

bool TokenStream::expect(TokenKind wanted, const Twine &what) {
  if (accept(wanted))
    return true;
  expected(what);
  return false;
}

void TokenStream::expectClosing(TokenKind closing, const Token &open, StringRef alternative) {
  if (accept(closing))
    return;
  Diagnostic *diagnostic = expected(alternative + describe(closing));
  if (!diagnostic)
    return;
  StringRef between = sources.text({file.id, open.begin, diagnostic->at.begin});
  if (between.contains('\n'))
    diagnostic->note(range(open), "{} opens here", describe(open.kind));
  else
    diagnostic->also(range(open));
}

void TokenStream::expectNewline() {
  if (recovering || at(TokenKind::Newline) || at(TokenKind::End) || at(TokenKind::RBrace))
    return;
  if (isAfterLineBreak() && continuesStatement(token().kind)) {
    error(range(), "unexpected-token", "this '{}' does not continue a statement", spelled(token()));
    return;
  }
  Diagnostic *diagnostic = expected("the end of the statement");
  if (!diagnostic)
    return;
  if (at(TokenKind::Semicolon))
    diagnostic->elseHelp(
        "a statement ends at the end of its line; ';' only separates the values that "
        "'yield' carries from those that it stacks");
  else if (at(TokenKind::If))
    diagnostic->elseHelp("select(condition, x, y) chooses element by element; by one bool, 'if c { "
                         "yield x } else { yield y }'");
  else if (at(TokenKind::Assign))
    diagnostic->elseHelp("'==' compares; '=' binds a name at the start of a statement");
}

//===----------------------------------------------------------------------===//
// Errors and recovery
//===----------------------------------------------------------------------===//

Diagnostic *TokenStream::error(SourceRange at, StringRef slug, const Twine &text) {
  bool silent = recovering;
  if (!silent)
    bracketsAtError = brackets;
  recovering = true;
  return silent ? nullptr : &diagnostics.error(at, slug, text);
}

std::string TokenStream::describeToken() const {
  const Token &next = token();
  if (next.kind == TokenKind::End)
    return isValue ? "the value ends" : next.startsLine ? "the file ends" : "the braces end";
  if (isAfterLineBreak())
    return "the line ends";
  if (isKeyword(next.kind))
    return fmt::format("got the keyword '{}'", spelled(next));
  if (next.kind == TokenKind::String)
    return "got a string";
  if (atFatArrow())
    return "got '=>'";
  return fmt::format("got '{}'", spelled(next).take_front(40));
}

/// A missing token is reported after the last one, if the line ends there.
Diagnostic *TokenStream::expected(const Twine &what) {
  const Token &next = token();
  if (next.kind == TokenKind::Invalid) {
    bracketsAtError = brackets;
    recovering = true;
    return nullptr;
  }
  bool lineEnds = isAfterLineBreak() || (next.kind == TokenKind::End && position > 0);
  Diagnostic *diagnostic =
      error(lineEnds ? endOfPrevious() : range(), lineEnds ? "missing-token" : "unexpected-token",
            "expected {}, but {}", what, describeToken());
  if (diagnostic)
    diagnostic->help(foreignMeaning());
  if (diagnostic && lineEnds && next.kind == TokenKind::LBrace)
    diagnostic->elseHelp("the '{' of a block must be on the line of its header");
  return diagnostic;
}

StringRef TokenStream::foreignMeaning() const {
  // A keyword is no divisor, and neither are two words.
  ArrayRef<Token> before = ArrayRef(tokens).take_front(position + atReservedWord());
  bool isStarred = token().kind == TokenKind::Slash && position + 1 < tokens.size() &&
                   spelled(tokens[position + 1]).starts_with("*");
  if (token().kind == TokenKind::SlashSlash || isStarred ||
      (!token().startsLine && isBehindSlashes(before)))
    return kCommentHelp;
  if (token().kind == TokenKind::At && !token().startsLine)
    return "a product of matrices is matmul(x, y)";
  if (atFatArrow())
    return "'>=' compares; '->' stands before the results of a function";
  bool isNewStatement = token().startsLine && !isAfterLineBreak();
  if (position == 0 || isNewStatement || previous().kind != TokenKind::Name)
    return "";
  return StringSwitch<StringRef>(spelled(previous()))
      .Case("lambda",
            "functions have names: declare 'fn f(x: T) -> T { return .. }' in the file, and pass f")
      .Cases({"def", "func", "function"},
             "a function is declared in the file, outside of others, by 'fn'")
      .Cases({"elif", "elseif", "elsif"}, "'else if' continues an 'if', after its '}'")
      .Cases({"import", "from"},
             "'use', at the top of the file, makes names of other files available")
      .Cases({"const", "val", "auto"}, "'let' names a constant, '=' alone any value")
      .Cases({"break", "continue"}, "a loop ends by its range, or by the condition of a 'while'")
      .Cases({"assert", "raise"}, "facts about sizes are stated by 'where' or by ensure(x, type)")
      .Case("pass", "a block may be empty")
      .Case("print", "an entry cannot print; return the value to see it")
      .Default("");
}

unsigned TokenStream::column(uint32_t offset) const {
  StringRef before = sources.text(file.id).take_front(offset);
  size_t newline = before.rfind('\n');
  return newline == StringRef::npos ? offset : offset - newline - 1;
}

/// Skips the rest of a statement that began at `begin` and could not be parsed. Brackets opened in
/// what is skipped are skipped with what they hold; as one may lack its end, a line that
/// begins no deeper than the statement did is the next statement in any case.
void TokenStream::skipStatement(uint32_t begin) {
  recovering = false;
  brackets = 0;
  unsigned indent = column(begin);
  unsigned open = bracketsAtError;
  while (token().kind != TokenKind::End) {
    const Token &next = token();
    bool closes = next.kind == TokenKind::RBrace || next.kind == TokenKind::RParen ||
                  next.kind == TokenKind::RBracket;
    bool opens = next.kind == TokenKind::LBrace || next.kind == TokenKind::LParen ||
                 next.kind == TokenKind::LBracket;
    if (next.startsLine && next.begin > begin && !closes) {
      bool continues = next.kind == TokenKind::Else;
      if (open == 0 && !continues)
        return;
      if (column(next.begin) <= indent && !continues)
        return;
    }
    if (next.kind == TokenKind::RBrace && open == 0)
      return;
    open = opens ? open + 1 : closes && open ? open - 1 : open;
    advance();
  }
}

void TokenStream::resumeAtBrace() {
  if (!recovering)
    return;
  for (size_t i = position; i < tokens.size() && tokens[i].kind != TokenKind::End; ++i) {
    if (i > position && tokens[i].startsLine && !continuesStatement(tokens[i].kind))
      return;
    if (tokens[i].kind == TokenKind::LBrace) {
      position = i;
      brackets = 0;
      recovering = false;
      skipNewline();
      return;
    }
  }
}

bool TokenStream::Nesting::tooDeep() {
  if (tokens.depth <= ast::kMaxNesting)
    return false;
  if (Diagnostic *diagnostic = tokens.error(
          tokens.range(), "too-deep", "this is nested more than {} levels deep", ast::kMaxNesting))
    diagnostic->elseHelp("bind a part of it to a name first");
  return true;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

ast::Expr *TokenStream::finish(ast::Expr *expr, uint32_t begin, ArrayRef<ast::Expr *> children) {
  expr->range = expr->bareRange = rangeFrom(begin);
  unsigned height = 0;
  for (ast::Expr *child : children)
    if (child)
      height = std::max<unsigned>(height, child->height + 1);
  if (height > ast::kMaxNesting) {
    if (Diagnostic *diagnostic =
            error(expr->range, "too-deep", "this expression is nested more than {} levels deep",
                  ast::kMaxNesting))
      diagnostic->elseHelp("bind a part of it to a name first");
    return errorExpr();
  }
  expr->height = height;
  deepest = std::max(deepest, height);
  return expr;
}

ast::Expr *TokenStream::errorExpr() {
  auto *expr = make<ast::ErrorExpr>();
  expr->range = expr->bareRange = range();
  return expr;
}

ast::Stmt *TokenStream::finish(ast::Stmt *stmt, uint32_t begin) {
  stmt->range = rangeFrom(begin);
  return stmt;
}

/// The `##` lines right above the token, without their marks.
StringRef TokenStream::docBefore(const Token &first) {
  StringRef text = sources.text(file.id);
  size_t last = first.commentsBefore;
  size_t begin = last;
  uint32_t below = first.begin;
  while (begin > 0) {
    const ast::Comment &comment = comments[begin - 1];
    StringRef gap = text.slice(comment.range.end, below);
    if (!comment.ownLine || !sources.text(comment.range).starts_with("##") ||
        gap.count('\n') != 1 || !gap.trim().empty())
      break;
    below = comment.range.begin;
    --begin;
  }
  std::string doc;
  for (size_t i = begin; i < last; ++i) {
    StringRef line = sources.text(comments[i].range).drop_front(2);
    line.consume_front(" ");
    doc += (i > begin ? "\n" : "") + line.str();
  }
  return copy(StringRef(doc));
}

} // namespace tfc::text
