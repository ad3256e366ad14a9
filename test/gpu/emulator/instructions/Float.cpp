//===- Float.cpp - Arithmetic of f32 and f64 ------------------------------===//
//
// Sections 9.7.3 of the PTX ISA: IEEE 754 arithmetic with a rounding of its own, flushed denormals
// (.ftz) and saturation to [0, 1] (.sat). Results that are NaN have one bit pattern, 0x7fffffff in
// f32. Compiled so that the rounding may change.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/instructions/Cells.h"
#include <cfenv>

namespace tfc::gpu {

namespace {

/// Modifiers of an instruction, in Instruction::value.
enum Modifier : int64_t {
  kRounding = 3, // in the order of takeOneOf below
  kFlush = 4,
  kSaturate = 8
};

constexpr int kRoundings[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

/// Sets the rounding for the lifetime of the object.
class Rounding {
public:
  explicit Rounding(int64_t modifiers) : mode(kRoundings[modifiers & kRounding]) {
    if (mode != FE_TONEAREST)
      fesetround(mode);
  }
  ~Rounding() {
    if (mode != FE_TONEAREST)
      fesetround(FE_TONEAREST);
  }

private:
  int mode;
};

template <typename T> T flush(T value, int64_t modifiers) {
  if constexpr (std::is_same_v<T, float>)
    if ((modifiers & kFlush) && std::fpclassify(value) == FP_SUBNORMAL)
      return std::copysign(0.0f, value);
  return value;
}

template <typename T> T finish(T value, int64_t modifiers) {
  if (std::isnan(value))
    return modifiers & kSaturate ? T(0)
           : sizeof(T) == 4      ? fromCell<T>(0x7fffffff)
                                 : fromCell<T>(0x7fffffffffffffff);
  value = flush(value, modifiers);
  if (modifiers & kSaturate)
    value = value <= 0 ? T(0) : std::min(value, T(1));
  return value;
}

/// Applies `Op` to the sources of each lane.
template <typename T, typename Op, int sources>
void arithmetic(Warp &warp, const Instruction &instruction, uint32_t active) {
  int64_t modifiers = instruction.value;
  Rounding rounding(modifiers);
  setResults<sources>(warp, instruction, active, [=](unsigned, const uint64_t *cells) {
    T x[sources];
    for (int i = 0; i < sources; ++i)
      x[i] = flush(fromCell<T>(cells[i]), modifiers);
    return toCell(finish(T(Op::apply(x)), modifiers));
  });
}

struct Add {
  template <typename T> static T apply(const T *x) { return x[0] + x[1]; }
};
struct Sub {
  template <typename T> static T apply(const T *x) { return x[0] - x[1]; }
};
struct Mul {
  template <typename T> static T apply(const T *x) { return x[0] * x[1]; }
};
struct Fma {
  template <typename T> static T apply(const T *x) { return std::fma(x[0], x[1], x[2]); }
};
struct Div {
  template <typename T> static T apply(const T *x) { return x[0] / x[1]; }
};
struct Sqrt {
  template <typename T> static T apply(const T *x) { return std::sqrt(x[0]); }
};
struct Reciprocal {
  template <typename T> static T apply(const T *x) { return T(1) / x[0]; }
};
/// A number and a NaN: the number, unless .NaN; -0 is less than +0.
template <bool isMax, bool keepsNaN> struct Extremum {
  template <typename T> static T apply(const T *x) {
    bool isFirstNaN = std::isnan(x[0]), isSecondNaN = std::isnan(x[1]);
    if (isFirstNaN || isSecondNaN)
      return keepsNaN ? std::numeric_limits<T>::quiet_NaN() : x[isFirstNaN];
    if (x[0] == x[1])
      return std::signbit(x[0]) == isMax ? x[1] : x[0];
    return (x[0] < x[1]) == isMax ? x[1] : x[0];
  }
};
struct Abs {
  template <typename T> static T apply(const T *x) { return std::fabs(x[0]); }
};
struct Neg {
  template <typename T> static T apply(const T *x) { return -x[0]; }
};

/// Only bits: the sign of the first source, the rest of the second one.
template <typename T> void copySign(Warp &warp, const Instruction &instruction, uint32_t active) {
  constexpr uint64_t kSign = uint64_t(1) << (8 * sizeof(T) - 1);
  setResults<2>(warp, instruction, active,
                [](unsigned, const uint64_t *x) { return (x[0] & kSign) | (x[1] & (kSign - 1)); });
}

} // namespace

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

template <typename Op, int sources> static Instruction::Execute executeOf(Scalar type) {
  return type == Scalar::F32   ? &arithmetic<float, Op, sources>
         : type == Scalar::F64 ? &arithmetic<double, Op, sources>
                               : nullptr;
}

/// Takes {.rnd}{.ftz}{.sat}.type, and says whether there was a rounding.
static bool takeModifiers(Form &form, Scalar &type, bool &isRounded) {
  int rounding = form.takeOneOf({"rn", "rz", "rm", "rp"});
  isRounded = rounding >= 0;
  bool isFlushed = form.take("ftz"), isSaturated = form.take("sat");
  type = form.takeType();
  form.out.value = std::max(rounding, 0) | (isFlushed ? kFlush : 0) | (isSaturated ? kSaturate : 0);
  return isFloat(type) && !(type == Scalar::F64 && (isFlushed || isSaturated));
}

/// Without a rounding it is to nearest, and products may be fused with sums, which this does not.
template <typename Op, int sources> static bool decodeArithmetic(Form &form) {
  Scalar type;
  bool isRounded;
  if (!takeModifiers(form, type, isRounded))
    return form.unknown();
  bool needsRounding = std::is_same_v<Op, Fma> || std::is_same_v<Op, Div> ||
                       std::is_same_v<Op, Sqrt> || std::is_same_v<Op, Reciprocal>;
  if (needsRounding && !isRounded)
    return form.unknown();
  form.out.multiplyAdds = std::is_same_v<Op, Fma>;
  return setExecute(form, executeOf<Op, sources>(type), Class::Float) &&
         form.decodeSame(type, sources);
}

template <bool isMax> static bool decodeExtremum(Form &form) {
  bool isFlushed = form.take("ftz"), keepsNaN = form.take("NaN");
  Scalar type = form.takeType();
  if (!isFloat(type) || (type == Scalar::F64 && (isFlushed || keepsNaN)))
    return form.unknown();
  form.out.value = isFlushed ? kFlush : 0;
  Instruction::Execute execute = keepsNaN ? executeOf<Extremum<isMax, true>, 2>(type)
                                          : executeOf<Extremum<isMax, false>, 2>(type);
  return setExecute(form, execute, Class::Float) && form.decodeSame(type, 2);
}

template <typename Op> static bool decodeSign(Form &form) {
  bool isFlushed = form.take("ftz");
  Scalar type = form.takeType();
  if (!isFloat(type) || (type == Scalar::F64 && isFlushed))
    return form.unknown();
  form.out.value = isFlushed ? kFlush : 0;
  return setExecute(form, executeOf<Op, 1>(type), Class::Float) && form.decodeSame(type, 1);
}

static bool decodeCopySign(Form &form) {
  Scalar type = form.takeType();
  Instruction::Execute execute = type == Scalar::F32   ? &copySign<float>
                                 : type == Scalar::F64 ? &copySign<double>
                                                       : nullptr;
  return setExecute(form, execute, Class::Float) && form.decodeSame(type, 2);
}

/// The exact forms of instructions that Approximate.cpp has too.
bool decodeExactDivision(Form &form) { return decodeArithmetic<Div, 2>(form); }
bool decodeExactRoot(Form &form) { return decodeArithmetic<Sqrt, 1>(form); }
bool decodeExactReciprocal(Form &form) { return decodeArithmetic<Reciprocal, 1>(form); }

void addFloat(DecodeTable &table) {
  table["add/f"] = decodeArithmetic<Add, 2>;
  table["sub/f"] = decodeArithmetic<Sub, 2>;
  table["mul/f"] = decodeArithmetic<Mul, 2>;
  table["fma/f"] = decodeArithmetic<Fma, 3>;
  table["mad/f"] = decodeArithmetic<Fma, 3>;
  table["min/f"] = decodeExtremum<false>;
  table["max/f"] = decodeExtremum<true>;
  table["abs/f"] = decodeSign<Abs>;
  table["neg/f"] = decodeSign<Neg>;
  table["copysign"] = decodeCopySign;
}

} // namespace tfc::gpu
