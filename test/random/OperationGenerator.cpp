//===- OperationGenerator.cpp - Calls of operations from the table --------===//
//
// No code here is about a single operation. Operands are values whose types
// resemble those of the operands before; attributes are drawn by their kinds
// and, where few numbers are valid, by the names that families share. Calls that
// type inference refuses are dropped.
//
//===----------------------------------------------------------------------===//

#include "OperationGenerator.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::random {

bool isLeftOut(StringRef op) {
  // Statements of their own: branches, loops, state, gradients, the graph form. Queues and datasets
  // have tests in e2e. Tapes, kernels, checks and messages are made by stages.
  static const llvm::StringSet<> kNames = {
      "assign", "await_release", "check",          "condition", "enqueue",   "enqueue_many",
      "enter",  "exit",          "gradients",      "if",        "launch",    "loop_cond",
      "merge",  "node",          "next_iteration", "push",      "read_rows", "return",
      "send",   "switch",        "while",          "yield"};
  return kNames.contains(op);
}

static bool isTensorOp(const OpSignature &op) {
  return !op.operands.empty() && !isLeftOut(op.name);
}

//===----------------------------------------------------------------------===//
// Which operation
//===----------------------------------------------------------------------===//

namespace {

/// The table's operations: all of them, and separately those of each role in fusion.
struct Choices {
  std::vector<const OpSignature *> all, lists, elementwise, views, reductions, contractions;

  explicit Choices(MLIRContext *context) {
    for (const OpSignature &op : allOps()) {
      auto name = RegisteredOperationName::lookup(("dfg." + op.name).str(), context);
      if (!name || !isTensorOp(op))
        continue;
      all.push_back(&op);
      if (op.operands[0].kind == OperandKind::List)
        lists.push_back(&op);
      else if (name->hasInterface<ScalarOpInterface>())
        elementwise.push_back(&op);
      else if (name->hasTrait<ReductionRole>())
        reductions.push_back(&op);
      else if (name->hasTrait<ContractionRole>())
        contractions.push_back(&op);
      else if (name->hasTrait<ViewRole>() || hasShapeAttr(op))
        views.push_back(&op);
    }
  }

  /// Operations that abbreviate views are recognised by their attributes.
  static bool hasShapeAttr(const OpSignature &op) {
    return op.operands.size() == 1 && op.operands[0].kind == OperandKind::Tensor &&
           llvm::any_of(op.attributes, [](const AttrSignature &attr) {
             return attr.kind == OpAttrKind::Dims || attr.name == "axis";
           });
  }
};

} // namespace

static const Choices &choicesOf(MLIRContext *context) {
  static const Choices choices(context);
  return choices;
}

/// Each operation draws a number of its own, and the highest wins. An operation that is added to
/// the table therefore replaces few choices and changes no others.
static const OpSignature &pickByName(ArrayRef<const OpSignature *> ops, uint64_t draw) {
  return **llvm::max_element(ops, [&](const OpSignature *a, const OpSignature *b) {
    return Random(draw ^ hash(a->name)).next() < Random(draw ^ hash(b->name)).next();
  });
}

const OpSignature &OperationGenerator::pickElementwiseOp() {
  return pickByName(choicesOf(scope.builder.getContext()).elementwise, scope.random.next());
}

const OpSignature &OperationGenerator::pickListOp() {
  return pickByName(choicesOf(scope.builder.getContext()).lists, scope.random.next());
}

