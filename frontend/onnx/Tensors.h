// The tensors of a model: initialisers and attributes, in the model's file or in others.
#pragma once

#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

namespace tfc {
struct ForeignFile;
} // namespace tfc

namespace tfc::onnx {

namespace wire {
class Tensor;
} // namespace wire

class TensorReader {
public:
  /// Files of weights are in the folder of the model, or below it.
  TensorReader(mlir::MLIRContext *context, const ForeignFile &model);

  /// Returns null and sets `error` if the tensor is damaged; returns null without an error if the
  /// language does not have its element type.
  mlir::ElementsAttr read(const wire::Tensor &tensor, llvm::StringRef name, std::string &error);

private:
  using FileBuffer = std::shared_ptr<llvm::MemoryBuffer>;

  mlir::ElementsAttr readExternal(const wire::Tensor &tensor, mlir::RankedTensorType type,
                                  llvm::StringRef name, std::string &error);
  /// Returns the file at a path relative to the model, or null and an error.
  FileBuffer open(llvm::StringRef location, std::string &error);

  /// The encoded elements of a tensor that are in the model's file.
  llvm::StringRef rawData(const wire::Tensor &tensor) const;

  mlir::MLIRContext *context;
  FileBuffer model;
  std::string folder;
  llvm::StringMap<FileBuffer> files;
};

} // namespace tfc::onnx
