//===- SortOps.h - Elements in order --------------------------------------===//

#ifndef TFC_DIALECTS_DFG_SORTOPS_H
#define TFC_DIALECTS_DFG_SORTOPS_H

#include "dialects/dfg/Dfg.h"

#define GET_OP_CLASSES
#include "dialects/dfg/SortOps.h.inc"

#endif // TFC_DIALECTS_DFG_SORTOPS_H
