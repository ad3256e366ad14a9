//===- Records.cpp - Lines of csv files and headers of arrays -------------===//
//
// Reads numbers from text, as they are in csv files and in the headers of NumPy's arrays. It knows
// nothing of files.
//
//===----------------------------------------------------------------------===//

#include "runtime/Elements.h"
#include "runtime/Rows.h"

#include <ctype.h>
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>

using namespace tfc::runtime;

//===- Elements -----------------------------------------------------------===//

bool tfc::runtime::storeInteger(int32_t dtype, bool isNegative, uint64_t magnitude, char *to) {
  if (dtype == TFC_F32 || dtype == TFC_F64) {
    auto value = static_cast<double>(magnitude);
    return storeFloat(dtype, isNegative ? -value : value, to);
  }
  int64_t bytes = dtypeInfo(dtype)->bytes;
  bool isSigned = dtype == TFC_I8 || dtype == TFC_I16 || dtype == TFC_I32 || dtype == TFC_I64;
  uint64_t most = dtype == TFC_BOOL ? 1 : UINT64_MAX >> (64 - 8 * bytes);
  if (isSigned)
    most = (most >> 1) + isNegative;
  else if (isNegative)
    most = 0;
  if (magnitude > most)
    return false;
  uint64_t value = isNegative ? 0 - magnitude : magnitude;
  memcpy(to, &value, bytes); // the least significant bytes come first
  return true;
}

bool tfc::runtime::storeFloat(int32_t dtype, double value, char *to) {
  if (dtype == TFC_F32) {
    auto rounded = static_cast<float>(value);
    memcpy(to, &rounded, sizeof(rounded));
    return true;
  }
  if (dtype == TFC_F64) {
    memcpy(to, &value, sizeof(value));
    return true;
  }
  constexpr double kMost = 18446744073709551616.0; // 2^64
  double magnitude = value < 0 ? -value : value;
  if (!(magnitude < kMost))
    return false;
  auto integer = static_cast<uint64_t>(magnitude);
  return static_cast<double>(integer) == magnitude && storeInteger(dtype, value < 0, integer, to);
}

//===- Numbers ------------------------------------------------------------===//

static locale_t plainLocale;
static pthread_once_t plainLocaleOnce = PTHREAD_ONCE_INIT;
static void createPlainLocale() { plainLocale = newlocale(LC_ALL_MASK, "C", nullptr); }

static bool isDigit(char c) { return c >= '0' && c <= '9'; }

namespace {
/// The digits of a number without an exponent.
struct Digits {
  bool isNegative = false;
  bool isTooLong = false; // for the value
  uint64_t value = 0;
  int count = 0, decimals = 0;
  const char *end;

  explicit Digits(const char *text) {
    isNegative = *text == '-';
    text += *text == '-' || *text == '+';
    for (; isDigit(*text); ++text)
      add(*text);
    if (*text == '.')
      for (++text; isDigit(*text); ++text, ++decimals)
        add(*text);
    end = text;
  }

  void add(char digit) {
    ++count;
    isTooLong |= __builtin_mul_overflow(value, 10, &value) ||
                 __builtin_add_overflow(value, digit - '0', &value);
  }
};
} // namespace

/// Reads a decimal number, "inf" or "nan", in the form that C has without a locale; `end` is `text`
/// if there is none.
static double parseDouble(const char *text, const char *&end) {
  Digits digits(text);
  bool isWord = digits.count == 0 && isalpha(static_cast<unsigned char>(*digits.end));
  bool isHexadecimal = *digits.end == 'x' || *digits.end == 'X';
  end = text;
  if ((digits.count == 0 && !isWord) || isHexadecimal)
    return 0;
  // Both are exact, so one rounding gives the nearest number (Clinger, "How to read floating point
  // numbers accurately", 1990).
  static constexpr double kPowers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  bool hasExponent = *digits.end == 'e' || *digits.end == 'E';
  if (!isWord && digits.count <= 15 && !hasExponent) {
    end = digits.end;
    double value = static_cast<double>(digits.value) / kPowers[digits.decimals];
    return digits.isNegative ? -value : value;
  }
  pthread_once(&plainLocaleOnce, createPlainLocale);
  char *stop;
  double value = plainLocale ? strtod_l(text, &stop, plainLocale) : strtod(text, &stop);
  end = stop;
  return value;
}

