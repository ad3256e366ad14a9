//===- ScanOps.h - Reductions that keep every step ------------------------===//

#ifndef TFC_DIALECTS_DFG_SCANOPS_H
#define TFC_DIALECTS_DFG_SCANOPS_H

#include "dialects/dfg/Dfg.h"

#define GET_OP_CLASSES
#include "dialects/dfg/ScanOps.h.inc"

#endif // TFC_DIALECTS_DFG_SCANOPS_H
