//===- Moves.cpp - Moves, packing and addresses ---------------------------===//
//
// Section 9.7.8: mov, also between vectors and scalars, cvta between generic addresses and those of
// a space, and isspacep.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/execute/Block.h"
#include "test/gpu/emulator/instructions/Elementwise.h"
#include <algorithm>

namespace tfc::gpu {

using enum Scalar;
using Kind = ptx::Operand::Kind;

//===----------------------------------------------------------------------===//
// mov
//===----------------------------------------------------------------------===//

static void move(Warp &warp, const Instruction &i, uint32_t active) {
  uint64_t *result = warp.cells(i.operands[0]);
  const uint64_t *a = warp.cells(i.operands[1]);
  forEachLane(active, [&](unsigned lane) { result[lane] = a[lane]; });
}

static void movePredicate(Warp &warp, const Instruction &i, uint32_t active) {
  warp.setPredicate(i.operands[0], active, static_cast<uint32_t>(warp.predicate(i.operands[1])));
}

/// d = {a, b, ...}: the first element is the lowest. Value is the size of an element in bits.
static void pack(Warp &warp, const Instruction &i, uint32_t active) {
  uint64_t *result = warp.cells(i.operands[0]);
  forEachLane(active, [&](unsigned lane) {
    uint64_t bits = 0;
    for (unsigned k = 1; k < i.operandCount; ++k)
      bits |= warp.cells(i.operands[k])[lane] << ((k - 1) * i.value);
    result[lane] = bits;
  });
}

static void unpack(Warp &warp, const Instruction &i, uint32_t active) {
  const uint64_t *a = warp.cells(i.operands[i.results]);
  uint64_t mask = (uint64_t(1) << i.value) - 1;
  forEachLane(active, [&](unsigned lane) {
    uint64_t bits = a[lane]; // which a result may replace
    for (unsigned k = 0; k < i.results; ++k)
      warp.cells(i.operands[k])[lane] = bits >> (k * i.value) & mask;
  });
}

static Scalar bitsType(int bits) {
  return bits == 8 ? B8 : bits == 16 ? B16 : bits == 32 ? B32 : bits == 64 ? B64 : None;
}

/// mov.b32 d, {a, b} and mov.b32 {a, b}, d, of 2 or 4 elements.
static void decodeVectorMove(Decoder &d, Scalar type) {
  bool isPack = d.operand(1).kind == Kind::Vector;
  const ptx::Operand &vector = d.operand(isPack ? 1 : 0);
  size_t count = vector.elements.size();
  Scalar element =
      count == 2 || count == 4 ? bitsType(bitsOf(type) / static_cast<int>(count)) : None;
  if (!isBits(type) || element == None)
    return d.failUnknown();
  d.instruction.value = bitsOf(element);
  if (isPack) {
    d.addResult(d.operand(0), type);
    d.addSources(vector, element, count);
  } else {
    d.addResults(vector, element, count);
    d.addSource(d.operand(1), type);
  }
  d.setExecute(isPack ? pack : unpack, Class::Move);
}

/// The clocks count the instructions of the launch, which makes them the same each time.
static void readClock(Warp &warp, const Instruction &i, uint32_t active) {
  uint64_t clock = warp.block.counters.warpInstructions, *result = warp.cells(i.operands[0]);
  clock = i.value < 0 ? clock >> 32 : i.value == 32 ? clock & UINT32_MAX : clock;
  forEachLane(active, [&](unsigned lane) { result[lane] = clock; });
}

/// Returns true if the source is a clock.
static bool decodeClock(Decoder &d, Scalar type) {
  struct Clock {
    std::string_view name;
    int value; // bits, or -1 for the high half
  };
  static constexpr Clock kClocks[] = {{"%clock", 32},          {"%clock_hi", -1},
                                      {"%clock64", 64},        {"%globaltimer", 64},
                                      {"%globaltimer_lo", 32}, {"%globaltimer_hi", -1}};
  for (const Clock &clock : kClocks) {
    if (d.operand(1).kind != Kind::Special || d.operand(1).name != clock.name)
      continue;
    if (bitsOf(type) != (clock.value == 64 ? 64 : 32) || isFloat(type))
      d.failUnknown();
    d.addResult(d.operand(0), type);
    d.instruction.value = clock.value;
    d.setExecute(readClock, Class::Move);
    return true;
  }
  return false;
}

static void decodeMove(Decoder &d) {
  Scalar type = d.takeType({Pred, B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64});
  d.endModifiers();
  d.requireCount(2);
  if (d.operand(0).kind == Kind::Vector || d.operand(1).kind == Kind::Vector)
    return decodeVectorMove(d, type);
  if (decodeClock(d, type))
    return;
  d.addResult(d.operand(0), type);
  d.addSource(d.operand(1), type);
  d.setExecute(type == Pred ? movePredicate : move, Class::Move);
}

//===----------------------------------------------------------------------===//
// Generic addresses
//===----------------------------------------------------------------------===//

static uint64_t windowOf(int64_t space) {
  constexpr uint64_t kWindows[] = {0, kSharedWindow, kLocalWindow, 0, kParameterWindow};
  return kWindows[space];
}

/// The spaces in the order of windowOf.
static int64_t takeSpace(Decoder &d) {
  return d.requireOneOf({"global", "shared", "local", "const", "param"});
}

static void toGeneric(Warp &warp, const Instruction &i, uint32_t active) {
  uint64_t *result = warp.cells(i.operands[0]);
  const uint64_t *a = warp.cells(i.operands[1]);
  forEachLane(active, [&](unsigned lane) { result[lane] = a[lane] + windowOf(i.value); });
}

/// Generic addresses outside of the space have no address in it; an access would say so.
static void fromGeneric(Warp &warp, const Instruction &i, uint32_t active) {
  uint64_t *result = warp.cells(i.operands[0]);
  const uint64_t *a = warp.cells(i.operands[1]);
  forEachLane(active, [&](unsigned lane) { result[lane] = a[lane] - windowOf(i.value); });
}

/// cvta.space and cvta.to.space (9.7.8.19); of 64 bits, as addresses are.
static void decodeConvertAddress(Decoder &d) {
  bool isTo = d.takeIf("to");
  d.instruction.value = takeSpace(d);
  d.takeType({U64});
  d.bind({U64}, {U64});
  d.setExecute(isTo ? fromGeneric : toGeneric, Class::Integer);
}

static void isInSpace(Warp &warp, const Instruction &i, uint32_t active) {
  const uint64_t *a = warp.cells(i.operands[1]);
  uint32_t mask = 0;
  forEachLane(active, [&](unsigned lane) {
    uint64_t window = windowOf(i.value);
    bool isIn =
        window ? a[lane] - window < kWindowBytes
               : a[lane] < Memory::kEnd && warp.block.memory.isConstant(a[lane]) == (i.value == 3);
    mask |= uint32_t(isIn) << lane;
  });
  warp.setPredicate(i.operands[0], active, mask);
}

static void decodeIsInSpace(Decoder &d) {
  d.instruction.value = takeSpace(d);
  d.bind({Pred}, {U64});
  d.setExecute(isInSpace, Class::Integer);
}

const Entry kMoveEntries[] = {{"mov", Entry::Any, decodeMove},
                              {"cvta", Entry::Any, decodeConvertAddress},
                              {"isspacep", Entry::Any, decodeIsInSpace},
                              {}};

} // namespace tfc::gpu