static bool parseBool(const char *text, const char *&end, char *to) {
  static constexpr struct {
    const char *word;
    char value;
  } kWords[] = {{"true", 1}, {"True", 1}, {"TRUE", 1}, {"false", 0}, {"False", 0}, {"FALSE", 0}};
  for (const auto &[word, value] : kWords)
    if (size_t length = strlen(word); strncmp(text, word, length) == 0) {
      end = text + length;
      *to = value;
      return true;
    }
  return false;
}

/// Reads an element, up to `end`; returns false if the text is not a number of the dtype.
static bool parseElement(int32_t dtype, const char *text, const char *&end, char *to) {
  if (dtype == TFC_BOOL && parseBool(text, end, to))
    return true;
  bool isFloat = dtype == TFC_F32 || dtype == TFC_F64;
  if (!isFloat) {
    Digits digits(text);
    bool isInteger = digits.count > 0 && !digits.isTooLong && digits.decimals == 0 &&
                     *digits.end != 'e' && *digits.end != 'E' && digits.end[-1] != '.';
    if (isInteger) {
      end = digits.end;
      return storeInteger(dtype, digits.isNegative, digits.value, to);
    }
  }
  // Integers that a program has written as floats are integers, too.
  double value = parseDouble(text, end);
  return end != text && storeFloat(dtype, value, to);
}

//===- Lines --------------------------------------------------------------===//

static bool isSpace(char c) { return c == ' ' || c == '\t'; }
static bool endsLine(char c) { return c == 0 || c == '\n' || c == '\r'; }

static const char *skipSpace(const char *at) {
  while (isSpace(*at))
    ++at;
  return at;
}

/// Appends the beginning of a field to a message, with '?' for bytes that are no ASCII characters.
static void addField(Message &message, const char *field) {
  constexpr size_t kMost = 40;
  char text[kMost + 1];
  size_t length = 0;
  for (; length < kMost && field[length] != ',' && !endsLine(field[length]); ++length)
    text[length] = isprint(static_cast<unsigned char>(field[length])) ? field[length] : '?';
  text[length] = 0;
  message.add("'%s'", text);
}

/// Adds that a line does not have one column for each element of a row.
static bool failCount(const tfc_dataset_info &info, int64_t columns, Message &reason) {
  int64_t expected = 0;
  for (int32_t i = 0; i < info.component_count; ++i)
    expected += elementCount(info.components[i].dims, info.components[i].rank);
  reason.add("the line has %lld columns, but expected %lld", static_cast<long long>(columns),
             static_cast<long long>(expected));
  return false;
}

bool tfc::runtime::decodeLine(const tfc_dataset_info &info, const char *line, uint64_t bytes,
                              int64_t at, char *const *values, Message &reason) {
  const char *next = line;
  int64_t column = 0;
  for (int32_t i = 0; i < info.component_count; ++i) {
    const tfc_variable_info &component = info.components[i];
    char *to = values[i] + at * component.bytes, *stop = to + component.bytes;
    for (int32_t elementBytes = dtypeInfo(component.dtype)->bytes; to < stop; to += elementBytes) {
      if (column > 0 && *next != ',')
        return failCount(info, column, reason);
      next += column++ > 0;
      const char *field = skipSpace(next), *end = field;
      bool isQuoted = *field == '"';
      bool isStored = parseElement(component.dtype, field + isQuoted, end, to);
      bool isClosed = !isQuoted || *end == '"';
      end = skipSpace(end + (isQuoted && isClosed));
      if (!isStored || !isClosed || (*end != ',' && !endsLine(*end))) {
        reason.add("column %lld, ", static_cast<long long>(column));
        addField(reason, field);
        reason.add(", is no %s", dtypeName(component.dtype));
        return false;
      }
      next = end;
    }
  }
  if (!endsLine(*next)) {
    for (; !endsLine(*next); ++next)
      column += *next == ',';
    return failCount(info, column, reason);
  }
  const char *end = line + bytes;
  while (next < end && (isSpace(*next) || *next == '\n' || *next == '\r'))
    ++next;
  if (next < end)
    reason.add("something follows its last column");
  return next == end;
}

