/// The values of names and expressions during elaboration.
#pragma once

#include "dialects/dfg/DeviceName.h"
#include "dialects/dfg/Dfg.h"
#include "frontend/text/syntax/Ast.h"
#include <variant>

namespace tfc::dfg {
struct OpSignature;
struct OperandSignature;
} // namespace tfc::dfg

namespace tfc::text {

struct Entity;
struct Instance;
struct Module;
struct Dataset;
struct Queue;
struct Variable;

/// The result of a reported error; operations on it report nothing more.
struct Poison {};

/// The result of a function without results.
struct Nothing {};

/// The type of a tensor as a value: `zeros(f32[n, 4])`.
struct TensorType {
  mlir::Type element;
  dfg::Shape shape;
};

/// `list[f32[n, 4]]` as a value.
struct ListType {
  TensorType element;
};

/// A compile-time list of values of any types; also a shape. With names for the results of a
/// function or an operation that has several.
struct Group {
  std::vector<Entity> elements;
  std::vector<std::string> names;
  /// The source range of each element, if the list is written out.
  std::vector<SourceRange> places;
  /// The number of values, including those of nested groups, saturated at UINT64_MAX.
  uint64_t weight = 1;
  /// The depth of nested groups.
  unsigned depth = 1;
  /// A gradient that consists of the touched rows only.
  bool isSparse = false;
  /// The touched tensor's type, of a sparse gradient.
  mlir::Type sparseType;

  /// The source range of an element; invalid if unknown.
  SourceRange placeOf(size_t i) const { return i < places.size() ? places[i] : SourceRange(); }
};

/// The group of all trainable variables, as a default.
struct All {};

/// A function: of a file, or of a part with its instance.
struct Function {
  const ast::FnDecl *decl = nullptr;
  Module *module = nullptr;
  Instance *self = nullptr;
};

struct Part {
  const ast::PartDecl *decl = nullptr;
  Module *module = nullptr;
};

/// A function of the static stage that the language itself provides.
struct Builtin {
  llvm::StringRef name;
};

/// A tensor known at compile time that is not yet part of an entry: a `let` with a loaded file.
struct Constant {
  mlir::ElementsAttr value;
};

struct Entity {
  using Data = std::variant<Poison, Nothing, int64_t, double, bool, std::string, dfg::DimExpr,
                            mlir::Type, TensorType, ListType, std::shared_ptr<const Group>, All,
                            mlir::Value, Constant, Variable *, Queue *, Dataset *, Instance *,
                            Function, Part, Module *, const dfg::OpSignature *, Builtin>;
  Data data = Poison{};

  Entity() = default;
  template <typename T>
    requires(!std::is_same_v<std::decay_t<T>, Entity>)
  Entity(T &&value) : data(std::forward<T>(value)) {}

  static Entity dim(const dfg::DimExpr &size);
  static Entity group(std::vector<Entity> elements, std::vector<std::string> names = {});
  /// A list of values; `places` are their source ranges.
  static Entity list(std::vector<Entity> elements, std::vector<SourceRange> places);
  static Entity shape(llvm::ArrayRef<dfg::DimExpr> sizes);

  template <typename T> bool is() const { return std::holds_alternative<T>(data); }
  template <typename T> const T *get() const { return std::get_if<T>(&data); }
  template <typename T> const T &as() const { return std::get<T>(data); }

  bool isPoison() const { return is<Poison>(); }
  /// An int, float or dimension.
  bool isNumber() const { return is<int64_t>() || is<double>() || is<dfg::DimExpr>(); }
  /// Returns true for a run-time tensor, or a value that becomes one when it is used.
  bool isTensor() const { return is<mlir::Value>() || is<Variable *>() || is<Constant>(); }
  /// The group, unless it is a sparse gradient.
  const Group *asGroup() const;
  /// The sparse gradient.
  const Group *asSparse() const;
  /// The value of an int or a dimension.
  std::optional<dfg::DimExpr> asDim() const;
  /// The value of an int or a float.
  std::optional<double> asDouble() const;
  /// Sizes, if this is a group of ints and dimensions.
  std::optional<dfg::Shape> asShape() const;

  /// A description for messages: "a group", "f32[n, 64]", "the part 'dense'".
  std::string describe() const;
  /// Returns true if it contains no run-time value.
  bool isStatic() const;
};

/// The type of a run-time tensor, of a variable, or of the tensor that a sparse gradient is about.
std::optional<TensorType> tensorTypeOf(const Entity &value);

/// The element type of a run-time value; null for a number, which takes the other operand's.
mlir::Type elementOf(const Entity &value);

/// The shortest decimal text that reads back as the same number.
std::string toText(double value);
std::string toText(float value);

/// Equality of static values; std::nullopt if they cannot be compared.
std::optional<bool> staticEquals(const Entity &a, const Entity &b);

/// Where operations, variables and queues shall be, as `@device` and `@colocate` say.
struct Placement {
  dfg::DeviceName device;
  /// The variables and queues on whose device they shall be.
  std::vector<std::string> with;
};

/// A key that sorts entities in the order of their declarations: positions from the file root down.
using OrderKey = llvm::SmallVector<unsigned, 6>;

struct Variable {
  /// The checkpoint name.
  std::string path;
  mlir::RankedTensorType type;
  bool isFrozen = false;
  std::string formerly;
  OrderKey order;
  const ast::VarDecl *decl = nullptr;
  mlir::Location location;
  Placement placement = {};
  /// The elements of a larger tensor that it holds, or null.
  dfg::SliceAttr slice = {};
};

/// A queue between calls and threads.
struct Queue {
  std::string path;
  std::vector<std::string> names;
  llvm::SmallVector<mlir::RankedTensorType> components;
  dfg::QueueKind kind = dfg::QueueKind::Fifo;
  int64_t capacity = 0;
  int64_t minReady = 0;
  int64_t seed = 0;
  OrderKey order;
  const ast::QueueDecl *decl = nullptr;
  mlir::Location location;
  Placement placement = {};
};

/// Pointers to declared entities, in the order of their declarations.
template <typename Entities> auto inOrder(Entities &entities) {
  std::vector<typename Entities::value_type *> ordered;
  for (auto &entity : entities)
    ordered.push_back(&entity);
  llvm::sort(ordered, [](const auto *a, const auto *b) { return a->order < b->order; });
  return ordered;
}

/// Rows of files.
struct Dataset {
  std::string path;
  std::vector<std::string> names;
  llvm::SmallVector<mlir::RankedTensorType> components;
  dfg::DatasetFormat format = dfg::DatasetFormat::Csv;
  std::vector<std::string> files;
  int64_t skip = 0;
  OrderKey order;
  mlir::Location location;
};

} // namespace tfc::text
