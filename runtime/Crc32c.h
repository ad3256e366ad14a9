//===- Crc32c.h - The checksum of checkpoints -----------------------------===//

#pragma once

#include <stddef.h>
#include <stdint.h>

namespace tfc::runtime {

/// The CRC-32C (Castagnoli, as in iSCSI) of `bytes` more bytes after those with the checksum `crc`;
/// start with 0.
uint32_t extendCrc32c(uint32_t crc, const void *data, size_t bytes);

} // namespace tfc::runtime
