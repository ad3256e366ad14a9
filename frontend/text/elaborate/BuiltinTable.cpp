// The table of the functions that the language itself provides. It is apart from their
// implementations, so that a new one is a row here and a function there.
#include "frontend/text/elaborate/Builtins.h"

#include "dialects/dfg/OpTable.h"
#include "frontend/text/elaborate/DatasetEmitter.h"
#include "frontend/text/elaborate/GradientBuilder.h"
#include "frontend/text/elaborate/ListEmitter.h"
#include "frontend/text/elaborate/OperationBuilder.h"
#include "frontend/text/elaborate/QueueEmitter.h"
#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/elaborate/StaticStage.h"
#include "frontend/text/elaborate/TensorEmitter.h"
#include <cmath>

using namespace llvm;

namespace tfc::text {

//===----------------------------------------------------------------------===//
// Functions of one value
//===----------------------------------------------------------------------===//

static std::optional<Entity> isKnown(const Entity &value) {
  const dfg::DimExpr *size = value.get<dfg::DimExpr>();
  return Entity(size ? size->constant().has_value() : value.isStatic());
}

static std::optional<Entity> isSparse(const Entity &value) {
  return Entity(value.asSparse() != nullptr);
}

static std::optional<Entity> lengthOf(const Entity &value) {
  const Group *group = value.asGroup();
  return group ? std::optional(Entity(static_cast<int64_t>(group->elements.size()))) : std::nullopt;
}

/// The value of a static number or bool.
static std::optional<double> toDouble(const Entity &value) {
  if (const bool *flag = value.get<bool>())
    return *flag ? 1 : 0;
  return value.asDouble();
}

static std::optional<Entity> toFloat(const Entity &value) {
  std::optional<double> number = toDouble(value);
  return number ? std::optional(Entity(*number)) : std::nullopt;
}

static std::optional<Entity> toInt(const Entity &value) {
  if (value.asDim())
    return value;
  std::optional<double> number = toDouble(value);
  if (!number || !(std::fabs(*number) < 9e18))
    return std::nullopt;
  return Entity(static_cast<int64_t>(*number));
}

//===----------------------------------------------------------------------===//
// Functions of numbers
//===----------------------------------------------------------------------===//

/// The numbers to which `prod`, `min`, ... apply: the arguments, or the elements of one group.
static std::vector<Entity> numbersIn(ArrayRef<Argument> args) {
  if (args.size() == 1)
    if (const Group *group = args.front().value.asGroup())
      return group->elements;
  std::vector<Entity> numbers;
  for (const Argument &arg : args)
    numbers.push_back(arg.value);
  return numbers;
}

static bool areNumbers(ArrayRef<Argument> args) {
  return none_of(args, [](const Argument &arg) { return bool(arg.label); }) &&
         all_of(numbersIn(args), [](const Entity &value) { return value.isNumber(); });
}

static Entity extremum(bool isMin, const Entity &lhs, const Entity &rhs) {
  std::optional<dfg::DimExpr> a = lhs.asDim(), b = rhs.asDim();
  if (a && b)
    return Entity::dim(isMin ? dfg::DimExpr::min(*a, *b) : dfg::DimExpr::max(*a, *b));
  std::optional<double> x = lhs.asDouble(), y = rhs.asDouble();
  if (x && y)
    return Entity(isMin ? std::fmin(*x, *y) : std::fmax(*x, *y));
  return Entity();
}

/// The smallest or largest of several numbers; std::nullopt for one, and for a float and a size.
static std::optional<Entity> extremum(bool isMin, ArrayRef<Entity> numbers) {
  if (numbers.size() < 2)
    return std::nullopt;
  Entity result = numbers.front();
  for (const Entity &number : numbers.drop_front()) {
    result = extremum(isMin, result, number);
    if (result.isPoison())
      return std::nullopt;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {
/// The arguments to which a row of the table applies.
enum class Subject {
  Any,
  Numbers, // static numbers, or a group of them
  List,    // a list first
  Queue,   // a queue first
  Dataset  // a dataset first
};

/// A parameter; the position of its argument is fixed.
struct Parameter {
  enum Naming { ByPosition, ByEither, ByName, ByAnyName };
  Naming naming = ByPosition;
  StringLiteral label = "";
  bool isOptional = false;

  bool accepts(const ast::Name &given) const {
    if (!given)
      return naming != ByName;
    return naming == ByAnyName || (naming != ByPosition && given.text == label);
  }
};
} // namespace

static constexpr Parameter kOne[] = {{}};
static constexpr Parameter kTwo[] = {{}, {}};
static constexpr Parameter kThree[] = {{}, {}, {}};
static constexpr Parameter kAssigned[] = {{}, {Parameter::ByEither, "value"}};
static constexpr Parameter kCancelled[] = {{}, {Parameter::ByName, "cancel_pending", true}};
static constexpr Parameter kConverted[] = {{Parameter::ByEither, "x"},
                                           {Parameter::ByEither, "dtype"}};
static constexpr Parameter kConstant[] = {{Parameter::ByEither, "value"}};
static constexpr Parameter kSized[] = {{}, {Parameter::ByName, "size", true}};
static constexpr Parameter kRead[] = {
    {}, {Parameter::ByEither, "rows"}, {Parameter::ByName, "next", true}};
static constexpr Parameter kTaken[] = {{}, {Parameter::ByAnyName}};
static constexpr Parameter kReplaced[] = {{Parameter::ByAnyName}, {Parameter::ByAnyName}};

/// A built-in function for one kind of arguments. Functions of several kinds have several rows, and
/// calls to which no row applies are calls of the operation of that name.
struct Builtins::Row {
  StringLiteral name;
  Subject subject;
  /// The arguments, for an error: "'name' takes " and this. Empty if `call` checks their number.
  StringLiteral usage;
  ArrayRef<Parameter> parameters;
  /// Returns std::nullopt if it does not apply to the arguments.
  std::optional<Entity> (*call)(Builtins &, const Call &);
  /// Variables among the arguments are read where the call names them: later arguments may have
  /// effects on them.
  bool readsArguments = false;
  /// The first argument is a variable, whose type the second one has.
  bool isAssignment = false;
  /// The help for a call with a tensor, to which the function does not apply.
  StringLiteral helpOnTensors = "";

  bool appliesTo(ArrayRef<Argument> args) const;
  bool takes(ArrayRef<Argument> args) const;
};

static const Entity *firstOf(ArrayRef<Argument> args) {
  return args.empty() || args.front().label ? nullptr : &args.front().value;
}

bool Builtins::Row::appliesTo(ArrayRef<Argument> args) const {
  const Entity *first = firstOf(args);
  switch (subject) {
  case Subject::Any:
    return true;
  case Subject::Numbers:
    return areNumbers(args);
  case Subject::List:
    return first && listOf(*first);
  case Subject::Queue:
    return first && first->is<Queue *>();
  case Subject::Dataset:
    return first && first->is<Dataset *>();
  }
  llvm_unreachable("unknown kind of arguments");
}

bool Builtins::Row::takes(ArrayRef<Argument> args) const {
  if (usage.empty())
    return true;
  size_t required =
      count_if(parameters, [](const Parameter &parameter) { return !parameter.isOptional; });
  if (args.size() < required || args.size() > parameters.size())
    return false;
  return all_of(zip(args, parameters), [](auto pair) {
    const auto &[arg, parameter] = pair;
    return parameter.accepts(arg.label);
  });
}

/// The functions of the rows.
struct Builtins::Table {
  using Result = std::optional<Entity>;

  template <Entity (Builtins::*function)(const Call &)>
  static Result own(Builtins &b, const Call &c) {
    return (b.*function)(c);
  }
  template <Result (*function)(const Entity &)> static Result value(Builtins &, const Call &c) {
    return function(c.args.front().value);
  }
  template <double (*function)(double)> static Result math(Builtins &b, const Call &c) {
    if (c.args.size() != 1 || !c.args.front().value.isNumber())
      return std::nullopt;
    return b.staticStage.applyMath(function, c.args.front().value, c.call.range);
  }
  template <bool isMin> static Result extremum(Builtins &, const Call &c) {
    return text::extremum(isMin, numbersIn(c.args));
  }
  static Result abs(Builtins &b, const Call &c) {
    const int64_t *number = c.args.size() == 1 ? c.args.front().value.get<int64_t>() : nullptr;
    return number && *number >= 0 ? Result(Entity(*number)) : math<std::fabs>(b, c);
  }
  static Result pow(Builtins &b, const Call &c) {
    std::vector<Entity> numbers = numbersIn(c.args);
    if (numbers.size() != 2)
      return std::nullopt;
    return b.staticStage.staticBinary(ast::BinaryOp::Pow, numbers[0], numbers[1], c.call.range);
  }
  static Result prod(Builtins &b, const Call &c) {
    return b.staticStage.product(numbersIn(c.args), c.call.range);
  }
  template <Entity (GradientBuilder::*function)(Arguments &, const ast::CallExpr &)>
  static Result gradient(Builtins &b, const Call &c) {
    return (b.gradientBuilder.*function)(c.args, c.call);
  }
  template <Entity (ListEmitter::*function)(mlir::Value, ArrayRef<Argument>, const ast::CallExpr &)>
  static Result list(Builtins &b, const Call &c) {
    const Argument &first = c.args.front();
    mlir::Value list = b.tensorEmitter.toValue(first.value, {}, first.range);
    return list ? (b.listEmitter.*function)(list, c.args, c.call) : Entity();
  }
  static Result unstack(Builtins &b, const Call &c) {
    return b.listEmitter.callUnstack(c.args.front(), c.call);
  }
  template <Entity (QueueEmitter::*function)(const Queue &, ArrayRef<Argument>,
                                             const ast::CallExpr &)>
  static Result queue(Builtins &b, const Call &c) {
    if (!b.tensorEmitter.requireEntry(c.call.range))
      return Entity();
    return (b.queueEmitter.*function)(*c.args.front().value.as<Queue *>(), c.args, c.call);
  }

  template <Entity (DatasetEmitter::*function)(const Dataset &, ArrayRef<Argument>,
                                               const ast::CallExpr &)>
  static Result dataset(Builtins &b, const Call &c) {
    if (!b.tensorEmitter.requireEntry(c.call.range))
      return Entity();
    return (b.datasetEmitter.*function)(*c.args.front().value.as<Dataset *>(), c.args, c.call);
  }

  static ArrayRef<Row> rows();
  static auto rowsOf(StringRef name) {
    return make_filter_range(rows(), [=](const Row &row) { return row.name == name; });
  }
};

ArrayRef<Builtins::Row> Builtins::Table::rows() {
  using B = Builtins;
  using D = DatasetEmitter;
  using L = ListEmitter;
  using Q = QueueEmitter;
  static constexpr StringLiteral kOneArgument = "one argument";
  static constexpr bool kReads = true;
  static constexpr Row kRows[] = {
      {"abs", Subject::Numbers, "", {}, abs, kReads},
      {"add_n", Subject::Any, "one group of tensors", kOne, own<&B::callAddN>, kReads},
      {"append", Subject::List, "a list and an element", kTwo, list<&L::callAppend>},
      {"assign", Subject::Any, "a variable and a value", kAssigned, own<&B::callAssign>, false,
       true},
      {"assign_add", Subject::Any, "a variable and a value", kAssigned, own<&B::callAssignAdd>,
       false, true},
      {"assign_sub", Subject::Any, "a variable and a value", kAssigned, own<&B::callAssignSub>,
       false, true},
      {"bounded", Subject::Any, "a count and the most that it can be, as in bounded(count, 100)",
       kTwo, own<&B::callBounded>},
      {"cast", Subject::Any, "a tensor and an element type, as in cast(x, f16)", kConverted,
       own<&B::callCast>, kReads},
      {"ceil", Subject::Numbers, "", {}, math<std::ceil>, kReads},
      {"close", Subject::Queue, "a queue, and cancel_pending: true", kCancelled,
       queue<&Q::callClose>},
      {"concat", Subject::List, "a list, and its size by name", kSized, list<&L::callConcat>,
       kReads},
      {"constant", Subject::Any, "a number or a table of numbers", kConstant, own<&B::callConstant>,
       kReads},
      {"cos", Subject::Numbers, "", {}, math<std::cos>, kReads},
      {"dequeue", Subject::Queue, "a queue", kOne, queue<&Q::callDequeue>},
      {"dequeue_many", Subject::Queue, "a queue and a number of elements", kTaken,
       queue<&Q::callDequeueMany>},
      {"dequeue_up_to", Subject::Queue, "a queue and a number of elements", kTaken,
       queue<&Q::callDequeueUpTo>},
      {"dtype", Subject::Any, kOneArgument, kOne, own<&B::callDtype>},
      {"enqueue", Subject::Queue, "", {}, queue<&Q::callEnqueue>},
      {"enqueue_many", Subject::Queue, "", {}, queue<&Q::callEnqueueMany>},
      {"ensure", Subject::Any, "a tensor and its type, as in ensure(x, f32[n, 4])", kTwo,
       own<&B::callEnsure>},
      {"exp", Subject::Numbers, "", {}, math<std::exp>, kReads},
      {"float", Subject::Any, kOneArgument, kOne, value<toFloat>, false, false,
       "f32(x) converts a tensor"},
      {"floor", Subject::Numbers, "", {}, math<std::floor>, kReads},
      {"gather", Subject::List, "a list and positions", kTwo, list<&L::callGather>, kReads},
      {"gradient_pairs", Subject::Any, "", {}, gradient<&GradientBuilder::callGradientPairs>},
      {"gradients", Subject::Any, "", {}, gradient<&GradientBuilder::callGradients>},
      {"int", Subject::Any, kOneArgument, kOne, value<toInt>, false, false,
       "i32(x) converts a tensor"},
      {"is_float", Subject::Any, kOneArgument, kOne, own<&B::callIsFloat>},
      {"is_int", Subject::Any, kOneArgument, kOne, own<&B::callIsInt>},
      {"is_known", Subject::Any, kOneArgument, kOne, value<isKnown>},
      {"is_sparse", Subject::Any, kOneArgument, kOne, value<isSparse>},
      {"len", Subject::Any, kOneArgument, kOne, value<lengthOf>, false, false,
       "shape(x)[0] is the size of the first axis"},
      {"load", Subject::Any, "", {}, own<&B::callLoad>},
      {"log", Subject::Numbers, "", {}, math<std::log>, kReads},
      {"max", Subject::Numbers, "", {}, extremum<false>, kReads},
      {"maximum", Subject::Numbers, "", {}, extremum<false>, kReads},
      {"min", Subject::Numbers, "", {}, extremum<true>, kReads},
      {"minimum", Subject::Numbers, "", {}, extremum<true>, kReads},
      {"own_feed", Subject::Any, "a feed of the entry", kOne, own<&B::callOwnFeed>, kReads},
      {"pow", Subject::Numbers, "", {}, pow, kReads},
      {"prod", Subject::Numbers, "", {}, prod, kReads},
      {"rank", Subject::Any, kOneArgument, kOne, own<&B::callRank>},
      {"read", Subject::Any, kOneArgument, kOne, own<&B::callRead>},
      {"read_rows", Subject::Dataset, "a dataset, the numbers of rows, and next: by name", kRead,
       dataset<&D::callReadRows>, kReads},
      {"scatter", Subject::List, "a list, positions and rows", kThree, list<&L::callScatter>},
      {"shape", Subject::Any, kOneArgument, kOne, own<&B::callShape>},
      {"sin", Subject::Numbers, "", {}, math<std::sin>, kReads},
      {"size", Subject::List, "one argument", kOne, list<&L::callSize>, kReads},
      {"size", Subject::Queue, "one argument", kOne, queue<&Q::callSize>, kReads},
      {"size", Subject::Dataset, "one argument", kOne, dataset<&D::callSize>, kReads},
      {"split", Subject::List, "a list and a tensor", kTwo, list<&L::callSplit>, kReads},
      {"sqrt", Subject::Numbers, "", {}, math<std::sqrt>, kReads},
      {"stack", Subject::List, "a list, and its size by name", kSized, list<&L::callStack>, kReads},
      {"tanh", Subject::Numbers, "", {}, math<std::tanh>, kReads},
      {"trainable", Subject::Any, "", {}, gradient<&GradientBuilder::callTrainable>},
      {"unstack", Subject::Any, "one tensor", kOne, unstack},
      {"values", Subject::Any, kOneArgument, kOne, own<&B::callValues>},
      {"variables", Subject::Any, "", {}, gradient<&GradientBuilder::callVariables>},
      {"wide", Subject::Any, kOneArgument, kOne, own<&B::callWide>},
      {"with_values", Subject::Any, "a gradient and values", kReplaced, own<&B::callWithValues>},
      {"write", Subject::List, "a list, a position and an element", kThree, list<&L::callWrite>},
      {"zip", Subject::Any, "", {}, own<&B::callZip>},
  };
  return kRows;
}

std::vector<StringRef> Builtins::names() {
  std::vector<StringRef> names;
  for (const Row &row : Table::rows())
    if (names.empty() || names.back() != row.name)
      names.push_back(row.name);
  return names;
}

bool Builtins::isAssignment(StringRef name) {
  return any_of(Table::rowsOf(name), [](const Row &row) { return row.isAssignment; });
}

bool Builtins::readsArguments(StringRef name) {
  return any_of(Table::rowsOf(name), [](const Row &row) { return row.readsArguments; });
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

Entity Builtins::failUsage(const Call &c) {
  return reporter.fail(c.call.range, "wrong-count", "'{}' takes {}", c.name, c.usage);
}

/// Reports arguments to which no row applies.
Entity Builtins::failSubject(const Row &row, ArrayRef<Argument> args, const ast::CallExpr &call) {
  SourceRange at = args.empty() ? call.range : args.front().range;
  std::string got = args.empty() ? "" : ", but got " + args.front().value.describe();
  if (row.subject == Subject::Queue)
    return reporter.fail(at, "not-a-queue", "'{}' takes a queue first{}", row.name, got);
  if (row.subject == Subject::Dataset)
    return reporter.fail(at, "not-a-dataset", "'{}' takes a dataset first{}", row.name, got);
  if (row.subject == Subject::List)
    return reporter.fail(at, "operand-kind", "'{}' takes a list first{}", row.name, got);
  Diagnostic &diagnostic = reporter.error(at, "operand-kind", "'{}' does not apply to {}", row.name,
                                          args.front().value.describe());
  if (args.front().value.isTensor())
    diagnostic.help(row.helpOnTensors);
  return Poison();
}

Entity Builtins::callBuiltin(StringRef name, Arguments &args, const ast::CallExpr &call) {
  for (const Row &row : Table::rowsOf(name)) {
    if (!row.appliesTo(args))
      continue;
    Call c{name, row.usage, args, call};
    if (!row.takes(args))
      return failUsage(c);
    if (std::optional<Entity> result = row.call(*this, c))
      return *result;
  }
  // The operations on queues and datasets name these and are not called.
  bool isOfSymbols = all_of(Table::rowsOf(name), [](const Row &row) {
    return row.subject == Subject::Queue || row.subject == Subject::Dataset;
  });
  if (const dfg::OpSignature *op = dfg::lookupOp(name); op && !isOfSymbols)
    return operationBuilder.callOp(*op, args, call);
  return failSubject(*Table::rowsOf(name).begin(), args, call);
}

} // namespace tfc::text
