// The element types of ONNX, by their numbers and names.
#pragma once

#include "mlir/IR/Types.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace tfc::onnx {

/// Returns the element type of a TensorProto.DataType number, or null if the language has none.
mlir::Type elementTypeOf(mlir::MLIRContext *context, int64_t dtype);
/// Returns "float16" for 10, and "type 99" for an unknown number.
std::string dtypeName(int64_t dtype);
/// Returns 10 for "FLOAT16", as the first versions of Cast name types; std::nullopt if there is no
/// such type.
std::optional<int64_t> dtypeByName(llvm::StringRef name);

} // namespace tfc::onnx
