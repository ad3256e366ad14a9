//===- DeviceName.cpp - Names of devices ----------------------------------===//
//
// Parses, prints and merges names of devices, part by part.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/DeviceName.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include <limits>

using namespace llvm;

namespace tfc::dfg {

namespace {
/// Reads a name part by part.
class NameParser {
public:
  explicit NameParser(std::string &reason) : reason(reason) {}

  bool readPart(StringRef part);
  DeviceName name;

private:
  bool readJob(StringRef value);
  bool readNumber(StringRef part, StringRef value, std::optional<int64_t> &number);
  bool readDevice(StringRef part, StringRef kind, StringRef index);
  bool fail(const Twine &text) {
    reason = text.str();
    return false;
  }

  std::string &reason;
};
} // namespace

static bool isWord(StringRef text) {
  return !text.empty() && (isAlpha(text[0]) || text[0] == '_') &&
         all_of(text, [](char c) { return isAlnum(c) || c == '_' || c == '-'; });
}

bool NameParser::readJob(StringRef value) {
  if (value == "*")
    return true;
  if (!isWord(value))
    return fail("expected the name of a job, but got '" + value + "'");
  if (!name.job.empty())
    return fail("names two jobs");
  // TensorFlow calls the only process so.
  name.job = value == "localhost" ? "local" : value.str();
  return true;
}

bool NameParser::readNumber(StringRef part, StringRef value, std::optional<int64_t> &number) {
  if (value == "*")
    return true;
  int32_t parsed;
  if (value.empty() || !all_of(value, isDigit))
    return fail("expected a number in '" + part + "'");
  if (value.getAsInteger(10, parsed))
    return fail("the number in '" + part + "' is too large");
  if (number)
    return fail("has two parts like '" + part + "'");
  number = parsed;
  return true;
}

bool NameParser::readDevice(StringRef part, StringRef kind, StringRef index) {
  if (kind != "*" && !isWord(kind))
    return fail("expected a kind of device, as in 'cpu:0', but got '" + part + "'");
  if (kind != "*" && !name.kind.empty())
    return fail("names two kinds of devices");
  if (kind != "*")
    name.kind = kind.lower();
  return index.data() == nullptr || readNumber(part, index, name.index);
}

/// The kinds of devices are not known here: each word that is no other part is one.
bool NameParser::readPart(StringRef part) {
  auto [key, value] = part.split(':');
  bool hasValue = part.contains(':');
  if (key == "job")
    return readJob(value);
  if (key == "task")
    return readNumber(part, value, name.task);
  if (key == "replica")
    return value == "0" || value == "*" || fail("expected replica 0, but got '" + part + "'");
  if (key == "device") {
    auto [kind, index] = value.split(':');
    return readDevice(part, kind, value.contains(':') ? index : StringRef());
  }
  return readDevice(part, key, hasValue ? value : StringRef());
}

std::optional<DeviceName> DeviceName::parse(StringRef text, std::string &reason) {
  NameParser parser(reason);
  SmallVector<StringRef> parts;
  StringRef rest = text;
  rest.consume_front("/");
  if (!rest.empty())
    rest.split(parts, '/');
  for (StringRef part : parts)
    if (!parser.readPart(part))
      return std::nullopt;
  return parser.name;
}

std::string DeviceName::str() const {
  std::string text;
  if (!job.empty())
    text += "/job:" + job;
  if (task)
    text += "/task:" + std::to_string(*task);
  if (!kind.empty() || index)
    text += "/device:" + (kind.empty() ? "*" : kind);
  if (index)
    text += ":" + std::to_string(*index);
  return text;
}

/// Merges one part, in which an empty one is open; returns false if the parts differ.
template <typename Part> static bool mergePart(Part &part, const Part &other) {
  if (part == Part())
    part = other;
  return other == Part() || part == other;
}

std::optional<DeviceName> DeviceName::both(const DeviceName &a, const DeviceName &b) {
  DeviceName name = a;
  bool isPossible = mergePart(name.job, b.job) && mergePart(name.task, b.task) &&
                    mergePart(name.kind, b.kind) && mergePart(name.index, b.index);
  return isPossible ? std::optional(name) : std::nullopt;
}

DeviceName DeviceName::within(const DeviceName &outer) const {
  DeviceName name = *this;
  bool isOtherJob = !job.empty() && !outer.job.empty() && job != outer.job;
  if (!name.task && !isOtherJob)
    name.task = outer.task;
  bool isOtherKind = !kind.empty() && !outer.kind.empty() && kind != outer.kind;
  if (!name.index && !isOtherKind)
    name.index = outer.index;
  if (name.job.empty())
    name.job = outer.job;
  if (name.kind.empty())
    name.kind = outer.kind;
  return name;
}

} // namespace tfc::dfg
