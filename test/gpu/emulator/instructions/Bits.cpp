//===- Bits.cpp - Logic, shifts and fields of bits ------------------------===//
//
// Sections 9.7.1.9 to 9.7.1.20 and 9.7.7. Shifts clamp their amount.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/instructions/Elementwise.h"
#include <algorithm>

namespace tfc::gpu {

using enum Scalar;

//===----------------------------------------------------------------------===//
// Logic
//===----------------------------------------------------------------------===//

static constexpr auto kAnd = [](auto a, auto b) { return a & b; };
static constexpr auto kOr = [](auto a, auto b) { return a | b; };
static constexpr auto kXor = [](auto a, auto b) { return a ^ b; };
static constexpr auto kNot = [](auto a) { return ~a; };
static constexpr auto kLogicalNot = [](auto a) { return a == 0; };

/// Predicates are masks of lanes, whose other bits stay as they are.
template <auto Function, unsigned Count>
static void logicOfPredicates(Warp &warp, const Instruction &i, uint32_t active) {
  auto a = static_cast<uint32_t>(warp.predicate(i.operands[1]));
  if constexpr (Count == 1)
    warp.setPredicate(i.operands[0], active, Function(a));
  else
    warp.setPredicate(i.operands[0], active,
                      Function(a, static_cast<uint32_t>(warp.predicate(i.operands[2]))));
}

template <auto Function, unsigned Count> static void decodeLogic(Decoder &d) {
  Scalar type = d.takeType({Pred, B16, B32, B64});
  d.bindSame(type, Count);
  d.setExecute(type == Pred ? logicOfPredicates<Function, Count> : forBits<Function, Count>(type),
               Class::Integer);
}

static void decodeLogicalNot(Decoder &d) {
  Scalar type = d.takeType({B16, B32, B64});
  d.bindSame(type, 1);
  d.setExecute(forBits<kLogicalNot, 1>(type), Class::Integer);
}

/// lop3.b32 d, a, b, c, table (9.7.7.6): bit 4 * a + 2 * b + c of the table.
static void lop3(Warp &warp, const Instruction &i, uint32_t active) {
  uint64_t *result = warp.cells(i.operands[0]);
  const uint64_t *a = warp.cells(i.operands[1]), *b = warp.cells(i.operands[2]),
                 *c = warp.cells(i.operands[3]);
  forEachLane(active, [&](unsigned lane) {
    uint32_t bits = 0;
    for (int k = 0; k < 8; ++k)
      if (i.value >> k & 1)
        bits |= (k & 4 ? a[lane] : ~a[lane]) & (k & 2 ? b[lane] : ~b[lane]) &
                (k & 1 ? c[lane] : ~c[lane]);
    result[lane] = bits;
  });
}

static void decodeLop3(Decoder &d) {
  d.takeType({B32});
  d.endModifiers();
  d.requireCount(5);
  d.addResult(d.operand(0), B32);
  for (int i = 1; i < 4; ++i)
    d.addSource(d.operand(i), B32);
  d.instruction.value = d.requireInteger(4, 0, 255);
  d.setExecute(lop3, Class::Integer);
}

//===----------------------------------------------------------------------===//
// Shifts
//===----------------------------------------------------------------------===//

/// Amounts above the size of the type are clamped to it (9.7.7.8).
static constexpr auto kShiftLeft = [](auto a, uint32_t amount) {
  using T = decltype(a);
  return amount >= 8 * sizeof(T) ? T(0) : static_cast<T>(uint64_t(a) << amount);
};
static constexpr auto kShiftRight = [](auto a, uint32_t amount) {
  using T = decltype(a);
  constexpr uint32_t bits = 8 * sizeof(T);
  if (amount >= bits)
    return static_cast<T>(a < T(0) ? -1 : 0);
  return static_cast<T>(a >> amount);
};

template <auto Function> static Instruction::Execute chooseShift(Scalar type) {
  bool isArithmetic = isSigned(type);
  switch (bitsOf(type)) {
  case 16:
    return isArithmetic ? elementwise<Function, int16_t, int16_t, uint32_t>
                        : elementwise<Function, uint16_t, uint16_t, uint32_t>;
  case 32:
    return isArithmetic ? elementwise<Function, int32_t, int32_t, uint32_t>
                        : elementwise<Function, uint32_t, uint32_t, uint32_t>;
  default:
    return isArithmetic ? elementwise<Function, int64_t, int64_t, uint32_t>
                        : elementwise<Function, uint64_t, uint64_t, uint32_t>;
  }
}

static void decodeShiftLeft(Decoder &d) {
  Scalar type = d.takeType({B16, B32, B64});
  d.bind({type}, {type, U32});
  d.setExecute(chooseShift<kShiftLeft>(type), Class::Integer);
}

static void decodeShiftRight(Decoder &d) {
  Scalar type = d.takeType({B16, B32, B64, U16, U32, U64, S16, S32, S64});
  d.bind({type}, {type, U32});
  d.setExecute(chooseShift<kShiftRight>(type), Class::Integer);
}

/// shf.l and .r (9.7.7.7): the high or low word of {b, a} shifted.
template <bool IsLeft, bool IsClamped>
static constexpr auto kFunnel = [](uint32_t a, uint32_t b, uint32_t c) {
  uint32_t amount = IsClamped ? std::min(c, 32u) : c & 31;
  uint64_t both = uint64_t(b) << 32 | a;
  return static_cast<uint32_t>(IsLeft ? both << amount >> 32 : both >> amount);
};

template <bool IsLeft, bool IsClamped>
static constexpr Instruction::Execute kRunFunnel =
    elementwise<kFunnel<IsLeft, IsClamped>, uint32_t, uint32_t, uint32_t, uint32_t>;

static void decodeFunnel(Decoder &d) {
  bool isLeft = d.requireOneOf({"l", "r"}) == 0;
  bool isClamped = d.requireOneOf({"clamp", "wrap"}) == 0;
  d.takeType({B32});
  d.bind({B32}, {B32, B32, U32});
  d.setExecute(isLeft ? (isClamped ? kRunFunnel<true, true> : kRunFunnel<true, false>)
                      : (isClamped ? kRunFunnel<false, true> : kRunFunnel<false, false>),
               Class::Integer);
}

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

/// The field of `length` bits from `position` on; bits beyond the number are its sign or zero
/// (9.7.1.19).
static constexpr auto kExtract = [](auto a, uint32_t b, uint32_t c) {
  using T = decltype(a);
  constexpr uint32_t bits = 8 * sizeof(T);
  uint32_t position = b & 0xff, length = c & 0xff;
  if (length == 0)
    return T(0);
  bool isNegative = std::is_signed_v<T> && (a >> std::min(position + length - 1, bits - 1) & 1);
  auto shifted = position >= bits ? T(isNegative ? -1 : 0) : static_cast<T>(a >> position);
  if (length >= bits)
    return shifted;
  auto mask = static_cast<T>((uint64_t(1) << length) - 1);
  return static_cast<T>(isNegative ? shifted | ~mask : shifted & mask);
};

static void decodeExtract(Decoder &d) {
  Scalar type = d.takeType({U32, U64, S32, S64});
  d.bind({type}, {type, U32, U32});
  Instruction::Execute execute =
      type == U32   ? elementwise<kExtract, uint32_t, uint32_t, uint32_t, uint32_t>
      : type == U64 ? elementwise<kExtract, uint64_t, uint64_t, uint32_t, uint32_t>
      : type == S32 ? elementwise<kExtract, int32_t, int32_t, uint32_t, uint32_t>
                    : elementwise<kExtract, int64_t, int64_t, uint32_t, uint32_t>;
  d.setExecute(execute, Class::Integer);
}

/// b with the lowest bits of a in the field (9.7.1.20).
static constexpr auto kInsert = [](auto a, auto b, uint32_t c, uint32_t e) {
  using T = decltype(a);
  constexpr uint32_t bits = 8 * sizeof(T);
  uint32_t position = c & 0xff, length = e & 0xff;
  if (position >= bits || length == 0)
    return b;
  T mask = (length >= bits ? ~T(0) : static_cast<T>((T(1) << length) - 1)) << position;
  return static_cast<T>((b & ~mask) | ((a << position) & mask));
};

static void decodeInsert(Decoder &d) {
  Scalar type = d.takeType({B32, B64});
  d.bind({type}, {type, type, U32, U32});
  d.setExecute(type == B32 ? elementwise<kInsert, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>
                           : elementwise<kInsert, uint64_t, uint64_t, uint64_t, uint32_t, uint32_t>,
               Class::Integer);
}

/// A mask of b bits from bit a on (9.7.1.21).
template <bool IsClamped>
static constexpr auto kMask = [](uint32_t a, uint32_t b) {
  uint32_t position = IsClamped ? std::min(a, 32u) : a & 31;
  uint32_t length = IsClamped ? std::min(b, 32u) : b & 31;
  return static_cast<uint32_t>(((uint64_t(1) << length) - 1) << position);
};

static void decodeMask(Decoder &d) {
  bool isClamped = d.requireOneOf({"clamp", "wrap"}) == 0;
  d.takeType({B32});
  d.bind({B32}, {U32, U32});
  d.setExecute(isClamped ? elementwise<kMask<true>, uint32_t, uint32_t, uint32_t>
                         : elementwise<kMask<false>, uint32_t, uint32_t, uint32_t>,
               Class::Integer);
}

/// The highest bit that is not the sign, or all ones (9.7.1.17).
template <bool IsShift>
static constexpr auto kFind = [](auto a) -> uint32_t {
  using T = decltype(a);
  using Unsigned = std::make_unsigned_t<T>;
  auto bits = static_cast<Unsigned>(a < T(0) ? ~a : a);
  uint32_t zeros = std::countl_zero(bits);
  if (bits == 0)
    return ~0u;
  return IsShift ? zeros : static_cast<uint32_t>(8 * sizeof(T) - 1 - zeros);
};

template <bool IsShift> static Instruction::Execute chooseFind(Scalar type) {
  return type == U32   ? elementwise<kFind<IsShift>, uint32_t, uint32_t>
         : type == U64 ? elementwise<kFind<IsShift>, uint32_t, uint64_t>
         : type == S32 ? elementwise<kFind<IsShift>, uint32_t, int32_t>
                       : elementwise<kFind<IsShift>, uint32_t, int64_t>;
}

static void decodeFind(Decoder &d) {
  bool isShift = d.takeIf("shiftamt");
  Scalar type = d.takeType({U32, U64, S32, S64});
  d.bind({U32}, {type});
  d.setExecute(isShift ? chooseFind<true>(type) : chooseFind<false>(type), Class::Integer);
}

static constexpr auto kReverse = [](auto a) {
  return sizeof a == 8 ? __builtin_bitreverse64(a)
                       : __builtin_bitreverse32(static_cast<uint32_t>(a));
};
static constexpr auto kCountZeros = [](auto a) { return std::countl_zero(a); };
static constexpr auto kCountOnes = [](auto a) { return std::popcount(a); };

static void decodeReverse(Decoder &d) {
  Scalar type = d.takeType({B32, B64});
  d.bindSame(type, 1);
  d.setExecute(forBits<kReverse, 1>(type), Class::Integer);
}

/// clz and popc: the result has 32 bits.
template <auto Function> static void decodeCount(Decoder &d) {
  Scalar type = d.takeType({B32, B64});
  d.bind({U32}, {type});
  d.setExecute(type == B32 ? elementwise<Function, uint32_t, uint32_t>
                           : elementwise<Function, uint32_t, uint64_t>,
               Class::Integer);
}

//===----------------------------------------------------------------------===//
// Permutation
//===----------------------------------------------------------------------===//

/// The selectors of the modes of prmt, by the lowest two bits of c (9.7.8.7).
static constexpr uint16_t kSelectors[6][4] = {
    {0x3210, 0x4321, 0x5432, 0x6543}, // f4e
    {0x5670, 0x6701, 0x7012, 0x0123}, // b4e
    {0x0000, 0x1111, 0x2222, 0x3333}, // rc8
    {0x3210, 0x3211, 0x3222, 0x3333}, // ecl
    {0x0000, 0x1110, 0x2210, 0x3210}, // ecr
    {0x1010, 0x3232, 0x1010, 0x3232}, // rc16
};

/// Without a mode, each nibble of c selects a byte of {b, a}, or its sign if its highest bit is
/// set.
static void permute(Warp &warp, const Instruction &i, uint32_t active) {
  uint64_t *result = warp.cells(i.operands[0]);
  const uint64_t *a = warp.cells(i.operands[1]), *b = warp.cells(i.operands[2]),
                 *c = warp.cells(i.operands[3]);
  forEachLane(active, [&](unsigned lane) {
    uint64_t bytes = b[lane] << 32 | static_cast<uint32_t>(a[lane]), bits = 0;
    uint64_t selectors = i.value < 0 ? c[lane] : kSelectors[i.value][c[lane] & 3];
    for (int k = 0; k < 4; ++k) {
      uint64_t selector = selectors >> (4 * k) & 15;
      auto byte = static_cast<uint8_t>(bytes >> (8 * (selector & 7)));
      if (selector & 8)
        byte = byte & 0x80 ? 0xff : 0;
      bits |= uint64_t(byte) << (8 * k);
    }
    result[lane] = bits;
  });
}

static void decodePermute(Decoder &d) {
  d.takeType({B32});
  d.instruction.value = d.takeOneOf({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  d.bind({B32}, {B32, B32, B32});
  d.setExecute(permute, Class::Integer);
}

const Entry kBitEntries[] = {{"and", Entry::Integers, decodeLogic<kAnd, 2>},
                             {"or", Entry::Integers, decodeLogic<kOr, 2>},
                             {"xor", Entry::Integers, decodeLogic<kXor, 2>},
                             {"not", Entry::Integers, decodeLogic<kNot, 1>},
                             {"cnot", Entry::Integers, decodeLogicalNot},
                             {"lop3", Entry::Integers, decodeLop3},
                             {"shl", Entry::Integers, decodeShiftLeft},
                             {"shr", Entry::Integers, decodeShiftRight},
                             {"shf", Entry::Integers, decodeFunnel},
                             {"bfe", Entry::Integers, decodeExtract},
                             {"bfi", Entry::Integers, decodeInsert},
                             {"bmsk", Entry::Integers, decodeMask},
                             {"bfind", Entry::Integers, decodeFind},
                             {"brev", Entry::Integers, decodeReverse},
                             {"clz", Entry::Integers, decodeCount<kCountZeros>},
                             {"popc", Entry::Integers, decodeCount<kCountOnes>},
                             {"prmt", Entry::Any, decodePermute},
                             {}};

} // namespace tfc::gpu
