// Evaluates types and the sizes in them, and binds names of sizes. Unifier.cpp compares the results
// with the types of values.
#include "frontend/text/elaborate/TypeEvaluator.h"

#include "dialects/dfg/Dtypes.h"
#include "dialects/dfg/SizeComplexity.h"
#include "dialects/dfg/SizeLimits.h"
#include "frontend/text/elaborate/Advisor.h"
#include "frontend/text/elaborate/Evaluator.h"
#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/elaborate/TensorEmitter.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace tfc::text {

std::optional<dfg::DimExpr> TypeEvaluator::evalSize(const ast::Expr *expr) {
  return asSize(evaluator.eval(expr), expr);
}

/// Returns true if a run-time number has this value, so that 'bounded' makes a size of it.
static bool isWholeNumber(const Entity &value) {
  const auto *tensor = value.get<mlir::Value>();
  return tensor && dfg::shapeOf(tensor->getType()).empty() &&
         dfg::elementTypeOf(tensor->getType()).isSignlessInteger();
}

void TypeEvaluator::failHiddenSize(StringRef name, SourceRange at, const Entity &value) {
  Diagnostic &diagnostic = reporter.error(
      at, "not-a-size", "'{}' is used as a size, but names a value of {}", name, value.describe());
  if (const Local *local = context.activation->find(name))
    diagnostic.note(local->at, "'{}' is bound here", name);
  diagnostic.help(isWholeNumber(value)
                      ? "'bounded(" + name + ", most)' turns it into a size with a bound"
                      : "sizes and values share one namespace: rename one of the two");
}

/// The value of `expr` as a size; std::nullopt after an error.
std::optional<dfg::DimExpr> TypeEvaluator::asSize(const Entity &value, const ast::Expr *expr) {
  if (value.isPoison())
    return std::nullopt;
  if (std::optional<dfg::DimExpr> size = value.asDim())
    return size;
  if (!value.isTensor())
    reporter.error(expr->range, "not-a-size", "expected a size, but got {}", value.describe());
  else if (const auto *name = dyn_cast<ast::NameExpr>(expr))
    failHiddenSize(name->name, expr->range, value);
  else
    reporter.error(expr->range, "not-static",
                   "expected a size known at compile time or a dimension, but got {}",
                   value.describe());
  return std::nullopt;
}

mlir::Type TypeEvaluator::elementType(ast::DType dtype, SourceRange at) {
  if (dtype == ast::DType::String) {
    advisor.laterWork(at, "a tensor of strings");
    return {};
  }
  return elementTypeByName(context.mlir, ast::spelling(dtype));
}

/// The dtype with that name in other languages.
static const dfg::Dtype *findForeign(StringRef name) {
  StringRef sized = StringSwitch<StringRef>(name)
                        .Case("half", "float16")
                        .Case("float", "float32")
                        .Case("double", "float64")
                        .Case("int", "int32")
                        .Case("long", "int64")
                        .Default(name);
  for (const dfg::Dtype &dtype : dfg::getDtypes())
    if (dtype.longName == sized)
      return &dtype;
  return nullptr;
}

std::optional<dfg::Shape> TypeEvaluator::evalShape(ArrayRef<ast::IndexItem> items) {
  dfg::Shape shape;
  for (const ast::IndexItem &item : items) {
    if (item.kind == ast::IndexItemKind::Slice || !item.value) {
      reporter.error(item.range, "not-a-size", "expected a size");
      return std::nullopt;
    }
    if (item.kind == ast::IndexItemKind::Element) {
      std::optional<dfg::DimExpr> size = evalSize(item.value);
      if (!size)
        return std::nullopt;
      if (std::optional<int64_t> constant = size->constant(); constant && *constant < 0) {
        reporter.error(item.range, "not-a-size", "a size cannot be negative: {}", *constant);
        return std::nullopt;
      }
      shape.push_back(*size);
      continue;
    }
    Entity value = evaluator.eval(item.value);
    if (value.isPoison())
      return std::nullopt;
    std::optional<dfg::Shape> part = value.asShape();
    if (!part) {
      if (const auto *name = dyn_cast<ast::NameExpr>(item.value); name && value.isTensor())
        failHiddenSize(name->name, name->range, value);
      else
        reporter.error(item.range, "not-a-size", "expected a shape, but got {}", value.describe());
      return std::nullopt;
    }
    shape.append(part->begin(), part->end());
  }
  if (shape.size() > dfg::kMaxRank) {
    reporter.error(SourceRange::join(items.front().range, items.back().range), "too-large",
                   "a tensor has at most {} axes, but these are {}", dfg::kMaxRank, shape.size());
    return std::nullopt;
  }
  return shape;
}

