//===- Json.h - A JSON reader for safetensors headers ---------------------===//

#pragma once

#include <stddef.h>
#include <stdint.h>

namespace tfc::runtime {

/// Reads JSON from text that ends in a null character, one token at a time. Strings are decoded in
/// place and end in a null character. After an error every function returns false and `error`
/// describes what was expected.
class JsonReader {
public:
  JsonReader(char *text, size_t bytes) : start(text), at(text), end(text + bytes) {}

  /// Read `{`, or move to the next member's value with its name in `key`; `nextMember` returns
  /// false at `}`.
  bool beginObject() { return expect('{', "'{'"); }
  bool nextMember(bool &first, const char *&key);

  /// Read `[`, or move to the next element; `nextElement` returns false at `]`.
  bool beginArray() { return expect('[', "'['"); }
  bool nextElement(bool &first);

  bool readString(const char *&value);
  /// Reads an integer from 0 to 2^63 - 1.
  bool readSize(int64_t &value);
  /// Any value.
  bool skipValue(int depth = 0);
  /// Only white space is left.
  bool finish();

  bool fail(const char *expected);
  const char *error() const { return message; }
  size_t offset() const { return at - start; }

private:
  void skipSpace();
  bool expect(char c, const char *what);
  bool next(bool &first, char close, const char *what);
  bool readEscape(char *&out);
  bool readCodeUnit(uint32_t &unit);

  char *start;
  char *at;
  char *end;
  const char *message = nullptr;
};

} // namespace tfc::runtime
