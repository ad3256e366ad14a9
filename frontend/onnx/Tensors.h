// The tensors of a model: initialisers and attributes, in the model's file or in others.
#pragma once

#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

namespace tfc::onnx {

namespace wire {
class Tensor;
} // namespace wire

class TensorReader {
public:
  /// Files of weights are in the folder of the model, or below it.
  TensorReader(mlir::MLIRContext *context, llvm::StringRef modelPath);

  /// Returns null and sets `error` if the tensor is damaged; returns null without an error if the
  /// language does not have its element type.
  mlir::ElementsAttr read(const wire::Tensor &tensor, llvm::StringRef name, std::string &error);

private:
  using FileBuffer = std::shared_ptr<llvm::MemoryBuffer>;

  mlir::ElementsAttr readExternal(const wire::Tensor &tensor, mlir::RankedTensorType type,
                                  llvm::StringRef name, std::string &error);
  /// Returns the file at a path relative to the model, or null and an error.
  FileBuffer open(llvm::StringRef location, std::string &error);

  mlir::MLIRContext *context;
  std::string folder;
  llvm::StringMap<FileBuffer> files;
};

} // namespace tfc::onnx
