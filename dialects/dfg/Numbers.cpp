//===- Numbers.cpp - Compile-time numbers as elements ---------------------===//
//
// Decides which numbers can become an element of a type, and converts them. Readers and operations
// use the same rules, so that a number is accepted everywhere or nowhere.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Numbers.h"
#include "dialects/dfg/Errors.h"
#include "mlir/IR/Diagnostics.h"
#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace mlir;
using llvm::APFloat;
using llvm::APInt;
using llvm::APSInt;

namespace tfc::dfg {

/// Returns the shortest decimal text that reads back as the same number.
static std::string textOf(double value) {
  char text[40];
  snprintf(text, sizeof(text), "%.0f", std::fabs(value) < 1e7 ? value : 0.0);
  if (strtod(text, nullptr) == value)
    return text;
  for (int digits = 1; digits <= 17; ++digits) {
    snprintf(text, sizeof(text), "%.*g", digits, value);
    if (strtod(text, nullptr) == value)
      break;
  }
  return text;
}

static std::string textOf(const Number &number) {
  if (const bool *flag = std::get_if<bool>(&number))
    return *flag ? "'true'" : "'false'";
  if (const int64_t *integer = std::get_if<int64_t>(&number))
    return std::to_string(*integer);
  return textOf(std::get<double>(number));
}

static bool isWhole(const Number &number) {
  const double *real = std::get_if<double>(&number);
  return real && std::isfinite(*real) && std::trunc(*real) == *real;
}

/// Like `textOf`, but an integral float is printed as a float.
static std::string literalOf(const Number &number) {
  std::string text = textOf(number);
  bool hasOnlyDigits = StringRef(text).find_first_not_of("-0123456789") == StringRef::npos;
  return isWhole(number) && hasOnlyDigits ? text + ".0" : text;
}

/// "an i32", "a u8".
static std::string withArticle(Type element) {
  std::string text = toText(element);
  return (StringRef("fi").contains(text.front()) ? "an " : "a ") + text;
}

static StringRef kindOf(const Number &number) {
  return std::holds_alternative<int64_t>(number)  ? "the int "
         : std::holds_alternative<double>(number) ? "the float "
                                                  : "";
}

static bool isZero(const Number &number) {
  return std::visit([](auto value) { return value == 0; }, number);
}

static bool isInfinite(const Number &number) {
  const double *real = std::get_if<double>(&number);
  return real && std::isinf(*real);
}

/// The nearest value of a float type.
static APFloat toFloat(const Number &number, FloatType type) {
  if (const double *real = std::get_if<double>(&number)) {
    APFloat value(*real);
    bool losesInfo;
    value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
    return value;
  }
  const int64_t *integer = std::get_if<int64_t>(&number);
  int64_t whole = integer ? *integer : std::get<bool>(number);
  APFloat value(type.getFloatSemantics());
  value.convertFromAPInt(APInt(64, uint64_t(whole)), /*IsSigned=*/true,
                         APFloat::rmNearestTiesToEven);
  return value;
}

/// The number without its fraction, as a value of an integer type; std::nullopt if it is out of
/// range.
static std::optional<APInt> toInteger(const Number &number, IntegerType type) {
  bool isUnsigned = type.isUnsigned() || type.getWidth() == 1;
  if (const double *real = std::get_if<double>(&number)) {
    APSInt value(type.getWidth(), isUnsigned);
    bool isExact;
    APFloat::opStatus status =
        APFloat(std::trunc(*real)).convertToInteger(value, APFloat::rmTowardZero, &isExact);
    return status == APFloat::opOK ? std::optional<APInt>(value) : std::nullopt;
  }
  const int64_t *integer = std::get_if<int64_t>(&number);
  APInt wide(64, uint64_t(integer ? *integer : std::get<bool>(number)));
  bool fits = isUnsigned ? wide.isNonNegative() && wide.isIntN(type.getWidth())
                         : wide.isSignedIntN(type.getWidth());
  return fits ? std::optional<APInt>(wide.trunc(type.getWidth())) : std::nullopt;
}

static NumberError outOfRange(const Number &number, Type element) {
  bool isFloat = isa<FloatType>(element);
  return {"number-range", textOf(number) + " is out of range for " + toText(element),
          isFloat ? "infinity is written 'inf'" : ""};
}

/// The error if a number of this kind cannot become an element of this type without a cast;
/// std::nullopt if it can.
static std::optional<NumberError> refuseKind(const Number &number, Type element) {
  bool isBool = std::holds_alternative<bool>(number);
  if (element.isInteger(1) && !isBool)
    return NumberError{"literal-type",
                       ("expected a bool, but got " + kindOf(number)).str() + textOf(number), ""};
  if (!element.isInteger(1) && isBool)
    return NumberError{"literal-type",
                       "expected " + withArticle(element) + ", but got " + textOf(number), ""};
  if (std::holds_alternative<double>(number) && !isa<FloatType>(element)) {
    std::string help;
    if (!isWhole(number))
      help = std::isfinite(std::get<double>(number)) ? "round the number, or use a float type" : "";
    else if (toInteger(number, cast<IntegerType>(element)))
      help = "write " + textOf(number);
    return NumberError{"literal-type",
                       "expected " + withArticle(element) + ", but got " + literalOf(number), help};
  }
  return std::nullopt;
}

TypedAttr elementFrom(const Number &number, Type element, Conversion conversion,
                      NumberError &error) {
  if (conversion == Conversion::Implicit)
    if (std::optional<NumberError> refused = refuseKind(number, element)) {
      error = *refused;
      return {};
    }
  if (auto type = dyn_cast<FloatType>(element)) {
    APFloat value = toFloat(number, type);
    if (!value.isInfinity() || isInfinite(number))
      return FloatAttr::get(type, value);
  } else if (element.isInteger(1)) {
    return IntegerAttr::get(element, APInt(1, !isZero(number)));
  } else if (std::optional<APInt> value = toInteger(number, cast<IntegerType>(element))) {
    return IntegerAttr::get(element, *value);
  }
  error = outOfRange(number, element);
  return {};
}

LogicalResult checkElement(std::optional<Location> location, StringRef op, StringRef name,
                           const APFloat &number, Type element) {
  double value = number.convertToDouble();
  StringRef slug = "number-range";
  if (auto type = dyn_cast<FloatType>(element)) {
    if (!toFloat(value, type).isInfinity() || std::isinf(value))
      return success();
  } else if (toInteger(value, cast<IntegerType>(element))) {
    if (std::trunc(value) == value)
      return success();
    slug = "literal-type";
  }
  return emitDetailedError(location, {.attribute = name.str()}, quotedName(location, op),
                           " expects '", name, "' to be a value of ", toText(element), ", but got ",
                           textOf(value), " [", slug, "]");
}

} // namespace tfc::dfg
