//===- Atomics.cpp - Atomic operations and reductions ---------------------===//
//
// Sections 9.7.13.6 and 9.7.13.7: atom and red. The lanes of a warp take their turns in order.
// Orders and scopes are checked and make no difference: accesses take effect in the order of the
// program.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/FloatFormats.h"
#include "test/gpu/emulator/execute/Accesses.h"
#include "test/gpu/emulator/instructions/Elementwise.h"
#include <algorithm>

namespace tfc::gpu {

using enum Scalar;
using ptx::Space;

/// Function takes the old value, b, c, and whether denormal numbers are flushed.
template <typename T, auto Function>
static void update(Warp &warp, const Instruction &i, uint32_t active) {
  const Row *sources = &i.operands[i.results];
  uint64_t bases[kLanes];
  std::copy_n(warp.cells(sources[0]), kLanes, bases);
  const uint64_t *b = warp.cells(sources[1]);
  const uint64_t *c = i.operandCount - i.results == 3 ? warp.cells(sources[2]) : b;
  uint64_t *result = i.results ? warp.cells(i.operands[0]) : nullptr;
  LaneAddresses addresses;
  bool isFast = enterRaces(warp, active);
  forEachLane(active, [&](unsigned lane) {
    uint64_t address = bases[lane] + i.value;
    Space space = resolve(i.access.space, address);
    addresses.of[lane] = address;
    addresses.global |= uint32_t(space == Space::Global) << lane;
    addresses.shared |= uint32_t(space == Space::Shared) << lane;
    uint8_t *at = toUpdate(warp, lane, space, address, sizeof(T), isFast);
    if (!at)
      return;
    T old;
    memcpy(&old, at, sizeof old);
    T updated = Function(old, fromCell<T>(b[lane]), fromCell<T>(c[lane]), space == Space::Global);
    memcpy(at, &updated, sizeof updated);
    if (result)
      result[lane] = toCell(old);
  });
  countAccesses(warp.block.counters, addresses, sizeof(T), true);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

static constexpr auto kAdd = []<typename T>(T old, T b, T, bool) {
  using Unsigned = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<Unsigned>(old) + static_cast<Unsigned>(b));
};
static constexpr auto kMinimum = [](auto old, auto b, auto, bool) { return std::min(old, b); };
static constexpr auto kMaximum = [](auto old, auto b, auto, bool) { return std::max(old, b); };
static constexpr auto kAnd = [](auto old, auto b, auto, bool) { return old & b; };
static constexpr auto kOr = [](auto old, auto b, auto, bool) { return old | b; };
static constexpr auto kXor = [](auto old, auto b, auto, bool) { return old ^ b; };
static constexpr auto kExchange = [](auto, auto b, auto, bool) { return b; };
static constexpr auto kSwap = [](auto old, auto b, auto c, bool) { return old == b ? c : old; };
static uint32_t increment(uint32_t old, uint32_t b, uint32_t, bool) {
  return old >= b ? 0 : old + 1;
}
static uint32_t decrement(uint32_t old, uint32_t b, uint32_t, bool) {
  return old == 0 || old > b ? b : old - 1;
}

/// In global memory, denormal numbers are flushed (9.7.13.6).
static uint32_t addSingle(uint32_t old, uint32_t b, uint32_t, bool isFlush) {
  auto flush = [&](uint32_t bits) { return isFlush ? flushed(bits) : bits; };
  uint32_t sum = bitsOf(floatOf(flush(old)) + floatOf(flush(b)));
  return isNan(sum) ? kNanSingle : flush(sum);
}

static uint64_t addDouble(uint64_t old, uint64_t b, uint64_t, bool) {
  double sum = doubleOf(old) + doubleOf(b);
  return sum != sum ? kNanDouble : bitsOf(sum);
}

static uint16_t addHalf(uint16_t old, uint16_t b, uint16_t, bool) {
  double sum = double(halfToFloat(old)) + halfToFloat(b);
  return static_cast<uint16_t>(encode(sum, kHalf, Rounding::Nearest));
}

/// The halves are added one by one, which is all that is promised to be atomic.
static uint32_t addPair(uint32_t old, uint32_t b, uint32_t, bool) {
  uint16_t low = addHalf(static_cast<uint16_t>(old), static_cast<uint16_t>(b), 0, false);
  uint16_t high =
      addHalf(static_cast<uint16_t>(old >> 16), static_cast<uint16_t>(b >> 16), 0, false);
  return uint32_t(high) << 16 | low;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// Chooses among integer types; others have none.
template <auto Function> static Instruction::Execute forIntegers(Scalar type) {
  return type == U32 || type == B32   ? update<uint32_t, Function>
         : type == U64 || type == B64 ? update<uint64_t, Function>
         : type == S32                ? update<int32_t, Function>
         : type == S64                ? update<int64_t, Function>
                                      : nullptr;
}

static Instruction::Execute chooseAdd(Scalar type) {
  switch (type) {
  case F32:
    return update<uint32_t, addSingle>;
  case F64:
    return update<uint64_t, addDouble>;
  case F16:
    return update<uint16_t, addHalf>;
  case F16x2:
    return update<uint32_t, addPair>;
  default:
    return forIntegers<kAdd>(type);
  }
}

namespace {
enum Operation { And, Or, Xor, Add, Increment, Decrement, Minimum, Maximum, Exchange, Swap };
} // namespace

/// The types of an operation (the tables of 9.7.13.6 and 9.7.13.7).
static Scalar takeTypeOf(Decoder &d, int operation) {
  switch (operation) {
  case And:
  case Or:
  case Xor:
  case Exchange:
    return d.takeType({B32, B64});
  case Swap:
    return d.takeType({B32, B64, B16});
  case Increment:
  case Decrement:
    return d.takeType({U32});
  case Minimum:
  case Maximum:
    return d.takeType({U32, U64, S32, S64});
  default:
    return d.takeIf("noftz") ? d.takeType({F16, F16x2}) : d.takeType({U32, S32, U64, F32, F64});
  }
}

static Instruction::Execute choose(int operation, Scalar type) {
  switch (operation) {
  case And:
    return forIntegers<kAnd>(type);
  case Or:
    return forIntegers<kOr>(type);
  case Xor:
    return forIntegers<kXor>(type);
  case Add:
    return chooseAdd(type);
  case Increment:
    return update<uint32_t, increment>;
  case Decrement:
    return update<uint32_t, decrement>;
  case Minimum:
    return forIntegers<kMinimum>(type);
  case Maximum:
    return forIntegers<kMaximum>(type);
  case Exchange:
    return forIntegers<kExchange>(type);
  default:
    return type == B16 ? update<uint16_t, kSwap> : forIntegers<kSwap>(type);
  }
}

/// {.order}{.scope}{.space}.op.type: red has neither acquire nor a result.
static void decodeAtomicOf(Decoder &d, bool hasResult) {
  if (hasResult)
    d.takeOneOf({"relaxed", "acquire", "release", "acq_rel"});
  else
    d.takeOneOf({"relaxed", "release"});
  d.takeOneOf({"cta", "gpu", "sys"});
  AccessForm form;
  form.isStrong = true;
  int space = d.takeOneOf({"global", "shared", "shared::cta"});
  form.space = space < 0 ? Space::Generic : space == 0 ? Space::Global : Space::Shared;
  int operation =
      d.requireOneOf({"and", "or", "xor", "add", "inc", "dec", "min", "max", "exch", "cas"});
  if (!hasResult && operation >= Exchange)
    d.failUnknown();
  Scalar type = takeTypeOf(d, operation);
  d.endModifiers();
  form.bytes = static_cast<uint8_t>(bytesOf(type));
  size_t address = hasResult, count = address + (operation == Swap ? 3 : 2);
  d.requireCount(count);
  if (hasResult)
    d.addResult(d.operand(0), type);
  d.addAddress(d.operand(address), form);
  for (size_t i = address + 1; i < count; ++i)
    d.addSource(d.operand(i), type);
  d.instruction.access = form;
  d.setExecute(choose(operation, type), Class::Atomic);
}

static void decodeAtomic(Decoder &d) { decodeAtomicOf(d, true); }
static void decodeReduction(Decoder &d) { decodeAtomicOf(d, false); }

const Entry kAtomicEntries[] = {
    {"atom", Entry::Any, decodeAtomic}, {"red", Entry::Any, decodeReduction}, {}};

} // namespace tfc::gpu
