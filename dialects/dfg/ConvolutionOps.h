//===- ConvolutionOps.h - Sums of products over windows -------------------===//

#ifndef TFC_DIALECTS_DFG_CONVOLUTIONOPS_H
#define TFC_DIALECTS_DFG_CONVOLUTIONOPS_H

#include "dialects/dfg/Dfg.h"

#define GET_OP_CLASSES
#include "dialects/dfg/ConvolutionOps.h.inc"

#endif // TFC_DIALECTS_DFG_CONVOLUTIONOPS_H