const OpSignature &OperationGenerator::pickOp() {
  const Choices &choices = choicesOf(scope.builder.getContext());
  double choice = scope.random.unit();
  uint64_t draw = scope.random.next();
  if (choice < 0.25 &&
      llvm::any_of(scope.visible(), [](Value v) { return isa<ListType>(v.getType()); }))
    return pickByName(choices.lists, draw);
  if (choice < 0.32)
    return pickByName(choices.elementwise, draw);
  if (choice < 0.50)
    return pickByName(choices.views, draw);
  if (choice < 0.60)
    return pickByName(choices.reductions, draw);
  if (choice < 0.66)
    return pickByName(choices.contractions, draw);
  return pickByName(choices.all, draw);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// A shape that may fit those of the previous operands.
Shape OperationGenerator::varyShape(ValueRange before) {
  Shape shape;
  for (Value value : before)
    if (isa<RankedTensorType>(value.getType()) && (shape.empty() || scope.random.chance(0.25)))
      shape = shapeOf(value.getType());
  size_t rank = shape.size();
  auto anySize = [&]() -> DimExpr {
    return rank && scope.random.chance(0.6) ? scope.random.pick(shape) : scope.drawSize();
  };
  switch (scope.random.below(12)) {
  case 0: // broadcast
    if (rank)
      scope.random.pick(shape) = 1;
    return shape;
  case 1:
    return rank ? Shape(ArrayRef(shape).drop_front(scope.random.between(1, rank))) : shape;
  case 2:
    return rank ? Shape(ArrayRef(shape).drop_back(scope.random.between(1, rank))) : shape;
  case 3: // matrices: the axis that is summed comes first, or last
    if (rank >= 2)
      std::swap(shape[rank - 1], shape[rank - 2]);
    return shape;
  case 4:
    return rank ? Shape{shape.back(), anySize()} : shape;
  case 5:
    return rank ? Shape{anySize(), shape.back()} : shape;
  case 6: { // the axes of one in place of the first of another
    Shape result = before.size() > 1 ? shapeOf(before.back().getType()) : Shape{anySize()};
    Shape first = shapeOf(before.front().getType());
    result.append(first.begin() + !first.empty(), first.end());
    return result;
  }
  case 7: {
    Shape result;
    for (int64_t left = scope.random.below(4); left > 0; --left)
      result.push_back(anySize());
    return result;
  }
  case 8:
    if (rank)
      scope.random.pick(shape) = anySize();
    return shape;
  default:
    return shape;
  }
}

static constexpr StringRef kOutside = "outside"; // what an index does there

/// Integers that are positions along an axis of the first operand.
Value OperationGenerator::pickIndex(const OpSignature &op, ValueRange before) {
  Shape shape = before.empty() ? Shape{scope.drawSize()} : varyShape(before);
  auto type = tensorOf(
      shape,
      Builder(scope.builder.getContext()).getIntegerType(scope.random.chance(0.5) ? 32 : 64));
  if (scope.isTooLarge(type))
    return {};
  if (scope.isRisky && scope.random.chance(0.5))
    return scope.valueOf(type);
  Shape limits{3};
  if (!before.empty() && isa<RankedTensorType>(before[0].getType()))
    limits = shapeOf(before[0].getType());
  bool maySkip =
      llvm::any_of(op.attributes, [](const AttrSignature &attr) { return attr.name == kOutside; });
  std::string suffix = maySkip && scope.random.chance(0.3) ? "_around_below" : "_below";
  for (const DimExpr &limit : limits)
    if (limit.constant() || limit.asSymbol())
      suffix += "_" + limit.str();
  if (limits.empty())
    suffix = "_below_1";
  if (!scope.isBound(type))
    return scope.addFeed(type, suffix);
  Value one = scope.addFeed(tensorOf({}, type.getElementType()), suffix);
  return scope.make("broadcast", one, scope.dimsAttr("shape", shapeOf(type)));
}

static bool isPlace(StringRef name) { return name == "index" || name == "size"; }

Value OperationGenerator::pickOperand(const OpSignature &op, unsigned number, ValueRange before) {
  const OperandSignature &operand = op.operands[std::min<size_t>(number, op.operands.size() - 1)];
  Builder b(scope.builder.getContext());
  if (operand.kind == OperandKind::List)
    return scope.findValue([](Value value) { return isa<ListType>(value.getType()); });
  if (operand.kind == OperandKind::Predicate)
    return scope.valueOf(tensorOf({}, b.getI1Type()));
  if (operand.isIndex)
    return pickIndex(op, before);
  if (isPlace(operand.name) && scope.random.chance(0.5)) // the first one, or a loop's number
    return scope.depth > 0 ? scope.findValue([&](Value value) {
      return value.getType() == tensorOf({}, b.getI32Type());
    })
                           : scope.builder.scalar(int64_t(0), b.getI32Type(), scope.location);
  if (isPlace(operand.name))
    return scope.random.chance(0.7)
               ? scope.addFeed(tensorOf({}, b.getI32Type()), "_below_3")
               : scope.builder.scalar(scope.random.below(3), b.getI32Type(), scope.location);
  if (operand.name == "counter")
    return scope.valueOf(tensorOf({}, b.getI64Type()));
  if (before.empty()) {
    Value known =
        scope.findValue([](Value value) { return isa<RankedTensorType>(value.getType()); });
    if (!known || scope.random.chance(0.9) || scope.isBound(known.getType()))
      return known;
    return scope.valueOf(tensorOf(shapeOf(known.getType()), scope.drawAnyDtype()));
  }
  Type elementType = elementTypeOf(before.back().getType());
  if (auto list = dyn_cast<ListType>(before.front().getType()))
    return scope.valueOf(list.getElementType());
  if (scope.random.chance(0.12))
    elementType = scope.drawDtype();
  RankedTensorType type = tensorOf(varyShape(before), elementType);
  if (scope.isTooLarge(type))
    return {};
  // A division by zero fails a call.
  bool divides = isa<IntegerType>(elementType) && !elementType.isInteger(1) && !scope.isRisky;
  bool isPositive = divides && scope.random.chance(0.7);
  Value value = scope.valueOf(type, isPositive);
  // x - x and x / x reveal few errors.
  return value == before.back() && scope.random.chance(0.7) ? scope.valueOf(type, isPositive)
                                                            : value;
}

bool OperationGenerator::pickOperands(const OpSignature &op, Values &operands) {
  size_t count = op.operands.size();
  if (op.operands.back().isOptional && scope.random.chance(0.5))
    --count;
  if (op.operands.back().isVariadic)
    count += scope.random.below(3);
  for (unsigned i = operands.size(); i < count; ++i) {
    Value value = pickOperand(op, i, operands);
    if (!value)
      return false;
    operands.push_back(value);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static DimExpr productOf(ArrayRef<DimExpr> sizes) { return elementCount(sizes); }

Attribute OperationGenerator::pickDims(StringRef name, ArrayRef<DimExpr> shape) {
  SmallVector<DimExpr> dims(shape.begin(), shape.end());
  auto each = [&](auto make) {
    for (DimExpr &size : dims)
      size = make(size);
  };
  bool isOne = name == "size" || name == "depth" || name == "count";
  if (isOne) {
    dims = {scope.drawSize()};
  } else if (name == "starts" || name == "low" || name == "high" || name == "padding") {
    each([&](const DimExpr &) {
      return DimExpr(scope.random.chance(0.5) ? 0 : scope.random.below(4));
    });
  } else if (name == "repeats" || name == "factors") {
    each([&](const DimExpr &) { return DimExpr(scope.random.between(1, 3)); });
  } else if (name == "sizes") {
    each([&](const DimExpr &size) {
      return scope.random.chance(0.4) ? size
             : size.constant()        ? DimExpr(scope.random.below(*size.constant() + 1))
                                      : size - scope.random.below(2);
    });
  } else if (scope.random.chance(0.4)) { // a broadcast
    each([&](const DimExpr &size) { return size.isConstant(1) ? scope.drawSize() : size; });
    for (int64_t left = scope.random.below(3); left > 0; --left)
      dims.insert(dims.begin(), scope.drawSize());
  } else if (dims.size() >= 2 && scope.random.chance(0.6)) { // axes become one
    size_t at = scope.random.below(dims.size() - 1);
    dims[at] = productOf({dims[at], dims[at + 1]});
    dims.erase(dims.begin() + at + 1);
  } else if (!dims.empty()) { // an axis becomes two
    size_t at = scope.random.below(dims.size());
    int64_t part = scope.random.pick(std::initializer_list<int64_t>{1, 2, 3, 4, 5, 8});
    dims[at] = DimExpr::floorDiv(dims[at], part);
    dims.insert(dims.begin() + at + scope.random.below(2), part);
  } else {
    dims = {1};
  }
  return DimsAttr::get(scope.builder.getContext(), dims);
}

Attribute OperationGenerator::pickInts(StringRef name, int64_t rank) {
  SmallVector<int64_t> ints;
  if (name == "axis") {
    for (int64_t axis = 0; axis < rank; ++axis)
      if (scope.random.chance(0.5))
        ints.push_back(scope.random.chance(0.3) ? axis - rank : axis);
  } else if (name == "permutation") {
    for (int64_t axis = 0; axis < rank; ++axis)
      ints.insert(ints.begin() + scope.random.below(axis + 1), axis);
  } else {
    static const int64_t kSteps[] = {1, 1, 1, 2, 2, 3, -1, -1, -2};
    int64_t count = scope.random.chance(0.6) ? rank : scope.random.between(1, 3);
    for (int64_t i = 0; i < count; ++i)
      ints.push_back(name.contains("step")  ? scope.random.pick(kSteps)
                     : name.contains("pad") ? scope.random.below(3)
                                            : scope.random.between(1, 3));
  }
  return DenseI64ArrayAttr::get(scope.builder.getContext(), ints);
}

/// Labels of the axes of a value: equal sizes have equal ones.
static std::string labelAxes(Value value, std::map<std::string, char> &labels) {
  std::string text;
  std::string here;
  for (const DimExpr &size : shapeOf(value.getType())) {
    char &label = labels[size.str()];
    if (!label)
      label = char('a' + labels.size() - 1);
    char shown = label;
    if (here.find(shown) != std::string::npos) // no diagonals by chance
      shown = char('A' + labels.size() + here.size());
    here += shown;
    text += (text.empty() ? "" : " ") + std::string(1, shown);
  }
  return text;
}

Attribute OperationGenerator::pickWord(const AttrSignature &attr, ValueRange operands) {
  MLIRContext *context = scope.builder.getContext();
  if (attr.name != kOutside)
    return attr.cases[scope.random.below(attr.cases.size())].build(context);
  bool isAround = llvm::any_of(operands, [&](Value v) {
    auto feed = dyn_cast<BlockArgument>(v);
    return feed && feed.getOwner() == &scope.entry.getBody().front() &&
           StringRef(scope.feedNames[feed.getArgNumber()]).contains("_around");
  });
  bool skips = isAround || scope.random.chance(0.4);
  return OutsideAttr::get(context, skips ? Outside::Skip : Outside::Fail);
}

Attribute OperationGenerator::pickText(StringRef name, ValueRange operands) {
  Builder b(scope.builder.getContext());
  if (name != "labels" && name != "pattern")
    return {};
  std::map<std::string, char> labels;
  std::string left, all;
  for (Value value : operands) {
    if (!isa<RankedTensorType>(value.getType()))
      return {};
    std::string axes = labelAxes(value, labels);
    left += (left.empty() && all.empty() ? "" : ", ") + axes;
    for (char c : axes)
      if (c != ' ' && (all.find(c) == std::string::npos))
        all.insert(all.begin() + scope.random.below(all.size() + 1), c);
  }
  std::string right;
  bool joins = name == "pattern" && all.size() >= 2 && scope.random.chance(0.5);
  for (auto [i, c] : llvm::enumerate(all))
    if (name == "pattern" || llvm::count(left, c) == 1 || scope.random.chance(0.5))
      right += (right.empty() ? "" : " ") + std::string(joins && i == 0 ? "(" : "") +
               std::string(1, c) + (joins && i == 1 ? ")" : "");
  return b.getStringAttr(left + " -> " + right);
}

Attribute OperationGenerator::pickAttribute(const AttrSignature &attr, ValueRange operands) {
  Builder b(scope.builder.getContext());
  Shape shape;
  if (!operands.empty() && isa<RankedTensorType>(operands[0].getType()))
    shape = shapeOf(operands[0].getType());
  int64_t rank = shape.size();
  switch (attr.kind) {
  case OpAttrKind::Bool:
    return b.getBoolAttr(scope.random.chance(0.5));
  case OpAttrKind::Dims: {
    bool isExact = true;
    std::optional<DimExpr> size;
    if (!operands.empty() && isa<ListType>(operands[0].getType()))
      size = sizeOfList(operands[0], isExact);
    if (size && isExact && scope.random.chance(0.9))
      return DimsAttr::get(scope.builder.getContext(), {*size});
    return pickDims(attr.name, shape);
  }
  case OpAttrKind::Dtype:
    return TypeAttr::get(scope.random.chance(0.5) ? scope.drawAnyDtype() : scope.drawDtype());
  case OpAttrKind::Float: {
    static const double kFloats[] = {0.0, 0.5, 1.0, 2.0, -1.0, 0.1, 0.25};
    return b.getF64FloatAttr(scope.random.pick(kFloats));
  }
  case OpAttrKind::Int: {
    int64_t value = attr.name == "axis" && rank ? scope.random.between(-rank, rank - 1)
                                                : scope.random.between(-2, 4);
    return attr.width == 32 ? Attribute(b.getI32IntegerAttr(value)) : b.getI64IntegerAttr(value);
  }
  case OpAttrKind::IntList:
    return pickInts(attr.name, rank);
  case OpAttrKind::BoolList:
    return b.getDenseBoolArrayAttr(SmallVector<bool>(rank, scope.random.chance(0.5)));
  case OpAttrKind::Enum:
    return pickWord(attr, operands);
  case OpAttrKind::String:
    return pickText(attr.name, operands);
  default:
    return {};
  }
}

Attributes OperationGenerator::pickAttributes(const OpSignature &op, ValueRange operands) {
  Attributes attributes;
  Builder b(scope.builder.getContext());
  for (const AttrSignature &attr : op.attributes) {
    if (!attr.isRequired && attr.name != kOutside && scope.random.chance(0.35))
      continue;
    if (Attribute value = pickAttribute(attr, operands))
      attributes.push_back(b.getNamedAttr(attr.name, value));
  }
  return attributes;
}

//===----------------------------------------------------------------------===//
// Creating the operation
//===----------------------------------------------------------------------===//

bool OperationGenerator::tryOperation(const OpSignature &op, Value first) {
  return scope.attempt([&] {
    Values operands;
    if (first)
      operands.push_back(first);
    if (!pickOperands(op, operands))
      return false;
    FailureOr<Operation *> made =
        scope.builder.create(op.name, operands, pickAttributes(op, operands), scope.location);
    if (failed(made) ||
        llvm::any_of((*made)->getResultTypes(), [&](Type type) { return scope.isTooLarge(type); }))
      return false;
    if (first && (*made)->getResult(0).getType() != first.getType())
      return false;
    scope.remember((*made)->getResults());
    return true;
  });
}

bool OperationGenerator::makeOperation() {
  const OpSignature &op = pickOp();
  for (unsigned attempt = 0; attempt < 30; ++attempt)
    if (tryOperation(op))
      return true;
  return false;
}

Value OperationGenerator::change(Value value) {
  bool isList = isa<ListType>(value.getType());
  for (unsigned left = 20; left > 0; --left)
    if (tryOperation(isList ? pickListOp() : pickElementwiseOp(), value))
      return scope.pool.back();
  return {};
}

} // namespace tfc::random
