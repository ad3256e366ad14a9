//===- Exchange.cpp - Exchanges between the lanes of a warp ---------------===//
//
// Shuffles, votes, matches and reductions: sections 9.7.9.6, 9.7.13.9 to 9.7.13.12 of the PTX ISA.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/instructions/Cells.h"

namespace tfc::gpu {

namespace {

enum class Shuffle { Up, Down, Butterfly, Index };

/// A value that comes from a lane which does not take part is undefined.
template <Shuffle mode> void shuffle(Warp &warp, const Instruction &instruction, uint32_t active) {
  unsigned first = instruction.results;
  uint64_t *result = warp.cells(instruction.operands[0]);
  const uint64_t *b = warp.cells(instruction.operands[first + 1]);
  const uint64_t *c = warp.cells(instruction.operands[first + 2]);
  uint64_t sources[kLanes];
  std::copy_n(warp.cells(instruction.operands[first]), kLanes, sources);
  uint32_t inRange = 0;
  forEachLane(active, [&](unsigned lane) {
    int by = b[lane] & 31, limit = c[lane] & 31, segment = c[lane] >> 8 & 31;
    int least = lane & segment, most = least | (limit & ~segment), from = 0;
    bool isInside = false;
    switch (mode) {
    case Shuffle::Up:
      from = int(lane) - by;
      isInside = from >= most;
      break;
    case Shuffle::Down:
      from = int(lane) + by;
      isInside = from <= most;
      break;
    case Shuffle::Butterfly:
      from = int(lane) ^ by;
      isInside = from <= most;
      break;
    case Shuffle::Index:
      from = least | (by & ~segment);
      isInside = from <= most;
      break;
    }
    if (!isInside)
      from = int(lane);
    inRange |= uint32_t(isInside) << lane;
    if (!(active >> from & 1))
      warp.setUndefined(1u << lane);
    result[lane] = uint32_t(sources[from]);
  });
  if (first == 2)
    warp.setMask(instruction.operands[1], active, inRange);
}

/// Calls `visit` for each group of lanes with one mask.
template <typename Visit>
void forEachGroup(Warp &warp, const Instruction &instruction, uint32_t active, Visit visit) {
  const uint64_t *masks = warp.cells(instruction.maskRow());
  for (uint32_t rest = active; rest != 0;) {
    uint32_t mask = uint32_t(masks[std::countr_zero(rest)]), same = 0;
    forEachLane(rest,
                [&](unsigned lane) { same |= uint32_t(uint32_t(masks[lane]) == mask) << lane; });
    rest &= ~same;
    visit(same);
  }
}

enum class Vote { All, Any, Uniform, Ballot };

template <Vote mode> void vote(Warp &warp, const Instruction &instruction, uint32_t active) {
  uint32_t bits = warp.predicate(instruction, 1);
  forEachGroup(warp, instruction, active, [&](uint32_t lanes) {
    uint32_t own = bits & lanes;
    bool holds = mode == Vote::All   ? own == lanes
                 : mode == Vote::Any ? own != 0
                                     : own == lanes || own == 0;
    if (mode != Vote::Ballot)
      return warp.setMask(instruction.operands[0], lanes, holds ? kAllLanes : 0);
    uint64_t *result = warp.cells(instruction.operands[0]);
    forEachLane(lanes, [&](unsigned lane) { result[lane] = own; });
  });
}

/// The lanes with the same value; with `isAll` either all of them or none.
template <typename T, bool isAll>
void match(Warp &warp, const Instruction &instruction, uint32_t active) {
  uint64_t *result = warp.cells(instruction.operands[0]);
  const uint64_t *a = warp.cells(instruction.operands[instruction.results]);
  forEachGroup(warp, instruction, active, [&](uint32_t lanes) {
    uint32_t all = 0;
    forEachLane(lanes, [&](unsigned lane) {
      uint32_t same = 0;
      forEachLane(lanes, [&](unsigned other) {
        same |= uint32_t(fromCell<T>(a[other]) == fromCell<T>(a[lane])) << other;
      });
      bool isWhole = same == lanes;
      all |= uint32_t(isWhole) << lane;
      result[lane] = isAll && !isWhole ? 0 : same;
    });
    if (instruction.results == 2)
      warp.setMask(instruction.operands[1], lanes, all);
  });
}

struct Sum {
  template <typename T> static T apply(T a, T b) { return T(uint32_t(a) + uint32_t(b)); }
};
struct Least {
  template <typename T> static T apply(T a, T b) { return std::min(a, b); }
};
struct Most {
  template <typename T> static T apply(T a, T b) { return std::max(a, b); }
};
struct Conjunction {
  template <typename T> static T apply(T a, T b) { return a & b; }
};
struct Disjunction {
  template <typename T> static T apply(T a, T b) { return a | b; }
};
struct Parity {
  template <typename T> static T apply(T a, T b) { return a ^ b; }
};

template <typename T, typename Op>
void reduce(Warp &warp, const Instruction &instruction, uint32_t active) {
  uint64_t *result = warp.cells(instruction.operands[0]);
  const uint64_t *a = warp.cells(instruction.operands[1]);
  forEachGroup(warp, instruction, active, [&](uint32_t lanes) {
    unsigned first = std::countr_zero(lanes);
    T value = fromCell<T>(a[first]);
    forEachLane(lanes & (lanes - 1),
                [&](unsigned lane) { value = Op::apply(value, fromCell<T>(a[lane])); });
    forEachLane(lanes, [&](unsigned lane) { result[lane] = toCell(value); });
  });
}

void activeMask(Warp &warp, const Instruction &instruction, uint32_t active) {
  uint64_t *result = warp.cells(instruction.operands[0]);
  forEachLane(active, [=](unsigned lane) { result[lane] = active; });
}

} // namespace

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// Adds a result, or two with a bar between them, the second of which is a predicate.
static bool addResults(Form &form, Scalar type) {
  const ptx::Operand &result = form.source.operands[0];
  if (result.kind != ptx::Operand::Kind::Pair)
    return form.addResult(0, type);
  return form.addResult(result.elements[0], type) &&
         form.addResult(result.elements[1], Scalar::Pred);
}

static bool decodeShuffle(Form &form) {
  static constexpr Instruction::Execute kExecutes[] = {
      &shuffle<Shuffle::Up>, &shuffle<Shuffle::Down>, &shuffle<Shuffle::Butterfly>,
      &shuffle<Shuffle::Index>};
  bool isSync = form.take("sync");
  int mode = form.takeOneOf({"up", "down", "bfly", "idx"});
  if (!isSync || mode < 0 || form.takeType() != Scalar::B32)
    return form.unknown();
  form.out.rendezvous = Rendezvous::Lanes;
  return setExecute(form, kExecutes[mode], Class::Warp) && form.finish(5) &&
         addResults(form, Scalar::B32) && form.addSource(1, Scalar::B32) &&
         form.addSource(2, Scalar::B32) && form.addSource(3, Scalar::B32) &&
         form.addSource(4, Scalar::B32);
}

static bool decodeVote(Form &form) {
  static constexpr Instruction::Execute kExecutes[] = {&vote<Vote::All>, &vote<Vote::Any>,
                                                       &vote<Vote::Uniform>, &vote<Vote::Ballot>};
  bool isSync = form.take("sync");
  int mode = form.takeOneOf({"all", "any", "uni", "ballot"});
  Scalar type = form.takeType(), wanted = mode == 3 ? Scalar::B32 : Scalar::Pred;
  if (!isSync || mode < 0 || type != wanted)
    return form.unknown();
  form.out.rendezvous = Rendezvous::Lanes;
  return setExecute(form, kExecutes[mode], Class::Warp) && form.finish(3) &&
         form.addResult(0, type) && form.addSource(1, Scalar::Pred) &&
         form.addSource(2, Scalar::B32);
}

static bool decodeMatch(Form &form) {
  int mode = form.takeOneOf({"any", "all"});
  bool isSync = form.take("sync");
  Scalar type = form.takeType();
  bool isWide = type == Scalar::B64;
  if (!isSync || mode < 0 || (type != Scalar::B32 && !isWide))
    return form.unknown();
  static constexpr Instruction::Execute kExecutes[2][2] = {
      {&match<uint32_t, false>, &match<uint64_t, false>},
      {&match<uint32_t, true>, &match<uint64_t, true>}};
  form.out.rendezvous = Rendezvous::Lanes;
  return setExecute(form, kExecutes[mode][isWide], Class::Warp) && form.finish(3) &&
         (mode == 1 ? addResults(form, Scalar::B32) : form.addResult(0, Scalar::B32)) &&
         form.addSource(1, type) && form.addSource(2, Scalar::B32);
}

template <typename T> static Instruction::Execute reduceOf(int operation) {
  static constexpr Instruction::Execute kExecutes[] = {
      &reduce<T, Sum>,         &reduce<T, Least>,       &reduce<T, Most>,
      &reduce<T, Conjunction>, &reduce<T, Disjunction>, &reduce<T, Parity>};
  return kExecutes[operation];
}

static bool decodeReduce(Form &form) {
  bool isSync = form.take("sync");
  int operation = form.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  Scalar type = form.takeType();
  bool isOfBits = operation >= 3;
  bool isKnown = isOfBits ? type == Scalar::B32 : type == Scalar::U32 || type == Scalar::S32;
  if (!isSync || operation < 0 || !isKnown)
    return form.unknown();
  form.out.rendezvous = Rendezvous::Lanes;
  Instruction::Execute execute =
      type == Scalar::S32 ? reduceOf<int32_t>(operation) : reduceOf<uint32_t>(operation);
  return setExecute(form, execute, Class::Warp) && form.finish(3) && form.addResult(0, type) &&
         form.addSource(1, type) && form.addSource(2, Scalar::B32);
}

static bool decodeActiveMask(Form &form) {
  if (form.takeType() != Scalar::B32)
    return form.unknown();
  return setExecute(form, &activeMask, Class::Warp) && form.finish(1) &&
         form.addResult(0, Scalar::B32);
}

void addWarp(DecodeTable &table) {
  table["shfl"] = decodeShuffle;
  table["vote"] = decodeVote;
  table["match"] = decodeMatch;
  table["redux"] = decodeReduce;
  table["activemask"] = decodeActiveMask;
}

} // namespace tfc::gpu
