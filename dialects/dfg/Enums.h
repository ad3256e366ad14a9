//===- Enums.h - The enumerations of the dfg dialect ----------------------===//

#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include <optional>

#include "dialects/dfg/DfgEnums.h.inc"
