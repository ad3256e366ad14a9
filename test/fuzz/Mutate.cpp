//===- Mutate.cpp - Bytes, tokens and headers -----------------------------===//
//
// Damages files as bytes, as words of text, or as a header before data. It knows no format beyond
// that; MutateGraphDef.cpp has the one mutation that does.
//
//===----------------------------------------------------------------------===//

#include "Mutate.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>

using namespace llvm;

namespace tfc::fuzz {

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

static constexpr int64_t kNumbers[] = {
    0,     1,         -1,        2,         127,       128,       255,       256,       65535,
    65536, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 1LL << 31, 1LL << 40, 1LL << 62, 100};

static void changeBytes(std::string &bytes, Corpus corpus, Draw &draw) {
  size_t at = draw.below(bytes.size() + 1), length = draw.below(draw.chance(80) ? 9 : 200);
  size_t end = std::min(bytes.size(), at + length);
  switch (draw.below(8)) {
  case 0:
    if (at < bytes.size())
      bytes[at] ^= char(1 << draw.below(8));
    return;
  case 1:
    if (at < bytes.size())
      bytes[at] = char(draw.next());
    return;
  case 2:
    bytes.erase(at, length);
    return;
  case 3:
    bytes.insert(at, bytes.substr(draw.below(bytes.size()), length));
    return;
  case 4:
    bytes.resize(at);
    return;
  case 5: {
    int64_t number = draw.of(kNumbers);
    size_t width = size_t(1) << draw.below(4);
    if (at + width <= bytes.size())
      memcpy(bytes.data() + at, &number, width);
    return;
  }
  case 6:
    bytes.insert(at, length, char(draw.next()));
    return;
  default:
    const std::string &other = draw.of(corpus);
    bytes.replace(at, end - at, other.substr(draw.below(other.size()), length));
  }
}

std::string mutateBytes(StringRef input, Corpus corpus, Draw &draw) {
  std::string bytes = input.str();
  for (size_t rounds = 1 + draw.below(4); rounds > 0; --rounds)
    changeBytes(bytes, corpus, draw);
  return bytes;
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

/// Words with dots and marks in front, numbers, white space, and single characters.
static SmallVector<StringRef> split(StringRef text) {
  SmallVector<StringRef> tokens;
  auto isWord = [](char c) { return isAlnum(c) || c == '_' || c == '.'; };
  while (!text.empty()) {
    char c = text.front();
    size_t length = 1;
    if (isWord(c) || c == '%' || c == '@' || c == '#')
      length += text.drop_front().take_while(isWord).size();
    else if (isSpace(c))
      length = text.take_while([](char d) { return isSpace(d); }).size();
    tokens.push_back(text.take_front(length));
    text = text.drop_front(length);
  }
  return tokens;
}

static constexpr StringLiteral kWords[] = {
    "9223372036854775807",
    "-9223372036854775808",
    "4611686018427387905",
    "0",
    "1",
    "-1",
    "2",
    "3",
    "1000000000",
    "18446744073709551616",
    "1e39",
    "0.5",
    "nan",
    "inf",
    "1e-400",
    "n",
    "f32",
    "i32",
    "u8",
    "bool",
    "bf16",
    "true",
    "false",
    "null",
    "[]",
    "{}",
    "()",
    "\"\"",
    "''",
    "tensor<?xf32>",
    "tensor<*xf32>",
    "index",
    "tensor<4xi3>",
    "!dfg.list<tensor<f32>>",
    "!dfg.token",
    "unit",
    "#dfg.dims<d0>",
    "dense<1>",
    "affine_map<()[s0] -> (s0)>",
    "if",
    "for",
    "return",
    "..",
    "where",
    ":",
    ",",
    "=",
    "->",
    "\n",
    "\xff",
    "\\",
    "\\u0000",
};

static bool isBlank(StringRef token) { return token.trim().empty(); }

static void changeTokens(SmallVectorImpl<StringRef> &tokens, ArrayRef<StringRef> others,
                         Draw &draw) {
  if (tokens.empty()) {
    tokens.push_back(draw.of(kWords));
    return;
  }
  size_t at = draw.below(tokens.size());
  // White space seldom matters.
  while (at + 1 < tokens.size() && isBlank(tokens[at]))
    ++at;
  size_t end = std::min(tokens.size(), at + 1 + draw.below(draw.chance(70) ? 2 : 30));
  switch (draw.below(9)) {
  case 0:
    tokens.erase(tokens.begin() + at, tokens.begin() + end);
    return;
  case 1: {
    SmallVector<StringRef> copy(tokens.begin() + at, tokens.begin() + end);
    size_t to = draw.below(tokens.size());
    tokens.insert(tokens.begin() + to, copy.begin(), copy.end());
    return;
  }
  case 2:
    std::swap(tokens[at], tokens[draw.below(tokens.size())]);
    return;
  case 3:
    tokens[at] = draw.of(kWords);
    return;
  case 4:
    tokens.insert(tokens.begin() + at, draw.of(kWords));
    return;
  case 5: // the same kind of token from elsewhere in the text
  case 6: {
    bool isNumber = isDigit(tokens[at].front()), isName = isAlpha(tokens[at].front());
    for (unsigned tries = 0; tries < 20; ++tries) {
      StringRef other = draw.of(tokens);
      if (isDigit(other.front()) == isNumber && isAlpha(other.front()) == isName) {
        tokens[at] = other;
        return;
      }
    }
    return;
  }
  case 7:
    tokens[at] = others.empty() ? StringRef() : others[draw.below(others.size())];
    return;
  default:
    if (others.empty())
      return;
    size_t from = draw.below(others.size());
    ArrayRef<StringRef> part = others.slice(from).take_front(1 + draw.below(40));
    tokens.insert(tokens.begin() + at, part.begin(), part.end());
  }
}

/// Sometimes returns text that is nested deeply, or very long.
static std::string inflate(StringRef text, Draw &draw) {
  static constexpr StringLiteral kParts[] = {"(", "[", "{", "-", "not ", "a + ", "x[0]", "<", "\""};
  std::string result = text.str(), many;
  StringRef part = draw.of(kParts);
  size_t count = size_t(1) << (4 + draw.below(11));
  for (size_t i = 0; i < count; ++i)
    many += part;
  result.insert(draw.below(result.size() + 1), many);
  return result;
}

std::string mutateTokens(StringRef input, Corpus corpus, Draw &draw) {
  if (draw.chance(10))
    return mutateBytes(input, corpus, draw);
  if (draw.chance(3))
    return inflate(input, draw);
  const std::string &other = draw.of(corpus);
  SmallVector<StringRef> tokens = split(input), others = split(other);
  for (size_t rounds = draw.chance(60) ? 1 : 1 + draw.below(8); rounds > 0; --rounds)
    changeTokens(tokens, others, draw);
  std::string text;
  for (StringRef token : tokens)
    text += token;
  return text;
}

//===----------------------------------------------------------------------===//
// Headers
//===----------------------------------------------------------------------===//

std::string mutateHeader(StringRef input, Corpus corpus, size_t lengthAt, size_t lengthBytes,
                         Draw &draw) {
  size_t start = lengthAt + lengthBytes;
  if (input.size() < start || draw.chance(25))
    return mutateBytes(input, corpus, draw);
  uint64_t length = 0;
  memcpy(&length, input.data() + lengthAt, lengthBytes);
  StringRef header = input.substr(start, length);
  std::string text = mutateTokens(header, {header.str()}, draw);
  length = draw.chance(95) ? text.size() : draw.next();
  std::string result =
      input.take_front(start).str() + text + input.substr(start + header.size()).str();
  memcpy(result.data() + lengthAt, &length, lengthBytes);
  return result;
}

} // namespace tfc::fuzz
