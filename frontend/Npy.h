// NumPy's .npy format: the one parser and writer, for constants of graphs and for feeds and results
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

/// The type of an array in a file, and the bytes of its elements there, as many as it needs.
struct NpyTensor {
  tfc_dtype dtype = TFC_F32;
  llvm::SmallVector<int64_t> shape;
  bool isColumnMajor = false;
  llvm::StringRef bytes;

  /// Copies the elements in row-major order to `target`, which has the size of `bytes`.
  void copyTo(llvm::MutableArrayRef<char> target) const;
};

/// Parses a file of version 1 to 3, little-endian. Elements that are the bits of 16-bit floats
/// which NumPy lacks (bf16), "<u2" or "|V2", are refused unless `expected` has that dtype.
llvm::Expected<NpyTensor> parseNpy(llvm::StringRef file, std::optional<tfc_dtype> expected = {});

/// What precedes the elements, in row-major order, in a file of version 1; bf16 as "<u2".
std::string makeNpyHeader(tfc_dtype dtype, llvm::ArrayRef<int64_t> shape);

} // namespace tfc
