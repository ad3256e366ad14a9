#include "dialects/dfg/OpTable.h"
#include "frontend/text/ElaborateImpl.h"
#include "frontend/text/Locations.h"
#include "frontend/text/Refusals.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace tfc::text {

struct Elaborator::Loop {
  StringRef keyword;
  SourceRange at;
  ArrayRef<ast::Name> names;
  ArrayRef<ast::Binding> carried;

  /// What a name of `each` is in an iteration: an element of a list, or, without one, the index,
  /// converted to `type` if there is one.
  struct Source {
    mlir::Value list;
    mlir::Type type;
  };
  SmallVector<Source> sources;
  /// The bounds of the index; null in `while`.
  mlir::Value first, limit;
  bool startsAtZero = true;
  std::optional<dfg::DimExpr> trips;

  /// First values: of the index, if there is one, and of what is carried.
  SmallVector<mlir::Value> inits;
  SmallVector<mlir::Value> next;
  /// The sizes of what is stacked: the places of their lists among the results.
  SmallVector<unsigned> stacks;
  LoopContext context;
  std::string recompute;

  bool hasIndex() const { return bool(first); }
};

//===----------------------------------------------------------------------===//
// What a loop runs over
//===----------------------------------------------------------------------===//

bool Elaborator::evalBounds(Loop &loop, const ast::Each &each) {
  Entity first = eval(each.sequence), last = eval(each.last);
  if (first.isPoison() || last.isPoison())
    return false;
  loop.sources.emplace_back();
  loop.startsAtZero = first.is<int64_t>() && first.as<int64_t>() == 0;
  mlir::Type element = elementOf(first) ? elementOf(first) : elementOf(last);
  std::optional<dfg::DimExpr> from = first.asDim(), to = last.asDim();
  if (from && to) {
    dfg::DimExpr trips = *to - *from;
    auto [low, high] = trips.interval([&](StringRef symbol) { return boundsOf(symbol); });
    loop.trips = low && *low >= 0 ? trips : dfg::DimExpr::max(trips, 0);
    bool isWide =
        !isInt<32>(from->constant().value_or(0)) || !isInt<32>(to->constant().value_or(0));
    element = mlir::IntegerType::get(context, isWide ? 64 : 32);
  }
  bool isIndex = element && (element.isSignlessInteger(32) || element.isSignlessInteger(64));
  if (!isIndex || first.is<double>() || last.is<double>()) {
    error(each.range, "loop-range",
          "a range has integers as its bounds, i32 or i64, but these are " + first.describe() +
              " and " + last.describe());
    return false;
  }
  loop.first = toTensor(first, element, each.sequence->range);
  loop.limit = toTensor(last, element, each.last->range);
  if (!loop.first || !loop.limit)
    return false;
  bool isScalar = loop.first.getType() == dfg::tensorOf({}, element) &&
                  loop.limit.getType() == dfg::tensorOf({}, element);
  if (!isScalar)
    error(each.range, "loop-range",
          "the bounds of a range are two integers of one type, but these are " +
              dfg::toText(loop.first.getType()) + " and " + dfg::toText(loop.limit.getType()));
  return isScalar;
}

bool Elaborator::addSource(Loop &loop, const Entity &value, SourceRange at) {
  if (value.isPoison())
    return false;
  if (mlir::Value list = listOf(value)) {
    loop.sources.push_back({toValue(value, {}, at), {}});
    return true;
  }
  if (value.asGroup() && !value.asGroup()->isSparse) {
    error(at, "not-a-tensor",
          "a run-time '" + loop.keyword + "' runs over a range, tensors and lists, but got a group")
        .help("'static for' runs over groups, at compile time");
    return false;
  }
  mlir::Value tensor = toTensor(value, {}, at);
  if (!tensor)
    return false;
  dfg::Shape shape = dfg::shapeOf(tensor.getType());
  if (shape.empty()) {
    error(at, "loop-range",
          "'" + loop.keyword + "' runs along the first axis of a tensor, but " +
              dfg::toText(tensor.getType()) + " has none")
        .help("a range is written 0..n");
    return false;
  }
  if (loop.trips && *loop.trips != shape.front()) {
    bool differs = (*loop.trips - shape.front()).constant().has_value();
    error(at, "unequal-dimensions",
          differs ? "one '" + loop.keyword + "' runs over tensors of one length, but these have " +
                        Twine(loop.trips->str()) + " and " + shape.front().str()
                  : "cannot prove that " + Twine(loop.trips->str()) + " equals " +
                        shape.front().str() + ", as one '" + loop.keyword + "' over both needs");
    return false;
  }
  loop.trips = shape.front();
  auto iota = tensor.getDefiningOp<dfg::IotaOp>();
  if (!iota) {
    loop.sources.push_back({unstack(tensor, at), {}});
    return bool(loop.sources.back().list);
  }
  // Numbers from 0 on are the index itself.
  loop.sources.push_back({{}, dfg::elementTypeOf(tensor.getType())});
  if (iota->use_empty())
    iota->erase();
  return true;
}

