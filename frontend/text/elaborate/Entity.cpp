// Implements conversion, comparison and description of compile-time values. It evaluates nothing,
// so all collaborators can use it.
#include "frontend/text/elaborate/Entity.h"

#include "dialects/dfg/OpTable.h"
#include "frontend/Fmt.h"
#include "frontend/text/elaborate/Scope.h"
#include "llvm/Support/MathExtras.h"
#include <cstdio>
#include <cstdlib>

using namespace llvm;

namespace tfc::text {

Entity Entity::dim(const dfg::DimExpr &size) {
  if (std::optional<int64_t> constant = size.constant())
    return Entity(*constant);
  return Entity(size);
}

static std::shared_ptr<Group> makeGroup(std::vector<Entity> elements) {
  auto group = std::make_shared<Group>();
  group->elements = std::move(elements);
  for (const Entity &element : group->elements) {
    const Group *nested = element.asGroup();
    group->weight = SaturatingAdd(group->weight, nested ? nested->weight : uint64_t(1));
    group->depth = std::max(group->depth, nested ? nested->depth + 1 : 1);
  }
  return group;
}

Entity Entity::group(std::vector<Entity> elements, std::vector<std::string> names) {
  std::shared_ptr<Group> group = makeGroup(std::move(elements));
  group->names = std::move(names);
  return Entity(std::shared_ptr<const Group>(std::move(group)));
}

Entity Entity::list(std::vector<Entity> elements, std::vector<SourceRange> places) {
  std::shared_ptr<Group> group = makeGroup(std::move(elements));
  group->places = std::move(places);
  return Entity(std::shared_ptr<const Group>(std::move(group)));
}

Entity Entity::shape(ArrayRef<dfg::DimExpr> sizes) {
  std::vector<Entity> elements;
  for (const dfg::DimExpr &size : sizes)
    elements.push_back(dim(size));
  return group(std::move(elements));
}

const Group *Entity::asGroup() const {
  const auto *group = get<std::shared_ptr<const Group>>();
  return group && !(*group)->isSparse ? group->get() : nullptr;
}

const Group *Entity::asSparse() const {
  const auto *group = get<std::shared_ptr<const Group>>();
  return group && (*group)->isSparse ? group->get() : nullptr;
}

std::optional<dfg::DimExpr> Entity::asDim() const {
  if (const int64_t *value = get<int64_t>())
    return dfg::DimExpr(*value);
  if (const dfg::DimExpr *size = get<dfg::DimExpr>())
    return *size;
  return std::nullopt;
}

std::optional<double> Entity::asDouble() const {
  if (const int64_t *value = get<int64_t>())
    return static_cast<double>(*value);
  if (const double *value = get<double>())
    return *value;
  return std::nullopt;
}

std::optional<dfg::Shape> Entity::asShape() const {
  const Group *group = asGroup();
  if (!group)
    return std::nullopt;
  dfg::Shape shape;
  for (const Entity &element : group->elements) {
    std::optional<dfg::DimExpr> size = element.asDim();
    if (!size)
      return std::nullopt;
    shape.push_back(*size);
  }
  return shape;
}

static std::string quoted(StringRef kind, StringRef name) {
  return fmt::format("{} '{}'", kind, name);
}

template <typename Float> static std::string shortest(Float value) {
  char text[40];
  for (int digits = 1; digits <= 17; ++digits) {
    snprintf(text, sizeof(text), "%.*g", digits, static_cast<double>(value));
    if (static_cast<Float>(strtod(text, nullptr)) == value)
      break;
  }
  return text;
}

std::string toText(double value) { return shortest(value); }
std::string toText(float value) { return shortest(value); }

/// The beginning of a text that is too long for a message.
static std::string shortened(const std::string &text) {
  static constexpr size_t kMaxShown = 100;
  return text.size() <= kMaxShown ? text : text.substr(0, kMaxShown) + "...";
}

std::string Entity::describe() const {
  return std::visit(
      [](const auto &value) -> std::string {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, Nothing>)
          return "nothing";
        else if constexpr (std::is_same_v<T, int64_t>)
          return "the int " + std::to_string(value);
        else if constexpr (std::is_same_v<T, double>)
          return "the float " + toText(value);
        else if constexpr (std::is_same_v<T, bool>)
          return value ? "'true'" : "'false'";
        else if constexpr (std::is_same_v<T, std::string>)
          return fmt::format("the string \"{}\"", shortened(value));
        else if constexpr (std::is_same_v<T, dfg::DimExpr>)
          return "the size " + value.str();
        else if constexpr (std::is_same_v<T, mlir::Type>)
          return "the type " + dfg::toText(value);
        else if constexpr (std::is_same_v<T, TensorType>)
          return "the type " + dfg::toText(dfg::tensorOf(value.shape, value.element));
        else if constexpr (std::is_same_v<T, ListType>)
          return fmt::format("the type list[{}]", dfg::toText(dfg::tensorOf(
                                                      value.element.shape, value.element.element)));
        else if constexpr (std::is_same_v<T, std::shared_ptr<const Group>>)
          return value->isSparse ? "a sparse gradient" : "a group";
        else if constexpr (std::is_same_v<T, All>)
          return "'all'";
        else if constexpr (std::is_same_v<T, mlir::Value>)
          return dfg::toText(value.getType());
        else if constexpr (std::is_same_v<T, Constant>)
          return dfg::toText(value.value.getShapedType());
        else if constexpr (std::is_same_v<T, Variable *>)
          return dfg::toText(value->type);
        else if constexpr (std::is_same_v<T, Queue *>)
          return quoted("the queue", value->path);
        else if constexpr (std::is_same_v<T, Dataset *>)
          return quoted("the dataset", value->path);
        else if constexpr (std::is_same_v<T, Instance *>)
          return quoted("an instance of", value->part.decl->name.text);
        else if constexpr (std::is_same_v<T, Function>)
          return quoted("the function", value.decl->name.text);
        else if constexpr (std::is_same_v<T, Part>)
          return quoted("the part", value.decl->name.text);
        else if constexpr (std::is_same_v<T, Module *>)
          return quoted("the file", value->name);
        else if constexpr (std::is_same_v<T, const dfg::OpSignature *>)
          return quoted("the operation", value->name);
        else if constexpr (std::is_same_v<T, Builtin>)
          return quoted("the function", value.name);
        else
          return "an error";
      },
      data);
}

