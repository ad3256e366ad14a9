// Implements the rules of conversions of types, and of quantisation. Types that the language lacks
// are stored as codes in 8-bit integers, which these operations alone read and write.

#include "frontend/onnx/Dtypes.h"
#include "frontend/onnx/NodeBuilder.h"
#include <cmath>

using namespace mlir;
using namespace llvm;

namespace tfc::onnx {

using dfg::DimExpr;

static LibraryCall::Argument integerArgument(StringRef name, int64_t value) {
  return {name, dfg::Shape{DimExpr(value)}};
}

static NodeValue table(NodeBuilder &node, ArrayRef<float> values) {
  auto type = RankedTensorType::get(int64_t(values.size()), Float32Type::get(node.context()));
  return node.builder().constant(DenseElementsAttr::get(type, values), node.location());
}

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

/// Returns the elements of `x` as numbers: decoded if they are codes, else unchanged.
static NodeValue decode(NodeBuilder &node, NodeValue x) {
  if (!x || !x.getCode())
    return x;
  const fltSemantics *format = floatFormatOf(x.getCode());
  if (!format)
    return x.withCode(0);
  unsigned bits = bitsOf(x.getCode());
  SmallVector<float> values;
  for (unsigned code = 0; code < 1u << bits; ++code) {
    APFloat value(*format, APInt(bits, code));
    bool isNan = value.isNaN(), losesInfo;
    value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &losesInfo);
    values.push_back(isNan ? NAN : value.convertToFloat());
  }
  NodeValue index = node.cast(x.withCode(0), IntegerType::get(node.context(), 32));
  return node.op("gather", {table(node, values), index}, node.attrs.integer("axis", 0));
}

/// Returns integers of 4 or 2 bits: the lowest ones of `x`.
static NodeValue encodeIntegers(NodeBuilder &node, NodeValue x, int64_t dtype) {
  Type type = codeTypeOf(node.context(), dtype);
  NodeValue wide = node.cast(x, IntegerType::get(node.context(), 32));
  NodeValue low = node.library().compute("_low_bits", {wide},
                                         {integerArgument("range", int64_t(1) << bitsOf(dtype)),
                                          {"signed", !type.isUnsignedInteger()}});
  return node.cast(low, type);
}

static int64_t codeOf(const APFloat &value) { return value.bitcastToAPInt().getZExtValue(); }

/// Returns codes of floats that are powers of two: the next one above, below, or nearest.
static NodeValue encodeExponents(NodeBuilder &node, NodeValue x) {
  std::string mode = node.node.has("round_mode") ? node.node.attr("round_mode").text : "up";
  double factor = mode == "up" ? 1 : mode == "down" ? 2 : mode == "nearest" ? 1.5 : 0;
  if (factor == 0) {
    node.error() << "there is no rounding '" << mode << "' [graph-attribute]";
    return {};
  }
  SmallVector<float> limits;
  for (int exponent = -127; exponent < 127; ++exponent)
    limits.push_back(float(std::ldexp(factor, exponent)));
  return node.library().compute("_exponent_codes", {x, table(node, limits)},
                                {{"includes_limit", mode != "up"}});
}

/// Returns codes of the nearest floats of a format. Larger numbers become the largest one with
/// `saturates`, else infinity or NaN.
static NodeValue encodeFloats(NodeBuilder &node, NodeValue x, const fltSemantics &format,
                              bool saturates) {
  int mantissa = int(APFloat::semanticsPrecision(format)) - 1;
  int least = APFloat::semanticsMinExponent(format), most = APFloat::semanticsMaxExponent(format);
  SmallVector<float> steps, units;
  for (int exponent = least; exponent <= most; ++exponent) {
    units.push_back(std::ldexp(1.0f, exponent - mantissa));
    if (exponent > least)
      steps.push_back(std::ldexp(1.0f, exponent));
  }
  int64_t largest = codeOf(APFloat::getLargest(format));
  int64_t sign = int64_t(1) << (APFloat::semanticsSizeInBits(format) - 1);
  bool hasNan = APFloat::semanticsHasNaN(format);
  int64_t invalid = hasNan ? codeOf(APFloat::getNaN(format)) : sign;
  int64_t overflow = APFloat::semanticsHasInf(format) ? codeOf(APFloat::getInf(format))
                     : hasNan                         ? invalid
                                                      : largest;
  return node.library().compute(
      "_float_codes", {x, table(node, steps), table(node, units)},
      {integerArgument("scale", int64_t(1) << mantissa),
       integerArgument("largest", largest),
       integerArgument("overflow", saturates ? largest : overflow),
       integerArgument("invalid", invalid),
       integerArgument("sign", sign),
       {"signs_zero", codeOf(APFloat::getZero(format, /*Negative=*/true)) != 0}});
}