bool Elaborator::evalSources(Loop &loop, const ast::Each &each) {
  const auto *call = dyn_cast<ast::CallExpr>(each.sequence);
  const auto *callee = call ? dyn_cast<ast::NameExpr>(call->callee) : nullptr;
  std::optional<Entity> zip = callee && callee->name == "zip" ? lookup(callee->name, callee->range)
                                                              : std::optional<Entity>();
  bool isZip = zip && zip->is<Builtin>();
  bool ok = true;
  if (isZip)
    for (const ast::Arg &arg : call->args)
      ok &= addSource(loop, eval(arg.value), arg.range);
  else
    ok = addSource(loop, eval(each.sequence), each.sequence->range);
  if (!ok)
    return false;
  mlir::Type i32 = mlir::IntegerType::get(context, 32);
  loop.first = builder.scalar(int64_t(0), i32, locate(each.range));
  if (loop.trips) {
    loop.limit = builder.size(*loop.trips, i32, locate(each.range));
    return true;
  }
  if (loop.sources.empty())
    return false;
  loop.limit = emit("list_size", {}, loop.sources.front().list, {}, each.range);
  return bool(loop.limit);
}

bool Elaborator::evalRange(Loop &loop, const ast::Each &each) {
  if (!requireEntry(each.range))
    return false;
  bool ok = each.last ? evalBounds(loop, each) : evalSources(loop, each);
  if (ok && loop.names.size() != loop.sources.size()) {
    error(each.range, "wrong-count",
          "this loop gives " + Twine(loop.sources.size()) + " values per step, but there are " +
              Twine(loop.names.size()) + " names for them");
    return false;
  }
  if (ok)
    loop.inits.push_back(loop.first);
  return ok;
}

//===----------------------------------------------------------------------===//
// What a loop carries
//===----------------------------------------------------------------------===//

bool Elaborator::evalCarried(Loop &loop) {
  bool ok = requireEntry(loop.at);
  for (const ast::Binding &binding : loop.carried) {
    SaveAndRestore<std::string> outer(bindingName, binding.name.text.str());
    expected = declaredType(binding.type);
    Entity value = eval(binding.value);
    expected.reset();
    if (binding.type && !value.isPoison())
      value = checkResult(*binding.type, value, binding.value->range,
                          ("'" + binding.name.text + "'").str());
    mlir::Value init = ok ? toValue(value, {}, binding.value->range) : mlir::Value();
    ok &= bool(init);
    loop.inits.push_back(init);
  }
  return ok;
}

unsigned Elaborator::addCarried(LoopContext &loop, mlir::Value init) {
  loop.added.push_back(init);
  loop.addedNext.push_back({});
  loop.op.getConditionBlock().addArgument(init.getType(), init.getLoc());
  return loop.op.getBodyBlock().addArgument(init.getType(), init.getLoc()).getArgNumber();
}

void Elaborator::bindCarried(const Loop &loop, mlir::Block &block) {
  for (auto [i, binding] : enumerate(loop.carried)) {
    bindLocal(binding.name, Entity(mlir::Value(block.getArgument(loop.hasIndex() + i))),
              binding.type);
  }
}

//===----------------------------------------------------------------------===//
// The condition and the body
//===----------------------------------------------------------------------===//

