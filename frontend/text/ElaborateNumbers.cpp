// Static numbers and tables of them as constants of an element type.
#include "dialects/dfg/Numbers.h"
#include "frontend/text/ElaborateImpl.h"
#include <cmath>

using namespace llvm;
using namespace mlir;

namespace tfc::text {

/// A number of a table, and where it stands if the table is spelled out.
struct Elaborator::TableElement {
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

TypedAttr Elaborator::toElement(const dfg::Number &number, mlir::Type element,
                                dfg::Conversion conversion, SourceRange at, SourceRange inner) {
  dfg::NumberError reason;
  TypedAttr attribute = dfg::elementFrom(number, element, conversion, reason);
  if (attribute)
    return attribute;
  bool isInside = contains(at, inner);
  Diagnostic &diagnostic = error(isInside ? inner : at, reason.slug, reason.text);
  if (!reason.help.empty())
    diagnostic.help(reason.help);
  if (inner.isValid() && !isInside)
    diagnostic.note(inner, "this element");
  return {};
}

bool Elaborator::checkSizeFits(const dfg::DimExpr &size, mlir::Type element, SourceRange at) {
  auto type = dyn_cast<IntegerType>(element);
  if (!type || type.getWidth() == 64)
    return true;
  auto bounds = [&](StringRef symbol) { return boundsOf(symbol); };
  auto [least, most] = limitsOf(size);
  std::optional<int64_t> low = least.interval(bounds).first, high = most.interval(bounds).second;
  auto holds = [&](int64_t value) {
    APInt bits(64, uint64_t(value));
    return type.isUnsigned() ? bits.isIntN(type.getWidth()) : bits.isSignedIntN(type.getWidth());
  };
  // Sizes without a bound are taken to be below 2^31.
  bool isNarrow = type.getWidth() < 32;
  if ((low ? holds(*low) : !isNarrow) && (high ? holds(*high) : !isNarrow))
    return true;
  error(at, "number-range",
        "the size " + size.str() + " may be out of range for " + dfg::toText(element))
      .help("bound it, or convert it, as in " + dfg::toText(element) + "(" + size.str() + ")");
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

bool Elaborator::toExact(Entity &value, mlir::Type element, SourceRange at) {
  if (const dfg::DimExpr *size = value.get<dfg::DimExpr>()) {
    if (!element.isInteger(1))
      return checkSizeFits(*size, element, at);
    error(at, "literal-type", "expected a bool, but got " + value.describe());
    return false;
  }
  if (isa<IntegerType>(element))
    value = exactInteger(value, element);
  return bool(toElement(*numberOf(value), element, dfg::Conversion::Implicit, at, SourceRange()));
}

mlir::Value Elaborator::numberToTensor(const Entity &value, mlir::Type preferred, SourceRange at) {
  Builder b(context);
  if (const dfg::DimExpr *size = value.get<dfg::DimExpr>()) {
    mlir::Type element = preferred ? preferred : b.getI64Type();
    if (element.isInteger(1)) {
      error(at, "literal-type", "expected a bool, but got " + value.describe());
      return {};
    }
    if (!checkSizeFits(*size, element, at))
      return {};
    return builder.size(*size, element, locate(at));
  }
  mlir::Type element = preferred            ? preferred
                       : value.is<double>() ? mlir::Type(b.getF32Type())
                                            : mlir::Type(b.getI32Type());
  TypedAttr attribute =
      toElement(*numberOf(value), element, dfg::Conversion::Implicit, at, SourceRange());
  if (!attribute)
    return {};
  return builder.constant(
      DenseElementsAttr::get(RankedTensorType::get({}, element), {Attribute(attribute)}),
      locate(at));
}

/// Sizes and numbers of nested lists, row by row; false unless all rows have one shape.
bool Elaborator::flattenTable(const Entity &value, SourceRange at, size_t depth,
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

mlir::Value Elaborator::listToTensor(const Entity &value, mlir::Type preferred, SourceRange at,
                                     dfg::Conversion conversion) {
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
  if (!spend(value.asGroup()->weight, at))
    return {};
  SmallVector<int64_t> shape;
  std::vector<TableElement> elements;
  if (!flattenTable(value, SourceRange(), 0, shape, elements)) {
    error(at, "not-a-tensor",
          "expected a tensor, but got " + value.describe() + " that is no table of static numbers");
    return {};
  }
  Builder b(context);
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
  return builder.constant(DenseElementsAttr::get(RankedTensorType::get(shape, element), attributes),
                          locate(at));
}

Entity Elaborator::callCast(mlir::Type element, Arguments &args, const ast::CallExpr &call) {
  if (args.size() != 1 || args.front().label)
    return fail(call.range, "wrong-count", "a cast takes one tensor");
  const Argument &arg = args.front();
  if (arg.value.isPoison() || !requireEntry(arg.range))
    return Poison();
  mlir::Value value;
  if (std::optional<dfg::Number> number = numberOf(arg.value)) {
    TypedAttr attribute =
        toElement(*number, element, dfg::Conversion::Cast, arg.range, SourceRange());
    if (!attribute)
      return Poison();
    value = builder.constant(
        DenseElementsAttr::get(RankedTensorType::get({}, element), {Attribute(attribute)}),
        locate(arg.range));
  } else if (arg.value.asGroup()) {
    value = listToTensor(arg.value, element, arg.range, dfg::Conversion::Cast);
  } else if (const dfg::DimExpr *size = arg.value.get<dfg::DimExpr>()) {
    mlir::Type type = element.isInteger(1) ? Builder(context).getI64Type() : element;
    value = builder.size(*size, type, locate(arg.range));
  } else {
    value = toTensor(arg.value, {}, arg.range);
  }
  if (value)
    value = castTo(value, element, call.range);
  return value ? Entity(value) : Entity();
}

} // namespace tfc::text
