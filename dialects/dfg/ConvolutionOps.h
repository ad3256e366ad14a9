//===- ConvolutionOps.h - Sums of products over windows -------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"

#define GET_OP_CLASSES
#include "dialects/dfg/ConvolutionOps.h.inc"