bool Elaborator::buildCondition(Loop &loop, const ast::Expr *condition) {
  mlir::Block &into = loop.context.op.getConditionBlock();
  RunTimeBlock block;
  block.keyword = loop.keyword;
  loop.context.inCondition = true;
  llvm::scope_exit leave([&] { loop.context.inCondition = false; });
  return runBlock(
      block, into, [&] { bindCarried(loop, into); },
      [&] {
        mlir::Value goesOn = condition
                                 ? evalPredicate(condition, loop.keyword)
                                 : emit("less", {}, {into.getArgument(0), loop.limit}, {}, loop.at);
        if (goesOn)
          builder.condition(goesOn, locate(rangeOf(condition)));
        return bool(goesOn);
      });
}

void Elaborator::bindElements(Loop &loop) {
  for (auto [name, source] : zip(loop.names, loop.sources)) {
    if (name.isDiscard())
      continue;
    mlir::Value value = loop.context.op.getBodyBlock().getArgument(0);
    if (source.list)
      value = readList(source.list, value, name.range);
    else if (source.type)
      value = castTo(value, source.type, name.range);
    bindLocal(name, value ? Entity(value) : Entity());
  }
}

/// "as the 'values' of top_k(score, 4)", for one of several results of an operation.
static std::string describeSource(mlir::Value value, StringRef call) {
  auto result = dyn_cast<mlir::OpResult>(value);
  if (!result || result.getOwner()->getNumResults() < 2)
    return {};
  const dfg::OpSignature *op = dfg::lookupOp(result.getOwner()->getName().stripDialect());
  if (!op || op->hasVariadicResults || result.getResultNumber() >= op->results.size())
    return {};
  return (", as the '" + op->results[result.getResultNumber()] + "' of " +
          (call.empty() || call.size() > 32 ? op->name : call))
      .str();
}

void Elaborator::reportCarried(const ast::Binding &binding, mlir::Type start, mlir::Value next,
                               SourceRange nextAt) {
  std::string type = dfg::toText(next.getType());
  Diagnostic &diagnostic = error(binding.name.range, "carried-type",
                                 "'" + binding.name.text + "' starts as " + dfg::toText(start) +
                                     ", but the body yields " + type + " for it");
  SourceRange made = toRange(next.getLoc(), sources);
  diagnostic.note(nextAt,
                  "yielded here" + describeSource(next, made.isValid() ? sources.text(made) : ""));
  const auto *call = dyn_cast<ast::CallExpr>(binding.value);
  const auto *callee = call ? dyn_cast<ast::NameExpr>(call->callee) : nullptr;
  bool takesType = callee && !call->args.empty() &&
                   isa<ast::IndexExpr, ast::DTypeExpr>(call->args.front().value);
  std::string text = "a carried value keeps one type";
  if (takesType)
    text += ("; start with " + callee->name + "(" + type + ")").str();
  else if (isa<ast::IntExpr, ast::FloatExpr>(binding.value) && dfg::shapeOf(next.getType()).empty())
    text += ("; start with " + binding.name.text + ": " + type + " = " +
             sources.text(binding.value->range))
                .str();
  diagnostic.help(text);
}

/// The yielded values as the types that are carried; false after an error.
bool Elaborator::convertYield(Loop &loop, RunTimeBlock &block, const ast::Block &body) {
  size_t count = loop.carried.size();
  if (any_of(block.values, [](const Entity &value) { return value.isPoison(); }))
    return false;
  if (!block.hasYielded && count) {
    SourceRange end = body.range;
    end.begin = end.end - 1;
    error(end, "missing-yield",
          "the body of this '" + loop.keyword + "' ends without yielding the next value of '" +
              loop.carried.front().name.text + "'");
    return false;
  }
  if (block.values.size() != count) {
    error(block.yieldedAt, "wrong-count",
          "this '" + loop.keyword + "' carries " + Twine(count) + " values, but its body yields " +
              Twine(block.values.size()))
        .note(loop.at, "the loop");
    return false;
  }
  bool ok = true;
  for (size_t i = 0; i < count; ++i) {
    mlir::Type carried = loop.inits[loop.hasIndex() + i].getType();
    bool isList = isa<dfg::ListType>(carried);
    mlir::Value next = toValue(block.values[i], isList ? mlir::Type() : dfg::elementTypeOf(carried),
                               block.valuesAt[i]);
    if (next && next.getType() != carried) {
      reportCarried(loop.carried[i], carried, next, block.valuesAt[i]);
      next = {};
    }
    ok &= bool(next);
    loop.next.push_back(next);
  }
  return ok;
}

