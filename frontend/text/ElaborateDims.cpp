#include "dialects/dfg/SizeComplexity.h"
#include "dialects/dfg/SizeLimits.h"
#include "frontend/text/ElaborateImpl.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace tfc::text {

std::optional<dfg::DimExpr> Elaborator::evalSize(const ast::Expr *expr) {
  return asSize(eval(expr), expr);
}

/// Whether a run-time number has this value, so that 'bounded' makes a size of it.
static bool isWholeNumber(const Entity &value) {
  const auto *tensor = value.get<mlir::Value>();
  return tensor && dfg::shapeOf(tensor->getType()).empty() &&
         dfg::elementTypeOf(tensor->getType()).isSignlessInteger();
}

void Elaborator::failHiddenSize(StringRef name, SourceRange at, const Entity &value) {
  Diagnostic &diagnostic =
      error(at, "not-a-size",
            "'" + name + "' is a size here, but names a value of " + value.describe());
  if (const Local *local = frame->find(name))
    diagnostic.note(local->at, "'" + name + "' is bound here");
  diagnostic.help(isWholeNumber(value)
                      ? "'bounded(" + name + ", most)' makes a size of it, up to a bound"
                      : "sizes and values share their names: one of the two needs another");
}

/// The size that the value of `expr` is; nothing after an error.
std::optional<dfg::DimExpr> Elaborator::asSize(const Entity &value, const ast::Expr *expr) {
  if (value.isPoison())
    return std::nullopt;
  if (std::optional<dfg::DimExpr> size = value.asDim())
    return size;
  if (!value.isTensor())
    error(expr->range, "not-a-size", "expected a size, but got " + value.describe());
  else if (const auto *name = dyn_cast<ast::NameExpr>(expr))
    failHiddenSize(name->name, expr->range, value);
  else
    error(expr->range, "not-static",
          "expected a size known at compile time or a dimension, but got " + value.describe());
  return std::nullopt;
}

mlir::Type Elaborator::elementType(ast::DType dtype, SourceRange at) {
  if (dtype == ast::DType::String) {
    laterWork(at, "a tensor of strings");
    return {};
  }
  return elementTypeByName(context, ast::spelling(dtype));
}

std::optional<dfg::Shape> Elaborator::evalShape(ArrayRef<ast::IndexItem> items) {
  dfg::Shape shape;
  for (const ast::IndexItem &item : items) {
    if (item.kind == ast::IndexItemKind::Slice || !item.value) {
      error(item.range, "not-a-size", "expected a size");
      return std::nullopt;
    }
    if (item.kind == ast::IndexItemKind::Element) {
      std::optional<dfg::DimExpr> size = evalSize(item.value);
      if (!size)
        return std::nullopt;
      if (std::optional<int64_t> constant = size->constant(); constant && *constant < 0) {
        error(item.range, "not-a-size", "a size cannot be negative: " + Twine(*constant));
        return std::nullopt;
      }
      shape.push_back(*size);
      continue;
    }
    Entity value = eval(item.value);
    if (value.isPoison())
      return std::nullopt;
    std::optional<dfg::Shape> part = value.asShape();
    if (!part) {
      if (const auto *name = dyn_cast<ast::NameExpr>(item.value); name && value.isTensor())
        failHiddenSize(name->name, name->range, value);
      else
        error(item.range, "not-a-size", "expected a shape, but got " + value.describe());
      return std::nullopt;
    }
    shape.append(part->begin(), part->end());
  }
  if (shape.size() > dfg::kMaxRank) {
    error(SourceRange::join(items.front().range, items.back().range), "too-large",
          "a tensor has at most " + Twine(dfg::kMaxRank) + " axes, but these are " +
              Twine(shape.size()));
    return std::nullopt;
  }
  return shape;
}

