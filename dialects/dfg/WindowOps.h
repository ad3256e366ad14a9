//===- WindowOps.h - Sliding windows --------------------------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"

#define GET_OP_CLASSES
#include "dialects/dfg/WindowOps.h.inc"
