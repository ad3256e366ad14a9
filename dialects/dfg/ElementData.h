//===- ElementData.h - The bytes of constants -----------------------------===//

#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tfc::dfg {

/// Creates elements of `type` from others: `write` gets the bytes of these, and memory for the new
/// ones, which are inline or a resource as the others are. Returns null, without calling `write`,
/// if the others are one element that is repeated, or are less than a byte each.
mlir::ElementsAttr rewriteElements(mlir::ElementsAttr elements, mlir::RankedTensorType type,
                                   llvm::function_ref<void(llvm::ArrayRef<char>, char *)> write);

/// Rounds elements of f32 to the nearest bf16, ties to even. Returns null as `rewriteElements`.
mlir::ElementsAttr roundToBfloat(mlir::ElementsAttr elements);

} // namespace tfc::dfg