bool Entity::isStatic() const {
  if (const Group *group = asGroup())
    return all_of(group->elements, [](const Entity &element) { return element.isStatic(); });
  return !is<mlir::Value>() && !asSparse();
}

std::optional<bool> staticEquals(const Entity &a, const Entity &b) {
  if (a.is<double>() || b.is<double>()) {
    std::optional<double> x = a.asDouble(), y = b.asDouble();
    return x && y ? std::optional<bool>(*x == *y) : std::nullopt;
  }
  if (std::optional<dfg::DimExpr> x = a.asDim(), y = b.asDim(); x && y) {
    std::optional<int64_t> difference = (*x - *y).constant();
    return difference ? std::optional<bool>(*difference == 0) : std::nullopt;
  }
  if (a.is<bool>() && b.is<bool>())
    return a.as<bool>() == b.as<bool>();
  if (a.is<std::string>() && b.is<std::string>())
    return a.as<std::string>() == b.as<std::string>();
  if (a.is<mlir::Type>() && b.is<mlir::Type>())
    return a.as<mlir::Type>() == b.as<mlir::Type>();
  if (a.is<Variable *>() && b.is<Variable *>())
    return a.as<Variable *>() == b.as<Variable *>();
  const Group *x = a.asGroup(), *y = b.asGroup();
  if ((a.is<All>() || x) && (b.is<All>() || y) && (!x || !y))
    return !x && !y;
  if (!x || !y)
    return std::nullopt;
  if (x->elements.size() != y->elements.size())
    return false;
  for (auto [p, q] : zip(x->elements, y->elements)) {
    std::optional<bool> equal = staticEquals(p, q);
    if (!equal || !*equal)
      return equal;
  }
  return true;
}

std::optional<TensorType> tensorTypeOf(const Entity &value) {
  mlir::Type type;
  if (const mlir::Value *tensor = value.get<mlir::Value>();
      tensor && isa<mlir::RankedTensorType>(tensor->getType()))
    type = tensor->getType();
  else if (Variable *const *variable = value.get<Variable *>())
    type = (*variable)->type;
  else if (const Constant *constant = value.get<Constant>())
    type = constant->value.getShapedType();
  else if (const Group *gradient = value.asSparse())
    type = gradient->sparseType;
  if (!type)
    return std::nullopt;
  return TensorType{dfg::elementTypeOf(type), dfg::shapeOf(type)};
}

mlir::Type elementOf(const Entity &value) {
  if (const mlir::Value *tensor = value.get<mlir::Value>())
    return isa<dfg::ListType>(tensor->getType()) ? mlir::Type()
                                                 : dfg::elementTypeOf(tensor->getType());
  if (Variable *const *variable = value.get<Variable *>())
    return (*variable)->type.getElementType();
  if (const Constant *constant = value.get<Constant>())
    return constant->value.getElementType();
  return {};
}

} // namespace tfc::text
