// Builds gradients, and collects the variables that a group contains.
#include "frontend/text/elaborate/GradientBuilder.h"

#include "dialects/dfg/Gradients.h"
#include "frontend/text/elaborate/ErrorCapture.h"
#include "frontend/text/elaborate/Meter.h"
#include "frontend/text/elaborate/NameResolver.h"
#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/elaborate/TensorEmitter.h"
#include "llvm/ADT/SetVector.h"

using namespace llvm;

namespace tfc::text {

/// All variables of an instance and of the instances in it.
static void collectFrom(const Instance &instance, std::deque<Variable> &all,
                        std::vector<Variable *> &result) {
  std::string prefix = instance.path + ".";
  for (Variable &variable : all)
    if (StringRef(variable.path).starts_with(prefix) && !StringRef(variable.path).contains('/'))
      result.push_back(&variable);
}

bool GradientBuilder::collectVariables(const Entity &value, SourceRange at,
                                       std::vector<Variable *> &result) {
  if (Variable *const *variable = value.get<Variable *>()) {
    result.push_back(*variable);
    return true;
  }
  if (Instance *const *instance = value.get<Instance *>()) {
    unsigned before = context.diagnostics.errorCount();
    nameResolver.forceAll(**instance, at);
    collectFrom(**instance, context.program.variables, result);
    return context.diagnostics.errorCount() == before;
  }
  if (Module *const *module = value.get<Module *>()) {
    for (auto &lazy : (*module)->values)
      if (!lazy.second.value.isPoison() && !collectVariables(lazy.second.value, at, result))
        return false;
    return true;
  }
  const Group *group = value.asGroup();
  if (!group) {
    reporter.error(at, "not-a-variable", "expected variables, parts or groups of them, but got {}",
                   value.describe());
    return false;
  }
  return all_of(group->elements,
                [&](const Entity &element) { return collectVariables(element, at, result); });
}

static void sortByOrder(std::vector<Variable *> &variables) {
  llvm::sort(variables, [](Variable *a, Variable *b) { return a->order < b->order; });
  variables.erase(llvm::unique(variables), variables.end());
}

static Entity groupOf(ArrayRef<Variable *> variables) {
  std::vector<Entity> elements;
  for (Variable *variable : variables)
    elements.push_back(Entity(variable));
  return Entity::group(std::move(elements));
}

Entity GradientBuilder::callVariables(Arguments &args, const ast::CallExpr &call) {
  std::vector<Variable *> found;
  for (const Argument &arg : args)
    if (!collectVariables(arg.value, arg.range, found))
      return Poison();
  sortByOrder(found);
  return groupOf(found);
}

/// The operations on which `value` depends, including those in regions.
static SetVector<mlir::Operation *> backwardSlice(mlir::Value value) {
  SetVector<mlir::Operation *> slice;
  if (mlir::Operation *op = value.getDefiningOp())
    slice.insert(op);
  for (size_t i = 0; i < slice.size(); ++i)
    slice[i]->walk([&](mlir::Operation *nested) {
      slice.insert(nested);
      for (mlir::Value operand : nested->getOperands())
        if (mlir::Operation *op = operand.getDefiningOp())
          slice.insert(op);
    });
  return slice;
}

/// The reads of variables on which `loss` depends, by path; nothing if the budget is exceeded.
std::optional<GradientBuilder::Reads> GradientBuilder::readsTowards(mlir::Value loss,
                                                                    SourceRange at) {
  SetVector<mlir::Operation *> slice = backwardSlice(loss);
  if (!meter.spend(slice.size() / kOperationsOfStep, at))
    return std::nullopt;
  Reads reads;
  for (mlir::Operation *op : slice)
    if (auto read = dyn_cast<dfg::ReadOp>(op))
      reads[read.getVariable()].push_back(read);
  return reads;
}

std::vector<Variable *> GradientBuilder::variablesRead(mlir::Value loss) {
  std::vector<Variable *> found;
  std::optional<Reads> reads = readsTowards(loss, {});
  if (!reads)
    return found;
  for (const auto &[path, ops] : *reads)
    if (auto it = context.program.variablesByPath.find(path);
        it != context.program.variablesByPath.end())
      found.push_back(it->second);
  sortByOrder(found);
  return found;
}

Entity GradientBuilder::callTrainable(Arguments &args, const ast::CallExpr &call) {
  if (args.empty() || args.size() > 2 || args.front().label ||
      (args.size() == 2 && args[1].label && args[1].label.text != "over"))
    return reporter.fail(call.range, "wrong-count",
                         "'trainable' takes a loss, and a group as 'over'");
  mlir::Value loss = tensorEmitter.toTensor(args.front().value, {}, args.front().range);
  if (!loss)
    return Poison();
  std::vector<Variable *> found = variablesRead(loss);
  erase_if(found, [](Variable *variable) {
    return variable->isFrozen || !isa<mlir::FloatType>(variable->type.getElementType());
  });
  if (args.size() == 2 && !args[1].value.is<All>()) {
    std::vector<Variable *> wanted;
    if (!collectVariables(args[1].value, args[1].range, wanted))
      return Poison();
    erase_if(found, [&](Variable *variable) { return !is_contained(wanted, variable); });
  }
  if (found.empty())
    return reporter.fail(args.front().range, "nothing-to-train",
                         "this loss does not depend on any variable that can be trained");
  return groupOf(found);
}

/// The value with respect to which the gradient is taken: for a variable, its first read.
mlir::Value GradientBuilder::gradientSource(const Entity &value, const Reads &reads,
                                            SourceRange at) {
  Variable *const *variable = value.get<Variable *>();
  return variable ? firstReadOf(**variable, reads, at) : tensorEmitter.toTensor(value, {}, at);
}

mlir::Value GradientBuilder::firstReadOf(Variable &variable, const Reads &reads, SourceRange at) {
  mlir::Block *here = context.builder.currentBlock();
  mlir::Operation *first = nullptr;
  dfg::ReadOp firstRead;
  for (dfg::ReadOp read : reads.lookup(variable.path)) {
    // A read outside of this block has the same value throughout it.
    mlir::Operation *place = here->findAncestorOpInBlock(*read);
    if (!place)
      return read.getValue();
    if (first && !place->isBeforeInBlock(first))
      continue;
    first = place;
    firstRead = read;
  }
  if (!first)
    return tensorEmitter.readVariable(variable, at);
  if (first == firstRead)
    return firstRead.getValue();
  // A branch or loop that assigns the variable also reads it, because it starts with the old value.
  mlir::OpBuilder::InsertPoint point = context.builder.position();
  context.builder.before(first);
  mlir::Value before =
      context.builder.getResources().read(variable.path, variable.type, reporter.locate(at));
  context.builder.restore(point);
  return before;
}

//===----------------------------------------------------------------------===//
// Pairs of variables and gradients
//===----------------------------------------------------------------------===//

Diagnostic &GradientBuilder::failPairs(SourceRange at, const Twine &text,
                                       const Variable *variable) {
  auto [author, place] = reporter.authorsCall(at);
  SaveAndRestore<Activation *> outer(context.activation, author);
  Diagnostic &diagnostic = reporter.error(place, "gradient-pairs", text);
  if (variable && variable->decl)
    diagnostic.note(variable->decl->name.range, "'{}' is declared here as {}", variable->path,
                    dfg::toText(variable->type));
  return diagnostic;
}

/// Reports something that is not a group of pairs.
Entity GradientBuilder::failNoPairs(SourceRange at, const Twine &got) {
  failPairs(at, fmt::format("expected pairs of a variable and its gradient, but {}", got))
      .help("zip(variables, gradients) makes pairs");
  return Poison();
}

/// The first value of a pair; null after an error.
const Variable *GradientBuilder::variableOf(const Group &pair, size_t number, SourceRange at) {
  Variable *const *variable = pair.elements[0].get<Variable *>();
  if (!variable) {
    failNoPairs(at, "pair {} begins with {}", number, pair.elements[0].describe());
    return nullptr;
  }
  if (isa<mlir::FloatType>((*variable)->type.getElementType()))
    return *variable;
  failPairs(
      at,
      fmt::format("'{}' cannot be trained, because it is not floating-point", (*variable)->path),
      *variable);
  return nullptr;
}

/// A gradient has the type of its variable; it may be an f32 if that is narrower.
bool GradientBuilder::checkGradient(const Variable &variable, const Entity &gradient,
                                    SourceRange at) {
  std::optional<TensorType> type = tensorTypeOf(gradient);
  mlir::Type element = variable.type.getElementType();
  bool isSameShape = type && dfg::tensorOf(type->shape, element) == variable.type;
  bool isWider = type && type->element.isF32() && element.getIntOrFloatBitWidth() < 32;
  if (isSameShape && (type->element == element || isWider))
    return true;
  std::string got =
      type ? dfg::toText(dfg::tensorOf(type->shape, type->element)) : gradient.describe();
  Diagnostic &diagnostic =
      failPairs(at,
                fmt::format("the gradient of '{}' must be {}, like the variable, but is {}",
                            variable.path, dfg::toText(variable.type), got),
                &variable);
  if (isSameShape)
    diagnostic.help("cast(g, {}) converts it", dfg::toText(element));
  return false;
}

/// Two pairs of one variable would be two steps.
bool GradientBuilder::checkOnce(const Variable &variable, size_t first, size_t number,
                                SourceRange at) {
  if (first == number)
    return true;
  failPairs(at, fmt::format("'{}' is in pair {} and in pair {}", variable.path, first, number),
            &variable)
      .help("add its gradients, so that there is one step");
  return false;
}

Entity GradientBuilder::callGradientPairs(Arguments &args, const ast::CallExpr &call) {
  if (args.size() != 1 || args.front().label)
    return reporter.fail(
        call.range, "wrong-count",
        "'gradient_pairs' takes one group, as in gradient_pairs(zip(vars, grads))");
  const Entity &value = args.front().value;
  SourceRange at = args.front().range;
  const Group *pairs = value.asGroup();
  if (!pairs)
    return failNoPairs(at, "got {}", value.describe());
  if (pairs->elements.empty())
    return failNoPairs(at, "got an empty group");
  DenseMap<const Variable *, size_t> numbers;
  for (auto [i, element] : enumerate(pairs->elements)) {
    const Group *pair = element.asGroup();
    if (!pair || pair->elements.size() != 2)
      return failNoPairs(at, "value {} is {}", i + 1, element.describe());
    const Variable *variable = variableOf(*pair, i + 1, at);
    if (!variable ||
        !checkOnce(*variable, numbers.try_emplace(variable, i + 1).first->second, i + 1, at) ||
        !checkGradient(*variable, pair->elements[1], at))
      return Poison();
  }
  return value;
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// Touched rows and their indices; each row once, unless `coalesces` is false.
Entity GradientBuilder::sparseGradient(mlir::Value indices, mlir::Value rows, mlir::Type type,
                                       bool coalesces, SourceRange at) {
  auto group = std::make_shared<Group>();
  group->isSparse = true;
  group->sparseType = type;
  group->names = {"indices", "rows"};
  group->elements = {Entity(indices), Entity(rows)};
  bool ok = !coalesces || errorCapture.capture(at, {}, "coalesce", [&] {
    mlir::FailureOr<mlir::Operation *> op =
        context.builder.create("coalesce", {indices, rows}, {}, reporter.locate(at, "gradients"));
    if (mlir::succeeded(op))
      group->elements = {Entity(mlir::Value((*op)->getResult(0))),
                         Entity(mlir::Value((*op)->getResult(1)))};
    return mlir::succeeded(op);
  });
  return ok ? Entity(std::shared_ptr<const Group>(std::move(group))) : Entity();
}

Entity GradientBuilder::callGradients(Arguments &args, const ast::CallExpr &call) {
  const bool *coalesces = args.size() == 3 && args[2].label && args[2].label.text == "coalesce"
                              ? args[2].value.get<bool>()
                              : nullptr;
  if ((args.size() != 2 && !coalesces) || args[0].label)
    return reporter.fail(call.range, "wrong-count",
                         "'gradients' takes a loss and the values to differentiate it by");
  mlir::Value loss = tensorEmitter.toTensor(args[0].value, {}, args[0].range);
  if (!loss)
    return Poison();
  auto lossType = cast<mlir::RankedTensorType>(loss.getType());
  if (lossType.getRank() != 0 || !isa<mlir::FloatType>(lossType.getElementType()))
    return reporter.fail(args[0].range, "gradient-of",
                         "'gradients' needs a floating scalar, but got {}", dfg::toText(lossType));
  std::vector<Entity> targets{args[1].value};
  bool isGroup = args[1].value.asGroup() != nullptr;
  if (isGroup)
    targets = args[1].value.asGroup()->elements;
  std::optional<Reads> reads = readsTowards(loss, args[1].range);
  if (!reads)
    return Poison();
  SmallVector<mlir::Value> xs;
  for (const Entity &target : targets) {
    mlir::Value x = gradientSource(target, *reads, args[1].range);
    if (!x)
      return Poison();
    if (!isa<mlir::FloatType>(dfg::elementTypeOf(x.getType())))
      return reporter.fail(args[1].range, "gradient-of",
                           "'gradients' differentiates by floating values, but got {}",
                           dfg::toText(x.getType()));
    xs.push_back(x);
  }
  SmallVector<int64_t> sparse;
  dfg::ReadersTowards readers(loss);
  for (auto [i, x] : enumerate(xs))
    if (readers.isSparseGradient(x))
      sparse.push_back(i);
  mlir::Operation *op = context.builder.gradients(loss, xs, sparse, reporter.locate(call.range));
  std::vector<Entity> results;
  auto next = op->result_begin();
  DenseSet<int64_t> isSparse(sparse.begin(), sparse.end());
  for (auto [i, x] : enumerate(xs)) {
    mlir::Value first = *next++;
    if (!isSparse.contains(i)) {
      results.push_back(Entity(first));
      continue;
    }
    results.push_back(
        sparseGradient(first, *next++, x.getType(), !coalesces || *coalesces, call.range));
    if (results.back().isPoison())
      return Poison();
  }
  return isGroup ? Entity::group(std::move(results)) : results.front();
}

} // namespace tfc::text
