//===- AsyncCopies.cpp - Copies that are waited for -----------------------===//
//
// Section 9.7.8.22: cp.async. The bytes in shared memory count as unwritten from the copy until its
// thread waits for it. Races are looked for at both moments: others may neither read what the copy
// replaces, nor what it brings, without a barrier.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/execute/Accesses.h"
#include "test/gpu/emulator/instructions/Elementwise.h"
#include <algorithm>

namespace tfc::gpu {

using enum Scalar;
using ptx::Space;

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

/// Reads the source; what is missing is zero. Returns false after an error.
static bool readSource(Warp &warp, unsigned lane, uint64_t address, unsigned bytes,
                       AsyncCopy &copy) {
  if (bytes == 0)
    return true;
  Block &block = warp.block;
  if (address % copy.bytes != 0) {
    warp.fail(lane, describe(copy.bytes, address) + " are not aligned");
    return false;
  }
  std::string error = block.memory.read(address, bytes, copy.data, false);
  if (!error.empty()) {
    warp.fail(lane, error);
    return false;
  }
  return checkRace(warp, lane, block.globalRaces, address, bytes, Access::Read);
}

/// Operands are the two addresses and the bytes of the source. Value is the offset of the source,
/// otherValue that of the destination.
static void start(Warp &warp, const Instruction &i, uint32_t active) {
  const uint64_t *to = warp.cells(i.operands[0]), *from = warp.cells(i.operands[1]),
                 *sizes = warp.cells(i.operands[2]);
  Block &block = warp.block;
  LaneAddresses sources{}, targets{};
  forEachLane(active, [&](unsigned lane) {
    if (block.hasFailed())
      return;
    AsyncCopy copy;
    copy.bytes = i.access.bytes;
    copy.to = to[lane] + i.otherValue;
    copy.group = warp.committed[lane];
    copy.line = i.line;
    auto size = static_cast<unsigned>(sizes[lane]);
    if (size > copy.bytes)
      return warp.fail(lane, "copies " + std::to_string(size) + " of " +
                                 std::to_string(copy.bytes) + " bytes");
    uint64_t address = from[lane] + i.value;
    Space space = resolve(Space::Generic, address);
    if (space != Space::Global && size != 0)
      return warp.fail(lane, "address " + inHexadecimal(address) + " is not in global memory");
    if (!readSource(warp, lane, address, size, copy) ||
        !checkShared(warp, lane, copy.to, copy.bytes) ||
        !checkRace(warp, lane, block.sharedRaces, copy.to, copy.bytes, Access::Write))
      return;
    block.shared.setUnwritten(copy.to, copy.bytes);
    warp.copies[lane].push_back(copy);
    sources.of[lane] = address;
    sources.global |= uint32_t(size != 0) << lane;
    targets.of[lane] = copy.to;
    targets.shared |= 1u << lane;
  });
  countAccesses(block.counters, sources, i.access.bytes, false);
  countAccesses(block.counters, targets, i.access.bytes, true);
}

/// Completes the copies of groups before `end`.
static void complete(Warp &warp, unsigned lane, uint32_t end) {
  Block &block = warp.block;
  std::vector<AsyncCopy> &copies = warp.copies[lane];
  auto isDone = [&](const AsyncCopy &copy) { return copy.group < end; };
  for (const AsyncCopy &copy : copies) {
    if (!isDone(copy))
      continue;
    if (block.shared.isAnyWritten(copy.to, copy.bytes))
      return warp.fail(lane,
                       describe(copy.bytes, copy.to) +
                           " of shared memory were written before the copy to them, in line " +
                           std::to_string(copy.line) + ", was complete");
    if (!checkRace(warp, lane, block.sharedRaces, copy.to, copy.bytes, Access::Write))
      return;
    memcpy(block.shared.at(copy.to), copy.data, copy.bytes);
    block.shared.setWritten(copy.to, copy.bytes);
  }
  std::erase_if(copies, isDone);
}

static void commit(Warp &warp, const Instruction &, uint32_t active) {
  forEachLane(active, [&](unsigned lane) { ++warp.committed[lane]; });
}

/// Waits until at most Value groups are left.
static void waitForGroups(Warp &warp, const Instruction &i, uint32_t active) {
  forEachLane(active, [&](unsigned lane) {
    auto left = static_cast<uint32_t>(i.value);
    complete(warp, lane, warp.committed[lane] - std::min(warp.committed[lane], left));
  });
}

static void waitForAll(Warp &warp, const Instruction &i, uint32_t active) {
  forEachLane(active, [&](unsigned lane) { complete(warp, lane, warp.committed[lane] + 1); });
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// cp.async.ca.shared.global [to], [from], size{, bytes of the source}: .cg for 16 bytes alone.
static void decodeCopy(Decoder &d) {
  bool isAnySize = d.requireOneOf({"ca", "cg"}) == 0;
  d.requireOneOf({"shared", "shared::cta"});
  d.requireOneOf({"global"});
  d.takeOneOf({"L2::64B", "L2::128B", "L2::256B"});
  d.endModifiers();
  bool hasSize = d.operandCount() == 4;
  d.requireCount(hasSize ? 4 : 3);
  int64_t bytes = d.requireInteger(2, 4, 16);
  if (bytes != 16 && (!isAnySize || (bytes != 4 && bytes != 8)))
    d.fail("cannot copy " + std::to_string(bytes) + " bytes with '" + d.source.str() + "'");
  AccessForm to, from;
  to.space = Space::Shared;
  from.space = Space::Global;
  to.bytes = from.bytes = static_cast<uint8_t>(bytes);
  d.addAddress(d.operand(0), to);
  d.instruction.otherValue = d.instruction.value;
  d.addAddress(d.operand(1), from);
  if (hasSize)
    d.addSource(d.operand(3), U32);
  else
    d.addConstant(static_cast<uint64_t>(bytes));
  d.instruction.access = to;
  d.setExecute(start, Class::Global);
}

static void decodeAsync(Decoder &d) {
  d.requireOneOf({"async"});
  switch (d.takeOneOf({"commit_group", "wait_group", "wait_all"})) {
  case 0:
    d.bind({}, {});
    return d.setExecute(commit, Class::Barrier);
  case 1:
    d.endModifiers();
    d.requireCount(1);
    d.instruction.value = d.requireInteger(0, 0, INT32_MAX);
    return d.setExecute(waitForGroups, Class::Barrier);
  case 2:
    d.bind({}, {});
    return d.setExecute(waitForAll, Class::Barrier);
  default:
    return decodeCopy(d);
  }
}

const Entry kAsyncEntries[] = {{"cp", Entry::Any, decodeAsync}, {}};

} // namespace tfc::gpu
