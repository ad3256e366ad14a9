// The parser and writer of NumPy's .npy format, for constants of graphs and for feeds and results
// of programs.
#pragma once

#include "runtime/tfc.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace tfc {

/// The type of an array in a file, and the bytes of its elements, whose number has been checked.
struct NpyTensor {
  tfc_dtype dtype = TFC_F32;
  llvm::SmallVector<int64_t> shape;
  bool isColumnMajor = false;
  llvm::StringRef bytes;

  /// Copies the elements in row-major order to `target`, which has the size of `bytes`.
  void copyTo(llvm::MutableArrayRef<char> target) const;
};

/// Parses a file of version 1 to 3, little-endian. The bits of a float type that NumPy lacks
/// (bf16), stored as "<u2" or "|V2", are read as such only if `expected` is that dtype.
llvm::Expected<NpyTensor> parseNpy(llvm::StringRef file, std::optional<tfc_dtype> expected = {});

/// The header of a file of version 1 with elements in row-major order; bf16 as "<u2".
std::string makeNpyHeader(tfc_dtype dtype, llvm::ArrayRef<int64_t> shape);

} // namespace tfc
