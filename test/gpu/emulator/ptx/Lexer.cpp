//===- Lexer.cpp - The tokens of PTX --------------------------------------===//
//
// Reads the constants of section 4.5: integers of four radices, and floats as the bits that are
// their digits.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/ptx/Lexer.h"
#include <charconv>
#include <cstring>

namespace tfc::gpu::ptx {

static bool isDigit(char c) { return c >= '0' && c <= '9'; }
static bool isHexDigit(char c) {
  return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
static bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool isWordPart(char c) { return isLetter(c) || isDigit(c) || c == '_' || c == '$'; }
static bool isDirectivePart(char c) { return isWordPart(c) || c == ':'; }
static bool isRegisterPart(char c) { return isWordPart(c) || c == '.'; }

void Lexer::advance() {
  bool isNewLine = peek() == '\n';
  ++position;
  place = isNewLine ? Place{place.line + 1, 1} : Place{place.line, place.column + 1};
}

void Lexer::skipSpace() {
  for (;;) {
    if (peek() == '/' && peek(1) == '/') {
      while (position < text.size() && peek() != '\n')
        advance();
    } else if (peek() == '/' && peek(1) == '*') {
      size_t end = text.find("*/", position + 2);
      if (end == text.npos)
        return;
      while (position < end + 2)
        advance();
    } else if (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') {
      advance();
    } else {
      return;
    }
  }
}

std::string_view Lexer::take(bool (*isPart)(char)) {
  size_t first = position;
  while (position < text.size() && isPart(peek()))
    advance();
  return text.substr(first, position - first);
}

/// 0f and 0d are followed by the bits of a float in 8 or 16 hexadecimal digits.
void Lexer::readFloat(Token &token) {
  token.isDouble = peek(1) == 'd' || peek(1) == 'D';
  advance();
  advance();
  std::string_view digits = take(isHexDigit);
  uint64_t bits = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
  token.value = static_cast<int64_t>(bits);
  bool isWhole = digits.size() == (token.isDouble ? 16 : 8) && !isWordPart(peek());
  token.kind = isWhole ? Token::Kind::Float : Token::Kind::Unknown;
}

void Lexer::readInteger(Token &token) {
  int radix = 10;
  if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X'))
    radix = 16;
  else if (peek() == '0' && (peek(1) == 'b' || peek(1) == 'B'))
    radix = 2;
  else if (peek() == '0')
    radix = 8;
  if (radix == 16 || radix == 2) {
    advance();
    advance();
  }
  std::string_view digits = take(isHexDigit);
  uint64_t value = 0;
  auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value, radix);
  bool isWhole = failure == std::errc() && end == digits.data() + digits.size();
  if (peek() == 'U')
    advance();
  token.value = static_cast<int64_t>(value);
  token.kind =
      isWhole && !isWordPart(peek()) && peek() != '.' ? Token::Kind::Integer : Token::Kind::Unknown;
}

void Lexer::readNumber(Token &token) {
  if (peek() == '0' && peek(1) != '\0' && strchr("fFdD", peek(1)))
    readFloat(token);
  else
    readInteger(token);
}

void Lexer::readText(Token &token) {
  advance();
  size_t first = position;
  while (position < text.size() && peek() != '"' && peek() != '\n')
    advance();
  token.text = text.substr(first, position - first);
  token.kind = peek() == '"' ? Token::Kind::Text : Token::Kind::Unknown;
  if (peek() == '"')
    advance();
}

Token Lexer::next() {
  skipSpace();
  Token token;
  token.place = place;
  size_t first = position;
  if (position == text.size())
    return token;
  if (peek() == '"') {
    readText(token);
    return token;
  }
  if (isDigit(peek())) {
    readNumber(token);
  } else if (isLetter(peek()) || peek() == '_' || peek() == '$') {
    token.kind = Token::Kind::Word;
    take(isWordPart);
  } else if (peek() == '%' && isWordPart(peek(1))) {
    token.kind = Token::Kind::Register;
    advance();
    take(isRegisterPart);
  } else if (peek() == '.' && isWordPart(peek(1))) {
    token.kind = Token::Kind::Directive;
    advance();
    ++first;
    take(isDirectivePart);
  } else {
    token.kind = Token::Kind::Sign;
    advance();
  }
  token.text = text.substr(first, position - first);
  return token;
}

} // namespace tfc::gpu::ptx
