//===- SizeOps.h - Sizes that the data decide ---------------------*- C++ -*-===//

#pragma once

#include "dialects/dfg/Dfg.h"

#define GET_OP_CLASSES
#include "dialects/dfg/SizeOps.h.inc"

namespace tfc::dfg {

/// Says that the number has been checked where it was bound before.
void markChecked(BindSizeOp op);

} // namespace tfc::dfg
