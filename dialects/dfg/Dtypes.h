// The dtypes of runtime/Dtypes.inc, with their element types and their names in the C API, in
// graphs and in files.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "runtime/tfc.h"

namespace tfc::dfg {

struct Dtype {
  tfc_dtype code;
  llvm::StringLiteral name;        // "f32", as in the graph language
  llvm::StringLiteral enumerator;  // "TFC_F32"
  unsigned bytes;                  // of an element in memory
  llvm::StringLiteral cType;       // "float"
  llvm::StringLiteral numpy;       // "<f4"
  llvm::StringLiteral safetensors; // "F32"
  llvm::StringLiteral longName;    // "float32", in many other languages
  mlir::Type (*elementType)(mlir::MLIRContext *context);
};

/// All dtypes, in the order of tfc_dtype.
llvm::ArrayRef<Dtype> getDtypes();
/// The dtype of an element type; null if there is none, as for index.
const Dtype *findDtype(mlir::Type elementType);
/// Like `findDtype`, for an element type of a dfg tensor.
const Dtype &dtypeOf(mlir::Type elementType);
const Dtype &dtypeOf(tfc_dtype code);
/// The element type of the dtype whose `column` is `name`; null if there is none, as in
/// `elementTypeNamed(context, "F32", &Dtype::safetensors)`.
mlir::Type elementTypeNamed(mlir::MLIRContext *context, llvm::StringRef name,
                            llvm::StringLiteral Dtype::*column);

/// "f32[2, 64]".
std::string toText(tfc_dtype dtype, llvm::ArrayRef<int64_t> shape);

} // namespace tfc::dfg
