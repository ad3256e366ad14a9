//===- Compare.cpp - Comparisons and selections ---------------------------===//
//
// Section 9.7.6 and 9.7.7 of the PTX ISA.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/instructions/Cells.h"
#include "test/gpu/emulator/instructions/Half.h"

namespace tfc::gpu {

namespace {

/// Relations, with their names in the order of `kRelations`. Those after `Hs` are of floats: true
/// if an operand is NaN, or tests for it.
enum class Relation {
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  Lo,
  Ls,
  Hi,
  Hs,
  Equ,
  Neu,
  Ltu,
  Leu,
  Gtu,
  Geu,
  Num,
  NaN
};

template <typename T> bool isOrdered(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return !std::isnan(a) && !std::isnan(b);
  return true;
}

template <Relation relation, typename T> bool holds(T a, T b) {
  switch (relation) {
  case Relation::Eq:
    return a == b;
  case Relation::Ne:
    return isOrdered(a, b) && a != b;
  case Relation::Lt:
  case Relation::Lo:
    return a < b;
  case Relation::Le:
  case Relation::Ls:
    return a <= b;
  case Relation::Gt:
  case Relation::Hi:
    return a > b;
  case Relation::Ge:
  case Relation::Hs:
    return a >= b;
  case Relation::Equ:
    return !isOrdered(a, b) || a == b;
  case Relation::Neu:
    return !isOrdered(a, b) || a != b;
  case Relation::Ltu:
    return !isOrdered(a, b) || a < b;
  case Relation::Leu:
    return !isOrdered(a, b) || a <= b;
  case Relation::Gtu:
    return !isOrdered(a, b) || a > b;
  case Relation::Geu:
    return !isOrdered(a, b) || a >= b;
  case Relation::Num:
    return isOrdered(a, b);
  case Relation::NaN:
    return !isOrdered(a, b);
  }
}

/// Instruction::value: how the result is combined with another predicate, and whether f32 is
/// flushed.
enum Modifier : int64_t { kAnd = 1, kOr = 2, kXor = 3, kCombination = 3, kFlush = 4 };

uint32_t combine(int64_t combination, uint32_t bits, uint32_t with) {
  switch (combination & kCombination) {
  case kAnd:
    return bits & with;
  case kOr:
    return bits | with;
  case kXor:
    return bits ^ with;
  default:
    return bits;
  }
}

struct F16 {};

template <typename T> T readFlushed(uint64_t cell, bool isFlushed) {
  T value = fromCell<T>(cell);
  if constexpr (std::is_same_v<T, float>)
    if (isFlushed && std::fpclassify(value) == FP_SUBNORMAL)
      return std::copysign(0.0f, value);
  return value;
}

/// Sets a predicate, and a second one with the opposite, each combined with a third one.
template <typename T, Relation relation>
void setPredicate(Warp &warp, const Instruction &instruction, uint32_t active) {
  unsigned first = instruction.results;
  const uint64_t *a = warp.cells(instruction.operands[first]);
  const uint64_t *b = warp.cells(instruction.operands[first + 1]);
  bool isFlushed = instruction.value & kFlush;
  auto read = [=](uint64_t cell) {
    if constexpr (std::is_same_v<T, F16>)
      return fromHalf(uint16_t(cell), kF16);
    else
      return readFlushed<T>(cell, isFlushed);
  };
  uint32_t bits = 0;
  forEachLane(active, [&](unsigned lane) {
    bits |= uint32_t(holds<relation>(read(a[lane]), read(b[lane]))) << lane;
  });
  bool isCombined = instruction.value & kCombination;
  uint32_t with = isCombined ? warp.predicate(instruction, first + 2) : 0;
  warp.setMask(instruction.operands[0], active, combine(instruction.value, bits, with));
  if (instruction.results == 2)
    warp.setMask(instruction.operands[1], active, combine(instruction.value, ~bits, with));
}

/// selp: a where the predicate holds, b elsewhere.
void select(Warp &warp, const Instruction &instruction, uint32_t active) {
  uint64_t *result = warp.cells(instruction.operands[0]);
  const uint64_t *a = warp.cells(instruction.operands[1]);
  const uint64_t *b = warp.cells(instruction.operands[2]);
  uint32_t bits = warp.predicate(instruction, 3);
  forEachLane(active, [=](unsigned lane) { result[lane] = bits >> lane & 1 ? a[lane] : b[lane]; });
}

template <typename T> void testClass(Warp &warp, const Instruction &instruction, uint32_t active) {
  const uint64_t *a = warp.cells(instruction.operands[1]);
  uint32_t bits = 0;
  forEachLane(active, [&](unsigned lane) {
    T x = fromCell<T>(a[lane]);
    const bool kinds[] = {std::isfinite(x), std::isinf(x),    !std::isnan(x),
                          std::isnan(x),    std::isnormal(x), std::fpclassify(x) == FP_SUBNORMAL};
    bits |= uint32_t(kinds[instruction.value]) << lane;
  });
  warp.setMask(instruction.operands[0], active, bits);
}

} // namespace

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

template <typename T, size_t... i>
static Instruction::Execute setPredicateOf(int relation, std::index_sequence<i...>) {
  static constexpr Instruction::Execute kExecutes[] = {&setPredicate<T, Relation(i)>...};
  return kExecutes[relation];
}

static Instruction::Execute setPredicateOf(Scalar type, int relation) {
  auto all = std::make_index_sequence<18>();
  if (type == Scalar::F16)
    return setPredicateOf<F16>(relation, all);
  if (type == Scalar::F32)
    return setPredicateOf<float>(relation, all);
  if (type == Scalar::F64)
    return setPredicateOf<double>(relation, all);
  return withInteger(type, [=](auto t) { return setPredicateOf<decltype(t)>(relation, all); });
}

/// Returns true if the type has the relation (9.7.6.2).
static bool hasRelation(Scalar type, Relation relation) {
  bool isEquality = relation == Relation::Eq || relation == Relation::Ne;
  if (isBits(type))
    return isEquality;
  if (isFloat(type) || type == Scalar::F16)
    return relation < Relation::Lo || relation > Relation::Hs;
  return relation < Relation::Lo || (isUnsigned(type) && relation <= Relation::Hs);
}

static bool decodeSetPredicate(Form &form) {
  int relation = form.takeOneOf({"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ",
                                 "neu", "ltu", "leu", "gtu", "geu", "num", "nan"});
  int combination = form.takeOneOf({"and", "or", "xor"});
  bool isFlushed = form.take("ftz");
  Scalar type = form.takeType();
  bool isKnown = relation >= 0 && hasRelation(type, Relation(relation)) && bitsOf(type) > 8 &&
                 !(isFlushed && type != Scalar::F32) && (!isHalf(type) || type == Scalar::F16);
  if (!isKnown)
    return form.unknown();
  form.out.value = (combination + 1) | (isFlushed ? kFlush : 0);
  if (!setExecute(form, setPredicateOf(type, relation), Class::Integer) ||
      !form.finish(combination >= 0 ? 4 : 3))
    return false;
  const ptx::Operand &result = form.source.operands[0];
  if (result.kind == ptx::Operand::Kind::Pair) {
    if (!form.addResult(result.elements[0], Scalar::Pred) ||
        !form.addResult(result.elements[1], Scalar::Pred))
      return false;
  } else if (!form.addResult(0, Scalar::Pred)) {
    return false;
  }
  Scalar stored = type == Scalar::F16 ? Scalar::B16 : type;
  return form.addSource(1, stored) && form.addSource(2, stored) &&
         (combination < 0 || form.addSource(3, Scalar::Pred));
}

static bool decodeSelect(Form &form) {
  Scalar type = form.takeType();
  if (type == Scalar::None || type == Scalar::Pred || bitsOf(type) < 16 || isHalf(type))
    return form.unknown();
  return setExecute(form, &select, Class::Integer) && form.finish(4) && form.addResult(0, type) &&
         form.addSource(1, type) && form.addSource(2, type) && form.addSource(3, Scalar::Pred);
}

static bool decodeTest(Form &form) {
  int kind = form.takeOneOf({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  Scalar type = form.takeType();
  if (kind < 0 || !isFloat(type))
    return form.unknown();
  form.out.value = kind;
  return setExecute(form, type == Scalar::F32 ? &testClass<float> : &testClass<double>,
                    Class::Float) &&
         form.finish(2) && form.addResult(0, Scalar::Pred) && form.addSource(1, type);
}

void addCompare(DecodeTable &table) {
  table["setp"] = decodeSetPredicate;
  table["selp"] = decodeSelect;
  table["testp"] = decodeTest;
}

} // namespace tfc::gpu
