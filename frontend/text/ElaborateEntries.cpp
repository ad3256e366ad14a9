#include "dialects/dfg/SizeLimits.h"
#include "frontend/text/ElaborateImpl.h"

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

/// Gives every name in a feed's size that means nothing else a dimension of the entry.
void Elaborator::declareSymbols(const ast::Expr *expr, EntryHeader &header) {
  SmallVector<StringRef> names;
  collectUnbound(expr, names);
  for (StringRef name : names) {
    if (name == "_") {
      error(expr->range, "not-a-size", "a size of a feed needs a name");
      continue;
    }
    header.symbols.push_back(name.str());
    frame->locals[name] = {Entity(dfg::DimExpr::symbol(name)), expr->range, nullptr};
    frame->dims.push_back(name.str());
  }
}

static void addBound(std::vector<std::pair<std::string, int64_t>> &bounds, StringRef name,
                     int64_t value, bool isUpper) {
  for (auto &[other, bound] : bounds)
    if (other == name) {
      bound = isUpper ? std::min(bound, value) : std::max(bound, value);
      return;
    }
  bounds.emplace_back(name.str(), value);
}

bool Elaborator::bindFeedSizes(const ast::Type &type, EntryHeader &header) {
  bool ok = true;
  for (const ast::IndexItem &item : type.items) {
    if (item.kind != ast::IndexItemKind::Element) {
      error(item.range, "not-a-size", "a feed has a fixed number of axes");
      ok = false;
      continue;
    }
    declareSymbols(splitBound(item.value).first, header);
  }
  return ok;
}

/// The shape of a feed; its bounds go to the header.
std::optional<TensorType> Elaborator::feedType(const ast::Type &type, EntryHeader &header) {
  ast::Type scalar = type;
  scalar.items = {};
  std::optional<TensorType> result = evalType(scalar);
  if (!result)
    return std::nullopt;
  for (const ast::IndexItem &item : type.items) {
    auto [size, bound] = splitBound(item.value);
    std::optional<dfg::DimExpr> value = evalSize(size);
    if (!value)
      return std::nullopt;
    if (value->constant().value_or(0) < 0) {
      error(item.range, "not-a-size", "a size cannot be negative: " + value->str());
      return std::nullopt;
    }
    result->shape.push_back(*value);
    if (!bound)
      continue;
    std::optional<dfg::DimExpr> limit = evalSize(bound);
    if (!limit)
      return std::nullopt;
    std::optional<StringRef> name = value->asSymbol();
    if (!name || !limit->constant() || *limit->constant() < 0) {
      error(item.range, "bad-bound", "a bound is a name, '<=' and a number");
      return std::nullopt;
    }
    addBound(header.bounds, *name, *limit->constant(), /*isUpper=*/true);
  }
  mlir::Type tensor = dfg::tensorOf(result->shape, result->element);
  if (dfg::isTooLarge(tensor)) {
    error(type.range, "too-large", "no memory holds " + dfg::toText(tensor));
    return std::nullopt;
  }
  return result;
}

/// Whether every dimension follows from the sizes of the feeds, one after the other.
bool Elaborator::checkSolvable(const ast::FnDecl &entry, const EntryHeader &header) {
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
        progress |= solve(size);
  }
  bool ok = true;
  for (const std::string &symbol : header.symbols) {
    if (known.count(symbol) || frame->locals[symbol].value.asDim() != dfg::DimExpr::symbol(symbol))
      continue;
    error(frame->locals[symbol].at, "unsolvable-dimension",
          "'" + symbol + "' cannot be found from the sizes of the feeds of '" + entry.name.text +
              "'")
        .help("a feed of which one size is '" + symbol + "' makes it known");
    ok = false;
  }
  return ok;
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

/// What a `where` says about sizes becomes a bound or a check of each call; else its value.
std::optional<Entity> Elaborator::factValue(const ast::Expr *fact) {
  const auto *binary = dyn_cast<ast::BinaryExpr>(fact);
  if (binary && binary->op == ast::BinaryOp::And) {
    std::optional<Entity> lhs = factValue(binary->lhs), rhs = factValue(binary->rhs);
    if (!lhs || !rhs || lhs->isPoison() || rhs->isPoison())
      return std::nullopt;
    return Entity(lhs->as<bool>() && rhs->as<bool>());
  }
  bool isComparison = binary && binary->op >= ast::BinaryOp::Eq && binary->op <= ast::BinaryOp::Ge;
  if (!isComparison) {
    std::optional<bool> value = evalCondition(fact, "where");
    return value ? std::optional<Entity>(Entity(*value)) : std::nullopt;
  }
  Entity a = eval(binary->lhs), b = eval(binary->rhs);
  if (a.isPoison() || b.isPoison())
    return std::nullopt;
  std::optional<dfg::DimExpr> lhs = a.asDim(), rhs = b.asDim();
  if (!lhs || !rhs) {
    std::optional<Entity> known = staticBinary(binary->op, a, b, binary->opRange);
    if (known && known->is<bool>())
      return known;
    if (!known || !known->isPoison())
      error(fact->range, "not-static",
            "a fact is about sizes and other values known at compile "
            "time");
    return std::nullopt;
  }
  if (std::optional<bool> known = compareSizes(binary->op, *lhs, *rhs))
    return Entity(*known);
  recordFact(binary->op, *lhs, *rhs, fact->range);
  return Entity(true);
}

