//===- Lexer.h - The tokens of PTX ----------------------------------------===//

#pragma once

#include "test/gpu/emulator/ptx/Module.h"
#include <string_view>

namespace tfc::gpu::ptx {

struct Token {
  enum class Kind {
    Word,      // add, $L__BB0_1
    Register,  // %r1, %tid.x
    Directive, // .reg, without the dot
    Integer,
    Float,
    Text, // in quotes, without them
    Sign, // one character
    Unknown,
    End
  };

  Kind kind = Kind::End;
  Place place;
  std::string_view text;
  int64_t value = 0;     // an integer, or the bits of a float
  bool isDouble = false; // of a float

  bool is(char sign) const { return kind == Kind::Sign && text[0] == sign; }
  bool isDirective(std::string_view name) const { return kind == Kind::Directive && text == name; }
};

/// Reads tokens one after the other; comments and space are skipped (4.1, 4.2).
class Lexer {
public:
  explicit Lexer(std::string_view text) : text(text) {}

  Token next();

private:
  char peek(size_t ahead = 0) const {
    return position + ahead < text.size() ? text[position + ahead] : '\0';
  }
  void advance();
  void skipSpace();
  std::string_view take(bool (*isPart)(char));
  void readNumber(Token &token);
  void readFloat(Token &token);
  void readInteger(Token &token);
  void readText(Token &token);

  std::string_view text;
  size_t position = 0;
  Place place{1, 1};
};

} // namespace tfc::gpu::ptx
