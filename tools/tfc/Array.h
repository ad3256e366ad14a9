// Feeds and results of entries, in memory and in .npy files.
#pragma once

#include "runtime/tfc.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace tfc {

/// A dense, row-major array that owns its memory.
struct Array {
  tfc_dtype dtype = TFC_F32;
  std::vector<int64_t> shape;
  std::vector<char> data;

  int64_t elementCount() const;
  size_t elementBytes() const;
  /// "f32[2, 64]".
  std::string typeText() const;
  /// Allocates the elements, all zero; fails if there is no memory.
  llvm::Error allocate();
  /// The C view; valid as long as this.
  tfc_tensor view();
};

/// The array in the bytes of a .npy file; its dtype is `expected` if NumPy lacks that dtype.
llvm::Expected<Array> makeArray(llvm::StringRef file, std::optional<tfc_dtype> expected = {});

/// Like `makeArray`, for the file at `path`.
llvm::Expected<Array> readArray(llvm::StringRef path, std::optional<tfc_dtype> expected = {});

llvm::Error writeArray(llvm::StringRef path, const Array &array);

} // namespace tfc
