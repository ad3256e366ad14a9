// Holds the part of the parser that decodes strings. A string is one token, so interpolated
// expressions are lexed here.
#include "frontend/text/syntax/ParserImpl.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

using namespace llvm;

namespace tfc::text {

using namespace ast;

/// Decodes the escape at `at` (its backslash) and moves past it; `offset` is the offset in the file
/// of `text`. Returns std::nullopt after an error if it is unknown.
std::optional<uint32_t> ExpressionParser::decodeEscape(StringRef text, size_t &at,
                                                       uint32_t offset) {
  size_t begin = at++;
  char c = at < text.size() ? text[at++] : '\0';
  switch (c) {
  case 'n':
    return '\n';
  case 't':
    return '\t';
  case 'r':
    return '\r';
  case '\\':
  case '"':
  case '{':
  case '}':
    return c;
  default:
    break;
  }
  auto fail = [&](const Twine &message) {
    diagnostics.error({file.id, uint32_t(offset + begin), uint32_t(offset + at)}, "bad-string",
                      message);
    return std::nullopt;
  };
  if (c != 'u')
    return fail("unknown escape; the escapes are \\n \\t \\r \\\\ \\\" \\{ \\} and \\u{hex}");
  size_t open = text.find('{', at);
  size_t close = text.find('}', at);
  uint32_t value = 0;
  if (open != at || close == StringRef::npos || text.slice(open + 1, close).getAsInteger(16, value))
    return fail("expected hexadecimal digits in braces after \\u");
  at = close + 1;
  if (value == 0 || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000))
    return fail("this is not a Unicode character");
  return value;
}

static void appendUtf8(std::string &text, uint32_t codePoint) {
  char buffer[UNI_MAX_UTF8_BYTES_PER_CODE_POINT];
  char *end = buffer;
  if (ConvertCodePointToUTF8(codePoint, end))
    text.append(buffer, end);
}

Expr *ExpressionParser::parseString() {
  const Token string = token();
  advance();
  auto *result = makeExpr<StringExpr>(string.begin);
  StringRef text = spelled(string).drop_front();
  text.consume_back("\"");
  uint32_t offset = string.begin + 1;
  SmallVector<StringPart> parts;
  std::string literal;
  auto endLiteral = [&] {
    if (!literal.empty())
      parts.push_back({copy(StringRef(literal)), nullptr});
    literal.clear();
  };
  SmallVector<Expr *> children;
  for (size_t at = 0; at < text.size();) {
    size_t close = text[at] == '{' ? text.find_first_of("{}", at + 1) : StringRef::npos;
    if (text[at] == '\\') {
      if (std::optional<uint32_t> codePoint = decodeEscape(text, at, offset))
        appendUtf8(literal, *codePoint);
    } else if (close != StringRef::npos && text[close] == '}') {
      endLiteral();
      SourceRange inside = {file.id, uint32_t(offset + at + 1), uint32_t(offset + close)};
      parts.push_back({StringRef(), parseInterpolated(inside)});
      children.push_back(parts.back().value);
      at = close + 1;
    } else {
      literal += text[at++];
    }
  }
  endLiteral();
  result->parts = copy(ArrayRef(parts));
  Expr *finished = finish(result, string.begin, children);
  finished->range = finished->bareRange = range(string);
  return finished;
}

/// Parses `inside`, a part of a string, as one expression.
Expr *ExpressionParser::parseInterpolated(SourceRange inside) {
  if (recovering)
    return errorExpr();
  std::vector<Token> outerTokens = std::exchange(tokens, lex(sources, inside, diagnostics).tokens);
  size_t outerPosition = std::exchange(position, 0);
  unsigned outerBrackets = std::exchange(brackets, 1);
  Expr *value = nullptr;
  if (token().kind == TokenKind::End) {
    diagnostics
        .error({inside.file, inside.begin - 1, inside.end + 1}, "bad-string",
               "expected a static value between the braces")
        .help("write '\\{' for the character '{' itself");
    value = errorExpr();
  } else {
    value = parseExpr();
    if (!recovering && token().kind != TokenKind::End)
      error(range(), "unexpected-token", "expected '}}', but {}", describeToken());
  }
  recovering = false;
  brackets = outerBrackets;
  position = outerPosition;
  tokens = std::move(outerTokens);
  return value;
}

} // namespace tfc::text
