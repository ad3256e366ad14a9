// Prints arrays like NumPy.
#include "tools/tfc/Print.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <charconv>

using namespace llvm;
using namespace tfc;

template <typename T> static T load(const Array &array, int64_t index) {
  T value;
  memcpy(&value, array.data.data() + index * sizeof(T), sizeof(T));
  return value;
}

static double halfToDouble(const fltSemantics &semantics, uint16_t bits) {
  APFloat value(semantics, APInt(16, bits));
  bool inexact;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
  return value.convertToDouble();
}

double tfc::toDouble(const Array &array, int64_t index) {
  switch (array.dtype) {
  case TFC_F32:
    return load<float>(array, index);
  case TFC_F64:
    return load<double>(array, index);
  case TFC_F16:
    return halfToDouble(APFloat::IEEEhalf(), load<uint16_t>(array, index));
  case TFC_BF16:
    return halfToDouble(APFloat::BFloat(), load<uint16_t>(array, index));
  case TFC_I8:
    return load<int8_t>(array, index);
  case TFC_I16:
    return load<int16_t>(array, index);
  case TFC_I32:
    return load<int32_t>(array, index);
  case TFC_I64:
    return double(load<int64_t>(array, index));
  case TFC_U8:
  case TFC_BOOL:
    return load<uint8_t>(array, index);
  case TFC_U16:
    return load<uint16_t>(array, index);
  case TFC_U32:
    return load<uint32_t>(array, index);
  case TFC_U64:
    return double(load<uint64_t>(array, index));
  }
  return 0;
}

int64_t tfc::toInteger(const Array &array, int64_t index) {
  bool isWide = array.dtype == TFC_I64 || array.dtype == TFC_U64;
  return isWide ? load<int64_t>(array, index) : int64_t(toDouble(array, index));
}

template <typename T> static std::string shortest(T value) {
  if (value != value)
    return "nan"; // its sign is meaningless
  char text[64];
  auto result = std::to_chars(text, text + sizeof(text), value);
  return std::string(text, result.ptr);
}

/// The shortest decimal number whose nearest 16-bit float has these bits.
static std::string shortestHalf(const fltSemantics &semantics, uint16_t bits) {
  double value = halfToDouble(semantics, bits);
  for (int digits = 0; digits < 9; ++digits) {
    char text[32];
    auto result = std::to_chars(text, std::end(text), value, std::chars_format::scientific, digits);
    double rounded;
    std::from_chars(text, result.ptr, rounded);
    APFloat half(rounded);
    bool inexact;
    half.convert(semantics, APFloat::rmNearestTiesToEven, &inexact);
    if (half.bitcastToAPInt() == bits)
      return shortest(rounded);
  }
  return shortest(value);
}

std::string tfc::elementText(const Array &array, int64_t index) {
  switch (array.dtype) {
  case TFC_F32:
    return shortest(load<float>(array, index));
  case TFC_F64:
    return shortest(load<double>(array, index));
  case TFC_F16:
    return shortestHalf(APFloat::IEEEhalf(), load<uint16_t>(array, index));
  case TFC_BF16:
    return shortestHalf(APFloat::BFloat(), load<uint16_t>(array, index));
  case TFC_I64:
    return shortest(load<int64_t>(array, index));
  case TFC_U64:
    return shortest(load<uint64_t>(array, index));
  case TFC_BOOL:
    return load<uint8_t>(array, index) ? "true" : "false";
  default:
    return shortest(int64_t(toDouble(array, index)));
  }
}

namespace {

class Printer {
public:
  Printer(raw_ostream &os, const Array &array)
      : os(os), array(array), cut(placeCount(array) > 1000) {
    for (int64_t i : shownElements()) {
      std::string text = elementText(array, i);
      whole = std::max(whole, wholePart(text));
      fraction = std::max(fraction, text.size() - wholePart(text));
    }
  }

  void print(size_t axis, int64_t begin, int64_t stride) {
    if (axis == array.shape.size()) {
      std::string text = elementText(array, begin);
      if (axis)
        text.insert(0, whole - wholePart(text), ' ').resize(whole + fraction, ' ');
      os << text;
      return;
    }
    int64_t size = array.shape[axis], inner = size ? stride / size : 0;
    bool isLast = axis + 1 == array.shape.size();
    os << '[';
    int64_t perLine =
        std::max<int64_t>((kColumns - int64_t(axis)) / int64_t(whole + fraction + 1), 1);
    std::string newLine = "\n" + std::string(axis + 1, ' ');
    if (array.shape.size() - axis > 2)
      newLine.insert(0, array.shape.size() - axis - 2, '\n'); // NumPy's blank lines
    for (int64_t i = 0, shown = 0; i < size; ++i, ++shown) {
      bool wraps = !isLast || shown % perLine == 0;
      if (i > 0)
        os << (wraps ? newLine : " ");
      if (cut && size > 2 * kEdge && i == kEdge) {
        os << "...";
        i = size - kEdge - 1;
        continue;
      }
      print(axis + 1, begin + i * inner, inner);
    }
    os << ']';
  }

private:
  static constexpr int64_t kEdge = 3;
  static constexpr int64_t kColumns = 90;

  /// The number of elements, where an empty axis counts as one: the other axes print their
  /// brackets.
  static uint64_t placeCount(const Array &array) {
    uint64_t count = 1;
    for (int64_t size : array.shape)
      count = SaturatingMultiply<uint64_t>(count, std::max<int64_t>(size, 1));
    return count;
  }

  /// The characters before the decimal point or exponent, which are aligned.
  static size_t wholePart(StringRef text) {
    return StringRef("-0123456789").contains(text.back())
               ? std::min(text.find_first_of(".e"), text.size())
               : text.size();
  }

  /// Enough elements to determine the width of a column.
  std::vector<int64_t> shownElements() const {
    std::vector<int64_t> result;
    int64_t count = array.elementCount();
    for (int64_t i = 0; i < count; i = cut && i == 200 ? std::max(count - 200, i + 1) : i + 1)
      result.push_back(i);
    return result;
  }

  raw_ostream &os;
  const Array &array;
  bool cut;
  size_t whole = 0, fraction = 0; // characters before and after the decimal points
};

} // namespace

void tfc::printArray(raw_ostream &os, const Array &array) {
  Printer(os, array).print(0, 0, array.elementCount());
}