std::optional<TensorType> Elaborator::evalType(const ast::Type &type) {
  TensorType result;
  if (type.kind == ast::TypeKind::List) {
    error(type.range, "not-a-tensor-type",
          "expected the type of a tensor, but got " + typeText(type));
    return std::nullopt;
  }
  if (type.kind == ast::TypeKind::Dim) {
    error(type.range, "not-a-tensor-type", "expected the type of a tensor, but got 'dim'");
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
    if (value && value->is<TensorType>() && !type.hasBrackets)
      return value->as<TensorType>();
    if (!value || !value->is<mlir::Type>()) {
      Diagnostic &diagnostic =
          error(type.baseRange, "unknown-type", "'" + type.name + "' is not a type here");
      suggest(diagnostic, type.name,
              {"f32", "f64", "f16", "bf16", "i8", "i16", "i32", "i64", "u8", "bool"});
      StringRef known = StringSwitch<StringRef>(type.name)
                            .Cases({"float", "float32"}, "f32")
                            .Cases({"double", "float64"}, "f64")
                            .Cases({"half", "float16"}, "f16")
                            .Cases({"int", "int32"}, "i32")
                            .Cases({"long", "int64"}, "i64")
                            .Case("bfloat16", "bf16")
                            .Case("uint8", "u8")
                            .Default("");
      if (!known.empty())
        diagnostic.help("that type is called " + known + " here");
      return std::nullopt;
    }
    result.element = value->as<mlir::Type>();
  }
  std::optional<dfg::Shape> shape = evalShape(type.items);
  if (!shape)
    return std::nullopt;
  result.shape = std::move(*shape);
  mlir::Type tensor = dfg::tensorOf(result.shape, result.element);
  if (dfg::isTooLarge(tensor)) {
    error(type.range, "too-large", "no memory holds " + dfg::toText(tensor));
    return std::nullopt;
  }
  return result;
}

std::string Elaborator::typeText(const ast::Type &type) { return sources.oneLine(type.range); }

//===----------------------------------------------------------------------===//
// Names between brackets
//===----------------------------------------------------------------------===//

/// Whether a value can stand for a size, a shape or an element type.
static bool isSizeLike(const Entity &value) {
  return value.isPoison() || value.asDim() || value.is<mlir::Type>() || value.is<TensorType>() ||
         value.asShape();
}

std::optional<Entity> Elaborator::sizeName(StringRef name, SourceRange at) {
  if (Local *local = frame->find(name))
    return local->value;
  if (Instance *self = frame->self) {
    if (auto it = self->sizes.find(name); it != self->sizes.end()) {
      if (it->second.at.isValid())
        return it->second.value;
      return std::nullopt;
    }
    if (std::optional<Entity> value = valueInInstance(*self, name, at); value && isSizeLike(*value))
      return value;
  }
  // Only constants of the file count: a function of that name does not hide a dimension.
  auto it = frame->module->declarations.find(name);
  if (it == frame->module->declarations.end() || !it->second.binding)
    return std::nullopt;
  std::optional<Entity> value = valueInModule(*frame->module, name, at);
  return value && isSizeLike(*value) ? value : std::nullopt;
}

void Elaborator::bindSize(StringRef name, const Entity &value, SourceRange at) {
  if (name == "_")
    return;
  if (frame->self) {
    if (auto it = frame->self->sizes.find(name); it != frame->self->sizes.end()) {
      it->second.value = value;
      it->second.at = frame->callSite.isValid() ? frame->callSite : at;
      frame->dims.push_back(name.str());
      return;
    }
  }
  frame->locals[name] = {value, at, nullptr};
  frame->dims.push_back(name.str());
}

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

bool Elaborator::bindOrCompare(StringRef name, const Entity &value, SourceRange nameAt,
                               const Argument &argument,
                               function_ref<bool(const std::string &)> mismatch) {
  std::optional<Entity> known = sizeName(name, nameAt);
  if (!known) {
    bindSize(name, value, nameAt);
    return true;
  }
  if (known->isPoison())
    return false;
  if (known->isTensor()) {
    failHiddenSize(name, nameAt, *known);
    return false;
  }
  if (staticEquals(*known, value).value_or(false))
    return true;
  if (frame->self) {
    auto it = frame->self->sizes.find(name);
    if (it != frame->self->sizes.end() && !(it->second.at == frame->callSite)) {
      error(argument.range, "conflicting-size",
            "'" + frame->self->path + "' takes " + name + " = " + shortText(value) +
                " from this call, but " + shortText(it->second.value) + " from another")
          .note(it->second.at, "first bound by this call")
          .help("two sizes need two instances");
      return false;
    }
  }
  std::string text = shortText(*known);
  return mismatch(text == name ? "" : (name + " is " + text).str());
}

