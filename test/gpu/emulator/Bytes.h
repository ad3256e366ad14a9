//===- Bytes.h - Bytes that know whether they were written ----------------===//

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tfc::gpu {

/// Callers keep accesses inside of the size.
class Bytes {
public:
  Bytes() = default;
  explicit Bytes(uint64_t size) : data(size), written((size + 63) / 64) {}

  uint64_t size() const { return data.size(); }
  uint8_t *at(uint64_t offset) { return data.data() + offset; }
  const uint8_t *at(uint64_t offset) const { return data.data() + offset; }

  bool isWritten(uint64_t offset, uint64_t bytes) const {
    if (isInOneWord(offset, bytes))
      return (~written[offset / 64] & maskOf(offset, bytes)) == 0;
    return !findUnwritten(offset, bytes);
  }
  void setWritten(uint64_t offset, uint64_t bytes) {
    if (isInOneWord(offset, bytes))
      written[offset / 64] |= maskOf(offset, bytes);
    else
      fill(offset, bytes, true);
  }
  void setUnwritten(uint64_t offset, uint64_t bytes) { fill(offset, bytes, false); }

  /// Returns true if at least one of the bytes was written.
  bool isAnyWritten(uint64_t offset, uint64_t bytes) const;
  /// Returns the first byte that nobody wrote.
  std::optional<uint64_t> findUnwritten(uint64_t offset, uint64_t bytes) const;

private:
  static bool isInOneWord(uint64_t offset, uint64_t bytes) { return offset % 64 + bytes <= 64; }
  /// The bits of at least one byte in its word.
  static uint64_t maskOf(uint64_t offset, uint64_t bytes) {
    return bytes == 0 ? 0 : (~uint64_t(0) >> (64 - bytes)) << (offset % 64);
  }
  void fill(uint64_t offset, uint64_t bytes, bool isWritten);

  std::vector<uint8_t> data;
  std::vector<uint64_t> written; // a bit for each byte
};

} // namespace tfc::gpu
