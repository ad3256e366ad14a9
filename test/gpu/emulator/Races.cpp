//===- Races.cpp - Accesses that nothing orders ---------------------------===//
//
// For each granule and kind of access, the latest accesses that are not ordered before another one
// are enough: an access that is ordered after them is ordered after everything before them, too.
// The moments of warps are numbered, so that the latest accesses of a granule take 32 bytes.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/Races.h"
#include <algorithm>
#include <bit>
#include <cstdio>

namespace tfc::gpu {

std::string Race::str() const {
  static constexpr const char *kNames[] = {"a read", "a write", "an atomic operation",
                                           "a read as constant"};
  char text[120];
  snprintf(text, sizeof text, "races with %s of byte 0x%llx by thread %u of block %u",
           kNames[static_cast<int>(access)], static_cast<unsigned long long>(address),
           moment.thread, moment.block);
  return text;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Makes `moment` the current one, with a number of its own.
void Races::enterNew(const Moment &moment) {
  now = moment;
  now.thread &= ~31u;
  moments.push_back(now);
  current = static_cast<uint32_t>(moments.size() - 1);
}

/// Decides what a barrier of the block does not.
bool Races::isOrderedInWarp(const Latest &latest, const Moment &earlier, uint8_t lane) const {
  if (latest.extent > Latest::Warp || earlier.block != now.block || earlier.thread != now.thread)
    return false;
  bool isSameThread = latest.extent == Latest::Thread && latest.lane == lane;
  return isSameThread || earlier.warpBarriers < now.warpBarriers;
}

const Races::Latest *Races::findRace(const Granule &granule, Access access, uint8_t lane) const {
  auto latestOf = [&](Access kind) { return &granule.latest[static_cast<int>(kind)]; };
  const Latest *reads = latestOf(Access::Read), *writes = latestOf(Access::Write),
               *atomics = latestOf(Access::Atomic), *constants = latestOf(Access::ConstantRead);
  if (access == Access::ConstantRead)
    return writes->moment >= first ? writes : atomics->moment >= first ? atomics : nullptr;
  if (!isOrdered(*writes, lane))
    return writes;
  if (access != Access::Atomic && !isOrdered(*atomics, lane))
    return atomics;
  if (access == Access::Read)
    return nullptr;
  if (constants->moment >= first)
    return constants;
  return isOrdered(*reads, lane) ? nullptr : reads;
}

void Races::add(Latest &latest, uint8_t lane) const {
  const Moment &earlier = moments[latest.moment];
  if (isOrdered(latest, lane))
    latest.extent = Latest::Thread;
  else if (latest.extent == Latest::Grid || earlier.block != now.block)
    latest.extent = Latest::Grid;
  else if (latest.extent == Latest::Block || earlier.thread != now.thread)
    latest.extent = Latest::Block;
  else
    latest.extent = Latest::Warp;
  latest.moment = current;
  latest.lane = lane;
}

//===----------------------------------------------------------------------===//
// Pages
//===----------------------------------------------------------------------===//

void Races::split(Page &page, unsigned shift) {
  std::vector<Granule> granules(kPageBytes >> shift);
  for (size_t i = 0; i < granules.size(); ++i)
    granules[i] = page.granules[i >> (page.shift - shift)];
  page = {shift, std::move(granules)};
}

/// Returns the page, with granules of at most 2^shift bytes.
Races::Page &Races::findPage(uint64_t number, unsigned shift) {
  Recent &entry = recent[number % kRecent];
  if (entry.number != number) {
    std::unique_ptr<Page> &page = pages[number];
    if (!page)
      page = std::make_unique<Page>(Page{shift, std::vector<Granule>(kPageBytes >> shift)});
    entry.number = number;
    entry.page = page.get();
  }
  if (entry.page->shift > shift)
    split(*entry.page, shift);
  entry.granules = entry.page->granules.data();
  entry.size = 1u << entry.page->shift;
  return *entry.page;
}

Race Races::describe(const Latest &latest, uint64_t address, Access access) const {
  Moment moment = moments[latest.moment];
  moment.thread += latest.lane;
  return {address, access, moment};
}

std::optional<Race> Races::add(uint64_t address, uint64_t size, Access access,
                               const Moment &moment) {
  enter(moment);
  uint8_t lane = moment.thread % 32;
  uint64_t alignment = address | size | (uint64_t(1) << kMaxShift);
  unsigned shift = std::countr_zero(alignment);
  for (uint64_t i = address, end = address + size; i < end;) {
    Page &page = findPage(i / kPageBytes, shift);
    uint64_t pageEnd = std::min(end, (i / kPageBytes + 1) * kPageBytes);
    for (; i < pageEnd; i += uint64_t(1) << page.shift) {
      Granule &granule = page.granules[(i % kPageBytes) >> page.shift];
      if (const Latest *race = findRace(granule, access, lane))
        return describe(*race, i, static_cast<Access>(race - granule.latest));
      add(granule.latest[static_cast<int>(access)], lane);
    }
  }
  return std::nullopt;
}

void Races::clear() {
  constexpr size_t kMany = size_t(1) << 20;
  if (moments.size() > kMany) {
    pages.clear();
    std::fill(std::begin(recent), std::end(recent), Recent());
    moments.resize(1);
  }
  // Their numbers are not used again, so what they left in the granules counts as nothing.
  first = static_cast<uint32_t>(moments.size());
  current = 0;
  beginBlock();
}

} // namespace tfc::gpu
