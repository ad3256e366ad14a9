//===- ScatterOps.h - Rows combined at computed positions -----------------===//

#pragma once

#include "dialects/dfg/Dfg.h"

#define GET_OP_CLASSES
#include "dialects/dfg/ScatterOps.h.inc"
