//===- Integers.cpp - Integer arithmetic ----------------------------------===//
//
// Sections 9.7.1 and 9.7.2. Results wrap around; the carry of a thread is a row of its own.
// Division by zero, whose result a GPU leaves open, is an error here.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/instructions/Elementwise.h"
#include <algorithm>

namespace tfc::gpu {

using enum Scalar;

static constexpr auto kInteger = {U16, U32, U64, S16, S32, S64};

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

template <typename T> using UnsignedOf = std::make_unsigned_t<T>;
/// A type without undefined overflow and promotion.
template <typename T> using WorkOf = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

static constexpr auto kAdd = [](auto a, auto b) {
  return static_cast<WorkOf<decltype(a)>>(a) + static_cast<WorkOf<decltype(a)>>(b);
};
static constexpr auto kSubtract = [](auto a, auto b) {
  return static_cast<WorkOf<decltype(a)>>(a) - static_cast<WorkOf<decltype(a)>>(b);
};

static int32_t saturate(int64_t value) {
  return static_cast<int32_t>(std::clamp<int64_t>(value, INT32_MIN, INT32_MAX));
}

/// Adds or subtracts with a carry of `bits` bits: the operands are a, b and the carry; results are
/// the sum, and the carry if it is kept.
template <typename T, bool IsSubtraction, bool HasCarryIn, bool HasCarryOut>
static void addCarry(Warp &warp, const Instruction &i, uint32_t active) {
  uint64_t *result = warp.cells(i.operands[0]);
  const Row *sources = &i.operands[1 + HasCarryOut];
  const uint64_t *a = warp.cells(sources[0]), *b = warp.cells(sources[1]);
  uint64_t carry = HasCarryIn ? warp.predicate(sources[2]) : 0;
  uint32_t carries = 0;
  forEachLane(active, [&](unsigned lane) {
    auto x = static_cast<T>(a[lane]), y = static_cast<T>(b[lane]);
    T sum;
    bool in = carry >> lane & 1, out;
    if (IsSubtraction)
      out = static_cast<bool>(int(__builtin_sub_overflow(x, y, &sum)) |
                              int(__builtin_sub_overflow(sum, T(in), &sum)));
    else
      out = static_cast<bool>(int(__builtin_add_overflow(x, y, &sum)) |
                              int(__builtin_add_overflow(sum, T(in), &sum)));
    result[lane] = sum;
    carries |= uint32_t(out) << lane;
  });
  if (HasCarryOut)
    warp.setPredicate(i.operands[1], active, carries);
}

template <typename T>
static Instruction::Execute chooseCarry(bool isSubtraction, bool isIn, bool isOut) {
  if (isSubtraction)
    return isIn ? (isOut ? addCarry<T, true, true, true> : addCarry<T, true, true, false>)
                : addCarry<T, true, false, true>;
  return isIn ? (isOut ? addCarry<T, false, true, true> : addCarry<T, false, true, false>)
              : addCarry<T, false, false, true>;
}

/// add.cc, addc{.cc}, sub.cc, subc{.cc} (9.7.2).
static void decodeCarry(Decoder &d, bool isSubtraction, bool isIn, bool isOut) {
  Scalar type = d.takeType({U32, S32, U64, S64});
  d.endModifiers();
  d.requireCount(3);
  d.addResult(d.operand(0), type);
  if (isOut) {
    ++d.instruction.results;
    d.addRow(kCarryRow);
  }
  d.addSource(d.operand(1), type);
  d.addSource(d.operand(2), type);
  if (isIn)
    d.addRow(kCarryRow);
  d.setExecute(bitsOf(type) == 32 ? chooseCarry<uint32_t>(isSubtraction, isIn, isOut)
                                  : chooseCarry<uint64_t>(isSubtraction, isIn, isOut),
               Class::Integer);
}

/// add{.sat}.type d, a, b: .sat for s32 alone.
static void decodeSum(Decoder &d, bool isSubtraction) {
  if (d.takeIf("cc"))
    return decodeCarry(d, isSubtraction, false, true);
  if (d.takeIf("sat")) {
    d.takeType({S32});
    d.bindSame(S32, 2);
    auto add = [](int64_t a, int64_t b) { return saturate(a + b); };
    auto subtract = [](int64_t a, int64_t b) { return saturate(a - b); };
    return d.setExecute(isSubtraction ? elementwise<subtract, int32_t, int32_t, int32_t>
                                      : elementwise<add, int32_t, int32_t, int32_t>,
                        Class::Integer);
  }
  Scalar type = d.takeType(kInteger);
  d.bindSame(type, 2);
  d.setExecute(isSubtraction ? forBits<kSubtract, 2>(type) : forBits<kAdd, 2>(type),
               Class::Integer);
}

static void decodeAdd(Decoder &d) { decodeSum(d, false); }
static void decodeSubtract(Decoder &d) { decodeSum(d, true); }
static void decodeAddCarry(Decoder &d) {
  bool isOut = d.takeIf("cc");
  decodeCarry(d, false, true, isOut);
}
static void decodeSubtractCarry(Decoder &d) {
  bool isOut = d.takeIf("cc");
  decodeCarry(d, true, true, isOut);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// A type of twice the size.
template <typename T> struct Double;
template <> struct Double<uint16_t> {
  using Type = uint32_t;
};
template <> struct Double<int16_t> {
  using Type = int32_t;
};
template <> struct Double<uint32_t> {
  using Type = uint64_t;
};
template <> struct Double<int32_t> {
  using Type = int64_t;
};
template <> struct Double<uint64_t> {
  using Type = unsigned __int128;
};
template <> struct Double<int64_t> {
  using Type = __int128;
};

static constexpr auto kMultiply = [](auto a, auto b) {
  return static_cast<WorkOf<decltype(a)>>(a) * static_cast<WorkOf<decltype(a)>>(b);
};
static constexpr auto kMultiplyAdd = [](auto a, auto b, auto c) {
  using Work = WorkOf<decltype(a)>;
  return static_cast<Work>(a) * static_cast<Work>(b) + static_cast<Work>(c);
};
static constexpr auto kMultiplyHigh = [](auto a, auto b) {
  using T = decltype(a);
  return (typename Double<T>::Type(a) * b) >> (8 * sizeof(T));
};
static constexpr auto kMultiplyHighAdd = [](auto a, auto b, auto c) {
  return static_cast<UnsignedOf<decltype(a)>>(kMultiplyHigh(a, b)) +
         static_cast<UnsignedOf<decltype(a)>>(c);
};
static constexpr auto kMultiplyWide = [](auto a, auto b) {
  return typename Double<decltype(a)>::Type(a) * b;
};

template <typename T> static constexpr Instruction::Execute wide(bool isAdd) {
  using Wide = typename Double<T>::Type;
  constexpr auto multiplyAdd = [](T a, T b, Wide c) {
    return static_cast<UnsignedOf<Wide>>(Wide(a) * b) + static_cast<UnsignedOf<Wide>>(c);
  };
  return isAdd ? elementwise<multiplyAdd, Wide, T, T, Wide>
               : elementwise<kMultiplyWide, Wide, T, T>;
}

static void decodeWide(Decoder &d, bool isAdd) {
  Scalar type = d.takeType({U16, U32, S16, S32});
  bool isShort = bitsOf(type) == 16;
  Scalar result = isSigned(type) ? (isShort ? S32 : S64) : (isShort ? U32 : U64);
  if (isAdd)
    d.bind({result}, {type, type, result});
  else
    d.bind({result}, {type, type});
  d.setExecute(isSigned(type) ? (isShort ? wide<int16_t>(isAdd) : wide<int32_t>(isAdd))
                              : (isShort ? wide<uint16_t>(isAdd) : wide<uint32_t>(isAdd)),
               Class::Integer);
}

/// mul.hi, .lo, .wide (9.7.1.3); 64-bit operands have no .wide.
static void decodeMultiply(Decoder &d) {
  int half = d.requireOneOf({"lo", "hi", "wide"});
  if (half == 2)
    return decodeWide(d, false);
  Scalar type = d.takeType(kInteger);
  d.bindSame(type, 2);
  d.setExecute(half == 0 ? forBits<kMultiply, 2>(type) : forInteger<kMultiplyHigh, 2>(type),
               Class::Integer);
}

/// mad.lo.cc, madc.hi and the like: the product is that of mul, the sum that of add.cc.
template <typename T, bool IsHigh, bool IsIn, bool IsOut>
static void multiplyAddCarry(Warp &warp, const Instruction &i, uint32_t active) {
  uint64_t *result = warp.cells(i.operands[0]);
  const Row *sources = &i.operands[1 + IsOut];
  const uint64_t *a = warp.cells(sources[0]), *b = warp.cells(sources[1]),
                 *c = warp.cells(sources[2]);
  uint64_t carry = IsIn ? warp.predicate(sources[3]) : 0;
  uint32_t carries = 0;
  forEachLane(active, [&](unsigned lane) {
    auto x = fromCell<T>(a[lane]), y = fromCell<T>(b[lane]);
    using Unsigned = UnsignedOf<T>;
    auto product = static_cast<Unsigned>(IsHigh ? kMultiplyHigh(x, y) : kMultiply(x, y));
    auto sum = static_cast<unsigned __int128>(product) + static_cast<Unsigned>(c[lane]) +
               (carry >> lane & 1);
    result[lane] = static_cast<Unsigned>(sum);
    carries |= uint32_t(sum >> (8 * sizeof(T)) & 1) << lane;
  });
  if (IsOut)
    warp.setPredicate(i.operands[1], active, carries);
}

template <typename T>
static Instruction::Execute chooseCarryOf(bool isHigh, bool isIn, bool isOut) {
  if (isHigh)
    return !isIn   ? multiplyAddCarry<T, true, false, true>
           : isOut ? multiplyAddCarry<T, true, true, true>
                   : multiplyAddCarry<T, true, true, false>;
  return !isIn   ? multiplyAddCarry<T, false, false, true>
         : isOut ? multiplyAddCarry<T, false, true, true>
                 : multiplyAddCarry<T, false, true, false>;
}

static void decodeMultiplyAddCarryOf(Decoder &d, bool isHigh, bool isIn, bool isOut) {
  Scalar type = d.takeType({U32, S32, U64, S64});
  d.endModifiers();
  d.requireCount(4);
  d.addResult(d.operand(0), type);
  if (isOut) {
    ++d.instruction.results;
    d.addRow(kCarryRow);
  }
  for (int i = 1; i < 4; ++i)
    d.addSource(d.operand(i), type);
  if (isIn)
    d.addRow(kCarryRow);
  Instruction::Execute execute = type == U32   ? chooseCarryOf<uint32_t>(isHigh, isIn, isOut)
                                 : type == S32 ? chooseCarryOf<int32_t>(isHigh, isIn, isOut)
                                 : type == U64 ? chooseCarryOf<uint64_t>(isHigh, isIn, isOut)
                                               : chooseCarryOf<int64_t>(isHigh, isIn, isOut);
  d.setExecute(execute, Class::Integer);
}

static void decodeMultiplyAddCarry(Decoder &d) {
  int half = d.requireOneOf({"lo", "hi"});
  decodeMultiplyAddCarryOf(d, half == 1, true, d.takeIf("cc"));
}

/// mad.hi, .lo, .wide, and mad.hi.sat.s32 (9.7.1.4).
static void decodeMultiplyAdd(Decoder &d) {
  d.instruction.multiplyAdds = 1;
  int half = d.requireOneOf({"lo", "hi", "wide"});
  if (half == 2)
    return decodeWide(d, true);
  if (d.takeIf("cc"))
    return decodeMultiplyAddCarryOf(d, half == 1, false, true);
  if (half == 1 && d.takeIf("sat")) {
    d.takeType({S32});
    d.bindSame(S32, 3);
    auto execute = [](int32_t a, int32_t b, int32_t c) {
      return saturate(int64_t(kMultiplyHigh(a, b)) + c);
    };
    return d.setExecute(elementwise<execute, int32_t, int32_t, int32_t, int32_t>, Class::Integer);
  }
  Scalar type = d.takeType(kInteger);
  d.bindSame(type, 3);
  d.setExecute(half == 0 ? forBits<kMultiplyAdd, 3>(type) : forInteger<kMultiplyHighAdd, 3>(type),
               Class::Integer);
}

/// The low 24 bits of a, extended by their sign if T has one.
template <typename T> static int64_t low24(T a) {
  auto low = static_cast<uint32_t>(a) << 8;
  return std::is_signed_v<T> ? int64_t(static_cast<int32_t>(low) >> 8) : int64_t(low >> 8);
}

static constexpr auto kMultiply24Low = [](auto a, auto b) { return low24(a) * low24(b); };
static constexpr auto kMultiply24High = [](auto a, auto b) { return (low24(a) * low24(b)) >> 16; };

template <auto Product, typename T> static Instruction::Execute product24(bool isAdd) {
  constexpr auto add = [](T a, T b, T c) { return static_cast<uint32_t>(Product(a, b)) + c; };
  return isAdd ? elementwise<add, T, T, T, T> : elementwise<Product, T, T, T>;
}

/// mul24.hi, .lo and mad24 (9.7.1.5): of the product's 48 bits, the highest or the lowest 32.
static void decode24(Decoder &d, bool isAdd) {
  bool isHigh = d.requireOneOf({"lo", "hi"}) == 1;
  Scalar type = d.takeType({U32, S32});
  d.bindSame(type, isAdd ? 3 : 2);
  d.instruction.multiplyAdds = isAdd;
  auto execute = isSigned(type) ? (isHigh ? product24<kMultiply24High, int32_t>(isAdd)
                                          : product24<kMultiply24Low, int32_t>(isAdd))
                                : (isHigh ? product24<kMultiply24High, uint32_t>(isAdd)
                                          : product24<kMultiply24Low, uint32_t>(isAdd));
  d.setExecute(execute, Class::Integer);
}

static void decodeMultiply24(Decoder &d) { decode24(d, false); }
static void decodeMultiplyAdd24(Decoder &d) { decode24(d, true); }

//===----------------------------------------------------------------------===//
// Division
//===----------------------------------------------------------------------===//

/// Division by zero, whose result is unspecified (9.7.1.8), is an error.
template <typename T, bool IsRemainder>
static void divide(Warp &warp, const Instruction &i, uint32_t active) {
  uint64_t *result = warp.cells(i.operands[0]);
  const uint64_t *a = warp.cells(i.operands[1]), *b = warp.cells(i.operands[2]);
  forEachLane(active, [&](unsigned lane) {
    auto x = fromCell<T>(a[lane]), y = fromCell<T>(b[lane]);
    if (y == 0)
      return warp.fail(lane, "division by zero");
    bool isMinus = std::is_signed_v<T> && y == T(-1); // overflows for the lowest x
    T quotient = isMinus ? static_cast<T>(0 - UnsignedOf<T>(x)) : static_cast<T>(x / y);
    result[lane] = toCell<T>(IsRemainder ? (isMinus ? T(0) : static_cast<T>(x % y)) : quotient);
  });
}

template <bool IsRemainder> static void decodeDivision(Decoder &d) {
  Scalar type = d.takeType(kInteger);
  d.bindSame(type, 2);
  Instruction::Execute execute = type == U16   ? divide<uint16_t, IsRemainder>
                                 : type == U32 ? divide<uint32_t, IsRemainder>
                                 : type == U64 ? divide<uint64_t, IsRemainder>
                                 : type == S16 ? divide<int16_t, IsRemainder>
                                 : type == S32 ? divide<int32_t, IsRemainder>
                                               : divide<int64_t, IsRemainder>;
  d.setExecute(execute, Class::Integer);
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

static constexpr auto kNegate = [](auto a) { return 0 - static_cast<WorkOf<decltype(a)>>(a); };
static constexpr auto kAbsolute = [](auto a) {
  auto work = static_cast<WorkOf<decltype(a)>>(a);
  return a < 0 ? 0 - work : work;
};
static constexpr auto kMinimum = [](auto a, auto b) { return std::min(a, b); };
static constexpr auto kMaximum = [](auto a, auto b) { return std::max(a, b); };
/// c + |a - b| (9.7.1.7)
static constexpr auto kSumOfDifference = [](auto a, auto b, auto c) {
  using Work = WorkOf<decltype(a)>;
  return Work(c) + (a < b ? Work(b) - Work(a) : Work(a) - Work(b));
};

template <auto Function, unsigned Count> static void decodeInteger(Decoder &d) {
  Scalar type = d.takeType(kInteger);
  d.bindSame(type, Count);
  d.setExecute(forInteger<Function, Count>(type), Class::Integer);
}

template <auto Function> static void decodeSigned(Decoder &d) {
  Scalar type = d.takeType({S16, S32, S64});
  d.bindSame(type, 1);
  d.setExecute(forInteger<Function, 1>(type), Class::Integer);
}

/// The sum of c and the products of `Count` parts of a with bytes of b, from byte `First` on.
template <typename A, typename B, unsigned Count, unsigned First>
static constexpr auto kDot = [](uint32_t a, uint32_t b, uint32_t c) {
  for (unsigned i = 0; i < Count; ++i) {
    auto x = static_cast<A>(a >> (i * 8 * sizeof(A)));
    auto y = static_cast<B>(b >> ((i + First) * 8));
    c += static_cast<uint32_t>(int32_t(x) * int32_t(y));
  }
  return c;
};

template <typename A, typename B, unsigned Count, unsigned First>
static constexpr Instruction::Execute kRunDot =
    elementwise<kDot<A, B, Count, First>, uint32_t, uint32_t, uint32_t, uint32_t>;

/// dp4a.atype.btype d, a, b, c (9.7.1.22): c is signed if a or b is.
static void decodeDot4(Decoder &d) {
  Scalar a = d.takeType({U32, S32}), b = d.takeType({U32, S32});
  Scalar c = isSigned(a) || isSigned(b) ? S32 : U32;
  d.bind({c}, {a, b, c});
  d.instruction.multiplyAdds = 4;
  d.setExecute(
      isSigned(a)
          ? (isSigned(b) ? kRunDot<int8_t, int8_t, 4, 0> : kRunDot<int8_t, uint8_t, 4, 0>)
          : (isSigned(b) ? kRunDot<uint8_t, int8_t, 4, 0> : kRunDot<uint8_t, uint8_t, 4, 0>),
      Class::Integer);
}

template <unsigned First> static Instruction::Execute chooseDot2(Scalar a, Scalar b) {
  if (isSigned(a))
    return isSigned(b) ? kRunDot<int16_t, int8_t, 2, First> : kRunDot<int16_t, uint8_t, 2, First>;
  return isSigned(b) ? kRunDot<uint16_t, int8_t, 2, First> : kRunDot<uint16_t, uint8_t, 2, First>;
}

/// dp2a.lo, .hi (9.7.1.23): two halves of a with the lower or higher bytes of b.
static void decodeDot2(Decoder &d) {
  bool isHigh = d.requireOneOf({"lo", "hi"}) == 1;
  Scalar a = d.takeType({U32, S32}), b = d.takeType({U32, S32});
  Scalar c = isSigned(a) || isSigned(b) ? S32 : U32;
  d.bind({c}, {a, b, c});
  d.instruction.multiplyAdds = 2;
  d.setExecute(isHigh ? chooseDot2<2>(a, b) : chooseDot2<0>(a, b), Class::Integer);
}

const Entry kIntegerEntries[] = {{"add", Entry::Integers, decodeAdd},
                                 {"sub", Entry::Integers, decodeSubtract},
                                 {"addc", Entry::Integers, decodeAddCarry},
                                 {"subc", Entry::Integers, decodeSubtractCarry},
                                 {"mul", Entry::Integers, decodeMultiply},
                                 {"mad", Entry::Integers, decodeMultiplyAdd},
                                 {"madc", Entry::Integers, decodeMultiplyAddCarry},
                                 {"mul24", Entry::Integers, decodeMultiply24},
                                 {"mad24", Entry::Integers, decodeMultiplyAdd24},
                                 {"div", Entry::Integers, decodeDivision<false>},
                                 {"rem", Entry::Integers, decodeDivision<true>},
                                 {"abs", Entry::Integers, decodeSigned<kAbsolute>},
                                 {"neg", Entry::Integers, decodeSigned<kNegate>},
                                 {"min", Entry::Integers, decodeInteger<kMinimum, 2>},
                                 {"max", Entry::Integers, decodeInteger<kMaximum, 2>},
                                 {"sad", Entry::Integers, decodeInteger<kSumOfDifference, 3>},
                                 {"dp4a", Entry::Integers, decodeDot4},
                                 {"dp2a", Entry::Integers, decodeDot2},
                                 {}};

} // namespace tfc::gpu
