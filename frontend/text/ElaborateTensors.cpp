#include "frontend/text/ElaborateImpl.h"

using namespace llvm;
using namespace mlir;

namespace tfc::text {

bool Elaborator::requireEntry(SourceRange at) {
  if (entryNumber)
    return true;
  error(at, "outside-entry", "a tensor can be computed only where an entry runs");
  return false;
}

bool Elaborator::requireVisible(mlir::Value value, SourceRange at) {
  if (value.getParentRegion()->isAncestor(builder.currentBlock()->getParent()))
    return true;
  error(at, "outside-entry", "this value was computed in another entry");
  return false;
}

mlir::Value Elaborator::toTensor(const Entity &value, mlir::Type preferred, SourceRange at) {
  if (value.isPoison() || !requireEntry(at))
    return {};
  if (value.is<mlir::Value>()) {
    mlir::Value tensor = value.as<mlir::Value>();
    if (!requireVisible(tensor, at))
      return {};
    if (!listOf(value))
      return tensor;
    error(at, "not-a-tensor", "expected a tensor, but got " + value.describe())
        .help("l[i] is one element, stack(l, size: n) all of them");
    return {};
  }
  if (Variable *const *variable = value.get<Variable *>())
    return readVariable(**variable, at);
  if (const Constant *constant = value.get<Constant>())
    return builder.constant(constant->value, locate(at));
  if (value.isNumber())
    return numberToTensor(value, preferred, at);
  if (value.is<bool>())
    return numberToTensor(value, IntegerType::get(context, 1), at);
  if (value.asGroup())
    return listToTensor(value, preferred, at, dfg::Conversion::Implicit);
  error(at, "not-a-tensor", "expected a tensor, but got " + value.describe());
  return {};
}

mlir::Value Elaborator::evalTensor(const ast::Expr *expr, mlir::Type preferred) {
  return toTensor(eval(expr), preferred, expr->range);
}

/// Whether the entry around the block assigns the variable so far.
static bool isAssigned(mlir::Block *block, StringRef path) {
  Operation *entry = block->getParentOp();
  while (!isa<dfg::EntryOp>(entry))
    entry = entry->getParentOp();
  return entry
      ->walk([&](dfg::AssignOp assign) {
        return assign.getVariable() == path ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

mlir::Value Elaborator::readVariable(Variable &variable, SourceRange at) {
  if (!requireEntry(at))
    return {};
  if (initializing && !isAssigned(builder.currentBlock(), variable.path)) {
    error(at, "not-initialized",
          "'" + variable.path + "' has no value yet, where '" + initializing->path +
              "' takes its initial value from it")
        .help("variables get their values in the order of their declaration");
    return {};
  }
  // Where order means nothing, each place reads for itself.
  if (isa<dfg::DataflowOp>(builder.currentBlock()->getParentOp()))
    return builder.read(variable.path, variable.type, locate(at));
  mlir::Value &value = reads[&variable];
  if (!value)
    value = builder.read(variable.path, variable.type, locate(at));
  return value;
}

mlir::Value Elaborator::emit(StringRef op, ArrayRef<Argument> operands, ValueRange values,
                             ArrayRef<NamedAttribute> attributes, SourceRange at,
                             StringRef operatorText) {
  if (!requireEntry(at))
    return {};
  mlir::Value result;
  capture(at, operands, op, operatorText, [&] {
    FailureOr<Operation *> created = builder.create(op, values, attributes, locate(at));
    if (failed(created) || (*created)->getNumResults() != 1)
      return false;
    result = (*created)->getResult(0);
    return true;
  });
  bool isMeant = result && canBeMeant(result.getDefiningOp(), at, operatorText);
  return isMeant ? result : mlir::Value();
}

mlir::Value Elaborator::castTo(mlir::Value value, mlir::Type element, SourceRange at) {
  if (dfg::elementTypeOf(value.getType()) == element)
    return value;
  NamedAttribute dtype(StringAttr::get(context, "dtype"), TypeAttr::get(element));
  return emit("cast", {}, value, dtype, at);
}

mlir::Value Elaborator::broadcastTo(mlir::Value value, ArrayRef<dfg::DimExpr> shape,
                                    SourceRange at) {
  if (ArrayRef<dfg::DimExpr>(dfg::shapeOf(value.getType())) == shape)
    return value;
  NamedAttribute attribute(StringAttr::get(context, "shape"), dfg::DimsAttr::get(context, shape));
  return emit("broadcast", {}, value, attribute, at);
}

//===----------------------------------------------------------------------===//
// Assignment
//===----------------------------------------------------------------------===//

mlir::Value Elaborator::assignVariable(Variable &variable, mlir::Value value, SourceRange at) {
  if (value.getType() != variable.type && dfg::shapeOf(value.getType()).empty() &&
      value.getDefiningOp<dfg::ConstantOp>())
    value = broadcastTo(value, dfg::shapeOf(variable.type), at);
  if (!value)
    return {};
  if (value.getType() != variable.type) {
    Diagnostic &diagnostic = error(at, "assign-type",
                                   "'" + variable.path + "' is " + dfg::toText(variable.type) +
                                       ", but is assigned " + dfg::toText(value.getType()));
    if (variable.decl)
      diagnostic.note(variable.decl->name.range, "declared here");
    return {};
  }
  mlir::Value result = builder.assign(variable.path, value, locate(at));
  reads.erase(&variable);
  return result;
}

Entity Elaborator::callAssign(StringRef name, Arguments &args, const ast::CallExpr &call) {
  if (args.size() != 2 || args[0].label || (args[1].label && args[1].label.text != "value"))
    return fail(call.range, "wrong-count", "'" + name + "' takes a variable and a value");
  Variable *const *target = args[0].value.get<Variable *>();
  if (!target)
    return fail(args[0].range, "not-a-variable",
                "'" + name + "' changes a variable, but got " + args[0].value.describe());
  if (!requireEntry(call.range))
    return Poison();
  Variable &variable = **target;
  mlir::Value value = toTensor(args[1].value, variable.type.getElementType(), args[1].range);
  if (!value)
    return Poison();
  if (name != "assign") {
    mlir::Value old = readVariable(variable, args[0].range);
    StringRef op = name == "assign_add" ? "add" : "sub";
    value = emit(op, args, {old, value}, {}, args[0].range, name);
    if (!value)
      return Poison();
  }
  mlir::Value result = assignVariable(variable, value, args[1].range);
  return result ? Entity(result) : Entity();
}

} // namespace tfc::text
