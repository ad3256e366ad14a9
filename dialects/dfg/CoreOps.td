//===- CoreOps.td - The families that Dfg.h declares ----------------------===//
//
// The families whose operations are created by stages and by other families. The others have
// separate headers, so that a change in one rebuilds only the files that name its operations.
//
//===----------------------------------------------------------------------===//

#ifndef TFC_DIALECTS_DFG_COREOPS_TD
#define TFC_DIALECTS_DFG_COREOPS_TD

include "dialects/dfg/ActivationOps.td"
include "dialects/dfg/ContractionOps.td"
include "dialects/dfg/ControlOps.td"
include "dialects/dfg/DataflowOps.td"
include "dialects/dfg/DatasetOps.td"
include "dialects/dfg/ElementwiseOps.td"
include "dialects/dfg/GatherOps.td"
include "dialects/dfg/LabelOps.td"
include "dialects/dfg/ListOps.td"
include "dialects/dfg/LogicOps.td"
include "dialects/dfg/MathOps.td"
include "dialects/dfg/PositionOps.td"
include "dialects/dfg/QueueOps.td"
include "dialects/dfg/RandomOps.td"
include "dialects/dfg/ReductionOps.td"
include "dialects/dfg/RoundingOps.td"
include "dialects/dfg/ShapeOps.td"
include "dialects/dfg/SoftmaxOps.td"
include "dialects/dfg/StateOps.td"
include "dialects/dfg/StructureOps.td"
include "dialects/dfg/TapeOps.td"
include "dialects/dfg/TrigonometryOps.td"
include "dialects/dfg/ViewOps.td"

#endif // TFC_DIALECTS_DFG_COREOPS_TD
