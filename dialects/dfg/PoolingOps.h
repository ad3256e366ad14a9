//===- PoolingOps.h - Reductions of windows -------------------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"

#define GET_OP_CLASSES
#include "dialects/dfg/PoolingOps.h.inc"
