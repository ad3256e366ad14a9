//===- ScatterOps.h - Rows combined at computed places ---------------------===//

#ifndef TFC_DIALECTS_DFG_SCATTEROPS_H
#define TFC_DIALECTS_DFG_SCATTEROPS_H

#include "dialects/dfg/Dfg.h"

#define GET_OP_CLASSES
#include "dialects/dfg/ScatterOps.h.inc"

#endif // TFC_DIALECTS_DFG_SCATTEROPS_H
