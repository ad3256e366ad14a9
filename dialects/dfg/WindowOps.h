//===- WindowOps.h - Windows that slide over axes -------------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"

#define GET_OP_CLASSES
#include "dialects/dfg/WindowOps.h.inc"
