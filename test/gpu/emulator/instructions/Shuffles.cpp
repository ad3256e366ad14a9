//===- Shuffles.cpp - Exchange between the lanes of a warp ----------------===//
//
// Sections 9.7.8.6 and 9.7.13.10 to 9.7.13.13: shfl.sync, vote.sync, match.sync, redux.sync and
// activemask. Lanes wait for all lanes of their mask.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/instructions/Elementwise.h"
#include "test/gpu/emulator/instructions/Groups.h"
#include <algorithm>

namespace tfc::gpu {

using enum Scalar;

//===----------------------------------------------------------------------===//
// shfl.sync
//===----------------------------------------------------------------------===//

namespace {
enum Mode { kUp, kDown, kButterfly, kIndex };

struct ShuffleSource {
  unsigned lane;
  bool isInRange;
};
} // namespace

/// The lane whose value a lane gets; its own if that one is out of the range that c gives.
static ShuffleSource sourceOf(int64_t mode, int lane, int b, int c) {
  int clamp = c & 31, segment = c >> 8 & 31;
  int last = (lane & segment) | (clamp & ~segment), first = lane & segment;
  b &= 31;
  int source = mode == kUp          ? lane - b
               : mode == kDown      ? lane + b
               : mode == kButterfly ? lane ^ b
                                    : first | (b & ~segment);
  bool isInRange = mode == kUp ? source >= last : source <= last;
  return {static_cast<unsigned>(isInRange ? source : lane), isInRange};
}

static void shuffle(Warp &warp, const Instruction &i, uint32_t active) {
  const Row *sources = &i.operands[i.results];
  forEachGroup(warp, sources[3], active, true, [&](uint32_t lanes) {
    uint64_t *result = warp.cells(i.operands[0]), values[kLanes];
    const uint64_t *b = warp.cells(sources[1]), *c = warp.cells(sources[2]);
    std::copy_n(warp.cells(sources[0]), kLanes, values);
    uint32_t inRange = 0;
    forEachLane(lanes, [&](unsigned lane) {
      ShuffleSource source = sourceOf(i.value, static_cast<int>(lane), static_cast<int>(b[lane]),
                                      static_cast<int>(c[lane]));
      if (!(lanes >> source.lane & 1))
        return warp.fail(lane, "shuffles the value of lane " + std::to_string(source.lane) +
                                   ", which is not in the mask");
      result[lane] = values[source.lane];
      inRange |= uint32_t(source.isInRange) << lane;
    });
    if (i.results == 2)
      warp.setPredicate(i.operands[1], lanes, inRange);
  });
}

/// A result, or a result and a predicate.
static void addPair(Decoder &d, Scalar type) {
  const ptx::Operand &result = d.operand(0);
  if (result.kind != ptx::Operand::Kind::Pair)
    return d.addResult(result, type);
  d.addResult(result.elements[0], type);
  d.addResult(result.elements[1], Pred);
}

/// shfl.sync.mode.b32 d{|p}, a, b, c, mask
static void decodeShuffle(Decoder &d) {
  d.requireOneOf({"sync"});
  d.instruction.value = d.requireOneOf({"up", "down", "bfly", "idx"});
  d.takeType({B32});
  d.endModifiers();
  d.requireCount(5);
  addPair(d, B32);
  for (int i = 1; i < 5; ++i)
    d.addSource(d.operand(i), B32);
  d.setExecute(shuffle, Class::Warp);
}

//===----------------------------------------------------------------------===//
// vote.sync
//===----------------------------------------------------------------------===//

namespace {
enum Vote { kAll, kAny, kUni, kBallot };
constexpr uint8_t kNegated = 1;
} // namespace

static void vote(Warp &warp, const Instruction &i, uint32_t active) {
  forEachGroup(warp, i.operands[2], active, true, [&](uint32_t lanes) {
    auto a = static_cast<uint32_t>(warp.predicate(i.operands[1]));
    uint32_t votes = (i.flags & kNegated ? ~a : a) & lanes;
    if (i.value == kBallot) {
      uint64_t *result = warp.cells(i.operands[0]);
      return forEachLane(lanes, [&](unsigned lane) { result[lane] = votes; });
    }
    bool holds = i.value == kAll   ? votes == lanes
                 : i.value == kAny ? votes != 0
                                   : votes == lanes || votes == 0;
    warp.setPredicate(i.operands[0], lanes, holds ? kAllLanes : 0);
  });
}

/// vote.sync.all.pred d, {!}a, mask, and vote.sync.ballot.b32.
static void decodeVote(Decoder &d) {
  d.requireOneOf({"sync"});
  d.instruction.value = d.requireOneOf({"all", "any", "uni", "ballot"});
  Scalar type = d.takeType({d.instruction.value == kBallot ? B32 : Pred});
  d.endModifiers();
  d.requireCount(3);
  d.addResult(d.operand(0), type);
  ptx::Operand a = d.operand(1);
  d.instruction.flags = a.isNegated ? kNegated : 0;
  a.isNegated = false;
  d.addSource(a, Pred);
  d.addSource(d.operand(2), B32);
  d.setExecute(vote, Class::Warp);
}

//===----------------------------------------------------------------------===//
// match.sync and redux.sync
//===----------------------------------------------------------------------===//

/// .any: the lanes with the same value. .all: the mask if all have the same value, else 0.
static void match(Warp &warp, const Instruction &i, uint32_t active) {
  const Row *sources = &i.operands[i.results];
  forEachGroup(warp, sources[1], active, true, [&](uint32_t lanes) {
    uint64_t *result = warp.cells(i.operands[0]), values[kLanes];
    std::copy_n(warp.cells(sources[0]), kLanes, values);
    uint32_t holds = 0;
    forEachLane(lanes, [&](unsigned lane) {
      uint32_t same = 0;
      forEachLane(
          lanes, [&](unsigned other) { same |= uint32_t(values[other] == values[lane]) << other; });
      bool isAll = i.value != 0;
      result[lane] = isAll && same != lanes ? 0 : same;
      holds |= uint32_t(same == lanes) << lane;
    });
    if (i.results == 2)
      warp.setPredicate(i.operands[1], lanes, holds);
  });
}

static void decodeMatch(Decoder &d) {
  d.instruction.value = d.requireOneOf({"any", "all"});
  d.requireOneOf({"sync"});
  Scalar type = d.takeType({B32, B64});
  d.endModifiers();
  d.requireCount(3);
  addPair(d, B32);
  if (d.instruction.results == 2 && d.instruction.value == 0)
    d.failUnknown();
  d.addSource(d.operand(1), type);
  d.addSource(d.operand(2), B32);
  d.setExecute(match, Class::Warp);
}

template <auto Function, typename T>
static void reduce(Warp &warp, const Instruction &i, uint32_t active) {
  forEachGroup(warp, i.operands[2], active, true, [&](uint32_t lanes) {
    const uint64_t *a = warp.cells(i.operands[1]);
    unsigned first = std::countr_zero(lanes);
    auto sum = fromCell<T>(a[first]);
    forEachLane(lanes & ~(1u << first),
                [&](unsigned lane) { sum = static_cast<T>(Function(sum, fromCell<T>(a[lane]))); });
    uint64_t *result = warp.cells(i.operands[0]);
    forEachLane(lanes, [&](unsigned lane) { result[lane] = toCell(sum); });
  });
}

static constexpr auto kAdd = [](auto a, auto b) { return uint32_t(a) + uint32_t(b); };
static constexpr auto kMinimum = [](auto a, auto b) { return std::min(a, b); };
static constexpr auto kMaximum = [](auto a, auto b) { return std::max(a, b); };
static constexpr auto kAnd = [](auto a, auto b) { return a & b; };
static constexpr auto kOr = [](auto a, auto b) { return a | b; };
static constexpr auto kXor = [](auto a, auto b) { return a ^ b; };

/// redux.sync.op.type d, a, mask
static void decodeReduce(Decoder &d) {
  static constexpr Instruction::Execute kUnsigned[] = {
      reduce<kAdd, uint32_t>, reduce<kMinimum, uint32_t>, reduce<kMaximum, uint32_t>,
      reduce<kAnd, uint32_t>, reduce<kOr, uint32_t>,      reduce<kXor, uint32_t>};
  static constexpr Instruction::Execute kSigned[] = {
      reduce<kAdd, int32_t>, reduce<kMinimum, int32_t>, reduce<kMaximum, int32_t>};
  d.requireOneOf({"sync"});
  int op = d.requireOneOf({"add", "min", "max", "and", "or", "xor"});
  Scalar type = op < 3 ? d.takeType({U32, S32}) : d.takeType({B32});
  d.bind({type}, {type, B32});
  d.setExecute(type == S32 ? kSigned[op] : kUnsigned[op], Class::Warp);
}

static void readActive(Warp &warp, const Instruction &i, uint32_t active) {
  uint64_t *result = warp.cells(i.operands[0]);
  forEachLane(active, [&](unsigned lane) { result[lane] = active; });
}

static void decodeActive(Decoder &d) {
  d.takeType({B32});
  d.bind({B32}, {});
  d.setExecute(readActive, Class::Warp);
}

const Entry kWarpEntries[] = {
    {"shfl", Entry::Any, decodeShuffle},      {"vote", Entry::Any, decodeVote},
    {"match", Entry::Any, decodeMatch},       {"redux", Entry::Any, decodeReduce},
    {"activemask", Entry::Any, decodeActive}, {}};

} // namespace tfc::gpu
