// Element types as the C API counts and spells them.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "runtime/tfc.h"

namespace tfc::emission {

struct Dtype {
  tfc_dtype code;
  const char *cType;
  const char *macro; // the enumerator's name
  unsigned bytes;
};

Dtype dtypeOf(mlir::Type elementType);

} // namespace tfc::emission
