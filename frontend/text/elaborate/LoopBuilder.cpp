// Elaborates 'while', 'for' and 'scan', which share carried values and the checks of what a body
// yields.
#include "frontend/text/elaborate/LoopBuilder.h"

#include "dialects/dfg/OpTable.h"
#include "frontend/text/Locations.h"
#include "frontend/text/Refusals.h"
#include "frontend/text/elaborate/Binder.h"
#include "frontend/text/elaborate/BlockRunner.h"
#include "frontend/text/elaborate/Evaluator.h"
#include "frontend/text/elaborate/ListEmitter.h"
#include "frontend/text/elaborate/RegionEditor.h"
#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/elaborate/SizeScope.h"
#include "frontend/text/elaborate/StatementRunner.h"
#include "frontend/text/elaborate/TensorEmitter.h"
#include "frontend/text/elaborate/TypeEvaluator.h"
#include "frontend/text/elaborate/Unifier.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace tfc::text {

/// Where the values of a name in `with` are among those that the loop carries: one, or those of a
/// group.
struct LoopBuilder::Part {
  bool isGroup;
  size_t first, count;
};

struct LoopBuilder::Loop {
  StringRef keyword;
  SourceRange at;
  ArrayRef<ast::Name> names;
  ArrayRef<ast::Binding> carried;

  /// The value of a name of `each` in an iteration: an element of a list or, without one, the
  /// index, converted to `type` if given.
  struct Source {
    mlir::Value list;
    mlir::Type type;
  };
  SmallVector<Source> sources;
  /// The bounds of the index; null in `while`.
  mlir::Value first, limit;
  bool startsAtZero = true;
  std::optional<dfg::DimExpr> trips;

  SmallVector<Part> parts;
  /// Initial values of the index, if there is one, and of the carried values.
  SmallVector<mlir::Value> inits;
  SmallVector<mlir::Value> next;
  /// The positions of the lists of stacked values among the results.
  SmallVector<unsigned> stacks;
  LoopContext context;
  std::optional<dfg::Recompute> recompute;

  bool hasIndex() const { return bool(first); }
};

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

bool LoopBuilder::evalBounds(Loop &loop, const ast::Each &each) {
  Entity first = evaluator.eval(each.sequence), last = evaluator.eval(each.last);
  if (first.isPoison() || last.isPoison())
    return false;
  loop.sources.emplace_back();
  loop.startsAtZero = first.is<int64_t>() && first.as<int64_t>() == 0;
  mlir::Type element = elementOf(first) ? elementOf(first) : elementOf(last);
  std::optional<dfg::DimExpr> from = first.asDim(), to = last.asDim();
  if (from && to) {
    dfg::DimExpr trips = *to - *from;
    auto [low, high] = trips.interval([&](StringRef symbol) { return sizeScope.boundsOf(symbol); });
    loop.trips = low && *low >= 0 ? trips : dfg::DimExpr::max(trips, 0);
    bool isWide =
        !isInt<32>(from->constant().value_or(0)) || !isInt<32>(to->constant().value_or(0));
    element = mlir::IntegerType::get(context.mlir, isWide ? 64 : 32);
  }
  bool isIndex = element && (element.isSignlessInteger(32) || element.isSignlessInteger(64));
  if (!isIndex || first.is<double>() || last.is<double>()) {
    reporter.error(each.range, "loop-range",
                   "a range has integers as its bounds, i32 or i64, but these are {} and {}",
                   first.describe(), last.describe());
    return false;
  }
  loop.first = tensorEmitter.toTensor(first, element, each.sequence->range);
  loop.limit = tensorEmitter.toTensor(last, element, each.last->range);
  if (!loop.first || !loop.limit)
    return false;
  bool isScalar = loop.first.getType() == dfg::tensorOf({}, element) &&
                  loop.limit.getType() == dfg::tensorOf({}, element);
  if (!isScalar)
    reporter.error(each.range, "loop-range",
                   "the bounds of a range are two integers of one type, but these are {} and {}",
                   dfg::toText(loop.first.getType()), dfg::toText(loop.limit.getType()));
  return isScalar;
}

