//===- Crc32c.cpp - The checksum of checkpoints ---------------------------===//
//
// Computes the CRC-32C by the processor's instruction, or by a table on processors without it. It
// knows nothing about files.
//
//===----------------------------------------------------------------------===//

#include "runtime/Crc32c.h"

#include "runtime/Cpu.h"

#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

using namespace tfc::runtime;

namespace {
struct Table {
  uint32_t entry[256];
};
} // namespace

static constexpr Table makeTable() {
  constexpr uint32_t kPolynomial = 0x82f63b78; // reflected
  Table table = {};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ (crc & 1 ? kPolynomial : 0);
    table.entry[i] = crc;
  }
  return table;
}

static constexpr Table kTable = makeTable();

static uint32_t extendByTable(uint32_t crc, const uint8_t *data, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    crc = crc >> 8 ^ kTable.entry[(crc ^ data[i]) & 0xff];
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t
extendByInstruction(uint32_t crc, const uint8_t *data, size_t bytes) {
  uint64_t wide = crc;
  for (; bytes >= 8; data += 8, bytes -= 8) {
    uint64_t word;
    memcpy(&word, data, 8);
    wide = _mm_crc32_u64(wide, word);
  }
  crc = static_cast<uint32_t>(wide);
  for (; bytes > 0; ++data, --bytes)
    crc = _mm_crc32_u8(crc, *data);
  return crc;
}
#endif

uint32_t tfc::runtime::extendCrc32c(uint32_t crc, const void *data, size_t bytes) {
  const auto *byte = static_cast<const uint8_t *>(data);
#if defined(__x86_64__)
  if (hasFeature("sse4.2"))
    return ~extendByInstruction(~crc, byte, bytes);
#endif
  return ~extendByTable(~crc, byte, bytes);
}