//===----------------------------------------------------------------------===//
// Unification
//===----------------------------------------------------------------------===//

void Elaborator::collectUnbound(const ast::Expr *expr, SmallVectorImpl<StringRef> &names) {
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

bool Elaborator::solveSize(const ast::Expr *expr, StringRef unknown, const dfg::DimExpr &actual,
                           function_ref<bool(const std::string &)> mismatch) {
  auto valueAt = [&](int64_t probe) {
    frame->locals[unknown] = {Entity(probe), expr->range, nullptr};
    std::optional<dfg::DimExpr> value = evalSize(expr);
    frame->locals.erase(unknown);
    return value;
  };
  std::optional<dfg::DimExpr> zero = valueAt(0), one = valueAt(1), two = valueAt(2);
  if (!zero || !one || !two)
    return false;
  std::optional<int64_t> scale = (*one - *zero).constant();
  if (!scale || *scale == 0 || !((*two - *one) == dfg::DimExpr(*scale))) {
    error(expr->range, "unsolvable-dimension",
          "'" + unknown + "' cannot be found from this size: it must be linear in it");
    return false;
  }
  dfg::DimExpr rest = actual - *zero;
  dfg::DimExpr solution = dfg::DimExpr::floorDiv(rest, dfg::DimExpr(*scale));
  bool isNegative = solution.constant().value_or(0) < 0;
  if (isNegative || !(solution * dfg::DimExpr(*scale) == rest))
    return mismatch(("no " + unknown + " gives the size " + actual.str()).str());
  bindSize(unknown, Entity::dim(solution), expr->range);
  return true;
}

bool Elaborator::unifySize(const ast::Expr *expr, const dfg::DimExpr &actual, UnifyPhase phase,
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
  collectUnbound(expr, unknown);
  if (unknown.size() == 1)
    return solveSize(expr, unknown.front(), actual, mismatch);
  if (unknown.size() > 1) {
    error(expr->range, "unsolvable-dimension",
          "neither '" + unknown[0] + "' nor '" + unknown[1] + "' is known from another size");
    return false;
  }
  std::optional<dfg::DimExpr> size = evalSize(expr);
  if (!size)
    return false;
  if (*size == actual)
    return true;
  std::string text = sources.oneLine(expr->range);
  return mismatch(text == size->str() ? "" : text + " is " + size->str());
}

bool Elaborator::unify(const ast::Type &type, const TensorType &actual, UnifyPhase phase,
                       const Argument &argument, const std::string &what) {
  auto mismatch = [&](const std::string &reason) {
    std::string got = dfg::toText(dfg::tensorOf(actual.shape, actual.element));
    Diagnostic &diagnostic = error(argument.range, "type-mismatch",
                                   what + " is " + typeText(type) + ", but got " + got +
                                       (reason.empty() ? std::string() : ", and " + reason));
    // An argument was named where the call stands.
    SaveAndRestore<Frame *> outer(frame, frame->caller ? frame->caller : frame);
    addDeclarationNote(diagnostic, argument.expr, argument.value);
    return false;
  };
  if (phase == UnifyPhase::Names) {
    if (type.kind == ast::TypeKind::DType) {
      mlir::Type element = elementType(type.dtype, type.baseRange);
      if (!element)
        return false;
      if (element != actual.element)
        return mismatch("");
    } else if (!bindOrCompare(type.name, Entity(actual.element), type.baseRange, argument,
                              mismatch)) {
      return false;
    }
  }
  const auto *rest = find_if(
      type.items, [](const ast::IndexItem &item) { return item.kind == ast::IndexItemKind::Rest; });
  bool hasRest = rest != type.items.end();
  size_t fixed = type.items.size() - hasRest;
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
      error(item.range, "not-a-size", "expected a size");
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
  Entity expectedShape = eval(rest->value);
  if (expectedShape.isPoison())
    return false;
  if (!staticEquals(expectedShape, Entity::shape(middle)).value_or(false))
    return mismatch("");
  return true;
}

} // namespace tfc::text