/// Returns the codes of numbers in a coded type.
static NodeValue encode(NodeBuilder &node, NodeValue x, int64_t dtype) {
  if (!x)
    return {};
  const fltSemantics *format = floatFormatOf(dtype);
  if (!format)
    return encodeIntegers(node, x, dtype).withCode(dtype);
  x = node.cast(x, Float32Type::get(node.context()));
  if (x && format == &APFloat::Float8E8M0FNU())
    return encodeExponents(node, x).withCode(dtype);
  bool saturates = node.node.number("saturate", 1) != 0;
  return x ? encodeFloats(node, x, *format, saturates).withCode(dtype) : x;
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

/// Returns the floats of input 0, rounded toward 0, as sizes of which the call finds those that
/// floats round, as the size of an image times 1.3.
static std::optional<dfg::Shape> foundSizes(NodeBuilder &node, NodeValue x) {
  Value given = node.hasInput(0) ? node.in(0).getValue() : Value();
  auto bounds = given ? evaluateBounds(given) : std::nullopt;
  std::string key = bounds ? describeComputation(given) : "";
  if (key.empty())
    return std::nullopt;
  int64_t count = bounds->size();
  NodeValue flat = node.reshape(node.cast(x, IntegerType::get(node.context(), 64)), {count});
  dfg::Shape sizes;
  for (auto [i, bound] : enumerate(*bounds)) {
    NodeValue element =
        bound.isBound ? node.reshape(node.slice(flat, {int64_t(i)}, {1}), {}) : NodeValue();
    std::optional<DimExpr> size =
        bound.isBound ? node.foundSize(element, bound.ratio.limit(), key + " " + std::to_string(i))
                      : bound.ratio.truncate();
    if (!size)
      return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

/// Sizes may be computed in floats.
static NodeValue castTo(NodeBuilder &node, Type type) {
  NodeValue x = decode(node, node.in(0));
  auto shape = x ? dfg::constantsOf(shapeOf(x)) : std::nullopt;
  bool isWide = type && type.isSignlessInteger(64);
  bool mayBeSizes = shape && isFloat(x) && (isWide || (type && type.isSignlessInteger(32)));
  std::optional<dfg::Shape> values =
      mayBeSizes ? truncateReals(node.valueOf(x), isWide) : std::nullopt;
  if (mayBeSizes && !values)
    values = foundSizes(node, x);
  std::optional<dfg::SizeTensor> sizes =
      values ? dfg::makeSizes(type, *shape, *values) : std::nullopt;
  return sizes ? NodeValue(std::move(*sizes)) : node.cast(x, type);
}

static Outcome castToDtype(NodeBuilder &node, int64_t dtype) {
  if (isCoded(dtype))
    return node.done({encode(node, decode(node, node.in(0)), dtype)});
  return node.done({castTo(node, node.dtypeOf(dtype))});
}

static Outcome buildCast(NodeBuilder &node, const OpRule &) {
  return castToDtype(node, node.node.number("to"));
}

/// The first versions name the type.
static Outcome buildOldCast(NodeBuilder &node, const OpRule &) {
  const std::string &name = node.node.attr("to").text;
  std::optional<int64_t> dtype = dtypeByName(name);
  if (!dtype)
    return node.fail("there is no type '{}' [graph-attribute]", name);
  return castToDtype(node, *dtype);
}

static Outcome buildCastLike(NodeBuilder &node, const OpRule &) {
  NodeValue like = node.in(1);
  if (!like)
    return Outcome::Failed;
  if (like.getCode())
    return castToDtype(node, like.getCode());
  return node.done({castTo(node, elementOf(like))});
}

/// Returns the bits that an element of this type has where it is not stored.
static int64_t widthOf(Type type, int64_t code) {
  return code ? bitsOf(code) : type.getIntOrFloatBitWidth() == 1 ? 8 : type.getIntOrFloatBitWidth();
}

/// Codes are the bits of the types that they stand for. A bool has the bits of 0 or 1.
static NodeValue withBits(NodeBuilder &node, NodeValue x, Type type, int64_t code) {
  if (code && bitsOf(code) < 8)
    return encodeIntegers(node, x, code);
  if (elementOf(x).isInteger(1) || type.isInteger(1))
    return node.cast(x, type);
  return elementOf(x) == type ? x : node.op("bitcast", x, node.attrs.type("dtype", type));
}

static Outcome buildBitCast(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  int64_t dtype = node.node.number("to"), code = isCoded(dtype) ? dtype : 0;
  Type type = code ? codeTypeOf(node.context(), code) : node.dtypeOf(dtype);
  if (!x || !type)
    return Outcome::Failed;
  if (widthOf(elementOf(x), x.getCode()) != widthOf(type, code))
    return node.fail("expected a type of the width of the elements [graph-attribute]");
  NodeValue y = withBits(node, x.withCode(0), type, code);
  return node.done({y ? y.withCode(code) : y});
}

//===----------------------------------------------------------------------===//
// Quantisation
//===----------------------------------------------------------------------===//

/// Returns the coded type of a quantised result, or 0.
static int64_t quantizedCode(NodeBuilder &node) {
  if (int64_t dtype = node.node.number("output_dtype"))
    return isCoded(dtype) ? dtype : 0;
  return node.hasInput(2) ? node.in(2).getCode() : 0;
}

/// Integers are rounded and limited to their range; floats are rounded when they are encoded.
static Outcome buildQuantize(NodeBuilder &node, const OpRule &) {
  int64_t code = quantizedCode(node);
  if (!code)
    return node.library().build("_quantize_linear");
  SmallVector<LibraryCall::Argument> arguments;
  bool isInteger = !floatFormatOf(code);
  if (isInteger) {
    bool isSigned = !codeTypeOf(node.context(), code).isUnsignedInteger();
    int64_t count = int64_t(1) << bitsOf(code), least = isSigned ? -count / 2 : 0;
    arguments = {{"least", double(least)}, {"most", double(least + count - 1)}};
  }
  if (node.hasInput(2)) {
    Value zero = node.valueOf(decode(node, node.in(2)));
    if (!zero)
      return Outcome::Failed;
    arguments.push_back({"zero", zero});
  }
  NodeValue y = node.library().compute("_quantized", {node.in(0), node.in(1)}, arguments);
  return node.done({encode(node, y, code)});
}

static Outcome buildDequantize(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  if (!x || !x.getCode())
    return x ? node.library().build("_dequantize_linear") : Outcome::Failed;
  SmallVector<LibraryCall::Argument> arguments;
  if (node.hasInput(2)) {
    Value zero = node.valueOf(decode(node, node.in(2)));
    if (!zero)
      return Outcome::Failed;
    arguments.push_back({"zero", zero});
  }
  return node.done(
      {node.library().compute("_dequantize_linear", {decode(node, x), node.in(1)}, arguments)});
}

static constexpr const char *kQuantized = "axis:int?, block_size:int?, output_dtype:int?";

static constexpr OpRule kRules[] = {
    {"Cast", "1 -> 1; to:string", buildOldCast},
    {"Cast", "1 -> 1; to:int, saturate:int?, round_mode:string?", buildCast, "", 6, Codes::Read},
    {"CastLike", "2 -> 1; saturate:int?, round_mode:string?", buildCastLike, "", 15, Codes::Read},
    {"BitCast", "1 -> 1; to:int", buildBitCast, "", 26, Codes::Read},
    {"QuantizeLinear",
     {"2-3 -> 1; saturate:int?, precision:int?", kQuantized},
     buildQuantize,
     "",
     10,
     Codes::Read},
    {"DequantizeLinear", {"2-3 -> 1", kQuantized}, buildDequantize, "", 10, Codes::Read},
};

ArrayRef<OpRule> castRules() { return kRules; }

} // namespace tfc::onnx
