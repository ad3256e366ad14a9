//===- Bytes.cpp - Bytes that know whether they were written --------------===//
//
// Ranges of any length, word by word. Short ones are in the header, where they are fast.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/Bytes.h"
#include <algorithm>
#include <bit>

namespace tfc::gpu {

/// Calls `visit(word, mask)` for the words of a range; stops when it returns true.
template <typename Visit> static void forEachWord(uint64_t offset, uint64_t bytes, Visit visit) {
  for (uint64_t end = offset + bytes; offset < end;) {
    uint64_t count = std::min(end - offset, 64 - offset % 64);
    if (visit(offset / 64, (~uint64_t(0) >> (64 - count)) << (offset % 64)))
      return;
    offset += count;
  }
}

void Bytes::fill(uint64_t offset, uint64_t bytes, bool isWritten) {
  forEachWord(offset, bytes, [&](uint64_t word, uint64_t mask) {
    written[word] = isWritten ? written[word] | mask : written[word] & ~mask;
    return false;
  });
}

bool Bytes::isAnyWritten(uint64_t offset, uint64_t bytes) const {
  bool isAny = false;
  forEachWord(offset, bytes,
              [&](uint64_t word, uint64_t mask) { return isAny = (written[word] & mask) != 0; });
  return isAny;
}

std::optional<uint64_t> Bytes::findUnwritten(uint64_t offset, uint64_t bytes) const {
  std::optional<uint64_t> found;
  forEachWord(offset, bytes, [&](uint64_t word, uint64_t mask) {
    if (uint64_t missing = ~written[word] & mask)
      found = word * 64 + std::countr_zero(missing);
    return found.has_value();
  });
  return found;
}

} // namespace tfc::gpu
