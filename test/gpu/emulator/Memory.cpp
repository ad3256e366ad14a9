//===- Memory.cpp - The memory of an emulated device ----------------------===//
//
// Finds the allocation of an access, and says what is wrong with it.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/Memory.h"
#include <algorithm>
#include <cstdio>
#include <cstring>

namespace tfc::gpu {

std::string inHexadecimal(uint64_t number) {
  char text[20];
  snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(number));
  return text;
}

std::string describe(uint64_t size, uint64_t address) {
  return std::to_string(size) + " bytes at " + inHexadecimal(address);
}

uint64_t Memory::allocate(uint64_t bytes, bool isConstant) {
  if (bytes == 0 || bytes > limit - std::min(used, limit))
    return 0;
  uint64_t address = next;
  // At least an alignment lies between two allocations, so the end of one is not in another.
  next += (bytes / kAlignment + 2) * kAlignment;
  used += bytes;
  allocations[address] = {bytes, true, isConstant, Bytes(bytes)};
  return address;
}

std::string Memory::release(uint64_t address) {
  auto found = allocations.find(address);
  if (found == allocations.end())
    return inHexadecimal(address) + " is not the address of an allocation";
  Allocation &allocation = found->second;
  if (!allocation.isAlive)
    return describe(allocation.size, address) + " were released before";
  used -= allocation.size;
  allocation.isAlive = false;
  allocation.bytes = {};
  latest = {};
  return {};
}

std::string Memory::find(uint64_t address, uint64_t bytes, bool isAligned,
                         Allocations::iterator &found) const {
  if (isAligned && address % bytes != 0)
    return describe(bytes, address) + " are not aligned";
  found = allocations.upper_bound(address);
  bool isBelow = found == allocations.begin();
  if (!isBelow)
    --found;
  if (isBelow || address - found->first >= found->second.size + kAlignment)
    return describe(bytes, address) + " are in no allocation";
  const Allocation &allocation = found->second;
  uint64_t offset = address - found->first;
  auto its = [&] { return "the allocation of " + describe(allocation.size, found->first); };
  if (!allocation.isAlive)
    return describe(bytes, address) + " are in " + its() + ", which was released";
  if (offset > allocation.size || bytes > allocation.size - offset)
    return describe(bytes, address) + " reach beyond the end of " + its();
  return {};
}

std::string Memory::read(uint64_t address, uint64_t bytes, void *to, bool isAligned) const {
  if (bytes == 0)
    return {};
  Allocations::iterator found;
  if (std::string error = find(address, bytes, isAligned, found); !error.empty())
    return error;
  const Bytes &from = found->second.bytes;
  uint64_t offset = address - found->first;
  if (std::optional<uint64_t> unwritten = from.findUnwritten(offset, bytes))
    return "byte " + inHexadecimal(found->first + *unwritten) + " of " + describe(bytes, address) +
           " was never written";
  memcpy(to, from.at(offset), bytes);
  return {};
}

std::string Memory::write(uint64_t address, uint64_t bytes, const void *from, bool isAligned) {
  if (bytes == 0)
    return {};
  Allocations::iterator found;
  if (std::string error = find(address, bytes, isAligned, found); !error.empty())
    return error;
  Bytes &to = found->second.bytes;
  uint64_t offset = address - found->first;
  memcpy(to.at(offset), from, bytes);
  to.setWritten(offset, bytes);
  return {};
}

std::string Memory::copy(uint64_t to, uint64_t from, uint64_t bytes) {
  if (bytes == 0)
    return {};
  Allocations::iterator source, target;
  std::string error = find(from, bytes, false, source);
  if (error.empty())
    error = find(to, bytes, false, target);
  if (!error.empty())
    return error;
  if (from < to + bytes && to < from + bytes)
    return describe(bytes, to) + " overlap " + describe(bytes, from);
  const Bytes &old = source->second.bytes;
  Bytes &copy = target->second.bytes;
  uint64_t first = from - source->first, place = to - target->first;
  memcpy(copy.at(place), old.at(first), bytes);
  copy.setWritten(place, bytes);
  if (!old.isWritten(first, bytes))
    for (uint64_t i = 0; i < bytes; ++i)
      if (!old.isWritten(first + i, 1))
        copy.setUnwritten(place + i, 1);
  return {};
}

//===----------------------------------------------------------------------===//
// Accesses of threads
//===----------------------------------------------------------------------===//

const uint8_t *Memory::findToRead(uint64_t address, unsigned bytes) const {
  Allocations::iterator found;
  if (!find(address, bytes, true, found).empty())
    return nullptr;
  Allocation &allocation = found->second;
  latest = {found->first, allocation.size, &allocation.bytes, allocation.isConstant};
  uint64_t offset = address - found->first;
  return allocation.bytes.isWritten(offset, bytes) ? allocation.bytes.at(offset) : nullptr;
}

uint8_t *Memory::findToWrite(uint64_t address, unsigned bytes) {
  Allocations::iterator found;
  if (!find(address, bytes, true, found).empty() || found->second.isConstant)
    return nullptr;
  Allocation &allocation = found->second;
  latest = {found->first, allocation.size, &allocation.bytes, false};
  allocation.bytes.setWritten(address - found->first, bytes);
  return allocation.bytes.at(address - found->first);
}

const Memory::Cover *Memory::cover(uint64_t lowest, uint64_t end) const {
  auto isIn = [&] {
    return lowest >= latest.base && end >= lowest && end - latest.base <= latest.size;
  };
  Allocations::iterator found;
  if (!isIn() && find(lowest, 1, true, found).empty())
    latest = {found->first, found->second.size, &found->second.bytes, found->second.isConstant};
  return isIn() ? &latest : nullptr;
}

std::string Memory::refusal(uint64_t address, unsigned bytes, bool isWrite) const {
  if (!isWrite) {
    uint8_t ignored[16];
    return read(address, bytes, ignored, true);
  }
  Allocations::iterator found;
  std::string error = find(address, bytes, true, found);
  if (error.empty() && found->second.isConstant)
    error = describe(bytes, address) + " are constant";
  return error;
}

bool Memory::isConstant(uint64_t address) const {
  Allocations::iterator found;
  return find(address, 1, true, found).empty() && found->second.isConstant;
}

std::vector<std::string> Memory::getLeaks() const {
  std::vector<std::string> leaks;
  for (const auto &[address, allocation] : allocations)
    if (allocation.isAlive)
      leaks.push_back(describe(allocation.size, address));
  return leaks;
}

} // namespace tfc::gpu
