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

/// Whether an integer is a value of the element type.
static bool fits(int64_t value, mlir::Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer || integer.getWidth() == 64)
    return true;
  if (integer.isUnsigned())
    return value >= 0 && isUIntN(integer.getWidth(), value);
  return isIntN(integer.getWidth(), value);
}

mlir::Value Elaborator::numberToTensor(const Entity &value, mlir::Type preferred, SourceRange at) {
  Builder b(context);
  if (preferred && preferred.isInteger(1)) {
    error(at, "literal-type", "expected a bool, but got " + value.describe());
    return {};
  }
  if (const double *number = value.get<double>()) {
    if (preferred && !isa<FloatType>(preferred)) {
      error(at, "literal-type",
            "a float has no exact value in " + dfg::toText(preferred) +
                ", the type of the other operand")
          .help("convert the other operand, as in f32(x), or round the number");
      return {};
    }
    return builder.scalar(*number, preferred ? preferred : b.getF32Type(), locate(at));
  }
  if (const dfg::DimExpr *size = value.get<dfg::DimExpr>())
    return builder.size(*size, preferred ? preferred : b.getI64Type(), locate(at));
  int64_t number = value.as<int64_t>();
  mlir::Type element = preferred ? preferred : b.getI32Type();
  if (!fits(number, element)) {
    error(at, "number-range", Twine(number) + " is no value of " + dfg::toText(element));
    return {};
  }
  return builder.scalar(number, element, locate(at));
}

/// Sizes and numbers of nested lists, row by row; false unless all rows have one shape.
static bool flatten(const Entity &value, size_t depth, SmallVectorImpl<int64_t> &shape,
                    std::vector<Entity> &numbers) {
  const Group *group = value.asGroup();
  if (!group) {
    numbers.push_back(value);
    return depth == shape.size() && (value.asDouble() || value.is<bool>());
  }
  int64_t size = group->elements.size();
  if (depth == shape.size() && numbers.empty())
    shape.push_back(size);
  if (depth >= shape.size() || shape[depth] != size || size == 0)
    return false;
  return all_of(group->elements,
                [&](const Entity &element) { return flatten(element, depth + 1, shape, numbers); });
}

mlir::Value Elaborator::listToTensor(const Entity &value, mlir::Type preferred, SourceRange at) {
  SmallVector<int64_t> shape;
  std::vector<Entity> numbers;
  if (value.asGroup()->isSparse) {
    error(at, "sparse-gradient",
          "a sparse gradient holds only the touched rows, so it cannot be used as a tensor")
        .help("'as_tensor(g)' has zeros in the other rows");
    return {};
  }
  if (const Group &group = *value.asGroup(); group.names.size() > 1) {
    hintResults(error(at, "not-a-tensor",
                      "expected a tensor, but got " + Twine(group.names.size()) + " results"),
                group, at);
    return {};
  }
  if (!flatten(value, 0, shape, numbers)) {
    error(at, "not-a-tensor",
          "expected a tensor, but got " + value.describe() + " that is no table of static numbers");
    return {};
  }
  Builder b(context);
  bool isFloat = any_of(numbers, [](const Entity &number) { return number.is<double>(); });
  bool isBool = all_of(numbers, [](const Entity &number) { return number.is<bool>(); });
  mlir::Type element = preferred ? preferred
                       : isBool  ? mlir::Type(b.getI1Type())
                       : isFloat ? mlir::Type(b.getF32Type())
                                 : mlir::Type(b.getI32Type());
  SmallVector<Attribute> attributes;
  for (const Entity &number : numbers) {
    double real = number.is<bool>() ? number.as<bool>() : *number.asDouble();
    bool isExact = number.is<int64_t>() ? fits(number.as<int64_t>(), element)
                                        : number.is<bool>() == element.isInteger(1);
    if (auto floatType = dyn_cast<FloatType>(element)) {
      attributes.push_back(FloatAttr::get(floatType, real));
      continue;
    }
    if (!isExact) {
      error(at, "literal-type", number.describe() + " is no value of " + dfg::toText(element));
      return {};
    }
    int64_t bits = number.is<int64_t>() ? number.as<int64_t>() : int64_t(real);
    unsigned width = element.getIntOrFloatBitWidth();
    attributes.push_back(IntegerAttr::get(element, APInt(64, uint64_t(bits)).trunc(width)));
  }
  return builder.constant(DenseElementsAttr::get(RankedTensorType::get(shape, element), attributes),
                          locate(at));
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
  if (const bool *flag = value.get<bool>())
    return builder.scalar(int64_t(*flag), Builder(context).getI1Type(), locate(at));
  if (value.asGroup())
    return listToTensor(value, preferred, at);
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

Entity Elaborator::callCast(mlir::Type element, Arguments &args, const ast::CallExpr &call) {
  if (args.size() != 1 || args.front().label)
    return fail(call.range, "wrong-count", "a cast takes one tensor");
  const Argument &arg = args.front();
  bool isExact = isa<FloatType>(element) || arg.value.is<int64_t>() || arg.value.is<dfg::DimExpr>();
  bool isBool = element.isInteger(1);
  mlir::Value value = toTensor(arg.value, isExact && !isBool ? element : mlir::Type(), arg.range);
  if (!value)
    return Poison();
  value = castTo(value, element, call.range);
  return value ? Entity(value) : Entity();
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
