//===- Comparisons.cpp - Comparison and selection -------------------------===//
//
// Sections 9.7.5 and 9.7.6: setp and set compare and combine the result with a predicate, selp and
// slct choose between values.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/FloatFormats.h"
#include "test/gpu/emulator/instructions/Elementwise.h"
#include <cmath>

namespace tfc::gpu {

using enum Scalar;

namespace {
enum Flag : uint8_t { kFlush = 1, kNegated = 2, kIsSet = 4, kIsFloatResult = 8, kHasSecond = 16 };
enum Combination : uint8_t { kNone, kAndWith, kOrWith, kXorWith };
/// The order of the names in decodeComparison.
enum Comparison : uint8_t { Eq, Ne, Lt, Le, Gt, Ge, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan };
} // namespace

template <Comparison Op, typename T> static bool compare(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    bool isUnordered = std::isnan(a) || std::isnan(b);
    if constexpr (Op == Num || Op == Nan)
      return isUnordered == (Op == Nan);
    else if constexpr (Op >= Equ)
      return isUnordered || compare<static_cast<Comparison>(Op - Equ)>(a, b);
    else if constexpr (Op == Ne)
      return !isUnordered && a != b;
  }
  if constexpr (Op == Eq)
    return a == b;
  else if constexpr (Op == Ne)
    return a != b;
  else if constexpr (Op == Lt)
    return a < b;
  else if constexpr (Op == Le)
    return a <= b;
  else if constexpr (Op == Gt)
    return a > b;
  else
    return a >= b;
}

static uint32_t combine(uint32_t a, uint32_t b, int64_t combination) {
  return combination == kAndWith ? a & b : combination == kOrWith ? a | b : a ^ b;
}

/// Reads an element of a type that is stored as another one.
template <typename T> static T load(uint64_t cell, bool isFlush) { return fromCell<T>(cell); }
template <> float load<float>(uint64_t cell, bool isFlush) {
  auto bits = static_cast<uint32_t>(cell);
  return floatOf(isFlush ? flushed(bits) : bits);
}

/// Writes predicates, or numbers if the instruction is a set.
static void finish(Warp &warp, const Instruction &i, uint32_t active, uint32_t mask) {
  unsigned sources = i.results + 2;
  uint32_t inverse = ~mask;
  if (i.value != kNone) {
    auto c = static_cast<uint32_t>(warp.predicate(i.operands[sources]));
    c = i.flags & kNegated ? ~c : c;
    mask = combine(mask, c, i.value);
    inverse = combine(inverse, c, i.value);
  }
  if (!(i.flags & kIsSet)) {
    warp.setPredicate(i.operands[0], active, mask);
    if (i.results == 2)
      warp.setPredicate(i.operands[1], active, inverse);
    return;
  }
  uint64_t *result = warp.cells(i.operands[0]);
  uint64_t yes = i.flags & kIsFloatResult ? 0x3f800000 : 0xffffffff;
  forEachLane(active, [&](unsigned lane) { result[lane] = mask >> lane & 1 ? yes : 0; });
}

template <typename T, Comparison Op>
static void runCompare(Warp &warp, const Instruction &i, uint32_t active) {
  const uint64_t *a = warp.cells(i.operands[i.results]), *b = warp.cells(i.operands[i.results + 1]);
  bool isFlush = i.flags & kFlush;
  uint32_t mask = 0;
  forEachLane(active, [&](unsigned lane) {
    bool holds = compare<Op>(load<T>(a[lane], isFlush), load<T>(b[lane], isFlush));
    mask |= uint32_t(holds) << lane;
  });
  finish(warp, i, active, mask);
}

static float loadHalf(uint64_t cell, unsigned half, bool isFlush) {
  auto bits = static_cast<uint16_t>(cell >> (16 * half));
  return halfToFloat(isFlush && !(bits & 0x7c00) ? bits & 0x8000 : bits);
}

