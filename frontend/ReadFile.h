// Reads files named by users: limits their size, and refuses devices and pipes.
#pragma once

#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <string>

namespace tfc {

/// Larger texts are refused as mistakes.
inline constexpr uint64_t kMaxGraphBytes = uint64_t(64) << 20;
inline constexpr uint64_t kMaxModuleBytes = uint64_t(1) << 30;

/// Reads or maps a regular file. Returns null and sets `error` if the file cannot be read, has more
/// than `maxBytes`, or is not regular, such as a device or a pipe, which may be endless.
std::unique_ptr<llvm::MemoryBuffer> readRegularFile(llvm::StringRef path, std::string &error,
                                                    uint64_t maxBytes = UINT64_MAX,
                                                    bool isNullTerminated = false);

/// Like `readRegularFile`, for text named on the command line: also reads `-` and files opened by
/// the shell, such as `/dev/stdin` and `/dev/fd/63`, to their end.
std::unique_ptr<llvm::MemoryBuffer> readText(llvm::StringRef path, std::string &error,
                                             uint64_t maxBytes = kMaxGraphBytes);

} // namespace tfc
