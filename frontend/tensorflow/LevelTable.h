// The tables of LevelDB, in which TensorFlow keeps the index of a checkpoint.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace tfc::tensorflow {

/// Calls `visit` for each key of a table and its value, in the order of the keys. Returns false and
/// sets `error` if the table is damaged or compressed.
bool readLevelTable(llvm::StringRef file,
                    llvm::function_ref<void(llvm::StringRef key, llvm::StringRef value)> visit,
                    std::string &error);

/// Returns true if the bytes have a checksum as tables and checkpoints store it.
bool hasMaskedChecksum(llvm::StringRef bytes, uint32_t stored);

} // namespace tfc::tensorflow
