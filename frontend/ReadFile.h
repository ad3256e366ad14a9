#pragma once

#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <string>

namespace tfc {

/// Text beyond this size is a mistake.
inline constexpr uint64_t kMaxGraphBytes = uint64_t(64) << 20;
inline constexpr uint64_t kMaxModuleBytes = uint64_t(1) << 30;

/// Reads or maps a regular file. Null, and `error` set, where it cannot be read, has more than
/// `maxBytes`, or is something else, such as a device or a pipe, which may have no end.
std::unique_ptr<llvm::MemoryBuffer> readRegularFile(llvm::StringRef path, std::string &error,
                                                    uint64_t maxBytes = UINT64_MAX,
                                                    bool isNullTerminated = false);

/// As `readRegularFile`, for text that the command line names: also reads to their end `-` and what
/// the shell has opened, such as `/dev/stdin` and `/dev/fd/63`.
std::unique_ptr<llvm::MemoryBuffer> readText(llvm::StringRef path, std::string &error,
                                             uint64_t maxBytes = kMaxGraphBytes);

} // namespace tfc
