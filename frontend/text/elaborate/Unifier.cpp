// Matches declared types with the types of values and binds the names in them.
#include "frontend/text/elaborate/Unifier.h"

#include "dialects/dfg/SizeOps.h"
#include "frontend/text/elaborate/Advisor.h"
#include "frontend/text/elaborate/Evaluator.h"
#include "frontend/text/elaborate/FactChecker.h"
#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/elaborate/SizeScope.h"
#include "frontend/text/elaborate/TensorEmitter.h"
#include "frontend/text/elaborate/TypeEvaluator.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace llvm;

namespace tfc::text {

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

Entity Unifier::checkResult(const ast::Type &type, const Entity &value, SourceRange at,
                            const std::string &what) {
  bool isStatic = type.kind == ast::TypeKind::DType && !type.hasBrackets &&
                  ((type.dtype == ast::DType::BOOL && value.is<bool>()) ||
                   (type.dtype == ast::DType::String && value.is<std::string>()));
  if (isStatic || isStaticType(type)) {
    ast::Param param;
    param.type = const_cast<ast::Type *>(&type);
    return typeEvaluator.convertStatic(param, {{}, nullptr, at, value}).value_or(Entity());
  }
  mlir::Type preferred;
  if (type.kind == ast::TypeKind::List)
    preferred = {};
  else if (type.kind == ast::TypeKind::DType)
    preferred = typeEvaluator.elementType(type.dtype, type.baseRange);
  else if (std::optional<Entity> known = typeEvaluator.sizeName(type.name, type.baseRange))
    if (const mlir::Type *element = known->get<mlir::Type>())
      preferred = *element;
  mlir::Value tensor = tensorEmitter.toValue(value, preferred, at);
  if (!tensor)
    return Poison();
  Argument argument{{}, nullptr, at, value};
  if (!unifyValue(type, tensor.getType(), UnifyPhase::Names, argument, what) ||
      !unifyValue(type, tensor.getType(), UnifyPhase::Compound, argument, what))
    return Poison();
  sizeScope.nameNewSizes(type);
  return Entity(tensor);
}

//===----------------------------------------------------------------------===//
// Names between brackets
//===----------------------------------------------------------------------===//

static std::string shortText(const Entity &value) {
  if (std::optional<dfg::DimExpr> size = value.asDim())
    return size->str();
  if (const mlir::Type *type = value.get<mlir::Type>())
    return dfg::toText(*type);
  if (std::optional<dfg::Shape> shape = value.asShape()) {
    std::string text = "[";
    for (const dfg::DimExpr &size : *shape)
      text += (text.size() > 1 ? ", " : "") + size.str();
    return text + "]";
  }
  return value.describe();
}

bool Unifier::bindOrCompare(StringRef name, const Entity &value, SourceRange nameAt,
                            const Argument &argument,
                            function_ref<bool(const std::string &)> mismatch) {
  std::optional<Entity> known = typeEvaluator.sizeName(name, nameAt);
  if (!known) {
    typeEvaluator.bindSize(name, value, nameAt);
    return true;
  }
  if (known->isPoison())
    return false;
  if (known->isTensor()) {
    typeEvaluator.failHiddenSize(name, nameAt, *known);
    return false;
  }
  if (staticEquals(*known, value).value_or(false))
    return true;
  if (context.activation->self) {
    auto it = context.activation->self->sizes.find(name);
    if (it != context.activation->self->sizes.end() &&
        !(it->second.at == context.activation->callSite)) {
      reporter
          .error(argument.range, "conflicting-size",
                 "'{}' takes {} = {} from this call, but {} from another",
                 context.activation->self->path, name, shortText(value),
                 shortText(it->second.value))
          .note(it->second.at, "first bound by this call")
          .help("two sizes need two instances");
      return false;
    }
  }
  std::string text = shortText(*known);
  return mismatch(text == name ? "" : fmt::format("{} is {}", name, text));
}

//===----------------------------------------------------------------------===//
// Unification
//===----------------------------------------------------------------------===//

bool Unifier::solveSize(const ast::Expr *expr, StringRef unknown, const dfg::DimExpr &actual,
                        function_ref<bool(const std::string &)> mismatch) {
  auto valueAt = [&](int64_t probe) {
    context.activation->locals[unknown] = {Entity(probe), expr->range, nullptr};
    std::optional<dfg::DimExpr> value = typeEvaluator.evalSize(expr);
    context.activation->locals.erase(unknown);
    return value;
  };
  std::optional<dfg::DimExpr> zero = valueAt(0), one = valueAt(1), two = valueAt(2);
  if (!zero || !one || !two)
    return false;
  std::optional<int64_t> scale = (*one - *zero).constant();
  if (!scale || *scale == 0 || !((*two - *one) == dfg::DimExpr(*scale))) {
    reporter.error(expr->range, "unsolvable-dimension",
                   "'{}' cannot be determined from this size, which must be linear in it", unknown);
    return false;
  }
  dfg::DimExpr rest = actual - *zero;
  dfg::DimExpr solution = dfg::DimExpr::floorDiv(rest, dfg::DimExpr(*scale));
  bool isNegative = solution.constant().value_or(0) < 0;
  if (isNegative || !(solution * dfg::DimExpr(*scale) == rest))
    return mismatch(fmt::format("no value of {} results in the size {}", unknown, actual.str()));
  typeEvaluator.bindSize(unknown, Entity::dim(solution), expr->range);
  return true;
}

bool Unifier::unifySize(const ast::Expr *expr, const dfg::DimExpr &actual, UnifyPhase phase,
                        const Argument &argument,
                        function_ref<bool(const std::string &)> mismatch) {
  if (const auto *name = dyn_cast<ast::NameExpr>(expr)) {
    if (phase != UnifyPhase::Names || name->name == "_")
      return true;
    return bindOrCompare(name->name, Entity::dim(actual), name->range, argument, mismatch);
  }
  if (const auto *binary = dyn_cast<ast::BinaryExpr>(expr);
      binary && binary->op == ast::BinaryOp::Le)
    return unifySize(binary->lhs, actual, phase, argument, mismatch) &&
           (phase == UnifyPhase::Names || boundSize(*binary, actual, mismatch));
  if (phase != UnifyPhase::Compound)
    return true;
  SmallVector<StringRef> unknown;
  typeEvaluator.collectUnbound(expr, unknown);
  if (unknown.size() == 1)
    return solveSize(expr, unknown.front(), actual, mismatch);
  if (unknown.size() > 1) {
    reporter.error(expr->range, "unsolvable-dimension",
                   "neither '{}' nor '{}' is known from another size", unknown[0], unknown[1]);
    return false;
  }
  std::optional<dfg::DimExpr> size = typeEvaluator.evalSize(expr);
  if (!size)
    return false;
  if (*size == actual)
    return true;
  std::string text = context.sources.oneLine(expr->range);
  return mismatch(text == size->str() ? "" : text + " is " + size->str());
}

bool Unifier::unify(const ast::Type &type, const TensorType &actual, UnifyPhase phase,
                    const Argument &argument, const std::string &what) {
  const auto *rest = find_if(
      type.items, [](const ast::IndexItem &item) { return item.kind == ast::IndexItemKind::Rest; });
  bool hasRest = rest != type.items.end(), isOtherElement = false;
  size_t fixed = type.items.size() - hasRest;
  auto mismatch = [&](const std::string &reason) {
    std::string got = dfg::toText(dfg::tensorOf(actual.shape, actual.element));
    Diagnostic &diagnostic = reporter.error(
        argument.range, "type-mismatch", "{} is {}, but got {}{}", what,
        typeEvaluator.typeText(type), got, reason.empty() ? std::string() : ", and " + reason);
    diagnostic.forAllSizes(isOtherElement || (!hasRest && actual.shape.size() != fixed));
    // Arguments are evaluated in the activation of the caller.
    SaveAndRestore<Activation *> outer(context.activation, context.activation->caller
                                                               ? context.activation->caller
                                                               : context.activation);
    advisor.addDeclarationNote(diagnostic, argument.expr, argument.value);
    return false;
  };
  if (phase == UnifyPhase::Names) {
    if (type.kind == ast::TypeKind::DType) {
      mlir::Type element = typeEvaluator.elementType(type.dtype, type.baseRange);
      if (!element)
        return false;
      isOtherElement = element != actual.element;
      if (isOtherElement)
        return mismatch("");
    } else if (!bindOrCompare(type.name, Entity(actual.element), type.baseRange, argument,
                              mismatch)) {
      return false;
    }
  }
  if (actual.shape.size() < fixed || (!hasRest && actual.shape.size() != fixed))
    return mismatch("");
  size_t before = rest - type.items.begin(), after = fixed - before;
  if (!hasRest)
    before = fixed, after = 0;
  for (size_t i = 0; i < fixed; ++i) {
    bool isFront = i < before;
    const ast::IndexItem &item = type.items[isFront ? i : i + 1];
    size_t axis = isFront ? i : actual.shape.size() - fixed + i;
    if (item.kind != ast::IndexItemKind::Element) {
      reporter.error(item.range, "not-a-size", "expected a size");
      return false;
    }
    if (!unifySize(item.value, actual.shape[axis], phase, argument, mismatch))
      return false;
  }
  if (!hasRest || !rest->value || phase != UnifyPhase::Names)
    return true;
  ArrayRef<dfg::DimExpr> middle = ArrayRef(actual.shape).drop_front(before).drop_back(after);
  const auto *name = dyn_cast<ast::NameExpr>(rest->value);
  if (name)
    return bindOrCompare(name->name, Entity::shape(middle), name->range, argument, mismatch);
  Entity expectedShape = evaluator.eval(rest->value);
  if (expectedShape.isPoison())
    return false;
  if (!staticEquals(expectedShape, Entity::shape(middle)).value_or(false))
    return mismatch("");
  return true;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Like `unify`, also for types of lists.
bool Unifier::unifyValue(const ast::Type &type, mlir::Type actual, UnifyPhase phase,
                         const Argument &argument, const std::string &what) {
  auto list = dyn_cast<dfg::ListType>(actual);
  if ((type.kind == ast::TypeKind::List) != bool(list)) {
    reporter
        .error(argument.range, "type-mismatch", "{} is {}, but got {}", what,
               typeEvaluator.typeText(type), dfg::toText(actual))
        .forAllSizes();
    return false;
  }
  if (!list)
    return unify(type, {dfg::elementTypeOf(actual), dfg::shapeOf(actual)}, phase, argument, what);
  std::optional<ast::Type> element = elementOfListType(type);
  if (!element) {
    reporter.error(type.range, "not-a-tensor-type", "a list holds tensors, as in list[f32[4]]");
    return false;
  }
  mlir::Type tensor = list.getElementType();
  return unify(*element, {dfg::elementTypeOf(tensor), dfg::shapeOf(tensor)}, phase, argument,
               "an element of " + what);
}

//===----------------------------------------------------------------------===//
// Data-dependent sizes
//===----------------------------------------------------------------------===//

/// `k <= n` in a type: memory is planned for the bound, and the call fails beyond it.
bool Unifier::boundSize(const ast::BinaryExpr &expr, const dfg::DimExpr &size,
                        function_ref<bool(const std::string &)> mismatch) {
  std::optional<dfg::DimExpr> bound = typeEvaluator.evalSize(expr.rhs);
  if (!bound)
    return false;
  std::optional<bool> known = sizeScope.compareSizes(ast::BinaryOp::Le, size, *bound);
  if (known && *known)
    return true;
  if (known)
    return mismatch(size.str() + " is larger than " + bound->str());
  const RunTimeSize *found = sizeScope.findRunTimeSize(size);
  RunTimeSizes &sizes = context.entry.runTimeSizes;
  if (!found || sizes.numberOf(*found) < context.entry.newSizes ||
      sizeScope.isRunTimeSize(*bound)) {
    factChecker.recordFact({size, dfg::Comparison::LessEqual, *bound}, expr.range);
    return true;
  }
  auto op = cast<dfg::BindSizeOp>(found->op);
  op.setBoundAttr(dfg::DimsAttr::get(context.mlir, {*bound}));
  sizes.setBound(sizes.numberOf(*found), *bound);
  return true;
}

/// Reports a value that leaves the block in which a size of its type is bound. `outside` is the
/// number of sizes that were bound before the block.
bool Unifier::leavesBlock(mlir::Type type, size_t outside, StringRef keyword, SourceRange at) {
  for (const dfg::DimExpr &size : dfg::shapeOf(type)) {
    SmallVector<std::string> names;
    size.collectSymbols(names);
    for (const std::string &name : names) {
      const RunTimeSize *found = context.entry.runTimeSizes.find(name);
      if (!found || context.entry.runTimeSizes.numberOf(*found) < outside)
        continue;
      reporter
          .error(at, "size-escapes",
                 "a value of type {} cannot leave this '{}', in which '{}' is bound",
                 dfg::toText(type), keyword, name)
          .note(found->at, "'{}' is bound here, again in each run of the block", name)
          .help("reduce it to a size that is known outside, or append its rows to a list");
      return true;
    }
  }
  return false;
}

} // namespace tfc::text
