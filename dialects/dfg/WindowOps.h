//===- WindowOps.h - Windows that slide over axes -------------------------===//

#ifndef TFC_DIALECTS_DFG_WINDOWOPS_H
#define TFC_DIALECTS_DFG_WINDOWOPS_H

#include "dialects/dfg/Dfg.h"

#define GET_OP_CLASSES
#include "dialects/dfg/WindowOps.h.inc"

#endif // TFC_DIALECTS_DFG_WINDOWOPS_H
