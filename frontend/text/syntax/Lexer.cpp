// Splits source text into tokens and comments. It does not know where statements end;
// TokenStream.cpp decides that from line breaks.
#include "frontend/text/syntax/Lexer.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ConvertUTF.h"

using namespace llvm;

namespace tfc::text {

StringRef describe(TokenKind kind) {
  switch (kind) {
  case TokenKind::End:
    return "the end of the file";
  case TokenKind::Newline:
    return "the end of the line";
  case TokenKind::Invalid:
    return "an invalid character";
  case TokenKind::Name:
    return "a name";
  case TokenKind::DType:
    return "an element type";
  case TokenKind::Int:
  case TokenKind::Float:
    return "a number";
  case TokenKind::String:
    return "a string";
#define X(name, spelling)                                                                          \
  case TokenKind::name:                                                                            \
    return "'" spelling "'";
    TFC_TEXT_KEYWORDS(X)
    TFC_TEXT_PUNCTUATION(X)
#undef X
  }
  return {};
}

bool isKeyword(TokenKind kind) { return kind >= TokenKind::Graph && kind <= TokenKind::Nan; }

bool isReservedWord(TokenKind kind) { return isKeyword(kind) || kind == TokenKind::DType; }

std::optional<ast::DType> parseDType(StringRef word) {
  using ast::DType;
  return StringSwitch<std::optional<DType>>(word)
#define TFC_DTYPE(CODE, NAME, ...) .Case(NAME, DType::CODE)
#include "runtime/Dtypes.inc"
      .Case("string", DType::String)
      .Default(std::nullopt);
}

TokenKind classifyWord(StringRef word) {
  if (parseDType(word))
    return TokenKind::DType;
  return StringSwitch<TokenKind>(word)
#define X(name, spelling) .Case(spelling, TokenKind::name)
      TFC_TEXT_KEYWORDS(X)
#undef X
          .Default(TokenKind::Name);
}

static bool startsName(char c) { return isAlpha(c) || c == '_'; }
static bool isControl(char c) {
  return (uint8_t(c) < 0x20 && c != '\t' && c != '\r' && c != '\n') || c == 0x7F;
}
static bool continuesName(char c) { return isAlnum(c) || c == '_'; }

bool isPlainName(StringRef name) {
  return !name.empty() && startsName(name.front()) && all_of(name, continuesName) &&
         classifyWord(name) == TokenKind::Name;
}

bool isBehindSlashes(ArrayRef<Token> tokens) {
  for (size_t i = tokens.size(); i-- > 0;) {
    if (tokens[i].kind == TokenKind::SlashSlash)
      return i + 1 < tokens.size();
    if (tokens[i].startsLine)
      return false;
  }
  return false;
}

/// Returns true if the token may be the end of an operand.
static bool endsOperand(TokenKind kind) {
  using enum TokenKind;
  switch (kind) {
  case Invalid:
  case Name:
  case DType:
  case Int:
  case Float:
  case String:
  case RParen:
  case RBracket:
  case RBrace:
  case List:
  case Dim:
  case True:
  case False:
  case Inf:
  case Nan:
    return true;
  default:
    return false;
  }
}

namespace {

class Lexer {
public:
  Lexer(const SourceManager &sources, SourceRange range, DiagnosticEngine &diagnostics)
      : diagnostics(diagnostics), text(sources.text(range.file)), file(range.file), at(range.begin),
        end(range.end), isWholeFile(range.begin == 0 && range.end == text.size()),
        startsLine(isWholeFile) {}

  LexedFile run();

private:
  char peek(unsigned ahead = 0) const { return at + ahead < end ? text[at + ahead] : '\0'; }
  StringRef rest() const { return text.slice(at, end); }
  SourceRange rangeFrom(uint32_t begin) const { return {file, begin, at}; }
  Diagnostic &error(uint32_t begin, StringRef slug, const Twine &message) {
    return diagnostics.error(rangeFrom(begin), slug, message);
  }

  void lexToken();
  void lexComment();
  /// Returns true if nothing precedes that an operator could follow.
  bool isBeforeOperand() const {
    return result.tokens.empty() || !endsOperand(result.tokens.back().kind);
  }
  bool atForeignComment() const;
  void lexForeignComment();
  void lexWord();
  void lexQuotedName();
  void lexNumber();
  void lexString();
  void lexInterpolation();
  void lexOther();
  bool lexPunctuation();
  void checkBytes(uint32_t begin);
  unsigned characterLength() const;
  void push(TokenKind kind, uint32_t begin);

