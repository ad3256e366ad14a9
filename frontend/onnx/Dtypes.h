// The element types of ONNX, by their numbers and names.
#pragma once

#include "mlir/IR/Types.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace tfc::onnx {

/// Returns the element type of a TensorProto.DataType number, or null if the language has none.
mlir::Type elementTypeOf(mlir::MLIRContext *context, int64_t dtype);
/// Returns "float16" for 10, and "type 99" for an unknown number.
std::string dtypeName(int64_t dtype);
/// Returns true for small types whose elements are stored as codes in 8-bit integers: floats of 8
/// and 4 bits, and integers of 4 and 2 bits.
bool isCoded(int64_t dtype);
/// Returns the 8-bit integers that hold the elements of a coded type.
mlir::Type codeTypeOf(mlir::MLIRContext *context, int64_t dtype);
/// Returns the element type of tensors of this type, or of their codes; null if there is none.
mlir::Type storedTypeOf(mlir::MLIRContext *context, int64_t dtype);
/// Returns the format of floats, or null for coded integers.
const llvm::fltSemantics *floatFormatOf(int64_t dtype);
/// The bits of an element of a coded type.
unsigned bitsOf(int64_t dtype);
/// Returns 10 for "FLOAT16", as the first versions of Cast name types; std::nullopt if there is no
/// such type.
std::optional<int64_t> dtypeByName(llvm::StringRef name);

} // namespace tfc::onnx
