//===- DfgOps.td - All operation families of the dfg dialect --------------===//

include "dialects/dfg/CoreOps.td"
include "dialects/dfg/ConvolutionOps.td"
include "dialects/dfg/MessageOps.td"
include "dialects/dfg/PoolingOps.td"
include "dialects/dfg/ScanOps.td"
include "dialects/dfg/ScatterOps.td"
include "dialects/dfg/SizeOps.td"
include "dialects/dfg/SortOps.td"
include "dialects/dfg/WindowOps.td"