bool LoopBuilder::addSource(Loop &loop, const Entity &value, SourceRange at) {
  if (value.isPoison())
    return false;
  if (mlir::Value list = listOf(value)) {
    loop.sources.push_back({tensorEmitter.toValue(value, {}, at), {}});
    return true;
  }
  if (value.asGroup()) {
    reporter
        .error(at, "not-a-tensor",
               "a run-time '{}' runs over a range, tensors and lists, but got a group",
               loop.keyword)
        .help("'static for' runs over groups, at compile time");
    return false;
  }
  mlir::Value tensor = tensorEmitter.toTensor(value, {}, at);
  if (!tensor)
    return false;
  dfg::Shape shape = dfg::shapeOf(tensor.getType());
  if (shape.empty()) {
    reporter
        .error(at, "loop-range", "'{}' runs along the first axis of a tensor, but {} has none",
               loop.keyword, dfg::toText(tensor.getType()))
        .help("a range is written 0..n");
    return false;
  }
  if (loop.trips && *loop.trips != shape.front()) {
    bool differs = (*loop.trips - shape.front()).constant().has_value();
    reporter.error(
        at, "unequal-dimensions",
        differs ? fmt::format("one '{}' runs over tensors of one length, but these have {} and {}",
                              loop.keyword, loop.trips->str(), shape.front().str())
                : fmt::format("cannot prove that {} equals {}, as one '{}' over both needs",
                              loop.trips->str(), shape.front().str(), loop.keyword));
    return false;
  }
  loop.trips = shape.front();
  auto iota = tensor.getDefiningOp<dfg::IotaOp>();
  if (!iota) {
    loop.sources.push_back({listEmitter.unstack(tensor, at), {}});
    return bool(loop.sources.back().list);
  }
  // A range from 0 is the index itself.
  loop.sources.push_back({{}, dfg::elementTypeOf(tensor.getType())});
  if (iota->use_empty())
    iota->erase();
  return true;
}

bool LoopBuilder::evalSources(Loop &loop, const ast::Each &each) {
  const auto *call = dyn_cast<ast::CallExpr>(each.sequence);
  const auto *callee = call ? dyn_cast<ast::NameExpr>(call->callee) : nullptr;
  std::optional<Entity> zip = callee && callee->name == "zip"
                                  ? evaluator.lookup(callee->name, callee->range)
                                  : std::optional<Entity>();
  bool isZip = zip && zip->is<Builtin>();
  bool ok = true;
  if (isZip)
    for (const ast::Arg &arg : call->args)
      ok &= addSource(loop, evaluator.eval(arg.value), arg.range);
  else
    ok = addSource(loop, evaluator.eval(each.sequence), each.sequence->range);
  if (!ok)
    return false;
  mlir::Type i32 = mlir::IntegerType::get(context.mlir, 32);
  loop.first = context.builder.scalar(int64_t(0), i32, reporter.locate(each.range));
  if (loop.trips) {
    loop.limit = context.builder.size(*loop.trips, i32, reporter.locate(each.range));
    return true;
  }
  if (loop.sources.empty())
    return false;
  loop.limit = tensorEmitter.emit("list_size", {}, loop.sources.front().list, {}, each.range);
  return bool(loop.limit);
}

bool LoopBuilder::evalRange(Loop &loop, const ast::Each &each) {
  if (!tensorEmitter.requireEntry(each.range))
    return false;
  bool ok = each.last ? evalBounds(loop, each) : evalSources(loop, each);
  if (ok && loop.names.size() != loop.sources.size()) {
    reporter.error(each.range, "wrong-count",
                   "this loop has {} values per step, but there are {} names for them",
                   loop.sources.size(), loop.names.size());
    return false;
  }
  if (ok)
    loop.inits.push_back(loop.first);
  return ok;
}

//===----------------------------------------------------------------------===//
// Carried values
//===----------------------------------------------------------------------===//

/// The values that a loop carries for `value`: those of a group of tensors one by one.
static ArrayRef<Entity> membersOf(const Entity &value) {
  const Group *group = value.asGroup();
  bool hasTensors =
      group && any_of(group->elements, [](const Entity &entity) { return entity.isTensor(); });
  return hasTensors ? ArrayRef<Entity>(group->elements) : ArrayRef<Entity>(value);
}

