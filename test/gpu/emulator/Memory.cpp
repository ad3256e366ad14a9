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

static std::string inHexadecimal(uint64_t number) {
  char text[20];
  snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(number));
  return text;
}

static std::string describe(uint64_t size, uint64_t address) {
  return std::to_string(size) + " bytes at " + inHexadecimal(address);
}

uint64_t Memory::allocate(uint64_t bytes) {
  if (bytes == 0 || bytes > limit - std::min(used, limit))
    return 0;
  uint64_t address = next;
  // At least an alignment lies between two allocations, so the end of one is not in another.
  next += (bytes / kAlignment + 2) * kAlignment;
  used += bytes;
  allocations[address] = {bytes, true, std::vector<uint8_t>(bytes), std::vector<bool>(bytes)};
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
  allocation.data = {};
  allocation.isWritten = {};
  return {};
}

std::string Memory::find(uint64_t address, uint64_t bytes, bool isAligned,
                         Allocations::const_iterator &found) const {
  std::string access = describe(bytes, address);
  if (isAligned && address % bytes != 0)
    return access + " are not aligned";
  found = allocations.upper_bound(address);
  if (found == allocations.begin())
    return access + " are in no allocation";
  --found;
  const Allocation &allocation = found->second;
  uint64_t offset = address - found->first;
  std::string of = "the allocation of " + describe(allocation.size, found->first);
  if (offset >= allocation.size + kAlignment)
    return access + " are in no allocation";
  if (!allocation.isAlive)
    return access + " are in " + of + ", which was released";
  if (offset > allocation.size || bytes > allocation.size - offset)
    return access + " reach beyond the end of " + of;
  return {};
}

std::string Memory::read(uint64_t address, uint64_t bytes, void *to, bool isAligned) const {
  if (bytes == 0)
    return {};
  Allocations::const_iterator found;
  if (std::string error = find(address, bytes, isAligned, found); !error.empty())
    return error;
  const Allocation &allocation = found->second;
  uint64_t offset = address - found->first;
  auto first = allocation.isWritten.begin() + static_cast<int64_t>(offset);
  auto unwritten = std::find(first, first + static_cast<int64_t>(bytes), false);
  if (unwritten != first + static_cast<int64_t>(bytes))
    return "byte " + inHexadecimal(address + (unwritten - first)) + " of " +
           describe(bytes, address) + " was never written";
  memcpy(to, allocation.data.data() + offset, bytes);
  return {};
}

std::string Memory::write(uint64_t address, uint64_t bytes, const void *from, bool isAligned) {
  if (bytes == 0)
    return {};
  Allocations::const_iterator found;
  if (std::string error = find(address, bytes, isAligned, found); !error.empty())
    return error;
  Allocation &allocation = allocations[found->first];
  uint64_t offset = address - found->first;
  memcpy(allocation.data.data() + offset, from, bytes);
  auto first = allocation.isWritten.begin() + static_cast<int64_t>(offset);
  std::fill(first, first + static_cast<int64_t>(bytes), true);
  return {};
}

std::vector<std::string> Memory::getLeaks() const {
  std::vector<std::string> leaks;
  for (const auto &[address, allocation] : allocations)
    if (allocation.isAlive)
      leaks.push_back(describe(allocation.size, address));
  return leaks;
}

} // namespace tfc::gpu
