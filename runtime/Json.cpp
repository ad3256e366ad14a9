//===- Json.cpp - A JSON reader for safetensors headers -------------------===//
//
// Reads JSON token by token, in place and without allocating memory. Safetensors.cpp knows the
// meaning of the tokens.
//
//===----------------------------------------------------------------------===//

#include "runtime/Json.h"

#include <string.h>

using namespace tfc::runtime;

static constexpr int kMaxDepth = 32;

bool JsonReader::fail(const char *expected) {
  if (!message)
    message = expected;
  return false;
}

void JsonReader::skipSpace() {
  while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
    ++at;
}

bool JsonReader::expect(char c, const char *what) {
  skipSpace();
  if (message || at == end || *at != c)
    return fail(what);
  ++at;
  return true;
}

bool JsonReader::next(bool &first, char close, const char *what) {
  skipSpace();
  if (message || at == end)
    return fail(what);
  if (*at == close) {
    ++at;
    return false;
  }
  if (!first && !expect(',', what))
    return false;
  first = false;
  return true;
}

bool JsonReader::nextMember(bool &first, const char *&key) {
  return next(first, '}', "',' or '}'") && readString(key) && expect(':', "':'");
}

bool JsonReader::nextElement(bool &first) { return next(first, ']', "',' or ']'"); }

bool JsonReader::readCodeUnit(uint32_t &unit) {
  if (end - at < 4)
    return fail("four hexadecimal digits");
  unit = 0;
  for (int i = 0; i < 4; ++i, ++at) {
    char c = *at;
    bool isDigit = c >= '0' && c <= '9';
    char lower = c | 0x20;
    if (!isDigit && (lower < 'a' || lower > 'f'))
      return fail("four hexadecimal digits");
    unit = unit * 16 + (isDigit ? c - '0' : lower - 'a' + 10);
  }
  return true;
}

static void appendUtf8(char *&out, uint32_t code) {
  if (code < 0x80) {
    *out++ = static_cast<char>(code);
    return;
  }
  int trailing = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr uint8_t kLead[] = {0, 0xc0, 0xe0, 0xf0};
  *out++ = static_cast<char>(kLead[trailing] | code >> (6 * trailing));
  while (trailing-- > 0)
    *out++ = static_cast<char>(0x80 | (code >> (6 * trailing) & 0x3f));
}

/// Reads an escape after its backslash. The result is never longer than the escape.
bool JsonReader::readEscape(char *&out) {
  static constexpr char kFrom[] = "\"\\/bfnrt";
  static constexpr char kTo[] = "\"\\/\b\f\n\r\t";
  char c = at < end ? *at++ : 0;
  if (c != 'u') {
    const char *found = c ? strchr(kFrom, c) : nullptr;
    if (!found)
      return fail("an escape sequence");
    *out++ = kTo[found - kFrom];
    return true;
  }
  uint32_t code;
  if (!readCodeUnit(code))
    return false;
  if (code >= 0xd800 && code < 0xdc00) {
    uint32_t low;
    if (end - at < 2 || at[0] != '\\' || at[1] != 'u')
      return fail("a low surrogate");
    at += 2;
    if (!readCodeUnit(low))
      return false;
    if (low < 0xdc00 || low > 0xdfff)
      return fail("a low surrogate");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  } else if (code == 0 || (code >= 0xdc00 && code < 0xe000)) {
    return fail("a character");
  }
  appendUtf8(out, code);
  return true;
}

bool JsonReader::readString(const char *&value) {
  if (!expect('"', "a string"))
    return false;
  char *out = at;
  value = out;
  while (at < end && *at != '"') {
    char c = *at++;
    if (static_cast<unsigned char>(c) < 0x20)
      return fail("a string without control characters");
    if (c != '\\')
      *out++ = c;
    else if (!readEscape(out))
      return false;
  }
  if (at == end)
    return fail("'\"'");
  ++at;
  *out = 0;
  return true;
}

bool JsonReader::readSize(int64_t &value) {
  skipSpace();
  if (message || at == end || *at < '0' || *at > '9')
    return fail("a whole number");
  for (value = 0; at < end && *at >= '0' && *at <= '9'; ++at)
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, *at - '0', &value))
      return fail("a number below 2^63");
  return true;
}

bool JsonReader::skipValue(int depth) {
  skipSpace();
  if (message || at == end || depth > kMaxDepth)
    return fail("a value");
  bool first = true;
  const char *ignored;
  if (*at == '"')
    return readString(ignored);
  if (*at == '{') {
    ++at;
    while (nextMember(first, ignored) && skipValue(depth + 1)) {
    }
    return !message;
  }
  if (*at == '[') {
    ++at;
    while (nextElement(first) && skipValue(depth + 1)) {
    }
    return !message;
  }
  size_t length = strspn(at, "+-.0123456789abcdefghijklmnopqrstuvwxyzE");
  at += length;
  return length > 0 || fail("a value");
}

bool JsonReader::finish() {
  skipSpace();
  return (!message && at == end) || fail("the end of the header");
}
