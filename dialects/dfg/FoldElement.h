// Elementwise operations on known numbers.
#pragma once

#include "dialects/dfg/Dfg.h"

namespace tfc::dfg {

/// Returns the element that an operation computes from an element of each operand, as attributes of
/// the tensors' element types; null if it is not known. Denormals are flushed to zero, as in a
/// call.
mlir::Attribute foldElement(ScalarOpInterface op, llvm::ArrayRef<mlir::Attribute> elements);

} // namespace tfc::dfg