  DiagnosticEngine &diagnostics;
  StringRef text;
  FileId file;
  uint32_t at;
  uint32_t end;
  bool isWholeFile;
  bool startsLine;
  LexedFile result;
};

} // namespace

void Lexer::push(TokenKind kind, uint32_t begin) {
  result.tokens.push_back({kind, startsLine, begin, at, uint32_t(result.comments.size())});
  startsLine = false;
}

/// The number of bytes of the current character, 0 if it is not valid UTF-8.
unsigned Lexer::characterLength() const {
  auto *bytes = reinterpret_cast<const UTF8 *>(text.data() + at);
  unsigned length = getNumBytesForUTF8(*bytes);
  if (length > end - at || !isLegalUTF8Sequence(bytes, bytes + length))
    return 0;
  return length;
}

/// Reports a run of invalid bytes from `begin` to `at`, once.
void Lexer::checkBytes(uint32_t begin) {
  uint32_t stop = at;
  bool reported = false;
  for (at = begin; at < stop;) {
    unsigned length = characterLength();
    bool forbidden = length == 1 && isControl(text[at]);
    uint32_t from = at;
    at += std::max(length, 1u);
    if ((length == 0 || forbidden) && !reported)
      error(from, "bad-character",
            length == 0 ? Twine("these bytes are not UTF-8 text")
                        : "control character 0x" + Twine::utohexstr(uint8_t(text[from])) +
                              " is not allowed in a graph file");
    reported = length == 0 || forbidden;
  }
  at = stop;
}

void Lexer::lexComment() {
  uint32_t begin = at;
  at = std::min<size_t>(end, text.find('\n', at));
  checkBytes(begin);
  uint32_t stop = begin + text.slice(begin, at).rtrim("\r \t").size();
  result.comments.push_back({{file, begin, stop}, startsLine});
}

/// Returns true at a `//` or `/*` that cannot be a division, because nothing to be divided precedes
/// it.
bool Lexer::atForeignComment() const {
  bool isComment = rest().starts_with("//") || rest().starts_with("/*");
  return isWholeFile && isComment && isBeforeOperand();
}

/// Reports a comment that begins as in other languages, and skips it.
void Lexer::lexForeignComment() {
  uint32_t begin = at;
  at += 2;
  StringRef opening = text.slice(begin, at);
  error(begin, "unexpected-token",
        "expected a comment to begin with '#', but got '" + opening + "'");
  StringRef closing = opening == "//" ? "\n" : "*/";
  size_t last = text.find(closing, at);
  at = std::min<size_t>(end, last == StringRef::npos ? end : last + (closing == "*/" ? 2 : 0));
}

void Lexer::lexWord() {
  uint32_t begin = at;
  while (at < end && continuesName(text[at]))
    ++at;
  push(classifyWord(text.slice(begin, at)), begin);
}

void Lexer::lexQuotedName() {
  uint32_t begin = at++;
  while (at < end && text[at] != '`' && text[at] != '\n')
    ++at;
  checkBytes(begin);
  if (peek() != '`') {
    error(begin, "bad-name", "expected a closing backquote, but the line ends");
  } else {
    ++at;
    if (at == begin + 2)
      error(begin, "bad-name", "expected a name between the backquotes");
  }
  push(TokenKind::Name, begin);
}

void Lexer::lexNumber() {
  uint32_t begin = at;
  auto skip = [&](auto isPart) {
    uint32_t from = at;
    while (at < end && (isPart(text[at]) || text[at] == '_'))
      ++at;
    return at > from;
  };
  auto isDecimal = [](char c) { return isDigit(c); };
  TokenKind kind = TokenKind::Int;
  StringRef problem;
  if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X')) {
    at += 2;
    if (!skip([](char c) { return isHexDigit(c); }))
      problem = "expected hexadecimal digits after '0x'";
  } else {
    skip(isDecimal);
    if (peek() == '.' && isDigit(peek(1))) {
      kind = TokenKind::Float;
      ++at;
      skip(isDecimal);
    } else if (peek() == '.' && peek(1) != '.' && !startsName(peek(1))) {
      kind = TokenKind::Float;
      ++at;
      problem = "expected digits after the decimal point";
    }
    if (peek() == 'e' || peek() == 'E') {
      kind = TokenKind::Float;
      ++at;
      if (peek() == '+' || peek() == '-')
        ++at;
      if (!skip(isDecimal))
        problem = "expected digits in the exponent";
    }
  }
  if (at < end && continuesName(text[at])) {
    while (at < end && continuesName(text[at]))
      ++at;
    if (problem.empty())
      problem = "a number ends in letters, and a name cannot start with a digit";
  }
  if (!problem.empty())
    error(begin, "bad-number", problem);
  push(kind, begin);
}