/// f16, or f16x2 with a predicate for each half: p for the low one, q for the high one.
template <Comparison Op>
static void runCompareHalves(Warp &warp, const Instruction &i, uint32_t active) {
  const uint64_t *a = warp.cells(i.operands[i.results]), *b = warp.cells(i.operands[i.results + 1]);
  bool isFlush = i.flags & kFlush, isPair = i.flags & kHasSecond;
  uint32_t masks[2] = {};
  forEachLane(active, [&](unsigned lane) {
    for (unsigned half = 0; half <= unsigned(isPair); ++half)
      masks[half] |=
          uint32_t(compare<Op>(loadHalf(a[lane], half, isFlush), loadHalf(b[lane], half, isFlush)))
          << lane;
  });
  if (!isPair)
    return finish(warp, i, active, masks[0]);
  for (unsigned half = 0; half < 2; ++half) {
    uint32_t mask = masks[half];
    if (i.value != kNone) {
      auto c = static_cast<uint32_t>(warp.predicate(i.operands[4]));
      mask = combine(mask, i.flags & kNegated ? ~c : c, i.value);
    }
    warp.setPredicate(i.operands[half], active, mask);
  }
}

//===----------------------------------------------------------------------===//
// Decoding of comparisons
//===----------------------------------------------------------------------===//

template <typename T, size_t... Ops>
static Instruction::Execute chooseOf(unsigned op, std::index_sequence<Ops...>) {
  static constexpr Instruction::Execute kRuns[] = {runCompare<T, static_cast<Comparison>(Ops)>...};
  return op < sizeof...(Ops) ? kRuns[op] : nullptr;
}

template <size_t... Ops>
static Instruction::Execute chooseHalves(unsigned op, std::index_sequence<Ops...>) {
  static constexpr Instruction::Execute kRuns[] = {
      runCompareHalves<static_cast<Comparison>(Ops)>...};
  return kRuns[op];
}

template <typename T> static Instruction::Execute chooseInteger(unsigned op) {
  return chooseOf<T>(op, std::make_index_sequence<6>());
}

static Instruction::Execute choose(Scalar type, unsigned op) {
  constexpr std::make_index_sequence<14> kAll;
  switch (type) {
  case B16:
  case B32:
  case B64: // only whether they are equal
    if (op > Ne)
      return nullptr;
    return type == B16   ? chooseInteger<uint16_t>(op)
           : type == B32 ? chooseInteger<uint32_t>(op)
                         : chooseInteger<uint64_t>(op);
  case U16:
    return chooseInteger<uint16_t>(op);
  case U32:
    return chooseInteger<uint32_t>(op);
  case U64:
    return chooseInteger<uint64_t>(op);
  case S16:
    return chooseInteger<int16_t>(op);
  case S32:
    return chooseInteger<int32_t>(op);
  case S64:
    return chooseInteger<int64_t>(op);
  case F32:
    return chooseOf<float>(op, kAll);
  case F64:
    return chooseOf<double>(op, kAll);
  default:
    return chooseHalves(op, kAll);
  }
}