/// Writes what stands behind ';' into lists that the loop carries.
bool Elaborator::addStacks(Loop &loop, RunTimeBlock &block, size_t sizesOutside) {
  if (block.stacked.empty())
    return true;
  if (!loop.trips) {
    error(block.stackedAt.front(), "scan-size",
          "'scan' stacks as many values as its range has, and how many this has is known only at "
          "run time")
        .help("carry a list and append to it");
    return false;
  }
  LoopContext &context = loop.context;
  mlir::Value position = context.op.getBodyBlock().getArgument(0);
  if (!loop.startsAtZero)
    position = emit("sub", {}, {position, loop.first}, {}, block.stackedAt.front());
  for (auto [i, entity] : enumerate(block.stacked)) {
    SourceRange at = block.stackedAt[i];
    mlir::Value value = toTensor(entity, {}, at);
    if (!value || !position || leavesBlock(value.getType(), sizesOutside, block.keyword, at))
      return false;
    mlir::OpBuilder::InsertPoint inside = builder.position();
    builder.before(context.op);
    mlir::Type type = dfg::elementTypeOf(position.getType());
    mlir::Value size = loop.startsAtZero ? loop.limit : builder.size(*loop.trips, type, locate(at));
    mlir::Value list =
        createList({dfg::elementTypeOf(value.getType()), dfg::shapeOf(value.getType())}, size, at);
    builder.restore(inside);
    if (!list)
      return false;
    unsigned place = addCarried(context, list);
    loop.stacks.push_back(place);
    context.addedNext.back() =
        writeList(context.op.getBodyBlock().getArgument(place), position, value, at);
  }
  return true;
}

bool Elaborator::buildBody(Loop &loop, const ast::Block &body) {
  mlir::Block &into = loop.context.op.getBodyBlock();
  RunTimeBlock block;
  size_t sizesOutside = runTimeSizes.size();
  block.keyword = loop.keyword;
  for (mlir::Value init : ArrayRef(loop.inits).drop_front(loop.hasIndex()))
    block.carried.push_back(init.getType());
  return runBlock(
      block, into,
      [&] {
        bindElements(loop);
        bindCarried(loop, into);
      },
      [&] {
        execBlock(body);
        return convertYield(loop, block, body) && addStacks(loop, block, sizesOutside);
      });
}

//===----------------------------------------------------------------------===//
// Does it end?
//===----------------------------------------------------------------------===//

/// Whether an operation of a loop may end the call or see what others do meanwhile.
static bool mayIntervene(mlir::Operation *op) {
  if (isa<dfg::CheckedOpInterface>(op))
    return true;
  bool isAccess = isa<dfg::ReadOp, dfg::AssignOp>(op);
  return !isAccess && op->getNumRegions() == 0 && !mlir::isMemoryEffectFree(op);
}

