//===- Constants.h - Tensors known at compile time ------------------------===//

#pragma once

#include "compiler/reference/Tensor.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace tfc::reference {

/// Sets the elements to those of a constant, in the attribute or in a resource.
void fill(Tensor &tensor, mlir::ElementsAttr constant);

} // namespace tfc::reference