void Elaborator::recordFact(ast::BinaryOp op, dfg::DimExpr lhs, dfg::DimExpr rhs, SourceRange at) {
  if (!entryHeader)
    return;
  if (isRunTimeSize(lhs - rhs))
    return checkFact(op, lhs, rhs, at);
  std::string text = lhs.str() + " " + ast::spelling(op).str() + " " + rhs.str();
  if (op == ast::BinaryOp::Gt || op == ast::BinaryOp::Ge) {
    std::swap(lhs, rhs);
    op = op == ast::BinaryOp::Gt ? ast::BinaryOp::Lt : ast::BinaryOp::Le;
  }
  bool isOrder = op == ast::BinaryOp::Lt || op == ast::BinaryOp::Le;
  // 0 <= scale * name + offset bounds the name.
  std::optional<dfg::DimExpr::Linear> room =
      isOrder ? (rhs - lhs - dfg::DimExpr(op == ast::BinaryOp::Lt)).asLinear() : std::nullopt;
  if (room && room->scale < 0) {
    int64_t most = divideFloorSigned(room->offset, -room->scale);
    addBound(entryHeader->bounds, room->name, most, /*isUpper=*/true);
    return;
  }
  if (room)
    addBound(lowerBounds, room->name, divideCeilSigned(-room->offset, room->scale),
             /*isUpper=*/false);
  if (!is_contained(entryHeader->where, text))
    entryHeader->where.push_back(text);
}

/// `n == 2 * m` makes n another name for 2 * m.
void Elaborator::substituteEquality(const ast::Expr *fact) {
  const auto *binary = dyn_cast<ast::BinaryExpr>(fact);
  if (!binary)
    return;
  if (binary->op == ast::BinaryOp::And) {
    substituteEquality(binary->lhs);
    substituteEquality(binary->rhs);
    return;
  }
  if (binary->op != ast::BinaryOp::Eq)
    return;
  for (auto [nameExpr, valueExpr] :
       {std::pair(binary->lhs, binary->rhs), std::pair(binary->rhs, binary->lhs)}) {
    const auto *name = dyn_cast<ast::NameExpr>(nameExpr);
    Local *local = name ? frame->find(name->name) : nullptr;
    if (!local || !local->value.asDim() ||
        !(*local->value.asDim() == dfg::DimExpr::symbol(name->name)))
      continue;
    Entity value = eval(valueExpr);
    std::optional<dfg::DimExpr> size = value.asDim();
    if (!size)
      return;
    SmallVector<std::string> names;
    size->collectSymbols(names);
    if (is_contained(names, name->name.str()))
      continue;
    frame->locals[name->name].value = Entity::dim(*size);
    return;
  }
}

