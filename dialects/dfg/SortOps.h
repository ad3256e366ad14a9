//===- SortOps.h - Sorting ------------------------------------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"

#define GET_OP_CLASSES
#include "dialects/dfg/SortOps.h.inc"
