//===- InputFile.h - Reading files ----------------------------------------===//

#pragma once

#include "runtime/OutputFile.h"

namespace tfc::runtime {

/// Opens a file to read it, and does not wait for the other end of a FIFO. A relative path is
/// relative to `folder`. Returns false with `errno` set if it fails.
bool openInput(const char *path, Descriptor &file, int folder = AT_FDCWD);
/// Opens the folder in which the program runs, to be passed to `openInput`.
bool openFolder(Descriptor &folder);

/// Reads exactly `bytes`; returns false after an error (`errno`) or at the end of the file (`errno`
/// is 0).
bool readAt(const Descriptor &file, uint64_t offset, void *data, uint64_t bytes);

} // namespace tfc::runtime