/// Whether the condition may be another one in the next iteration.
static bool mayChange(dfg::WhileOp loop) {
  StringSet<> assigned;
  loop.getBodyRegion().walk([&](dfg::AssignOp assign) { assigned.insert(assign.getVariable()); });
  mlir::Block &condition = loop.getConditionBlock();
  auto isOther = [&](mlir::Value operand) {
    auto argument = dyn_cast<mlir::BlockArgument>(operand);
    if (!argument || argument.getOwner() != &condition)
      return false;
    unsigned place = argument.getArgNumber();
    return loop.getYield().getValues()[place] != loop.getBodyBlock().getArgument(place);
  };
  return condition
      .walk([&](mlir::Operation *op) {
        auto read = dyn_cast<dfg::ReadOp>(op);
        bool changes = any_of(op->getOperands(), isOther) || isa<dfg::AssignOp>(op) ||
                       (read && assigned.contains(read.getVariable()));
        return changes ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

/// The condition, where it is a constant.
static std::optional<bool> knownCondition(dfg::WhileOp loop) {
  mlir::DenseElementsAttr constant;
  if (!matchPattern(loop.getCondition().getCondition(), mlir::m_Constant(&constant)))
    return std::nullopt;
  return constant.getSplatValue<bool>();
}

bool neverEnds(dfg::WhileOp loop) {
  auto visit = [](mlir::Operation *op) {
    return mayIntervene(op) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  };
  return !loop.getConditionRegion().walk(visit).wasInterrupted() &&
         !loop.getBodyRegion().walk(visit).wasInterrupted() && !mayChange(loop) &&
         knownCondition(loop) != false; // false: never begins
}

/// Reports a loop that goes on for ever once it has begun.
void Elaborator::checkEnd(dfg::WhileOp loop, const ast::Expr *condition) {
  if (!neverEnds(loop))
    return;
  error(condition->range, "endless-loop",
        knownCondition(loop)
            ? "this 'while' never ends: its condition is always true"
            : "this 'while' never ends once it begins: nothing in its body changes the condition")
      .help("carry what the condition reads: while i < n with i = 0 { yield i + 1 }");
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

Entity Elaborator::finishLoop(Loop &loop, const ast::Expr *condition) {
  LoopContext &context = loop.context;
  mlir::Block &body = context.op.getBodyBlock();
  builder.toEnd(body);
  auto countUp = [&](mlir::Value counter) {
    mlir::Value one =
        builder.scalar(int64_t(1), dfg::elementTypeOf(counter.getType()), locate(loop.at));
    return emit("add", {}, {counter, one}, {}, loop.at);
  };
  SmallVector<mlir::Value> next;
  if (loop.hasIndex())
    next.push_back(countUp(body.getArgument(0)));
  append_range(next, loop.next);
  for (auto [i, value] : enumerate(context.addedNext))
    next.push_back(value ? value : countUp(body.getArgument(loop.inits.size() + i)));
  dfg::WhileOp op =
      builder.finishWhile(context.op, context.added, next, loop.trips, loop.recompute);
  finishRegions(op);
  if (condition)
    checkEnd(op, condition);
  std::vector<Entity> results;
  std::vector<std::string> names;
  for (auto [i, binding] : enumerate(loop.carried)) {
    results.push_back(Entity(mlir::Value(op.getResult(loop.hasIndex() + i))));
    names.push_back(binding.name.text.str());
  }
  for (unsigned place : loop.stacks) {
    mlir::Value stacked = stack(op.getResult(place), *loop.trips, loop.at);
    if (!stacked)
      return Poison();
    results.push_back(Entity(stacked));
    names.emplace_back();
  }
  if (results.empty())
    return Entity(Nothing{});
  if (results.size() == 1)
    return results.front();
  return Entity::group(std::move(results), std::move(names));
}

Entity Elaborator::elaborateLoop(Loop &loop, const ast::Expr *condition, const ast::Block &body) {
  loop.recompute = recompute;
  hasRecomputed |= !recompute.empty();
  if (!evalCarried(loop))
    return Poison();
  loop.context.op = builder.beginWhile(loop.inits, locate(loop.at));
  if (loop.hasIndex())
    loop.context.counter = 0;
  mlir::OpBuilder::InsertPoint behind = builder.position();
  loops.push_back(&loop.context);
  bool ok = buildCondition(loop, condition);
  ok = buildBody(loop, body) && ok;
  loops.pop_back();
  if (ok)
    return finishLoop(loop, condition);
  builder.restore(behind);
  return Poison();
}

Entity Elaborator::evalWhile(const ast::WhileExpr &expr) {
  Loop loop;
  loop.keyword = "while";
  loop.at = expr.range;
  loop.carried = expr.carried;
  return elaborateLoop(loop, expr.condition, *expr.body);
}

Entity Elaborator::evalForOrScan(StringRef keyword, SourceRange at, const ast::Each &each,
                                 ArrayRef<ast::Binding> carried, const ast::Block &body) {
  Loop loop;
  loop.keyword = keyword;
  loop.at = at;
  loop.names = each.names;
  loop.carried = carried;
  if (!evalRange(loop, each))
    return Poison();
  return elaborateLoop(loop, nullptr, body);
}

} // namespace tfc::text
