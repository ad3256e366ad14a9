// The input of a reader of graph files that are not text.
#pragma once

#include "frontend/ImportOptions.h"
#include "frontend/importer/EntrySpec.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

namespace tfc {

/// A graph file that is not text, and how it is to be read.
struct ForeignFile {
  llvm::StringRef path;
  /// Constants that are not copied share it.
  std::shared_ptr<llvm::MemoryBuffer> buffer;
  llvm::ArrayRef<importer::EntrySpec> entries;
  const ImportOptions &options;
  /// Records another file that is read, which no output may overwrite.
  llvm::function_ref<void(llvm::StringRef path)> addInput;
};

} // namespace tfc