std::optional<TensorType> TypeEvaluator::evalType(const ast::Type &type) {
  TensorType result;
  if (type.kind == ast::TypeKind::List) {
    reporter.error(type.range, "not-a-tensor-type", "expected the type of a tensor, but got {}",
                   typeText(type));
    return std::nullopt;
  }
  if (type.kind == ast::TypeKind::Dim) {
    reporter.error(type.range, "not-a-tensor-type", "expected the type of a tensor, but got 'dim'");
    return std::nullopt;
  }
  if (type.kind == ast::TypeKind::DType) {
    result.element = elementType(type.dtype, type.baseRange);
    if (!result.element)
      return std::nullopt;
  } else {
    std::optional<Entity> value = sizeName(type.name, type.baseRange);
    if (value && value->isPoison())
      return std::nullopt;
    Instance *self = context.activation->self;
    if (!value && self && self->sizes.contains(type.name)) {
      evaluator.valueInInstance(*self, type.name, type.baseRange); // reports that it is unbound
      return std::nullopt;
    }
    if (value && value->is<TensorType>() && !type.hasBrackets)
      return value->as<TensorType>();
    if (!value || !value->is<mlir::Type>()) {
      Diagnostic &diagnostic =
          reporter.error(type.baseRange, "unknown-type", "'{}' is not a type here", type.name);
      reporter.suggest(
          diagnostic, type.name,
          map_to_vector(dfg::getDtypes(), [](auto &dtype) -> StringRef { return dtype.name; }));
      if (const dfg::Dtype *known = findForeign(type.name))
        diagnostic.help("that type is called {} here", known->name);
      else if (diagnostic.helpText.empty())
        diagnostic.help("the type of a tensor is that of its elements with its sizes: f32[n, 4]");
      return std::nullopt;
    }
    result.element = value->as<mlir::Type>();
  }
  std::optional<dfg::Shape> shape = evalShape(type.items);
  if (!shape)
    return std::nullopt;
  result.shape = std::move(*shape);
  if (!checkMemory(result, type.range))
    return std::nullopt;
  return result;
}

bool TypeEvaluator::checkMemory(const TensorType &type, SourceRange at) {
  mlir::Type tensor = dfg::tensorOf(type.shape, type.element);
  if (!dfg::isTooLarge(tensor))
    return true;
  reporter.error(at, "too-large",
                 dfg::isTooComplex(tensor) ? "the sizes of this tensor are too complex"
                                           : dfg::toText(tensor) + " is too large for any memory");
  return false;
}

bool TypeEvaluator::evalFields(ArrayRef<ast::Param> fields, StringRef error, StringRef of,
                               std::vector<std::string> &names,
                               SmallVectorImpl<mlir::RankedTensorType> &types) {
  bool ok = true;
  for (const ast::Param &field : fields) {
    std::optional<TensorType> type = evalType(*field.type);
    if (!type) {
      ok = false;
      continue;
    }
    mlir::RankedTensorType tensor = dfg::tensorOf(type->shape, type->element);
    if (!tensor.hasStaticShape()) {
      reporter.error(field.range, error, "{} need sizes known at compile time, but '{}' is {}", of,
                     field.name.text, dfg::toText(tensor));
      ok = false;
    }
    if (is_contained(names, field.name.text.str())) {
      reporter.error(field.name.range, "duplicate-name", "'{}' is declared twice", field.name.text);
      ok = false;
    }
    types.push_back(tensor);
    names.push_back(field.name.text.str());
  }
  return ok;
}

