// Binds the names of results, and the elements over which comprehensions and static loops run, and
// checks that no name is bound twice. The values are computed by others.
#include "frontend/text/elaborate/Binder.h"

#include "frontend/text/elaborate/Evaluator.h"
#include "frontend/text/elaborate/Meter.h"
#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/elaborate/TensorEmitter.h"
#include "frontend/text/elaborate/TypeEvaluator.h"
#include "frontend/text/elaborate/Unifier.h"

using namespace llvm;

namespace tfc::text {

bool Binder::checkRebinding(const ast::Name &name) {
  const Local *local = name.isDiscard() || !name ? nullptr : context.activation->find(name.text);
  if (!context.activation->block || !local || local->block == context.activation->block)
    return true;
  StringRef keyword = context.activation->block->keyword;
  Diagnostic &diagnostic = reporter.error(
      name.range, "rebinding",
      "'{}' is bound outside of this '{}', and a run-time block cannot bind it again", name.text,
      keyword);
  diagnostic.note(local->at, "bound here");
  if (keyword == "if")
    diagnostic.help("let both branches yield it: {} = if .. {{ yield .. }} else {{ yield {} }}",
                    name.text, name.text);
  else if (keyword == "dataflow")
    diagnostic.help("give it a name of its own");
  else
    diagnostic.help("carry it: 'with {} = {}', and yield its next value", name.text, name.text);
  return false;
}

/// Larger ranges would never finish compiling.
static constexpr uint64_t kMaxStaticIterations = 100000;

//===----------------------------------------------------------------------===//
// Members and elements
//===----------------------------------------------------------------------===//

std::optional<std::vector<Entity>> Binder::sequence(const ast::Each &each) {
  if (each.last) {
    std::optional<dfg::DimExpr> first = typeEvaluator.evalSize(each.sequence),
                                last = typeEvaluator.evalSize(each.last);
    if (!first || !last)
      return std::nullopt;
    std::optional<int64_t> from = first->constant(), to = last->constant();
    if (!from || !to) {
      reporter.error(each.range, "not-static", "a static range needs bounds known at compile time");
      return std::nullopt;
    }
    if (*to > *from && uint64_t(*to) - uint64_t(*from) > kMaxStaticIterations) {
      reporter.error(each.range, "static-size",
                     "a static range of more than {} values is too large", kMaxStaticIterations);
      return std::nullopt;
    }
    std::vector<Entity> values;
    for (int64_t i = *from; i < *to; ++i)
      values.push_back(Entity(i));
    return values;
  }
  Entity value = evaluator.eval(each.sequence);
  if (value.isPoison())
    return std::nullopt;
  const Group *group = value.asGroup();
  if (!group) {
    reporter.error(each.sequence->range, "not-a-group", "expected a group or a range, but got {}",
                   value.describe());
    return std::nullopt;
  }
  if (!meter.spend(group->elements.size(), each.range))
    return std::nullopt;
  return group->elements;
}

bool Binder::forEach(const ast::Each &each, function_ref<bool(const Entity &)> body) {
  std::optional<std::vector<Entity>> values = sequence(each);
  if (!values)
    return false;
  // The names are local to the loop.
  std::vector<std::pair<StringRef, std::optional<Local>>> outer;
  for (const ast::Name &name : each.names) {
    Local *local = context.activation->find(name.text);
    outer.emplace_back(name.text, local ? std::optional<Local>(*local) : std::nullopt);
  }
  llvm::scope_exit restore([&, f = context.activation] {
    for (auto &[name, local] : outer) {
      if (local)
        f->locals[name] = *local;
      else
        f->locals.erase(name);
    }
  });
  for (const Entity &value : *values) {
    if (!meter.spend(kStepsOfIteration, each.range))
      return false;
    size_t depth = context.activation->loopVariables.size();
    if (each.names.size() == 1) {
      bindLocal(each.names.front(), value);
    } else {
      const Group *parts = value.asGroup();
      if (!parts || parts->elements.size() != each.names.size()) {
        reporter.error(each.range, "wrong-count", "expected {} values per step, but got {}",
                       each.names.size(),
                       parts ? std::to_string(parts->elements.size()) : value.describe());
        return false;
      }
      for (auto [name, part] : zip(each.names, parts->elements))
        bindLocal(name, part);
    }
    for (const ast::Name &name : each.names)
      if (Local *local = context.activation->find(name.text))
        if (Variable *const *variable = local->value.get<Variable *>())
          context.activation->loopVariables.push_back(*variable);
    bool goesOn = body(value);
    context.activation->loopVariables.resize(depth);
    if (!goesOn)
      break;
  }
  return true;
}

void Binder::bindLocal(const ast::Name &name, const Entity &value, const ast::Type *type) {
  DataflowScope *dataflow = context.activation->dataflow;
  if (dataflow && context.activation->block == dataflow->block)
    if (auto it = dataflow->bindings.find(name.text); it != dataflow->bindings.end()) {
      it->second.value = value;
      return;
    }
  if (name && !name.isDiscard())
    context.activation->locals[name.text] = {value, name.range, type, context.activation->block};
}

void Binder::bindTarget(const ast::Target &target, const Entity &value, SourceRange at) {
  StringRef name = target.name.text;
  Entity bound = value;
  if (value.is<Nothing>())
    bound = reporter.fail(at, "no-value", "this call returns no value for '{}'", name);
  if (!context.activation->find(name) && !target.name.isDiscard() && !bound.isPoison())
    if (std::optional<Entity> outer =
            evaluator.lookupDeclared(name, target.name.range, /*inBlocks=*/false);
        outer && outer->is<Variable *>()) {
      reporter
          .error(target.name.range, "shadows-variable",
                 "'{}' is a variable, and '=' only binds a name", name)
          .help("assign({}, ..) writes the variable", name);
      bound = Poison();
    }
  if (!checkRebinding(target.name))
    bound = Entity();
  if (target.type && !bound.isPoison())
    bound = unifier.checkResult(*target.type, bound, at, fmt::format("'{}'", name));
  tensorEmitter.readNow(bound, at);
  bindLocal(target.name, bound, target.type);
}

/// Binds the names of a block that cannot be expanded to poison, to avoid further errors.
void Binder::poisonBindings(const ast::Block *block) {
  if (!block)
    return;
  for (const ast::Stmt *stmt : block->statements) {
    if (const auto *bind = dyn_cast<ast::BindStmt>(stmt)) {
      for (const ast::Target &target : bind->targets)
        bindLocal(target.name, Entity());
    } else if (const auto *branch = dyn_cast<ast::StaticIfStmt>(stmt)) {
      poisonBindings(branch->thenBlock);
      poisonBindings(branch->elseBlock);
    } else if (const auto *loop = dyn_cast<ast::StaticForStmt>(stmt)) {
      poisonBindings(loop->body);
    } else if (const auto *let = dyn_cast<ast::LetDecl>(stmt)) {
      for (const ast::Binding &binding : let->bindings)
        bindLocal(binding.name, Entity());
    } else if (isa<ast::ReturnStmt>(stmt)) {
      context.activation->result = Entity();
    }
  }
}

} // namespace tfc::text