/// Facts of the file, where they concern dimensions of this entry only.
void Elaborator::applyFileFacts(Module &module) {
  for (const ast::Stmt *item : module.file->items) {
    const auto *dim = dyn_cast<ast::DimDecl>(item);
    for (const ast::Expr *fact : dim ? dim->facts : ArrayRef<ast::Expr *>()) {
      SmallVector<StringRef> unknown;
      const auto *binary = dyn_cast<ast::BinaryExpr>(fact);
      bool isFact = binary && binary->op >= ast::BinaryOp::Eq && binary->op <= ast::BinaryOp::Ge;
      if (!isFact) {
        error(fact->range, "bad-bound", "'dim' states facts about dimensions, as in dim n <= 256");
        continue;
      }
      collectUnbound(fact, unknown);
      if (unknown.empty())
        checkWhere({const_cast<ast::Expr *>(fact)}, "the file");
    }
  }
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

/// The second of two results of one name, if there are such: callers ask for results by name.
static const ast::Param *findRepeated(ArrayRef<ast::Param> results) {
  StringSet<> names;
  const auto *it = find_if(
      results, [&](const ast::Param &result) { return !names.insert(result.name.text).second; });
  return it == results.end() ? nullptr : it;
}

bool Elaborator::bindFeeds(const ast::FnDecl &entry, EntryHeader &header) {
  bool ok = true;
  for (const ast::Param &param : entry.params) {
    if (param.isStatic || param.isVar || param.defaultValue || isStaticType(*param.type)) {
      error(param.range, "bad-feed",
            "a feed of an entry is a tensor that each call gives, without a default");
      ok = false;
      continue;
    }
    ok &= bindFeedSizes(*param.type, header);
  }
  if (const ast::Param *repeated = findRepeated(entry.results)) {
    error(repeated->name.range, "duplicate-name",
          "'" + repeated->name.text + "' is declared twice");
    ok = false;
  }
  for (const ast::Expr *fact : entry.where)
    substituteEquality(fact);
  if (!ok)
    return false;
  for (const ast::Param &param : entry.params) {
    std::optional<TensorType> type = feedType(*param.type, header);
    if (!type) {
      ok = false;
      continue;
    }
    for (const EntryValue &feed : header.feeds)
      if (feed.name == param.name.text) {
        error(param.name.range, "duplicate-name", "'" + param.name.text + "' is declared twice");
        ok = false;
      }
    header.feeds.push_back({param.name.text.str(), dfg::tensorOf(type->shape, type->element),
                            locate(param.name.range)});
  }
  // What was replaced by an equality is no dimension of its own.
  llvm::erase_if(header.symbols, [&](const std::string &name) {
    return !(frame->locals[name].value.asDim() == dfg::DimExpr::symbol(name));
  });
  return ok && checkSolvable(entry, header);
}

/// Whether a fact is about sizes that only the types of the results name: what these are is known
/// when the entry has run.
bool Elaborator::isAboutResults(const ast::Expr *fact, const ast::FnDecl &entry) {
  SmallVector<StringRef> unknown, named;
  collectUnbound(fact, unknown);
  for (const ast::Param &result : entry.results)
    for (const ast::IndexItem &item : result.type->items)
      if (item.value)
        collectUnbound(item.value, named);
  return !unknown.empty() &&
         all_of(unknown, [&](StringRef name) { return is_contained(named, name); });
}

void Elaborator::elaborateEntry(Module &module, const ast::FnDecl &entry) {
  if (budget.isStopped())
    return;
  Budget::Scope expansion(budget, {Expansion::Kind::Entry, entry.name.text, entry.name.range});
  std::shared_ptr<Frame> entryFrame = newFrame(&module, nullptr);
  entryFrame->fn = &entry;
  EntryHeader header;
  header.name = entry.name.text.str();
  header.doc = entry.doc.str();
  SaveAndRestore<Frame *> inner(frame, entryFrame.get());
  SaveAndRestore<EntryHeader *> current(entryHeader, &header);
  entryNumber = ++entriesSoFar;
  llvm::scope_exit leave([&] { entryNumber = 0; });
  entryName = header.name;
  bindingName.clear();
  reads.clear();
  draws.clear();
  callNumber = nullptr;
  loops.clear();
  lowerBounds.clear();
  runTimeSizes.clear();
  newSizes = 0;
  checkAnnotations(entry, {"device"});
  unsigned errorsBefore = diagnostics.errorCount();
  llvm::scope_exit note([&] { hasFailedEntries |= diagnostics.errorCount() != errorsBefore; });
  if (!bindFeeds(entry, header))
    return;
  applyFileFacts(module);
  std::string what = ("entry '" + entry.name.text + "'").str();
  SmallVector<ast::Expr *> early, late;
  for (ast::Expr *fact : entry.where)
    (isAboutResults(fact, entry) ? late : early).push_back(fact);
  if (!checkWhere(early, what))
    return;
  dfg::EntryOp op = builder.beginEntry(header, locate(entry.name.range));
  for (auto [param, argument] : zip(entry.params, op.getBody().getArguments()))
    frame->locals[param.name.text] = {Entity(mlir::Value(argument)), param.name.range, param.type};
  Entity result = runBody(*entryFrame);
  if (!result.isPoison() && !checkWhere(late, what))
    result = Entity();
  if (result.isPoison() || diagnostics.errorCount() != errorsBefore) {
    builder.dropEntry();
    return;
  }
  finishEntry(entry, header, result);
}

void Elaborator::finishEntry(const ast::FnDecl &entry, const EntryHeader &header,
                             const Entity &result) {
  std::vector<Entity> values;
  if (const Group *group = result.asGroup())
    values = group->elements;
  else if (!result.is<Nothing>())
    values.push_back(result);
  std::vector<EntryValue> results;
  SmallVector<mlir::Value> tensors;
  for (auto [i, value] : enumerate(values)) {
    mlir::Value tensor = toTensor(value, {}, frame->resultAt);
    if (!tensor) {
      builder.dropEntry();
      return;
    }
    std::string name = i < entry.results.size() ? entry.results[i].name.text.str() : "result";
    results.push_back({name, cast<mlir::RankedTensorType>(tensor.getType()), tensor.getLoc()});
    tensors.push_back(tensor);
  }
  builder.setFacts(header);
  builder.finishEntry(results, tensors, locate(entry.name.range));
}

} // namespace tfc::text