std::string TypeEvaluator::typeText(const ast::Type &type) {
  return context.sources.oneLine(type.range);
}

//===----------------------------------------------------------------------===//
// Names between brackets
//===----------------------------------------------------------------------===//

/// Returns true if a value can be used as a size, a shape or an element type.
static bool isSizeLike(const Entity &value) {
  return value.isPoison() || value.asDim() || value.is<mlir::Type>() || value.is<TensorType>() ||
         value.asShape();
}

std::optional<Entity> TypeEvaluator::sizeName(StringRef name, SourceRange at) {
  if (Local *local = context.activation->find(name))
    return local->value;
  if (Instance *self = context.activation->self) {
    if (auto it = self->sizes.find(name); it != self->sizes.end()) {
      if (it->second.at.isValid())
        return it->second.value;
      return std::nullopt;
    }
    if (std::optional<Entity> value = evaluator.valueInInstance(*self, name, at);
        value && isSizeLike(*value))
      return value;
  }
  // Only constants of the file count: a function of that name does not hide a dimension.
  auto it = context.activation->module->declarations.find(name);
  if (it == context.activation->module->declarations.end() || !it->second.binding)
    return std::nullopt;
  std::optional<Entity> value = evaluator.valueInModule(*context.activation->module, name, at);
  return value && isSizeLike(*value) ? value : std::nullopt;
}

void TypeEvaluator::bindSize(StringRef name, const Entity &value, SourceRange at) {
  if (name == "_")
    return;
  if (context.activation->self) {
    if (auto it = context.activation->self->sizes.find(name);
        it != context.activation->self->sizes.end()) {
      it->second.value = value;
      it->second.at = context.activation->callSite.isValid() ? context.activation->callSite : at;
      context.activation->dims.push_back(name.str());
      return;
    }
  }
  context.activation->locals[name] = {value, at, nullptr};
  context.activation->dims.push_back(name.str());
}

//===----------------------------------------------------------------------===//
// Unification
//===----------------------------------------------------------------------===//