bool LoopBuilder::evalCarried(Loop &loop) {
  bool ok = tensorEmitter.requireEntry(loop.at);
  for (const ast::Binding &binding : loop.carried) {
    SaveAndRestore<std::string> outer(context.bindingName, binding.name.text.str());
    context.expected = typeEvaluator.declaredType(binding.type);
    Entity value = evaluator.eval(binding.value);
    context.expected.reset();
    if (binding.type && !value.isPoison())
      value = unifier.checkResult(*binding.type, value, binding.value->range,
                                  fmt::format("'{}'", binding.name.text));
    ArrayRef<Entity> members = membersOf(value);
    loop.parts.push_back({members.data() != &value, loop.inits.size(), members.size()});
    for (const Entity &member : members) {
      mlir::Value init =
          ok ? tensorEmitter.toValue(member, {}, binding.value->range) : mlir::Value();
      ok &= bool(init);
      loop.inits.push_back(init);
    }
  }
  return ok;
}

/// The value of a carried name among those of the loop.
Entity LoopBuilder::carriedValue(const Part &part, mlir::ValueRange values) {
  if (!part.isGroup)
    return Entity(values[part.first]);
  std::vector<Entity> members;
  for (mlir::Value value : values.slice(part.first, part.count))
    members.push_back(Entity(value));
  return Entity::group(std::move(members));
}

void LoopBuilder::bindCarried(const Loop &loop, mlir::Block &block) {
  for (auto [part, binding] : zip(loop.parts, loop.carried))
    binder.bindLocal(binding.name, carriedValue(part, block.getArguments()), binding.type);
}

//===----------------------------------------------------------------------===//
// The condition and the body
//===----------------------------------------------------------------------===//

bool LoopBuilder::buildCondition(Loop &loop, const ast::Expr *condition) {
  mlir::Block &into = loop.context.op.getConditionBlock();
  RunTimeBlock block;
  block.keyword = loop.keyword;
  loop.context.inCondition = true;
  llvm::scope_exit leave([&] { loop.context.inCondition = false; });
  return blockRunner.runBlock(
      block, into, [&] { bindCarried(loop, into); },
      [&] {
        mlir::Value goesOn =
            condition ? tensorEmitter.evalPredicate(condition, loop.keyword)
                      : tensorEmitter.emitCount("less", {into.getArgument(0), loop.limit}, loop.at);
        if (goesOn)
          context.builder.condition(goesOn, reporter.locate(rangeOf(condition)));
        return bool(goesOn);
      });
}

