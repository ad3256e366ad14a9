//===- PoolingOps.h - Reductions of windows --------------------------------===//

#ifndef TFC_DIALECTS_DFG_POOLINGOPS_H
#define TFC_DIALECTS_DFG_POOLINGOPS_H

#include "dialects/dfg/Dfg.h"

#define GET_OP_CLASSES
#include "dialects/dfg/PoolingOps.h.inc"

#endif // TFC_DIALECTS_DFG_POOLINGOPS_H