/// Skips `{expression}` inside a string; the parser reads it later.
void Lexer::lexInterpolation() {
  uint32_t begin = at++;
  while (at < end && text[at] != '}' && text[at] != '"' && text[at] != '\n' && text[at] != '{')
    ++at;
  if (peek() == '}') {
    ++at;
    return;
  }
  error(begin, "bad-string", "expected '}' to end the interpolated value")
      .help("write '\\{' for the character '{' itself");
}

void Lexer::lexString() {
  uint32_t begin = at++;
  while (at < end && text[at] != '"' && text[at] != '\n') {
    if (text[at] == '{') {
      lexInterpolation();
    } else {
      bool escapes = text[at] == '\\' && at + 1 < end && text[at + 1] != '\n';
      at += escapes ? 2 : 1;
    }
  }
  at = std::min(at, end);
  checkBytes(begin);
  if (peek() == '"')
    ++at;
  else
    error(begin, "bad-string", "expected a closing '\"', but the line ends");
  push(TokenKind::String, begin);
}

bool Lexer::lexPunctuation() {
  static constexpr std::pair<StringLiteral, TokenKind> kPunctuation[] = {
#define X(name, spelling) {spelling, TokenKind::name},
      TFC_TEXT_PUNCTUATION(X)
#undef X
  };
  const std::pair<StringLiteral, TokenKind> *longest = nullptr;
  for (const auto &candidate : kPunctuation)
    if (rest().starts_with(candidate.first) &&
        (!longest || candidate.first.size() > longest->first.size()))
      longest = &candidate;
  if (!longest)
    return false;
  uint32_t begin = at;
  at += longest->first.size();
  push(longest->second, begin);
  return true;
}

/// A character that starts no token.
void Lexer::lexOther() {
  uint32_t begin = at;
  unsigned length = characterLength();
  char c = text[at];
  if (length == 0 || isControl(c)) {
    auto isPart = [&] { return isControl(text[at]) || characterLength() == 0; };
    do
      ++at;
    while (at < end && isPart());
    checkBytes(begin);
    return push(TokenKind::Invalid, begin);
  }
  at += length;
  while (length > 1 && at < end && uint8_t(text[at]) >= 0x80 && characterLength())
    at += characterLength();
  StringRef shown = text.slice(begin, at);
  Diagnostic &diagnostic = error(begin, "bad-character",
                                 fmt::format("'{}' has no meaning in the graph language", shown));
  StringRef help =
      StringSwitch<StringRef>(shown)
          .Case("&", "write 'and', or call 'bitwise_and'")
          .Case("|", "write 'or', or call 'bitwise_or'")
          .Case("^", "a power is 'x ** y'; call 'bitwise_xor' for bits")
          .Case("!", "write 'not'")
          .Case("'", "strings are written in double quotes")
          .Case("?", "select(condition, x, y) chooses element by element; by one bool, "
                     "'if c { yield x } else { yield y }'")
          .Case("$", "static values are in braces inside strings: \"{k}\"")
          .Default(uint8_t(c) >= 0x80
                       ? "names other than [A-Za-z_][A-Za-z_0-9]* must be in backquotes"
                       : "");
  if (isBehindSlashes(result.tokens))
    help = kCommentHelp;
  else if (c == '?' && isBeforeOperand())
    help = kSizeNameHelp;
  diagnostic.help(help);
  // '&&', '||' and 'a string' are one mistake each.
  if (peek() == c && (c == '&' || c == '|'))
    ++at;
  size_t quote = c == '\'' ? rest().find_first_of("'\n") : StringRef::npos;
  if (quote != StringRef::npos && rest()[quote] == c)
    at += quote + 1;
  push(TokenKind::Invalid, begin);
}

void Lexer::lexToken() {
  char c = text[at];
  if (c == '\n') {
    startsLine = true;
    ++at;
  } else if (c == ' ' || c == '\t' || c == '\r') {
    ++at;
  } else if (c == '#' && isWholeFile) {
    lexComment();
  } else if (atForeignComment()) {
    lexForeignComment();
  } else if (startsName(c)) {
    lexWord();
  } else if (c == '`') {
    lexQuotedName();
  } else if (isDigit(c)) {
    lexNumber();
  } else if (c == '"') {
    lexString();
  } else if (!lexPunctuation()) {
    lexOther();
  }
}

LexedFile Lexer::run() {
  if (isWholeFile && text.starts_with("\xEF\xBB\xBF"))
    at += 3;
  while (at < end)
    lexToken();
  push(TokenKind::End, end);
  if (isWholeFile)
    result.tokens.back().startsLine = true;
  return std::move(result);
}

LexedFile lex(const SourceManager &sources, SourceRange range, DiagnosticEngine &diagnostics) {
  return Lexer(sources, range, diagnostics).run();
}

} // namespace tfc::text
