//===- Races.cpp - Accesses that nothing orders ---------------------------===//
//
// For each byte and kind of access, the latest accesses that are not ordered before another one are
// enough: an access that is ordered after them is ordered after everything before them, too.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/Races.h"
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

std::optional<Race> Races::add(Byte &byte, uint64_t address, Access access, const Moment &moment) {
  const Moment *earlier = byte.writes.findUnordered(moment);
  if (earlier)
    return Race{address, Access::Write, *earlier};
  if (access != Access::Atomic)
    if ((earlier = byte.atomics.findUnordered(moment)))
      return Race{address, Access::Atomic, *earlier};
  if (access != Access::Read)
    if ((earlier = byte.reads.findUnordered(moment)))
      return Race{address, Access::Read, *earlier};
  Latest &latest = access == Access::Read    ? byte.reads
                   : access == Access::Write ? byte.writes
                                             : byte.atomics;
  latest.add(moment);
  return std::nullopt;
}

Races::Byte *Races::find(uint64_t address) {
  if (address / kPageBytes != latestNumber) {
    std::unique_ptr<Page> &page = pages[latestNumber = address / kPageBytes];
    if (!page)
      page = std::make_unique<Page>();
    latest = page.get();
  }
  return &latest->bytes[address % kPageBytes];
}

std::optional<Race> Races::add(uint64_t address, uint64_t size, Access access,
                               const Moment &moment) {
  for (uint64_t i = address; i < address + size; ++i)
    if (std::optional<Race> race = add(*find(i), i, access, moment))
      return race;
  return std::nullopt;
}

std::optional<Race> Races::checkStrongRead(uint64_t address, uint64_t size, const Moment &moment) {
  for (uint64_t i = address; i < address + size; ++i)
    if (const Moment *earlier = find(i)->writes.findUnordered(moment))
      return Race{i, Access::Write, *earlier};
  return std::nullopt;
}

std::optional<Race> Races::addReadOnly(uint64_t address, uint64_t size, const Moment &moment) {
  for (uint64_t i = address; i < address + size; ++i) {
    Byte *byte = find(i);
    for (auto [latest, access] :
         {std::pair(&byte->writes, Access::Write), std::pair(&byte->atomics, Access::Atomic)})
      if (const Moment *earlier = latest->any())
        return Race{i, access, *earlier};
    byte->reads.addForever(moment);
  }
  return std::nullopt;
}

} // namespace tfc::gpu
