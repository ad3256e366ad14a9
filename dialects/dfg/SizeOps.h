//===- SizeOps.h - Data-dependent sizes -----------------------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"

#define GET_OP_CLASSES
#include "dialects/dfg/SizeOps.h.inc"