void TypeEvaluator::collectUnbound(const ast::Expr *expr, SmallVectorImpl<StringRef> &names) {
  if (const auto *name = dyn_cast<ast::NameExpr>(expr)) {
    if (!sizeName(name->name, name->range) && !is_contained(names, name->name))
      names.push_back(name->name);
  } else if (const auto *unary = dyn_cast<ast::UnaryExpr>(expr)) {
    collectUnbound(unary->operand, names);
  } else if (const auto *binary = dyn_cast<ast::BinaryExpr>(expr)) {
    collectUnbound(binary->lhs, names);
    collectUnbound(binary->rhs, names);
  } else if (const auto *call = dyn_cast<ast::CallExpr>(expr)) {
    for (const ast::Arg &arg : call->args)
      collectUnbound(arg.value, names);
  }
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// The type between the brackets of `list[..]`.
std::optional<ast::Type> elementOfListType(const ast::Type &type) {
  if (type.items.size() != 1 || type.items.front().kind != ast::IndexItemKind::Element)
    return std::nullopt;
  const ast::Expr *expr = type.items.front().value;
  ast::Type element;
  element.range = expr->range;
  if (const auto *index = dyn_cast<ast::IndexExpr>(expr)) {
    element.hasBrackets = true;
    element.items = index->items;
    expr = index->base;
  }
  element.baseRange = expr->range;
  if (const auto *dtype = dyn_cast<ast::DTypeExpr>(expr)) {
    element.dtype = dtype->dtype;
    return element;
  }
  const auto *name = dyn_cast<ast::NameExpr>(expr);
  if (!name)
    return std::nullopt;
  element.kind = ast::TypeKind::Named;
  element.name = name->name;
  return element;
}

Entity TypeEvaluator::evalListType(const ast::IndexExpr &expr) {
  Entity element = expr.items.size() == 1 && expr.items.front().value
                       ? evaluator.eval(expr.items.front().value)
                       : Entity(Nothing{});
  if (element.isPoison())
    return Poison();
  if (const TensorType *type = element.get<TensorType>())
    return Entity(ListType{*type});
  if (const mlir::Type *type = element.get<mlir::Type>())
    return Entity(ListType{{*type, {}}});
  return reporter.fail(expr.range, "not-a-tensor-type", "a list holds tensors, as in list[f32[4]]");
}

/// The static kind of the numbers of a type.
static StaticKind staticKindOf(ast::DType dtype) {
  constexpr auto Float = StaticKind::Float, BFloat = StaticKind::Float, Int = StaticKind::Int,
                 UInt = StaticKind::Int, Bool = StaticKind::Bool;
  constexpr StaticKind kKinds[] = {
#define TFC_DTYPE(CODE, NAME, KIND, ...) KIND,
#include "runtime/Dtypes.inc"
  };
  return kKinds[size_t(dtype)];
}

StaticKind staticKind(const ast::Type &type, bool always) {
  if (type.kind == ast::TypeKind::Dim)
    return StaticKind::Dim;
  if (type.hasBrackets)
    return StaticKind::None;
  if (type.kind == ast::TypeKind::Named)
    return StringSwitch<StaticKind>(type.name)
        .Case("int", StaticKind::Int)
        .Case("float", StaticKind::Float)
        .Case(kNumberType, StaticKind::Number)
        .Case("dtype", StaticKind::DType)
        .Case("group", StaticKind::Group)
        .Case("function", StaticKind::Function)
        .Case("gradient", StaticKind::Gradient)
        .Case("dataset", StaticKind::Dataset)
        .Default(StaticKind::None);
  if (type.kind != ast::TypeKind::DType)
    return StaticKind::None;
  if (type.dtype == ast::DType::String)
    return StaticKind::String;
  return always ? StaticKind::None : staticKindOf(type.dtype);
}

bool isStaticType(const ast::Type &type) {
  return staticKind(type, /*always=*/true) != StaticKind::None;
}

bool isTypeArgument(const ast::Param &param) {
  return param.isStatic && staticKind(*param.type, /*always=*/false) == StaticKind::None;
}

static std::optional<Entity> convertTo(StaticKind kind, const Entity &value) {
  bool matches = false;
  switch (kind) {
  case StaticKind::None:
    break;
  case StaticKind::Int:
    matches = value.is<int64_t>() || value.is<dfg::DimExpr>();
    break;
  case StaticKind::Float:
    if (std::optional<double> number = value.asDouble())
      return Entity(*number);
    break;
  case StaticKind::Number:
    matches = value.isNumber() || value.is<bool>();
    break;
  case StaticKind::Bool:
    matches = value.is<bool>();
    break;
  case StaticKind::String:
    matches = value.is<std::string>();
    break;
  case StaticKind::Dim:
    matches = value.asDim().has_value();
    break;
  case StaticKind::DType:
    matches = value.is<mlir::Type>();
    break;
  case StaticKind::Group:
    // As in operations that take ints, `axis: 1` means `axis: [1]`.
    if (value.is<int64_t>() || value.is<double>())
      return Entity::group({value});
    matches = value.asGroup() || value.is<All>() || value.is<Instance *>() ||
              value.is<Module *>() || value.is<Variable *>();
    break;
  case StaticKind::Gradient:
    matches = value.is<mlir::Value>() || value.asSparse();
    break;
  case StaticKind::Dataset:
    matches = value.is<Dataset *>();
    break;
  case StaticKind::Function:
    matches = value.is<Function>() || value.is<Instance *>() || value.is<Builtin>() ||
              value.is<const dfg::OpSignature *>() || value.is<mlir::Type>();
    break;
  }
  return matches ? std::optional<Entity>(value) : std::nullopt;
}

/// Reports a static number outside the element type that is declared for it, as in `static k: i8`.
bool TypeEvaluator::checkDeclared(const ast::Type &type, const Entity &value, SourceRange at) {
  StaticKind kind = staticKind(type, /*always=*/false);
  bool hasElement =
      type.kind == ast::TypeKind::DType && (kind == StaticKind::Int || kind == StaticKind::Float);
  if (!hasElement || !(value.is<int64_t>() || value.is<double>()))
    return true;
  dfg::Number number =
      value.is<double>() ? dfg::Number(value.as<double>()) : dfg::Number(value.as<int64_t>());
  mlir::Type element = elementType(type.dtype, type.baseRange);
  return !element ||
         tensorEmitter.toElement(number, element, dfg::Conversion::Implicit, at, SourceRange());
}

std::optional<Entity> TypeEvaluator::convertStatic(const ast::Param &param,
                                                   const Argument &argument) {
  if (argument.value.isPoison() || param.type->isMissing)
    return std::nullopt;
  StaticKind kind = staticKind(*param.type, /*always=*/false);
  // A variable that holds a gradient, such as a sum over several calls, is read here.
  Variable *const *variable = argument.value.get<Variable *>();
  if (kind == StaticKind::Gradient && variable) {
    mlir::Value read = tensorEmitter.readVariable(**variable, argument.range);
    return read ? std::optional(Entity(read)) : std::nullopt;
  }
  if (std::optional<Entity> value = convertTo(kind, argument.value))
    return checkDeclared(*param.type, *value, argument.range) ? value : std::nullopt;
  std::string name = param.name ? "'" + param.name.text.str() + "'" : "the result";
  bool isNumber = kind == StaticKind::Number;
  if (argument.value.isTensor())
    reporter
        .error(argument.range, "not-static",
               "{} needs a value known at compile time, but {} is known only at run time", name,
               argument.value.describe())
        .note(param.name.range, "declared here");
  else
    reporter
        .error(argument.range, "static-type", "{} takes {}, but got {}", name,
               isNumber ? "a number or a bool" : typeText(*param.type), argument.value.describe())
        .note(param.name.range, "declared here");
  return std::nullopt;
}

/// The element type of a number by its parameter's type, if it is known yet.
mlir::Type TypeEvaluator::knownElement(const ast::Type &type) {
  if (type.kind == ast::TypeKind::List)
    return {};
  if (type.kind == ast::TypeKind::DType)
    return elementType(type.dtype, type.baseRange);
  if (std::optional<Entity> known = sizeName(type.name, type.baseRange))
    if (const mlir::Type *element = known->get<mlir::Type>())
      return *element;
  return {};
}

std::optional<TensorType> TypeEvaluator::declaredType(const ast::Type *type) {
  if (!type || type->kind == ast::TypeKind::List || type->kind == ast::TypeKind::Dim ||
      isStaticType(*type))
    return std::nullopt;
  if (type->kind == ast::TypeKind::Named) {
    std::optional<Entity> known = sizeName(type->name, type->baseRange);
    if (!known || known->isPoison())
      return std::nullopt;
  }
  for (const ast::IndexItem &item : type->items) {
    SmallVector<StringRef> unknown;
    if (item.value)
      collectUnbound(item.value, unknown);
    const auto *binary = dyn_cast_or_null<ast::BinaryExpr>(item.value);
    bool isBound = binary && binary->op == ast::BinaryOp::Le;
    if (!item.value || item.kind == ast::IndexItemKind::Slice || !unknown.empty() || isBound)
      return std::nullopt;
  }
  return evalType(*type);
}

} // namespace tfc::text