void LoopBuilder::bindElements(Loop &loop) {
  for (auto [name, source] : zip(loop.names, loop.sources)) {
    if (name.isDiscard())
      continue;
    mlir::Value value = loop.context.op.getBodyBlock().getArgument(0);
    if (source.list)
      value = listEmitter.readList(source.list, value, name.range);
    else if (source.type)
      value = tensorEmitter.castTo(value, source.type, name.range);
    binder.bindLocal(name, value ? Entity(value) : Entity());
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
  return fmt::format(", as the '{}' of {}", op->results[result.getResultNumber()],
                     call.empty() || call.size() > 32 ? op->name : call);
}

void LoopBuilder::reportCarried(const ast::Binding &binding, mlir::Type start, mlir::Value next,
                                SourceRange nextAt) {
  std::string type = dfg::toText(next.getType());
  Diagnostic &diagnostic = reporter.error(binding.name.range, "carried-type",
                                          "'{}' starts as {}, but the body yields {} for it",
                                          binding.name.text, dfg::toText(start), type);
  SourceRange made = toRange(next.getLoc(), context.sources);
  diagnostic.note(nextAt, "yielded here{}",
                  describeSource(next, made.isValid() ? context.sources.text(made) : ""));
  const auto *call = dyn_cast<ast::CallExpr>(binding.value);
  const auto *callee = call ? dyn_cast<ast::NameExpr>(call->callee) : nullptr;
  bool takesType = callee && !call->args.empty() &&
                   isa<ast::IndexExpr, ast::DTypeExpr>(call->args.front().value);
  std::string text = "a carried value keeps one type";
  if (takesType)
    text += fmt::format("; start with {}({})", callee->name, type);
  else if (isa<ast::IntExpr, ast::FloatExpr>(binding.value) && dfg::shapeOf(next.getType()).empty())
    text += fmt::format("; start with {}: {} = {}", binding.name.text, type,
                        context.sources.text(binding.value->range));
  diagnostic.help(text);
}

/// Converts the yielded values to the carried types; returns false after an error.
bool LoopBuilder::convertYield(Loop &loop, RunTimeBlock &block, const ast::Block &body) {
  size_t count = loop.carried.size();
  if (any_of(block.values, [](const Entity &value) { return value.isPoison(); }))
    return false;
  // The statement may be one with a syntax error.
  if (!block.hasYielded && count && context.activation->module->hasSyntaxErrors)
    return false;
  if (!block.hasYielded && count) {
    SourceRange end = body.range;
    end.begin = end.end - 1;
    reporter.error(end, "missing-yield",
                   "the body of this '{}' ends without yielding the next value of '{}'",
                   loop.keyword, loop.carried.front().name.text);
    return false;
  }
  if (block.values.size() != count) {
    reporter
        .error(block.yieldedAt, "wrong-count",
               "this '{}' carries {} values, but its body yields {}", loop.keyword, count,
               block.values.size())
        .note(loop.at, "the loop");
    return false;
  }
  bool ok = true;
  for (size_t i = 0; i < count; ++i)
    ok &= convertNext(loop, i, block.values[i], block.valuesAt[i]);
  return ok;
}

/// Converts what the body yields for carried name number `i`.
bool LoopBuilder::convertNext(Loop &loop, size_t i, const Entity &value, SourceRange at) {
  const Part &part = loop.parts[i];
  const Group *group = part.isGroup ? value.asGroup() : nullptr;
  if (part.isGroup && (!group || group->elements.size() != part.count)) {
    reporter.error(at, "carried-type",
                   "'{}' starts as a group of {} values, but the body yields {} for it",
                   loop.carried[i].name.text, part.count,
                   group ? "one of " + Twine(group->elements.size()).str() : value.describe());
    return false;
  }
  bool ok = true;
  for (size_t k = 0; k < part.count; ++k) {
    mlir::Type carried = loop.inits[part.first + k].getType();
    bool isList = isa<dfg::ListType>(carried);
    mlir::Value next =
        tensorEmitter.toValue(group ? group->elements[k] : value,
                              isList ? mlir::Type() : dfg::elementTypeOf(carried), at);
    if (next && next.getType() != carried) {
      reportCarried(loop.carried[i], carried, next, at);
      next = {};
    }
    ok &= bool(next);
    loop.next.push_back(next);
  }
  return ok;
}

/// Writes the values after ';' to lists that the loop carries.
bool LoopBuilder::addStacks(Loop &loop, RunTimeBlock &block, size_t sizesOutside) {
  if (block.stacked.empty())
    return true;
  if (!loop.trips) {
    reporter
        .error(block.stackedAt.front(), "scan-size",
               "'scan' stacks one value per iteration, but the length of its range is known only "
               "at run time")
        .help("carry a list and append to it");
    return false;
  }
  LoopContext &looping = loop.context;
  mlir::Value position = looping.op.getBodyBlock().getArgument(0);
  if (!loop.startsAtZero)
    position = tensorEmitter.emit("sub", {}, {position, loop.first}, {}, block.stackedAt.front());
  for (auto [i, entity] : enumerate(block.stacked)) {
    SourceRange at = block.stackedAt[i];
    mlir::Value value = tensorEmitter.toTensor(entity, {}, at);
    if (!value || !position ||
        unifier.leavesBlock(value.getType(), sizesOutside, block.keyword, at))
      return false;
    mlir::OpBuilder::InsertPoint inside = context.builder.position();
    context.builder.before(looping.op);
    mlir::Type type = dfg::elementTypeOf(position.getType());
    mlir::Value size = loop.startsAtZero
                           ? loop.limit
                           : context.builder.size(*loop.trips, type, reporter.locate(at));
    mlir::Value list = listEmitter.createList(
        {dfg::elementTypeOf(value.getType()), dfg::shapeOf(value.getType())}, size, at);
    context.builder.restore(inside);
    if (!list)
      return false;
    unsigned place = regionEditor.addCarried(looping, list);
    loop.stacks.push_back(place);
    looping.addedNext.back() =
        listEmitter.writeList(looping.op.getBodyBlock().getArgument(place), position, value, at);
  }
  return true;
}

bool LoopBuilder::buildBody(Loop &loop, const ast::Block &body) {
  mlir::Block &into = loop.context.op.getBodyBlock();
  RunTimeBlock block;
  size_t sizesOutside = context.entry.runTimeSizes.size();
  block.keyword = loop.keyword;
  for (const Part &part : loop.parts)
    block.carried.push_back(part.isGroup ? mlir::Type() : loop.inits[part.first].getType());
  return blockRunner.runBlock(
      block, into,
      [&] {
        bindElements(loop);
        bindCarried(loop, into);
      },
      [&] {
        statementRunner.execBlock(body);
        return convertYield(loop, block, body) && addStacks(loop, block, sizesOutside);
      });
}

/// Reports a loop that never ends once it has begun.
void LoopBuilder::checkEnd(dfg::WhileOp loop, const ast::Expr *condition) {
  if (!neverEnds(loop))
    return;
  reporter
      .error(
          condition->range, "endless-loop",
          knownCondition(loop)
              ? "this 'while' never ends: its condition is always true"
              : "this 'while' never ends once it begins: nothing in its body changes the condition")
      .help("carry the value that the condition reads: while i < n with i = 0 { yield i + 1 }");
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

Entity LoopBuilder::finishLoop(Loop &loop, const ast::Expr *condition) {
  LoopContext &looping = loop.context;
  mlir::Block &body = looping.op.getBodyBlock();
  context.builder.toEnd(body);
  auto countUp = [&](mlir::Value counter) {
    mlir::Value one = context.builder.scalar(int64_t(1), dfg::elementTypeOf(counter.getType()),
                                             reporter.locate(loop.at));
    return tensorEmitter.emitCount("add", {counter, one}, loop.at);
  };
  SmallVector<mlir::Value> next;
  if (loop.hasIndex())
    next.push_back(countUp(body.getArgument(0)));
  append_range(next, loop.next);
  for (auto [i, value] : enumerate(looping.addedNext))
    next.push_back(value ? value : countUp(body.getArgument(loop.inits.size() + i)));
  dfg::WhileOp op =
      context.builder.finishWhile(looping.op, looping.added, next, loop.trips, loop.recompute);
  regionEditor.finishRegions(op);
  if (condition)
    checkEnd(op, condition);
  std::vector<Entity> results;
  std::vector<std::string> names;
  for (auto [part, binding] : zip(loop.parts, loop.carried)) {
    results.push_back(carriedValue(part, op.getResults()));
    names.push_back(binding.name.text.str());
  }
  for (unsigned place : loop.stacks) {
    mlir::Value stacked = listEmitter.stack(op.getResult(place), *loop.trips, loop.at);
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

Entity LoopBuilder::elaborateLoop(Loop &loop, const ast::Expr *condition, const ast::Block &body) {
  loop.recompute = context.recompute;
  context.hasRecomputed |= context.recompute.has_value();
  if (!evalCarried(loop))
    return Poison();
  loop.context.op = context.builder.beginWhile(loop.inits, reporter.locate(loop.at));
  if (loop.hasIndex())
    loop.context.counter = 0;
  mlir::OpBuilder::InsertPoint outside = context.builder.position();
  context.entry.loops.push_back(&loop.context);
  bool ok = buildCondition(loop, condition);
  ok = buildBody(loop, body) && ok;
  context.entry.loops.pop_back();
  if (ok)
    return finishLoop(loop, condition);
  context.builder.restore(outside);
  return Poison();
}

Entity LoopBuilder::evalWhile(const ast::WhileExpr &expr) {
  Loop loop;
  loop.keyword = "while";
  loop.at = expr.range;
  loop.carried = expr.carried;
  return elaborateLoop(loop, expr.condition, *expr.body);
}

Entity LoopBuilder::evalForOrScan(StringRef keyword, SourceRange at, const ast::Each &each,
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
