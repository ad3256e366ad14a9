//===- Races.cpp - Accesses that nothing orders ---------------------------===//
//
// For each byte and kind of access, the latest accesses that are not ordered before another one are
// enough: an access that is ordered after them is ordered after everything before them, too.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/Races.h"
#include <algorithm>
#include <cstdio>

namespace tfc::gpu {

std::string Race::str() const {
  static constexpr const char *kNames[] = {"a read", "a write", "an atomic operation"};
  char text[120];
  snprintf(text, sizeof text, "races with %s of byte 0x%llx by thread %u of block %u",
           kNames[static_cast<int>(access)], static_cast<unsigned long long>(address),
           moment.thread, moment.block);
  return text;
}

const Moment *Races::Latest::findUnordered(const Moment &later) const {
  bool isOrdered = true;
  switch (extent) {
  case Extent::None:
    break;
  case Extent::Thread:
    isOrdered = moment.isSameThread(later) || moment.isBarrierBefore(later);
    break;
  case Extent::Warp:
    isOrdered = moment.isBarrierBefore(later);
    break;
  case Extent::Block:
    isOrdered = moment.block == later.block && moment.barriers < later.barriers;
    break;
  case Extent::Grid:
    isOrdered = false;
    break;
  }
  return isOrdered ? nullptr : &moment;
}

void Races::Latest::add(const Moment &added) {
  if (!findUnordered(added))
    extent = Extent::Thread;
  else if (extent == Extent::Grid || moment.block != added.block)
    extent = Extent::Grid;
  else if (extent == Extent::Block || !moment.isSameWarp(added))
    extent = Extent::Block;
  else
    extent = Extent::Warp;
  moment = added;
}

Races::Word &Races::find(uint64_t address) {
  if (address / kPageBytes != latestNumber) {
    std::unique_ptr<Page> &page = pages[latestNumber = address / kPageBytes];
    if (!page)
      page = std::make_unique<Page>();
    latest = page.get();
  }
  return latest->words[address % kPageBytes / kWordBytes];
}

template <typename Visit>
std::optional<Race> Races::forEach(uint64_t address, uint64_t size, Visit visit) {
  bool isWhole = address % kWordBytes == 0 && size % kWordBytes == 0;
  for (uint64_t i = address; i < address + size; i += isWhole ? kWordBytes : 1) {
    Word &word = find(i);
    if (!isWhole && !word.bytes) {
      word.bytes = std::make_unique<History[]>(kWordBytes);
      std::fill_n(word.bytes.get(), kWordBytes, word.whole);
    }
    uint64_t first = i % kWordBytes, count = isWhole && word.bytes ? kWordBytes : 1;
    History *history = word.bytes ? &word.bytes[first] : &word.whole;
    for (uint64_t k = 0; k < count; ++k)
      if (std::optional<Race> race = visit(history[k], i + k))
        return race;
  }
  return std::nullopt;
}

std::optional<Race> Races::add(uint64_t address, uint64_t size, Access access,
                               const Moment &moment) {
  return forEach(address, size, [&](History &history, uint64_t at) -> std::optional<Race> {
    const Moment *earlier = history.writes.findUnordered(moment);
    if (earlier)
      return Race{at, Access::Write, *earlier};
    if (access != Access::Atomic)
      if ((earlier = history.atomics.findUnordered(moment)))
        return Race{at, Access::Atomic, *earlier};
    if (access != Access::Read)
      if ((earlier = history.reads.findUnordered(moment)))
        return Race{at, Access::Read, *earlier};
    Latest &own = access == Access::Read    ? history.reads
                  : access == Access::Write ? history.writes
                                            : history.atomics;
    own.add(moment);
    return std::nullopt;
  });
}

std::optional<Race> Races::checkStrongRead(uint64_t address, uint64_t size, const Moment &moment) {
  return forEach(address, size, [&](History &history, uint64_t at) -> std::optional<Race> {
    if (const Moment *earlier = history.writes.findUnordered(moment))
      return Race{at, Access::Write, *earlier};
    return std::nullopt;
  });
}

std::optional<Race> Races::addReadOnly(uint64_t address, uint64_t size, const Moment &moment) {
  return forEach(address, size, [&](History &history, uint64_t at) -> std::optional<Race> {
    if (const Moment *earlier = history.writes.any())
      return Race{at, Access::Write, *earlier};
    if (const Moment *earlier = history.atomics.any())
      return Race{at, Access::Atomic, *earlier};
    history.reads.addForever(moment);
    return std::nullopt;
  });
}

} // namespace tfc::gpu
