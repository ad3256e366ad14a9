// Turns compile-time values into tensors, and reads and assigns variables. Operations that are
// called by name are built in OperationBuilder.cpp.
#include "frontend/text/elaborate/TensorEmitter.h"

#include "dialects/dfg/Devices.h"
#include "dialects/dfg/Numbers.h"
#include "frontend/text/Refusals.h"
#include "frontend/text/elaborate/Advisor.h"
#include "frontend/text/elaborate/ErrorCapture.h"
#include "frontend/text/elaborate/Evaluator.h"
#include "frontend/text/elaborate/Meter.h"
#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/elaborate/SizeScope.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace llvm;
using namespace mlir;

namespace tfc::text {

mlir::Value TensorEmitter::evalPredicate(const ast::Expr *expr, StringRef keyword) {
  return toPredicate(evalTensor(expr), keyword, expr->range);
}

mlir::Value TensorEmitter::toPredicate(mlir::Value value, StringRef taker, SourceRange at) {
  if (!value)
    return {};
  auto type = cast<mlir::RankedTensorType>(value.getType());
  if (type.getElementType().isInteger(1) && type.getRank() == 0)
    return value;
  Diagnostic &diagnostic = reporter.error(at, "condition-type", "'{}' needs one bool, but got {}",
                                          taker, dfg::toText(type));
  if (type.getElementType().isInteger(1))
    diagnostic.help("all(..) or any(..) reduces many to one");
  return {};
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

mlir::Value listOf(const Entity &value) {
  const mlir::Value *list = value.get<mlir::Value>();
  return list && isa<dfg::ListType>(list->getType()) ? *list : mlir::Value();
}

mlir::Value TensorEmitter::toValue(const Entity &value, mlir::Type preferred, SourceRange at) {
  mlir::Value list = listOf(value);
  if (!list)
    return toTensor(value, preferred, at);
  return requireEntry(at) && requireVisible(list, at) ? list : mlir::Value();
}

bool TensorEmitter::canBeMeant(Operation *op, SourceRange at, StringRef operatorText) {
  StringRef name = operatorText.empty() ? op->getName().stripDialect() : operatorText;
  std::optional<Refusal> refusal = findMeaninglessConstants(op, name);
  if (refusal)
    reporter.error(at, refusal->word, refusal->text);
  return !refusal;
}

/// A number of a table, with its source range if the table is written out.
struct TensorEmitter::TableElement {
  dfg::Number number;
  SourceRange at;
};

static std::optional<dfg::Number> numberOf(const Entity &value) {
  if (const bool *flag = value.get<bool>())
    return dfg::Number(*flag);
  if (const int64_t *integer = value.get<int64_t>())
    return dfg::Number(*integer);
  if (const double *real = value.get<double>())
    return dfg::Number(*real);
  return std::nullopt;
}

static bool contains(SourceRange outer, SourceRange inner) {
  return outer.isValid() && inner.file == outer.file && inner.begin >= outer.begin &&
         inner.end <= outer.end;
}

TypedAttr TensorEmitter::toElement(const dfg::Number &number, mlir::Type element,
                                   dfg::Conversion conversion, SourceRange at, SourceRange inner) {
  dfg::NumberError reason;
  TypedAttr attribute = dfg::elementFrom(number, element, conversion, reason);
  if (attribute)
    return attribute;
  bool isInside = contains(at, inner);
  Diagnostic &diagnostic =
      reporter.error(isInside ? inner : at, reason.slug, reason.text).forAllSizes();
  if (!reason.help.empty())
    diagnostic.help(reason.help);
  if (inner.isValid() && !isInside)
    diagnostic.note(inner, "this element");
  return {};
}

bool TensorEmitter::checkSizeFits(const dfg::DimExpr &size, mlir::Type element, SourceRange at) {
  auto type = dyn_cast<IntegerType>(element);
  if (!type || type.isSignlessInteger(64))
    return true;
  auto bounds = [&](StringRef symbol) { return sizeScope.boundsOf(symbol); };
  auto [least, most] = sizeScope.limitsOf(size);
  std::optional<int64_t> low = least.interval(bounds).first, high = most.interval(bounds).second;
  auto holds = [&](int64_t value) {
    APInt bits(64, uint64_t(value));
    return type.isUnsigned() ? value >= 0 && bits.isIntN(type.getWidth())
                             : bits.isSignedIntN(type.getWidth());
  };
  // Sizes without a bound are assumed to be below 2^31.
  bool isNarrow = type.getWidth() < 32;
  if ((low ? holds(*low) : !isNarrow) && (high ? holds(*high) : !isNarrow))
    return true;
  reporter
      .error(at, "number-range", "the size {} may be out of range for {}", size.str(),
             dfg::toText(element))
      .help("bound it, or convert it, as in {}({})", dfg::toText(element), size.str());
  return false;
}

/// An element of an integer type that a parameter for floats, or for any number, may hold.
static Entity exactInteger(const Entity &value, mlir::Type element) {
  Entity exact = value;
  if (const double *real = value.get<double>())
    if (std::trunc(*real) == *real && std::fabs(*real) < 0x1p63)
      exact = Entity(static_cast<int64_t>(*real));
  const int64_t *integer = exact.get<int64_t>();
  if (integer && element.isInteger(1) && (*integer == 0 || *integer == 1))
    return Entity(*integer == 1);
  return exact;
}

bool TensorEmitter::toExact(Entity &value, mlir::Type element, SourceRange at) {
  if (const dfg::DimExpr *size = value.get<dfg::DimExpr>()) {
    if (!element.isInteger(1))
      return checkSizeFits(*size, element, at);
    reporter.error(at, "literal-type", "expected a bool, but got {}", value.describe());
    return false;
  }
  if (isa<IntegerType>(element))
    value = exactInteger(value, element);
  return bool(toElement(*numberOf(value), element, dfg::Conversion::Implicit, at, SourceRange()));
}

mlir::Value TensorEmitter::numberToTensor(const Entity &value, mlir::Type preferred,
                                          SourceRange at) {
  Builder b(context.mlir);
  if (const dfg::DimExpr *size = value.get<dfg::DimExpr>()) {
    mlir::Type element = preferred ? preferred : b.getI64Type();
    if (element.isInteger(1)) {
      reporter.error(at, "literal-type", "expected a bool, but got {}", value.describe());
      return {};
    }
    if (!checkSizeFits(*size, element, at))
      return {};
    return context.builder.size(*size, element, reporter.locate(at));
  }
  mlir::Type element = preferred            ? preferred
                       : value.is<double>() ? mlir::Type(b.getF32Type())
                                            : mlir::Type(b.getI32Type());
  TypedAttr attribute =
      toElement(*numberOf(value), element, dfg::Conversion::Implicit, at, SourceRange());
  if (!attribute)
    return {};
  return context.builder.constant(
      DenseElementsAttr::get(RankedTensorType::get({}, element), {Attribute(attribute)}),
      reporter.locate(at));
}

/// Sizes and numbers of nested lists, row by row; false unless all rows have one shape.
bool TensorEmitter::flattenTable(const Entity &value, SourceRange at, size_t depth,
                                 SmallVectorImpl<int64_t> &shape,
                                 std::vector<TableElement> &elements) {
  const Group *group = value.asGroup();
  if (!group) {
    std::optional<dfg::Number> number = numberOf(value);
    if (number)
      elements.push_back({*number, at});
    return depth == shape.size() && number;
  }
  int64_t size = group->elements.size();
  if (depth == shape.size() && elements.empty())
    shape.push_back(size);
  if (depth >= shape.size() || shape[depth] != size || size == 0)
    return false;
  for (auto [i, element] : enumerate(group->elements))
    if (!flattenTable(element, group->placeOf(i), depth + 1, shape, elements))
      return false;
  return true;
}

mlir::Value TensorEmitter::listToTensor(const Entity &value, mlir::Type preferred, SourceRange at,
                                        dfg::Conversion conversion) {
  if (const Group &group = *value.asGroup(); group.names.size() > 1) {
    advisor.hintResults(reporter.error(at, "not-a-tensor", "expected a tensor, but got {} results",
                                       group.names.size()),
                        group, at);
    return {};
  }
  if (!meter.spend(value.asGroup()->weight, at))
    return {};
  SmallVector<int64_t> shape;
  std::vector<TableElement> elements;
  if (!flattenTable(value, SourceRange(), 0, shape, elements)) {
    reporter.error(at, "not-a-tensor",
                   "expected a tensor, but got {} that is not a table of static numbers",
                   value.describe());
    return {};
  }
  Builder b(context.mlir);
  bool areBools = all_of(elements, [](const TableElement &given) {
    return std::holds_alternative<bool>(given.number);
  });
  bool hasFloat = any_of(elements, [](const TableElement &given) {
    return std::holds_alternative<double>(given.number);
  });
  mlir::Type element = preferred  ? preferred
                       : areBools ? mlir::Type(b.getI1Type())
                       : hasFloat ? mlir::Type(b.getF32Type())
                                  : mlir::Type(b.getI32Type());
  SmallVector<Attribute> attributes;
  for (const TableElement &given : elements) {
    TypedAttr attribute = toElement(given.number, element, conversion, at, given.at);
    if (!attribute)
      return {};
    attributes.push_back(attribute);
  }
  return context.builder.constant(
      DenseElementsAttr::get(RankedTensorType::get(shape, element), attributes),
      reporter.locate(at));
}

Entity TensorEmitter::callCast(mlir::Type element, Arguments &args, const ast::CallExpr &call) {
  if (args.size() != 1 || args.front().label)
    return reporter.fail(call.range, "wrong-count", "a cast takes one tensor");
  const Argument &arg = args.front();
  if (arg.value.isPoison() || !requireEntry(arg.range))
    return Poison();
  mlir::Value value;
  if (std::optional<dfg::Number> number = numberOf(arg.value)) {
    TypedAttr attribute =
        toElement(*number, element, dfg::Conversion::Cast, arg.range, SourceRange());
    if (!attribute)
      return Poison();
    value = context.builder.constant(
        DenseElementsAttr::get(RankedTensorType::get({}, element), {Attribute(attribute)}),
        reporter.locate(arg.range));
  } else if (arg.value.asGroup()) {
    value = listToTensor(arg.value, element, arg.range, dfg::Conversion::Cast);
  } else if (const dfg::DimExpr *size = arg.value.get<dfg::DimExpr>()) {
    mlir::Type type = element.isInteger(1) ? Builder(context.mlir).getI64Type() : element;
    value = context.builder.size(*size, type, reporter.locate(arg.range));
  } else {
    value = toTensor(arg.value, {}, arg.range);
  }
  if (value)
    value = castTo(value, element, call.range);
  return value ? Entity(value) : Entity();
}

/// Reads a variable at the point where it is named.
void TensorEmitter::readNow(Entity &value, SourceRange at) {
  Variable *const *variable = value.get<Variable *>();
  if (!variable)
    return;
  mlir::Value read = readVariable(**variable, at);
  value = read ? Entity(read) : Entity();
}

bool TensorEmitter::requireEntry(SourceRange at) {
  if (context.entry.number)
    return true;
  reporter.error(at, "outside-entry", "a tensor can be computed only while an entry runs");
  return false;
}

bool TensorEmitter::requireVisible(mlir::Value value, SourceRange at) {
  if (value.getParentRegion()->isAncestor(context.builder.currentBlock()->getParent()))
    return true;
  reporter.error(at, "outside-entry", "this value was computed in another entry");
  return false;
}

mlir::Value TensorEmitter::toTensor(const Entity &value, mlir::Type preferred, SourceRange at) {
  if (value.isPoison() || !requireEntry(at))
    return {};
  if (value.is<mlir::Value>()) {
    mlir::Value tensor = value.as<mlir::Value>();
    if (!requireVisible(tensor, at))
      return {};
    if (!listOf(value))
      return tensor;
    reporter.error(at, "not-a-tensor", "expected a tensor, but got {}", value.describe())
        .help("l[i] is one element, stack(l, size: n) all of them");
    return {};
  }
  if (Variable *const *variable = value.get<Variable *>())
    return readVariable(**variable, at);
  if (const Constant *constant = value.get<Constant>())
    return context.builder.constant(constant->value, reporter.locate(at));
  if (value.isNumber())
    return numberToTensor(value, preferred, at);
  if (value.is<bool>())
    return numberToTensor(value, IntegerType::get(context.mlir, 1), at);
  if (value.asGroup())
    return listToTensor(value, preferred, at, dfg::Conversion::Implicit);
  if (value.asSparse()) {
    reporter.failSparse(at);
    return {};
  }
  reporter.error(at, "not-a-tensor", "expected a tensor, but got {}", value.describe());
  return {};
}

mlir::Value TensorEmitter::evalTensor(const ast::Expr *expr, mlir::Type preferred) {
  return toTensor(evaluator.eval(expr), preferred, expr->range);
}

/// Returns true if the entry around the block assigns the variable so far.
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

mlir::Value TensorEmitter::readVariable(Variable &variable, SourceRange at) {
  if (!requireEntry(at))
    return {};
  if (context.entry.initializing && !isAssigned(context.builder.currentBlock(), variable.path)) {
    reporter
        .error(at, "not-initialized",
               "'{}' has no value yet when '{}' takes its initial value from it", variable.path,
               context.entry.initializing->path)
        .help("variables are initialised in the order of their declarations");
    return {};
  }
  // In a dataflow block, which has no order, each use reads separately.
  if (isa<dfg::DataflowOp>(context.builder.currentBlock()->getParentOp()))
    return context.builder.getResources().read(variable.path, variable.type, reporter.locate(at));
  mlir::Value &value = context.entry.reads[&variable];
  if (!value)
    value = context.builder.getResources().read(variable.path, variable.type, reporter.locate(at));
  return value;
}

mlir::Value TensorEmitter::emit(StringRef op, ArrayRef<Argument> operands, ValueRange values,
                                ArrayRef<NamedAttribute> attributes, SourceRange at,
                                StringRef operatorText) {
  if (!requireEntry(at))
    return {};
  mlir::Value result;
  errorCapture.capture(at, operands, op, [&] {
    FailureOr<Operation *> created =
        context.builder.create(op, values, attributes, reporter.locate(at, operatorText));
    if (failed(created) || (*created)->getNumResults() != 1)
      return false;
    result = (*created)->getResult(0);
    return true;
  });
  bool isMeant = result && canBeMeant(result.getDefiningOp(), at, operatorText);
  return isMeant ? result : mlir::Value();
}

mlir::Value TensorEmitter::emitCount(StringRef op, ValueRange values, SourceRange at) {
  mlir::Value count = emit(op, {}, values, {}, at);
  if (Operation *producer = count ? count.getDefiningOp() : nullptr)
    dfg::clearPlacement(producer);
  return count;
}

mlir::Value TensorEmitter::castTo(mlir::Value value, mlir::Type element, SourceRange at) {
  if (dfg::elementTypeOf(value.getType()) == element)
    return value;
  NamedAttribute dtype(StringAttr::get(context.mlir, "dtype"), TypeAttr::get(element));
  return emit("cast", {}, value, dtype, at);
}

mlir::Value TensorEmitter::broadcastTo(mlir::Value value, ArrayRef<dfg::DimExpr> shape,
                                       SourceRange at) {
  if (ArrayRef<dfg::DimExpr>(dfg::shapeOf(value.getType())) == shape)
    return value;
  NamedAttribute attribute(StringAttr::get(context.mlir, "shape"),
                           dfg::DimsAttr::get(context.mlir, shape));
  return emit("broadcast", {}, value, attribute, at);
}

//===----------------------------------------------------------------------===//
// Assignment
//===----------------------------------------------------------------------===//

mlir::Value TensorEmitter::assignVariable(Variable &variable, mlir::Value value, SourceRange at) {
  if (value.getType() != variable.type && dfg::shapeOf(value.getType()).empty() &&
      value.getDefiningOp<dfg::ConstantOp>())
    value = broadcastTo(value, dfg::shapeOf(variable.type), at);
  if (!value)
    return {};
  if (value.getType() != variable.type) {
    Diagnostic &diagnostic =
        reporter.error(at, "assign-type", "'{}' is {}, but is assigned {}", variable.path,
                       dfg::toText(variable.type), dfg::toText(value.getType()));
    if (variable.decl)
      diagnostic.note(variable.decl->name.range, "declared here");
    return {};
  }
  mlir::Value result =
      context.builder.getResources().assign(variable.path, value, reporter.locate(at));
  context.entry.reads.erase(&variable);
  return result;
}

} // namespace tfc::text
