//===- Integer.cpp - Integer arithmetic and logic -------------------------===//
//
// Sections 9.7.1 (integer arithmetic) and 9.7.8 (logic and shifts) of the PTX ISA.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/instructions/Cells.h"

namespace tfc::gpu {

namespace {

/// The type of at least 32 bits in which sums and products wrap around. It has twice the width, so
/// that products of two numbers are exact.
template <typename T>
using Wide =
    std::conditional_t<sizeof(T) == 8,
                       std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>,
                       std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;
template <typename T> using Unsigned = std::make_unsigned_t<T>;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

struct Add {
  template <typename T> static T apply(T a, T b) { return T(Wide<Unsigned<T>>(a) + b); }
};
struct Sub {
  template <typename T> static T apply(T a, T b) { return T(Wide<Unsigned<T>>(a) - b); }
};
struct MulLow {
  template <typename T> static T apply(T a, T b) { return T(Wide<T>(a) * b); }
};
struct MulHigh {
  template <typename T> static T apply(T a, T b) { return T(Wide<T>(a) * b >> 8 * sizeof(T)); }
};
struct MadLow {
  template <typename T> static T apply(T a, T b, T c) { return Add::apply(MulLow::apply(a, b), c); }
};
struct MadHigh {
  template <typename T> static T apply(T a, T b, T c) {
    return Add::apply(MulHigh::apply(a, b), c);
  }
};
struct Min {
  template <typename T> static T apply(T a, T b) { return std::min(a, b); }
};
struct Max {
  template <typename T> static T apply(T a, T b) { return std::max(a, b); }
};
struct Abs {
  template <typename T> static T apply(T a) { return a < 0 ? T(-Wide<T>(a)) : a; }
};
struct Neg {
  template <typename T> static T apply(T a) { return T(-Wide<T>(a)); }
};
/// |a - b| + c.
struct Sad {
  template <typename T> static T apply(T a, T b, T c) {
    return T(c + (a < b ? Wide<T>(b) - a : Wide<T>(a) - b));
  }
};
struct SaturatingAdd {
  static int32_t apply(int32_t a, int32_t b) {
    return int32_t(std::clamp<int64_t>(int64_t(a) + b, INT32_MIN, INT32_MAX));
  }
};
struct SaturatingSub {
  static int32_t apply(int32_t a, int32_t b) {
    return int32_t(std::clamp<int64_t>(int64_t(a) - b, INT32_MIN, INT32_MAX));
  }
};

/// The product in twice the width, and perhaps a sum of that width.
template <typename T> void mulWide(Warp &warp, const Instruction &instruction, uint32_t active) {
  uint64_t *result = warp.cells(instruction.operands[0]);
  const uint64_t *a = warp.cells(instruction.operands[1]);
  const uint64_t *b = warp.cells(instruction.operands[2]);
  bool hasSum = instruction.operandCount == 4;
  const uint64_t *c = warp.cells(instruction.operands[hasSum ? 3 : 2]);
  constexpr uint64_t kMask = sizeof(T) == 4 ? ~uint64_t(0) : 0xffffffff;
  forEachLane(active, [=](unsigned lane) {
    uint64_t product = uint64_t(Wide<T>(fromCell<T>(a[lane])) * fromCell<T>(b[lane]));
    result[lane] = (product + (hasSum ? c[lane] : 0)) & kMask;
  });
}

/// A quotient by zero is undefined, so it is an error here.
template <typename T, bool isRemainder>
void divide(Warp &warp, const Instruction &instruction, uint32_t active) {
  setResults<2>(warp, instruction, active, [&](unsigned lane, const uint64_t *cells) {
    Wide<T> x = fromCell<T>(cells[0]), y = fromCell<T>(cells[1]);
    if (y == 0)
      warp.fail(lane, "divides an integer by zero");
    return y == 0 ? 0 : toCell(T(isRemainder ? x % y : x / y));
  });
}

//===----------------------------------------------------------------------===//
// Logic, shifts, bits
//===----------------------------------------------------------------------===//

struct And {
  template <typename T> static T apply(T a, T b) { return a & b; }
};
struct Or {
  template <typename T> static T apply(T a, T b) { return a | b; }
};
struct Xor {
  template <typename T> static T apply(T a, T b) { return a ^ b; }
};
struct Not {
  template <typename T> static T apply(T a) { return ~a; }
};
struct LogicalNot {
  template <typename T> static T apply(T a) { return a == 0; }
};
struct CountBits {
  template <typename T> static uint32_t apply(T a) { return std::popcount(a); }
};
struct CountLeadingZeros {
  template <typename T> static uint32_t apply(T a) { return std::countl_zero(a); }
};
struct Reverse {
  template <typename T> static T apply(T a) {
    T result = 0;
    for (unsigned i = 0; i < 8 * sizeof(T); ++i)
      result |= T(a >> i & 1) << (8 * sizeof(T) - 1 - i);
    return result;
  }
};

/// The position of the highest bit that differs from the sign, -1 if there is none; with `isShift`
/// how far it is from the top.
template <bool isShift> struct FindBit {
  template <typename T> static uint32_t apply(T a) {
    Unsigned<T> bits = a < 0 ? ~a : a;
    if (bits == 0)
      return UINT32_MAX;
    uint32_t zeros = std::countl_zero(bits);
    return isShift ? zeros : 8 * sizeof(T) - 1 - zeros;
  }
};

/// Shifts by more than the width count as shifts by the width (9.7.8.7, 9.7.8.8).
template <typename T> void shiftLeft(Warp &warp, const Instruction &instruction, uint32_t active) {
  setResults<2>(warp, instruction, active, [](unsigned, const uint64_t *x) {
    uint32_t by = uint32_t(x[1]);
    return by >= 8 * sizeof(T) ? 0 : toCell(T(uint64_t(fromCell<T>(x[0])) << by));
  });
}

template <typename T> void shiftRight(Warp &warp, const Instruction &instruction, uint32_t active) {
  setResults<2>(warp, instruction, active, [](unsigned, const uint64_t *x) {
    T value = fromCell<T>(x[0]);
    uint32_t by = uint32_t(x[1]);
    bool isAll = by >= 8 * sizeof(T);
    return toCell(isAll ? T(value < 0 ? -1 : 0) : T(value >> by));
  });
}

/// shf: shifts the pair b:a, and returns its high or low half.
template <bool isLeft, bool wraps>
void funnelShift(Warp &warp, const Instruction &instruction, uint32_t active) {
  setResults<3>(warp, instruction, active, [](unsigned, const uint64_t *x) {
    uint64_t pair = x[1] << 32 | uint32_t(x[0]);
    uint32_t by = uint32_t(x[2]);
    by = wraps ? by & 31 : std::min(by, 32u);
    return uint64_t(uint32_t(isLeft ? (pair << by) >> 32 : pair >> by));
  });
}

/// prmt, the generic form: each selector names one of eight bytes, or the sign of one.
void permuteBytes(Warp &warp, const Instruction &instruction, uint32_t active) {
  setResults<3>(warp, instruction, active, [](unsigned, const uint64_t *x) {
    uint64_t pair = x[1] << 32 | uint32_t(x[0]), bytes = 0;
    for (unsigned i = 0; i < 4; ++i) {
      uint32_t selector = x[2] >> (4 * i) & 15;
      uint8_t byte = pair >> (8 * (selector & 7));
      if (selector & 8)
        byte = byte & 0x80 ? 0xff : 0;
      bytes |= uint64_t(byte) << (8 * i);
    }
    return bytes;
  });
}

/// lop3: the bits of a table for each triple of bits.
void threeInputLogic(Warp &warp, const Instruction &instruction, uint32_t active) {
  int64_t table = instruction.value;
  setResults<3>(warp, instruction, active, [table](unsigned, const uint64_t *x) {
    uint64_t bits = 0;
    for (unsigned i = 0; i < 8; ++i)
      if (table >> i & 1)
        bits |= (i & 4 ? x[0] : ~x[0]) & (i & 2 ? x[1] : ~x[1]) & (i & 1 ? x[2] : ~x[2]);
    return bits & UINT32_MAX;
  });
}

/// bfe (9.7.1.19): the sign of a field that reaches beyond the top is the top bit.
template <typename T>
void extractField(Warp &warp, const Instruction &instruction, uint32_t active) {
  setResults<3>(warp, instruction, active, [](unsigned, const uint64_t *x) {
    constexpr unsigned kBits = 8 * sizeof(T);
    Unsigned<T> value = fromCell<Unsigned<T>>(x[0]), field = 0;
    unsigned position = x[1] & 0xff, length = x[2] & 0xff;
    bool sign = std::is_signed_v<T> && length != 0 &&
                value >> std::min(position + length - 1, kBits - 1) & 1;
    for (unsigned i = 0; i < kBits; ++i) {
      bool isInside = i < length && position + i < kBits;
      field |= Unsigned<T>(isInside ? value >> (position + i) & 1 : sign) << i;
    }
    return toCell(field);
  });
}

/// bfi: the low bits of a in the place of bits of b.
template <typename T>
void insertField(Warp &warp, const Instruction &instruction, uint32_t active) {
  setResults<4>(warp, instruction, active, [](unsigned, const uint64_t *x) {
    T from = fromCell<T>(x[0]), to = fromCell<T>(x[1]);
    unsigned position = x[2] & 0xff, length = x[3] & 0xff;
    for (unsigned i = 0; i < length && position + i < 8 * sizeof(T); ++i) {
      T bit = T(1) << (position + i);
      to = from >> i & 1 ? to | bit : to & ~bit;
    }
    return toCell(to);
  });
}

/// Logic of predicates, which are masks.
template <typename Op>
void predicateLogic(Warp &warp, const Instruction &instruction, uint32_t active) {
  uint32_t a = warp.predicate(instruction, 1), b = warp.predicate(instruction, 2);
  warp.setMask(instruction.operands[0], active, Op::apply(a, b));
}

void predicateNot(Warp &warp, const Instruction &instruction, uint32_t active) {
  warp.setMask(instruction.operands[0], active, ~warp.predicate(instruction, 1));
}

} // namespace

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

template <typename Op> static bool decodeBinary(Form &form) {
  Scalar type = form.takeType();
  bool isKnown = isInteger(type) && bitsOf(type) > 8;
  return isKnown ? setExecute(form, binaryOf<Op>(type), Class::Integer) && form.decodeSame(type, 2)
                 : form.unknown();
}

template <typename Op> static bool decodeUnarySigned(Form &form) {
  Scalar type = form.takeType();
  if (!isSigned(type) || bitsOf(type) == 8)
    return form.unknown();
  return setExecute(form, unaryOf<Op>(type), Class::Integer) && form.decodeSame(type, 1);
}

template <typename Op, typename Saturating> static bool decodeSum(Form &form) {
  if (!form.take("sat"))
    return decodeBinary<Op>(form);
  Scalar type = form.takeType();
  if (type != Scalar::S32)
    return form.unknown();
  return setExecute(form, &binary<int32_t, Saturating>, Class::Integer) && form.decodeSame(type, 2);
}

static Scalar twice(Scalar type) {
  switch (type) {
  case Scalar::U16:
    return Scalar::U32;
  case Scalar::S16:
    return Scalar::S32;
  case Scalar::U32:
    return Scalar::U64;
  case Scalar::S32:
    return Scalar::S64;
  default:
    return Scalar::None;
  }
}

static Instruction::Execute mulWideOf(Scalar type) {
  switch (type) {
  case Scalar::U16:
    return &mulWide<uint16_t>;
  case Scalar::S16:
    return &mulWide<int16_t>;
  case Scalar::U32:
    return &mulWide<uint32_t>;
  case Scalar::S32:
    return &mulWide<int32_t>;
  default:
    return nullptr;
  }
}

template <bool hasSum> static bool decodeProduct(Form &form) {
  enum { Low, High, Wider };
  int part = form.takeOneOf({"lo", "hi", "wide"});
  Scalar type = form.takeType();
  size_t sources = hasSum ? 3 : 2;
  if (part < 0 || !isInteger(type))
    return form.unknown();
  if (part == Wider) {
    Scalar wide = twice(type);
    return setExecute(form, mulWideOf(type), Class::Integer) && form.finish(sources + 1) &&
           form.addResult(0, wide) && form.addSource(1, type) && form.addSource(2, type) &&
           (!hasSum || form.addSource(3, wide));
  }
  Instruction::Execute execute =
      hasSum        ? part == Low ? ternaryOf<MadLow>(type) : ternaryOf<MadHigh>(type)
      : part == Low ? binaryOf<MulLow>(type)
                    : binaryOf<MulHigh>(type);
  return setExecute(form, execute, Class::Integer) && form.decodeSame(type, sources);
}

template <bool isRemainder> static bool decodeDivision(Form &form) {
  Scalar type = form.takeType();
  if (!isInteger(type))
    return form.unknown();
  auto execute = withInteger(type, [](auto t) { return &divide<decltype(t), isRemainder>; });
  return setExecute(form, execute, Class::Integer) && form.decodeSame(type, 2);
}

template <typename Op> static bool decodeLogic(Form &form) {
  Scalar type = form.takeType();
  if (type == Scalar::Pred)
    return setExecute(form, &predicateLogic<Op>, Class::Integer) && form.decodeSame(type, 2);
  if (!isBits(type))
    return form.unknown();
  return setExecute(form, binaryOf<Op>(type), Class::Integer) && form.decodeSame(type, 2);
}

template <typename Op> static bool decodeNot(Form &form) {
  Scalar type = form.takeType();
  if (type == Scalar::Pred && std::is_same_v<Op, Not>)
    return setExecute(form, &predicateNot, Class::Integer) && form.decodeSame(type, 1);
  if (!isBits(type))
    return form.unknown();
  return setExecute(form, unaryOf<Op>(type), Class::Integer) && form.decodeSame(type, 1);
}

/// The result has 32 bits.
template <typename Op> static bool decodeCount(Form &form) {
  Scalar type = form.takeType();
  Instruction::Execute execute = type == Scalar::B32   ? &unary<uint32_t, Op>
                                 : type == Scalar::B64 ? &unary<uint64_t, Op>
                                                       : nullptr;
  return setExecute(form, execute, Class::Integer) && form.finish(2) &&
         form.addResult(0, Scalar::U32) && form.addSource(1, type);
}

static bool decodeReverse(Form &form) {
  Scalar type = form.takeType();
  Instruction::Execute execute = type == Scalar::B32   ? &unary<uint32_t, Reverse>
                                 : type == Scalar::B64 ? &unary<uint64_t, Reverse>
                                                       : nullptr;
  return setExecute(form, execute, Class::Integer) && form.decodeSame(type, 1);
}

static bool decodeFindBit(Form &form) {
  bool isShift = form.take("shiftamt");
  Scalar type = form.takeType();
  if (!isInteger(type) || bitsOf(type) < 32)
    return form.unknown();
  Instruction::Execute execute =
      isShift ? unaryOf<FindBit<true>>(type) : unaryOf<FindBit<false>>(type);
  return setExecute(form, execute, Class::Integer) && form.finish(2) &&
         form.addResult(0, Scalar::U32) && form.addSource(1, type);
}

/// The number of bits is a 32-bit register for all types.
template <bool isLeft> static bool decodeShift(Form &form) {
  Scalar type = form.takeType();
  if (isLeft && !isBits(type))
    return form.unknown();
  auto execute = withInteger(
      type, [](auto t) { return isLeft ? &shiftLeft<decltype(t)> : &shiftRight<decltype(t)>; });
  return setExecute(form, execute, Class::Integer) && form.finish(3) && form.addResult(0, type) &&
         form.addSource(1, type) && form.addSource(2, Scalar::U32);
}

static bool decodeFunnelShift(Form &form) {
  int direction = form.takeOneOf({"l", "r"}), mode = form.takeOneOf({"clamp", "wrap"});
  if (direction < 0 || mode < 0 || form.takeType() != Scalar::B32)
    return form.unknown();
  static constexpr Instruction::Execute kExecutes[2][2] = {
      {&funnelShift<true, false>, &funnelShift<true, true>},
      {&funnelShift<false, false>, &funnelShift<false, true>}};
  return setExecute(form, kExecutes[direction][mode], Class::Integer) &&
         form.decodeSame(Scalar::B32, 3);
}

static bool decodePermute(Form &form) {
  if (form.takeType() != Scalar::B32)
    return form.unknown();
  return setExecute(form, &permuteBytes, Class::Integer) && form.decodeSame(Scalar::B32, 3);
}

static bool decodeThreeInputLogic(Form &form) {
  if (form.takeType() != Scalar::B32)
    return form.unknown();
  if (!form.finish(5) || !setExecute(form, &threeInputLogic, Class::Integer))
    return false;
  const ptx::Operand &table = form.source.operands[4];
  if (table.kind != ptx::Operand::Kind::Integer || table.value < 0 || table.value > 255)
    return form.fail("expected a number from 0 to 255 as the table");
  form.out.value = table.value;
  return form.addResult(0, Scalar::B32) && form.addSource(1, Scalar::B32) &&
         form.addSource(2, Scalar::B32) && form.addSource(3, Scalar::B32);
}

static bool decodeExtract(Form &form) {
  Scalar type = form.takeType();
  if (!isInteger(type) || bitsOf(type) < 32)
    return form.unknown();
  auto execute = withInteger(type, [](auto t) { return &extractField<decltype(t)>; });
  return setExecute(form, execute, Class::Integer) && form.finish(4) && form.addResult(0, type) &&
         form.addSource(1, type) && form.addSource(2, Scalar::U32) &&
         form.addSource(3, Scalar::U32);
}

static bool decodeInsert(Form &form) {
  Scalar type = form.takeType();
  Instruction::Execute execute = type == Scalar::B32   ? &insertField<uint32_t>
                                 : type == Scalar::B64 ? &insertField<uint64_t>
                                                       : nullptr;
  return setExecute(form, execute, Class::Integer) && form.finish(5) && form.addResult(0, type) &&
         form.addSource(1, type) && form.addSource(2, type) && form.addSource(3, Scalar::U32) &&
         form.addSource(4, Scalar::U32);
}

static bool decodeSad(Form &form) {
  Scalar type = form.takeType();
  if (!isInteger(type))
    return form.unknown();
  return setExecute(form, ternaryOf<Sad>(type), Class::Integer) && form.decodeSame(type, 3);
}

void addInteger(DecodeTable &table) {
  table["add/i"] = decodeSum<Add, SaturatingAdd>;
  table["sub/i"] = decodeSum<Sub, SaturatingSub>;
  table["mul/i"] = decodeProduct<false>;
  table["mad/i"] = decodeProduct<true>;
  table["div/i"] = decodeDivision<false>;
  table["rem"] = decodeDivision<true>;
  table["min/i"] = decodeBinary<Min>;
  table["max/i"] = decodeBinary<Max>;
  table["abs/i"] = decodeUnarySigned<Abs>;
  table["neg/i"] = decodeUnarySigned<Neg>;
  table["sad"] = decodeSad;
  table["and"] = decodeLogic<And>;
  table["or"] = decodeLogic<Or>;
  table["xor"] = decodeLogic<Xor>;
  table["not"] = decodeNot<Not>;
  table["cnot"] = decodeNot<LogicalNot>;
  table["popc"] = decodeCount<CountBits>;
  table["clz"] = decodeCount<CountLeadingZeros>;
  table["brev"] = decodeReverse;
  table["bfind"] = decodeFindBit;
  table["shl"] = decodeShift<true>;
  table["shr"] = decodeShift<false>;
  table["shf"] = decodeFunnelShift;
  table["prmt"] = decodePermute;
  table["lop3"] = decodeThreeInputLogic;
  table["bfe"] = decodeExtract;
  table["bfi"] = decodeInsert;
}

} // namespace tfc::gpu
