//===- Readers.h - The readers of files, each as a function ---------------===//

#pragma once

#include "Mutate.h"

namespace tfc::fuzz {

/// How a reader ended. It must have printed an error if it refused the input.
enum class Verdict { Accepted, Refused };

struct Reader {
  llvm::StringLiteral name;
  llvm::StringLiteral suffix; // of its files
  /// Reads the file. `folder` contains the files that the original names.
  Verdict (*read)(llvm::StringRef path, llvm::StringRef folder);
  std::string (*mutate)(llvm::StringRef input, Corpus corpus, Draw &draw);
};

llvm::ArrayRef<Reader> getReaders();

/// The stage that wrote the modules that are read, and the last stage that graphs go through.
extern std::string startAfter, stopAfter;

/// A safetensors file with the variables of a small model.
void writeCheckpoint(llvm::StringRef path);

} // namespace tfc::fuzz
