//===- DataflowOps.cpp - The graph form: Switch, Merge, frames ------------===//
//
// Implements the graph form of control flow. It verifies single operations; whether a graph
// consists of branches and loops is decided in compiler/controlflow.
//
//===----------------------------------------------------------------------===//

#include "dialects/RegionParser.h"
#include "dialects/dfg/Dfg.h"
#include "dialects/dfg/Errors.h"

using namespace mlir;
using namespace tfc::dfg;

/// Checks that the one block of `op` ends with a `dfg.yield` of the types.
static LogicalResult verifyBody(Operation *op, Block &block, TypeRange types) {
  auto yield = dyn_cast_or_null<YieldOp>(block.empty() ? nullptr : &block.back());
  if (!yield || yield.getValues().getTypes() != types)
    return op->emitOpError("expects its region to yield values of its result types");
  return success();
}

//===----------------------------------------------------------------------===//
// DataflowOp
//===----------------------------------------------------------------------===//

ParseResult DataflowOp::parse(OpAsmParser &parser, OperationState &result) {
  return failure(parseOptionalResultTypes(parser, result) ||
                 parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
                 parseRegion(parser, result));
}

void DataflowOp::print(OpAsmPrinter &printer) {
  printOptionalResultTypes(printer, getResultTypes());
  printAttributesAndRegions(printer, *this);
}

RegionKind DataflowOp::getRegionKind(unsigned) { return RegionKind::Graph; }

LogicalResult DataflowOp::verify() {
  if (getNames() && getNames()->size() != getNumResults())
    return emitOpError("expects one name per result");
  return verifyBody(*this, getBody().front(), getResultTypes());
}

//===----------------------------------------------------------------------===//
// NodeOp
//===----------------------------------------------------------------------===//

ParseResult NodeOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> after;
  Type token = TokenType::get(parser.getContext());
  if (parser.parseKeyword("after") ||
      parser.parseOperandList(after, OpAsmParser::Delimiter::Paren) ||
      parser.resolveOperands(after, token, result.operands) ||
      parseOptionalResultTypes(parser, result) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  result.addTypes(token);
  return parseRegion(parser, result);
}

void NodeOp::print(OpAsmPrinter &printer) {
  printer << " after(" << getAfter() << ')';
  printOptionalResultTypes(printer, getResults().getTypes());
  printAttributesAndRegions(printer, *this);
}

LogicalResult NodeOp::verify() {
  return verifyBody(*this, getBody().front(), getResults().getTypes());
}

//===----------------------------------------------------------------------===//
// SwitchOp
//===----------------------------------------------------------------------===//

LogicalResult SwitchOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                         SmallVectorImpl<Type> &results) {
  results.assign(2, adaptor.getData().getType());
  return success();
}

//===----------------------------------------------------------------------===//
// MergeOp
//===----------------------------------------------------------------------===//

LogicalResult MergeOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                        Adaptor adaptor, SmallVectorImpl<Type> &results) {
  if (adaptor.getInputs().empty())
    return emitErrorAbout(location, "merge", "expects at least one input [operands]");
  results.push_back(adaptor.getInputs().front().getType());
  results.push_back(tensorOf({}, IntegerType::get(context, 32)));
  return success();
}

LogicalResult MergeOp::verify() {
  for (Type type : getInputs().getTypes())
    if (type != getValue().getType())
      return emitOpError("expects inputs of one type, but got ")
             << toText(getValue().getType()) << " and " << toText(type);
  return success();
}
