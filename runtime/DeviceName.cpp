//===- DeviceName.cpp - Names of devices ----------------------------------===//
//
// Parses the names that programs pass. The compiler, which also merges open names, has a parser of
// its own (dialects/dfg/DeviceName.h).
//
//===----------------------------------------------------------------------===//

#include "runtime/DeviceName.h"

#include <string.h>
#include <strings.h>

namespace tfc::runtime {

/// Consumes `text` if it comes next.
static bool consume(const char *&at, const char *text) {
  size_t length = strlen(text);
  if (strncmp(at, text, length) != 0)
    return false;
  at += length;
  return true;
}

static bool isWordPart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

static bool parseWord(const char *&at, std::string_view &word) {
  const char *start = at;
  while (isWordPart(*at))
    ++at;
  word = std::string_view(start, at - start);
  return !word.empty() && word[0] != '-' && !(word[0] >= '0' && word[0] <= '9');
}

static bool parseNumber(const char *&at, int32_t &number) {
  const char *start = at;
  for (number = 0; *at >= '0' && *at <= '9'; ++at)
    if (__builtin_mul_overflow(number, 10, &number) ||
        __builtin_add_overflow(number, *at - '0', &number))
      return false;
  return at != start;
}

bool DeviceName::parsePart(const char *&at) {
  if (consume(at, "job:")) {
    if (!parseWord(at, job))
      return false;
    if (job == "localhost") // so TensorFlow calls the only process
      job = "local";
    return true;
  }
  if (consume(at, "task:"))
    return parseNumber(at, task);
  consume(at, "device:");
  return kind.empty() && parseWord(at, kind) && consume(at, ":") && parseNumber(at, index);
}

bool DeviceName::parse(const char *text) {
  const char *at = text;
  consume(at, "/");
  do
    if (!parsePart(at))
      return false;
  while (consume(at, "/"));
  return *at == '\0' && !kind.empty();
}

bool DeviceName::operator==(const DeviceName &other) const {
  return job == other.job && task == other.task && kind.size() == other.kind.size() &&
         strncasecmp(kind.data(), other.kind.data(), kind.size()) == 0 && index == other.index;
}

} // namespace tfc::runtime
