// NumPy's .npy files.
#pragma once

#include "runtime/tfc.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace tfc {

/// A dense, row-major array in memory of its own.
struct Array {
  tfc_dtype dtype = TFC_F32;
  std::vector<int64_t> shape;
  std::vector<char> data;

  int64_t elementCount() const;
  /// Makes room for the elements, all zero; an error if there is no memory for them.
  llvm::Error allocate();
  /// The C view; valid as long as this.
  tfc_tensor view();
};

size_t sizeOf(tfc_dtype dtype);
/// "f32", as the graph language writes it.
llvm::StringRef nameOf(tfc_dtype dtype);
/// "f32[2, 64]".
std::string typeText(tfc_dtype dtype, llvm::ArrayRef<int64_t> shape);

/// Reads a file of version 1 to 3, little-endian, in C or Fortran order. 16-bit floats that NumPy
/// lacks (bf16) come as "<u2" or "|V2" and get their dtype from `expected`.
llvm::Expected<Array> readNpy(llvm::StringRef path, std::optional<tfc_dtype> expected = {});

/// Writes a file of version 1; bf16 as "<u2".
llvm::Error writeNpy(llvm::StringRef path, const Array &array);

} // namespace tfc
