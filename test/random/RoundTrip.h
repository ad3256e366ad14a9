//===- RoundTrip.h - Programs written as text and read again --------------===//

#pragma once

#include "Compare.h"

namespace tfc::random {

/// Writes the program as graph text and reads that; returns an error, or nothing. Programs without
/// text are counted by their reasons.
std::string roundTrip(const Program &program, Counts &counts);

/// Compares the graphs of two files.
std::string compareFiles(mlir::MLIRContext &context, llvm::StringRef one, llvm::StringRef other);

} // namespace tfc::random
