//===- ScanOps.h - Reductions that return every step ----------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"

#define GET_OP_CLASSES
#include "dialects/dfg/ScanOps.h.inc"
