//===- DfgOps.td - All operation families of the dfg dialect --------------===//

include "dialects/dfg/CoreOps.td"
include "dialects/dfg/ScanOps.td"
