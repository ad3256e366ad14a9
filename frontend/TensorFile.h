// Loads constants of graphs from .npy and .safetensors files; large ones stay mapped.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

namespace tfc {

/// The files from which a graph loads tensors: each is opened once, and its header parsed once.
class TensorFiles {
public:
  TensorFiles();
  ~TensorFiles();

  /// Reads a tensor from a `.npy` file, or the tensor `key` from a `.safetensors` file (without a
  /// key, the only one in it). Large ones stay in the mapped file, as dense resources. Returns null
  /// and sets `error` if the file is damaged or holds no such tensor. `expected` is a hint
  /// for `.npy` files of bf16, whose elements look like those of u16.
  mlir::ElementsAttr load(mlir::MLIRContext *context, llvm::StringRef path, llvm::StringRef key,
                          std::string &error, mlir::Type expected = {});

private:
  struct File;
  llvm::StringMap<std::unique_ptr<File>> files;
};

/// A tensor of these bytes, little-endian in row-major order; a bool is one byte. Large ones are
/// dense resources called `name`. Null if the number of bytes does not match.
mlir::ElementsAttr makeTensor(mlir::RankedTensorType type, llvm::StringRef bytes,
                              llvm::StringRef name);
/// The same for bytes in a file, which may be unaligned. A large tensor refers to the mapped file
/// instead of copying them.
mlir::ElementsAttr mapTensor(mlir::RankedTensorType type, llvm::StringRef bytes,
                             const std::shared_ptr<llvm::MemoryBuffer> &file, llvm::StringRef name);
/// The same as an ordinary attribute, whatever the size. For a splat, `bytes` is one element.
mlir::DenseElementsAttr makeDenseTensor(mlir::RankedTensorType type, llvm::StringRef bytes,
                                        bool isSplat);

} // namespace tfc
