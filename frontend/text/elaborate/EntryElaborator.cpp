// Elaborates entries: declares their sizes and feeds, applies their facts, and runs their bodies.
// An entry may wait for another one, so this file also decides their order.
#include "frontend/text/elaborate/EntryElaborator.h"

#include "dialects/dfg/SizeLimits.h"
#include "frontend/text/elaborate/CallEvaluator.h"
#include "frontend/text/elaborate/FactChecker.h"
#include "frontend/text/elaborate/FactSolver.h"
#include "frontend/text/elaborate/ModuleLoader.h"
#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/elaborate/SizeScope.h"
#include "frontend/text/elaborate/TensorEmitter.h"
#include "frontend/text/elaborate/TypeEvaluator.h"
#include "frontend/text/syntax/Lexer.h"

using namespace llvm;

namespace tfc::text {

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

/// The size in `n <= 256`, and the bound.
static std::pair<const ast::Expr *, const ast::Expr *> splitBound(const ast::Expr *expr) {
  if (const auto *binary = dyn_cast<ast::BinaryExpr>(expr);
      binary && binary->op == ast::BinaryOp::Le)
    return {binary->lhs, binary->rhs};
  return {expr, nullptr};
}

/// Declares every undefined name in a feed's size as a dimension of the entry.
void EntryElaborator::declareSymbols(const ast::Expr *expr, EntryHeader &header) {
  SmallVector<StringRef> names;
  typeEvaluator.collectUnbound(expr, names);
  for (StringRef name : names) {
    if (name == "_") {
      reporter.error(expr->range, "not-a-size", "a size of a feed needs a name");
      continue;
    }
    header.symbols.push_back(name.str());
    context.activation->locals[name] = {Entity(dfg::DimExpr::symbol(name)), expr->range, nullptr};
    context.activation->dims.push_back(name.str());
  }
}

bool EntryElaborator::bindFeedSizes(const ast::Type &type, EntryHeader &header) {
  bool ok = true;
  for (const ast::IndexItem &item : type.items) {
    if (item.kind != ast::IndexItemKind::Element) {
      if (item.kind != ast::IndexItemKind::Slice) // reported by the parser
        reporter.error(item.range, "not-a-size", "a feed has a fixed number of axes");
      ok = false;
      continue;
    }
    declareSymbols(splitBound(item.value).first, header);
  }
  return ok;
}

/// The type of a feed; adds its bounds to the header.
std::optional<TensorType> EntryElaborator::feedType(const ast::Type &type,
                                                    const EntryHeader &header) {
  ast::Type scalar = type;
  scalar.items = {};
  std::optional<TensorType> result = typeEvaluator.evalType(scalar);
  if (!result)
    return std::nullopt;
  for (const ast::IndexItem &item : type.items) {
    auto [size, bound] = splitBound(item.value);
    std::optional<dfg::DimExpr> value = typeEvaluator.evalSize(size);
    if (!value)
      return std::nullopt;
    if (value->constant().value_or(0) < 0) {
      reporter.error(item.range, "not-a-size", "a size cannot be negative: {}", value->str())
          .help(kSizeNameHelp);
      return std::nullopt;
    }
    result->shape.push_back(*value);
    if (!bound)
      continue;
    std::optional<dfg::DimExpr> limit = typeEvaluator.evalSize(bound);
    if (!limit)
      return std::nullopt;
    if (!isa<ast::NameExpr>(size) || !limit->constant() || *limit->constant() < 0) {
      Diagnostic &diagnostic =
          reporter.error(item.range, "bad-bound", "a bound is a name, '<=' and a number");
      if (isa<ast::NameExpr>(size) && !limit->constant())
        diagnostic.help("a comparison of sizes is a fact: where {}",
                        context.sources.oneLine(item.range));
      return std::nullopt;
    }
    if (!factChecker.checkWhere({item.value}, fmt::format("entry '{}'", header.name)))
      return std::nullopt;
  }
  if (!typeEvaluator.checkMemory(*result, type.range))
    return std::nullopt;
  return result;
}

/// Returns true if a name stands for itself, perhaps as a multiple of a number.
bool EntryElaborator::isDimension(StringRef name) {
  std::optional<dfg::DimExpr> value = context.activation->locals[name].value.asDim();
  return value && value->plain() == dfg::DimExpr::symbol(name);
}

/// Returns true if every dimension can be computed from the sizes of the feeds, one after the
/// other.
bool EntryElaborator::checkSolvable(const ast::FnDecl &entry, const EntryHeader &header) {
  std::set<std::string> known;
  auto solve = [&](const dfg::DimExpr &size) {
    SmallVector<std::string> names;
    size.collectSymbols(names);
    erase_if(names, [&](const std::string &name) { return known.count(name) != 0; });
    if (names.size() != 1)
      return false;
    auto at = [&](int64_t probe) {
      return size.substitute([&](StringRef name) -> std::optional<dfg::DimExpr> {
        return name == names.front() ? dfg::DimExpr(probe) : dfg::DimExpr::symbol(name);
      });
    };
    std::optional<dfg::DimExpr> zero = at(0), one = at(1), two = at(2);
    if (!zero || !one || !two || !(*two - *one == *one - *zero))
      return false;
    std::optional<int64_t> scale = (*one - *zero).constant();
    return scale && *scale != 0 && known.insert(names.front()).second;
  };
  bool progress = true;
  while (progress) {
    progress = false;
    for (const EntryValue &feed : header.feeds)
      for (const dfg::DimExpr &size : dfg::shapeOf(feed.type))
        progress |= solve(size.plain());
  }
  bool ok = true;
  for (const std::string &symbol : header.symbols) {
    if (known.count(symbol) || !isDimension(symbol))
      continue;
    reporter
        .error(context.activation->locals[symbol].at, "unsolvable-dimension",
               "'{}' cannot be determined from the sizes of the feeds of '{}'", symbol,
               entry.name.text)
        .help("add a feed that has '{}' as one of its sizes", symbol);
    ok = false;
  }
  return ok;
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

/// Applies facts of the file that mention only dimensions of this entry.
void EntryElaborator::applyFileFacts(Module &module) {
  for (const ast::Expr *fact : module.facts) {
    SmallVector<StringRef> unknown;
    const auto *binary = dyn_cast<ast::BinaryExpr>(fact);
    bool isFact = binary && binary->op >= ast::BinaryOp::Eq && binary->op <= ast::BinaryOp::Ge;
    if (!isFact) {
      reporter.error(fact->range, "bad-bound",
                     "'dim' states facts about dimensions, as in dim n <= 256");
      continue;
    }
    typeEvaluator.collectUnbound(fact, unknown);
    if (unknown.empty())
      factChecker.checkWhere({const_cast<ast::Expr *>(fact)}, "the file");
  }
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

/// The second of two results with the same name, if any: callers access results by name.
static const ast::Param *findRepeated(ArrayRef<ast::Param> results) {
  StringSet<> names;
  const auto *it = find_if(
      results, [&](const ast::Param &result) { return !names.insert(result.name.text).second; });
  return it == results.end() ? nullptr : it;
}

/// The facts of an entry and of its file, with the bounds in the types of feeds.
static SmallVector<const ast::Expr *> factsOf(const Module &module, const ast::FnDecl &entry) {
  SmallVector<const ast::Expr *> facts(entry.where.begin(), entry.where.end());
  for (const ast::Param &param : entry.params)
    for (const ast::IndexItem &item : param.type->items)
      if (item.value)
        facts.push_back(item.value);
  append_range(facts, module.facts);
  return facts;
}

/// Sorts the dimensions by their first mention in the types of the feeds, which may mention others
/// than the author wrote there.
static void orderByTypes(EntryHeader &header) {
  StringMap<size_t> mentioned;
  for (const EntryValue &feed : header.feeds)
    for (const dfg::DimExpr &size : dfg::shapeOf(feed.type))
      size.forEachSymbol([&](StringRef name) { mentioned.try_emplace(name, mentioned.size()); });
  auto positionOf = [&](StringRef name) {
    auto it = mentioned.find(name);
    return it == mentioned.end() ? mentioned.size() : it->second;
  };
  llvm::stable_sort(header.symbols, [&](const std::string &a, const std::string &b) {
    return positionOf(a) < positionOf(b);
  });
}

bool EntryElaborator::bindFeeds(const Module &module, const ast::FnDecl &entry,
                                ArrayRef<StatedFact> known, EntryHeader &header) {
  bool ok = true;
  for (const ast::Param &param : entry.params) {
    if (param.isStatic || param.isVar || param.defaultValue || isStaticType(*param.type)) {
      reporter.error(param.range, "bad-feed",
                     "a feed of an entry is a tensor that each call passes, without a default");
      ok = false;
      continue;
    }
    ok &= bindFeedSizes(*param.type, header);
  }
  if (const ast::Param *repeated = findRepeated(entry.results)) {
    reporter.error(repeated->name.range, "duplicate-name", "'{}' is declared twice",
                   repeated->name.text);
    ok = false;
  }
  factSolver.solve(factsOf(module, entry), known);
  if (!ok)
    return false;
  StringSet<> names;
  for (const ast::Param &param : entry.params) {
    std::optional<TensorType> type = feedType(*param.type, header);
    if (!type) {
      ok = false;
      continue;
    }
    if (!names.insert(param.name.text).second) {
      reporter.error(param.name.range, "duplicate-name", "'{}' is declared twice", param.name.text);
      ok = false;
    }
    header.feeds.push_back({param.name.text.str(), dfg::tensorOf(type->shape, type->element),
                            reporter.locate(param.name.range)});
  }
  // A name that an equality replaced is not a dimension.
  size_t declared = header.symbols.size();
  llvm::erase_if(header.symbols, [&](const std::string &name) {
    std::optional<dfg::DimExpr> value = context.activation->locals[name].value.asDim();
    if (value && !isDimension(name))
      header.solved.push_back({dfg::DimExpr::symbol(name), dfg::Comparison::Equal, value->plain()});
    return !isDimension(name);
  });
  if (header.symbols.size() != declared)
    orderByTypes(header);
  return ok && checkSolvable(entry, header);
}

/// Returns true if a fact is about sizes that only the types of the results mention, which are
/// known only when the entry has run.
bool EntryElaborator::isAboutResults(const ast::Expr *fact, const ast::FnDecl &entry) {
  SmallVector<StringRef> unknown, named;
  typeEvaluator.collectUnbound(fact, unknown);
  for (const ast::Param &result : entry.results)
    for (const ast::IndexItem &item : result.type->items)
      if (item.value)
        typeEvaluator.collectUnbound(item.value, named);
  return !unknown.empty() &&
         all_of(unknown, [&](StringRef name) { return is_contained(named, name); });
}

void EntryElaborator::elaborateKnowing(Module &module, const ast::FnDecl &entry,
                                       ArrayRef<StatedFact> known) {
  if (context.budget.isStopped() || entry.isBroken)
    return;
  Budget::Scope expansion(context.budget,
                          {Expansion::Kind::Entry, entry.name.text, entry.name.range});
  std::shared_ptr<Activation> entryActivation = context.newActivation(&module, nullptr);
  entryActivation->fn = &entry;
  EntryHeader header;
  header.name = entry.name.text.str();
  header.doc = entry.doc.str();
  SaveAndRestore<Activation *> inner(context.activation, entryActivation.get());
  SaveAndRestore<EntryHeader *> current(context.entry.header, &header);
  context.entry.number = ++context.entriesSoFar;
  llvm::scope_exit leave([&] { context.entry.number = 0; });
  context.entry.name = header.name;
  context.bindingName.clear();
  context.entry.reads.clear();
  context.entry.draws.clear();
  context.entry.callNumber = nullptr;
  context.entry.loops.clear();
  context.entry.lowerBounds.clear();
  context.entry.facts.clear();
  context.entry.ownFacts = 0;
  context.entry.reasons.clear();
  context.entry.runTimeSizes.clear();
  context.entry.newSizes = 0;
  context.entry.needsSize = false;
  moduleLoader.checkAnnotations(entry, {"device", "colocate"});
  unsigned errorsBefore = context.diagnostics.errorCount();
  llvm::scope_exit note([&] {
    context.program.hasFailedEntries |= context.diagnostics.errorCount() != errorsBefore;
  });
  if (!bindFeeds(module, entry, known, header))
    return;
  applyFileFacts(module);
  std::string what = fmt::format("entry '{}'", entry.name.text);
  SmallVector<ast::Expr *> early, late;
  for (ast::Expr *fact : entry.where)
    (isAboutResults(fact, entry) ? late : early).push_back(fact);
  if (!factChecker.checkWhere(early, what))
    return;
  dfg::EntryOp op = context.builder.beginEntry(header, reporter.locate(entry.name.range));
  for (auto [param, argument] : zip(entry.params, op.getBody().getArguments()))
    context.activation->locals[param.name.text] = {Entity(mlir::Value(argument)), param.name.range,
                                                   param.type};
  context.entry.ownFacts = context.entry.facts.size();
  Entity result = callEvaluator.runBody(*entryActivation, {});
  if (!result.isPoison() && !factChecker.checkWhere(late, what))
    result = Entity();
  if (result.isPoison() || context.diagnostics.errorCount() != errorsBefore) {
    context.builder.dropEntry();
    return;
  }
  finishEntry(entry, header, result);
}

void EntryElaborator::finishEntry(const ast::FnDecl &entry, const EntryHeader &header,
                                  const Entity &result) {
  std::vector<Entity> values;
  if (const Group *group = result.asGroup())
    values = group->elements;
  else if (!result.is<Nothing>())
    values.push_back(result);
  std::vector<EntryValue> results;
  SmallVector<mlir::Value> tensors;
  const Activation &activation = *context.activation;
  bool isEachPlaced = activation.resultsAt.size() == values.size();
  for (auto [i, value] : enumerate(values)) {
    mlir::Value tensor = tensorEmitter.toTensor(
        value, {}, isEachPlaced ? activation.resultsAt[i] : activation.resultAt);
    if (!tensor) {
      context.builder.dropEntry();
      return;
    }
    std::string name = i < entry.results.size() ? entry.results[i].name.text.str() : "result";
    results.push_back({name, cast<mlir::RankedTensorType>(tensor.getType()), tensor.getLoc()});
    tensors.push_back(tensor);
  }
  context.builder.setFacts(header);
  context.builder.finishEntry(results, tensors, reporter.locate(entry.name.range));
}

//===----------------------------------------------------------------------===//
// All entries of a file
//===----------------------------------------------------------------------===//

namespace {
/// The errors that were reported before an entry is elaborated.
class Trial {
public:
  Trial(Context &context, Reporter &reporter)
      : context(context), reporter(reporter), before(context.diagnostics.size()),
        errorsBefore(context.diagnostics.errorCount()), hadFailed(context.program.hasFailedEntries),
        reported(reporter.exchangeReported({})) {
    reporter.exchangeReported(reported);
  }

  bool hasFailed() const { return context.diagnostics.errorCount() != errorsBefore; }
  /// Takes back what has been reported since.
  void undo() {
    context.diagnostics.takeBack(before);
    context.program.hasFailedEntries = hadFailed;
    reporter.exchangeReported(std::move(reported));
  }

private:
  Context &context;
  Reporter &reporter;
  size_t before;
  unsigned errorsBefore;
  bool hadFailed;
  Reporter::Reported reported;
};
} // namespace

/// Adds the equalities in `facts`, and the facts next to them, that `known` lacks. Returns false if
/// there is no new equality.
static bool addFacts(ArrayRef<StatedFact> facts, std::vector<StatedFact> &known) {
  size_t before = known.size();
  bool hasEquality = false;
  for (const StatedFact &stated : facts) {
    auto isSame = [&](const StatedFact &other) { return other.fact == stated.fact; };
    if (any_of(ArrayRef(known).take_front(before), isSame))
      continue;
    known.push_back(stated);
    hasEquality |= stated.fact.comparison == dfg::Comparison::Equal;
  }
  return hasEquality;
}

/// Erases the operation of the entry that has just been elaborated, unless it was dropped.
static void eraseLast(mlir::ModuleOp module, StringRef name) {
  mlir::Block &body = *module.getBody();
  auto last = body.empty() ? dfg::EntryOp() : dyn_cast<dfg::EntryOp>(body.back());
  if (last && last.getSymName() == name)
    last.erase();
}

/// The facts of the functions that an entry calls hold in all of it, because each call of the entry
/// checks them when it starts. If there are equalities among them, the entry is elaborated again,
/// and proofs use them.
void EntryElaborator::elaborateEntry(Module &module, const ast::FnDecl &entry) {
  std::vector<StatedFact> known, enough;
  bool hasSucceeded = false;
  while (true) {
    Trial trial(context, reporter);
    elaborateKnowing(module, entry, known);
    if (hasSucceeded && trial.hasFailed()) {
      trial.undo();
      elaborateKnowing(module, entry, enough);
      return;
    }
    hasSucceeded = !trial.hasFailed();
    enough = known;
    if (context.entry.needsSize || context.budget.isStopped() ||
        !addFacts(ArrayRef(context.entry.facts).drop_front(context.entry.ownFacts), known))
      return;
    eraseLast(context.builder.getModule(), entry.name.text);
    trial.undo();
  }
}

/// Elaborates an entry. Returns true, without errors, if it needs a size of an instance that
/// another entry may bind.
bool EntryElaborator::mustWait(Module &module, const ast::FnDecl &entry) {
  Trial trial(context, reporter);
  elaborateEntry(module, entry);
  if (!context.entry.needsSize)
    return false;
  trial.undo();
  return true;
}

/// Sorts the operations of entries that waited for others.
void EntryElaborator::restoreOrder(ArrayRef<const ast::FnDecl *> entries) {
  mlir::SymbolTable symbols(context.builder.getModule());
  for (const ast::FnDecl *entry : entries)
    if (mlir::Operation *op = symbols.lookup(entry->name.text))
      op->moveBefore(context.builder.getModule().getBody(),
                     context.builder.getModule().getBody()->end());
}

void EntryElaborator::elaborateEntries(Module &module) {
  SmallVector<const ast::FnDecl *> entries;
  for (const ast::Stmt *item : module.file->items)
    if (const auto *fn = dyn_cast<ast::FnDecl>(item); fn && fn->isEntry)
      entries.push_back(fn);
  SmallVector<const ast::FnDecl *> waiting = entries;
  size_t before;
  do {
    before = waiting.size();
    erase_if(waiting, [&](const ast::FnDecl *entry) { return !mustWait(module, *entry); });
  } while (!waiting.empty() && waiting.size() < before);
  for (const ast::FnDecl *entry : waiting)
    elaborateEntry(module, *entry);
  if (before < entries.size())
    restoreOrder(entries);
}

} // namespace tfc::text