//===- Headers of arrays --------------------------------------------------===//

const char *tfc::runtime::numpyName(int32_t dtype) {
  static constexpr const char *kNames[] = {
#define TFC_DTYPE(CODE, NAME, KIND, BITS, C, NUMPY, ...) NUMPY,
#include "runtime/Dtypes.inc"
  };
  return kNames[dtype];
}

uint64_t tfc::runtime::npyHeaderBytes(const unsigned char *prefix, uint64_t &begin) {
  if (memcmp(prefix, "\x93NUMPY", 6) != 0 || prefix[6] < 1 || prefix[6] > 3)
    return 0;
  uint64_t bytes = prefix[8] | prefix[9] << 8;
  begin = 10;
  if (prefix[6] == 1)
    return bytes;
  begin = 12;
  return bytes | static_cast<uint64_t>(prefix[10]) << 16 | static_cast<uint64_t>(prefix[11]) << 24;
}

namespace {
/// Reads the dictionary of a header.
class HeaderReader {
public:
  explicit HeaderReader(const char *text) : at(text) {}

  bool read(NpyHeader &header);

private:
  bool accept(char c);
  bool readString(char *text, size_t bytes);
  bool readFlag(bool &flag);
  bool readShape(NpyHeader &header);
  bool readSize(int64_t &size);

  const char *at;
};
} // namespace

/// Passes over white space, and the character if it is next.
bool HeaderReader::accept(char c) {
  while (*at == ' ' || *at == '\n')
    ++at;
  if (*at != c)
    return false;
  ++at;
  return true;
}

bool HeaderReader::readString(char *text, size_t bytes) {
  char quote = accept('"') ? '"' : '\'';
  if (quote == '\'' && !accept('\''))
    return false;
  size_t length = 0;
  for (; *at && *at != quote; ++at)
    if (length + 1 < bytes)
      text[length++] = *at;
    else
      return false;
  text[length] = 0;
  return accept(quote);
}

bool HeaderReader::readFlag(bool &flag) {
  accept(' ');
  flag = strncmp(at, "True", 4) == 0;
  if (!flag && strncmp(at, "False", 5) != 0)
    return false;
  at += flag ? 4 : 5;
  return true;
}

bool HeaderReader::readSize(int64_t &size) {
  size = 0;
  accept(' ');
  if (!isDigit(*at))
    return false;
  for (; isDigit(*at); ++at)
    if (__builtin_mul_overflow(size, 10, &size) || __builtin_add_overflow(size, *at - '0', &size))
      return false;
  return true;
}

bool HeaderReader::readShape(NpyHeader &header) {
  if (!accept('('))
    return false;
  header.rank = 0;
  while (!accept(')')) {
    if (header.rank == NpyHeader::kMaxRank || !readSize(header.dims[header.rank]))
      return false;
    ++header.rank;
    if (!accept(','))
      return accept(')');
  }
  return true;
}

bool HeaderReader::read(NpyHeader &header) {
  bool hasDtype = false, hasOrder = false, hasShape = false;
  if (!accept('{'))
    return false;
  while (!accept('}')) {
    char key[16];
    if (!readString(key, sizeof(key)) || !accept(':'))
      return false;
    bool isRead = false;
    if (strcmp(key, "descr") == 0)
      isRead = hasDtype = readString(header.dtype, sizeof(header.dtype));
    else if (strcmp(key, "fortran_order") == 0)
      isRead = hasOrder = readFlag(header.isFortran);
    else if (strcmp(key, "shape") == 0)
      isRead = hasShape = readShape(header);
    if (!isRead)
      return false;
    if (!accept(',') && !accept('}'))
      return false;
    if (at[-1] == '}')
      break;
  }
  return hasDtype && hasOrder && hasShape;
}

bool tfc::runtime::parseNpyHeader(const char *text, NpyHeader &header) {
  return HeaderReader(text).read(header);
}