static unsigned takeComparison(Decoder &d) {
  int op = d.takeOneOf(
      {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"});
  if (op >= 0)
    return op;
  // Unsigned types have names of their own for the order.
  static constexpr Comparison kUnsigned[] = {Lt, Le, Gt, Ge};
  op = d.requireOneOf({"lo", "ls", "hi", "hs"});
  if (!isUnsigned(d.lastType()))
    d.failUnknown();
  return kUnsigned[op];
}

static constexpr auto kComparable = {B16, B32, B64, U16, U32, U64,  S16,
                                     S32, S64, F32, F64, F16, F16x2};

/// The predicate c or !c of a combination.
static void addCombined(Decoder &d, size_t index) {
  ptx::Operand c = d.operand(index);
  if (c.isNegated)
    d.instruction.flags |= kNegated;
  c.isNegated = false;
  d.addSource(c, Pred);
}

static void decodeComparisonOf(Decoder &d, bool isSet) {
  unsigned op = takeComparison(d);
  d.instruction.value = d.takeOneOf({"and", "or", "xor"}) + 1;
  if (d.takeIf("ftz"))
    d.instruction.flags |= kFlush;
  Scalar result = Pred;
  // Either order of the two is in use for halves.
  if (d.instruction.value == kNone && isHalf(d.lastType()))
    d.instruction.value = d.takeOneOf({"and", "or", "xor"}) + 1;
  if (isSet) {
    result = d.takeType({U32, S32, F32});
    d.instruction.flags |= kIsSet | (result == F32 ? kIsFloatResult : 0);
  }
  Scalar type = d.takeType(kComparable);
  d.endModifiers();
  if ((d.instruction.flags & kFlush) && (type == F64 || !(isFloat(type) || isHalf(type))))
    d.failUnknown();
  bool isCombined = d.instruction.value != kNone;
  d.requireCount(isCombined ? 4 : 3);
  if (isSet) {
    d.addResult(d.operand(0), result);
    if (type == F16x2 || (type == F16 && result == F32))
      d.failUnknown();
  } else if (d.operand(0).kind == ptx::Operand::Kind::Pair) {
    d.addResult(d.operand(0).elements[0], Pred);
    d.addResult(d.operand(0).elements[1], Pred);
    if (type == F16)
      d.fail("expected one predicate for '" + d.source.str() + "'");
  } else {
    d.addResult(d.operand(0), Pred);
    if (type == F16x2)
      d.fail("expected two predicates for '" + d.source.str() + "'");
  }
  d.addSource(d.operand(1), type);
  d.addSource(d.operand(2), type);
  if (isCombined)
    addCombined(d, 3);
  if (type == F16x2)
    d.instruction.flags |= kHasSecond;
  d.setExecute(choose(type, op), isFloat(type) || isHalf(type) ? Class::Float : Class::Integer);
}

/// setp.op{.ftz}{.bool}.type p{|q}, a, b{, {!}c}
static void decodeSetPredicate(Decoder &d) { decodeComparisonOf(d, false); }
/// set.op{.ftz}{.bool}.dtype.type d, a, b{, {!}c}
static void decodeSet(Decoder &d) { decodeComparisonOf(d, true); }

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

static void select(Warp &warp, const Instruction &i, uint32_t active) {
  uint64_t *result = warp.cells(i.operands[0]);
  const uint64_t *a = warp.cells(i.operands[1]), *b = warp.cells(i.operands[2]);
  auto c = static_cast<uint32_t>(warp.predicate(i.operands[3]));
  forEachLane(active, [&](unsigned lane) { result[lane] = c >> lane & 1 ? a[lane] : b[lane]; });
}

static void decodeSelect(Decoder &d) {
  Scalar type = d.takeType({B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64});
  d.bind({type}, {type, type, Pred});
  d.setExecute(select, Class::Move);
}

/// a if c >= 0, else b; b if c is NaN (9.7.5.4).
template <typename T> static void selectBySign(Warp &warp, const Instruction &i, uint32_t active) {
  uint64_t *result = warp.cells(i.operands[0]);
  const uint64_t *a = warp.cells(i.operands[1]), *b = warp.cells(i.operands[2]),
                 *c = warp.cells(i.operands[3]);
  bool isFlush = i.flags & kFlush;
  forEachLane(active, [&](unsigned lane) {
    result[lane] = load<T>(c[lane], isFlush) >= T(0) ? a[lane] : b[lane];
  });
}

static void decodeSelectBySign(Decoder &d) {
  bool isFlush = d.takeIf("ftz");
  d.instruction.flags = isFlush ? kFlush : 0;
  Scalar type = d.takeType({B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64});
  Scalar sign = d.takeType({S32, F32});
  if (isFlush && sign != F32)
    d.failUnknown();
  d.bind({type}, {type, type, sign});
  d.setExecute(sign == S32 ? selectBySign<int32_t> : selectBySign<float>, Class::Move);
}

const Entry kComparisonEntries[] = {{"setp", Entry::Any, decodeSetPredicate},
                                    {"set", Entry::Any, decodeSet},
                                    {"selp", Entry::Any, decodeSelect},
                                    {"slct", Entry::Any, decodeSelectBySign},
                                    {}};

} // namespace tfc::gpu
