//===- DfgOps.td - All operation families of the dfg dialect --------------===//

include "dialects/dfg/ContractionOps.td"
include "dialects/dfg/ElementwiseOps.td"
include "dialects/dfg/MathOps.td"
include "dialects/dfg/ReductionOps.td"
include "dialects/dfg/ShapeOps.td"
include "dialects/dfg/StateOps.td"
include "dialects/dfg/StructureOps.td"
