// Sizes that the data decide: where they are bound, what they are called, what is known of them.
#include "dialects/dfg/SizeOps.h"
#include "frontend/text/ElaborateImpl.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace llvm;

namespace tfc::text {

const Elaborator::RunTimeSize *Elaborator::findRunTimeSize(const dfg::DimExpr &size) const {
  std::optional<StringRef> name = size.asSymbol();
  const auto *it = name ? find_if(runTimeSizes, [&](auto &known) { return known.name == *name; })
                        : runTimeSizes.end();
  return it == runTimeSizes.end() ? nullptr : it;
}

/// Whether a name in the size is bound while the entry runs.
bool Elaborator::isRunTimeSize(const dfg::DimExpr &size) const {
  SmallVector<std::string> names;
  size.collectSymbols(names);
  return any_of(names, [&](const std::string &name) {
    return findRunTimeSize(dfg::DimExpr::symbol(name)) != nullptr;
  });
}

/// A name of this entry that no other size has: `name`, or with a number behind it.
std::string Elaborator::uniqueSizeName(StringRef name) const {
  auto isTaken = [&](const std::string &candidate) {
    return (entryHeader && is_contained(entryHeader->symbols, candidate)) ||
           findRunTimeSize(dfg::DimExpr::symbol(candidate)) || variablesByPath.contains(candidate);
  };
  std::string unique = name.str();
  for (unsigned i = 2; isTaken(unique); ++i)
    unique = (name + "_" + Twine(i)).str();
  return unique;
}

/// `k = bounded(count, n)`: a number that arrives at run time, as a size.
Entity Elaborator::callBounded(ArrayRef<Argument> args, const ast::CallExpr &call) {
  if (args.size() != 2 || args[0].label || args[1].label)
    return fail(call.range, "wrong-count",
                "'bounded' takes a count and the most that it can be, as in bounded(count, 100)");
  if (args[0].value.isNumber())
    return fail(args[0].range, "operand-kind",
                "'bounded' makes a size of a number that arrives at run time, but " +
                    args[0].value.describe() + " is known already");
  std::optional<dfg::DimExpr> bound = asSize(args[1].value, args[1].expr);
  mlir::Value count = toTensor(args[0].value, {}, args[0].range);
  if (!bound || !count || !requireEntry(call.range))
    return Poison();
  mlir::Type element = dfg::elementTypeOf(count.getType());
  bool isCount = element.isSignlessInteger(32) || element.isSignlessInteger(64);
  if (!isCount || cast<mlir::RankedTensorType>(count.getType()).getRank() != 0)
    return fail(args[0].range, "operand-kind",
                "'bounded' takes one i32 or i64, but got " + dfg::toText(count.getType()));
  if (dfg::isNonNegative(*bound) == false)
    return fail(args[1].range, "not-a-size", "a size cannot be negative: " + bound->str());
  mlir::Operation *around = builder.currentBlock()->getParentOp();
  if (isa<dfg::DataflowOp>(around) || around->getParentOfType<dfg::DataflowOp>())
    return fail(call.range, "misplaced",
                "a size that the data decide cannot be bound in a 'dataflow' block");
  std::string name = uniqueSizeName(bindingName.empty() ? "k" : StringRef(bindingName));
  SourceRange at = call.range;
  for (const Frame *f = frame; f && f->caller; f = f->caller)
    at = f->callSite;
  mlir::Operation *op = builder.bindSize(count, name, *bound, locate(call.range));
  runTimeSizes.push_back({name, *bound, at, op});
  return Entity::dim(dfg::DimExpr::symbol(name));
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// Gives a size another name, in all that has been built.
void Elaborator::renameSize(std::string from, const std::string &to) {
  auto rename = [&](const dfg::DimExpr &size) {
    return *size.substitute([&](StringRef name) -> std::optional<dfg::DimExpr> {
      return dfg::DimExpr::symbol(name == from ? StringRef(to) : name);
    });
  };
  mlir::AttrTypeReplacer replacer;
  replacer.addReplacement([&](dfg::DimsAttr dims) -> std::pair<mlir::Attribute, mlir::WalkResult> {
    dfg::Shape renamed;
    for (const dfg::DimExpr &size : dims.getExprs())
      renamed.push_back(rename(size));
    return {dfg::DimsAttr::get(context, renamed), mlir::WalkResult::skip()};
  });
  replacer.recursivelyReplaceElementsIn(builder.currentEntry(), /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false, /*replaceTypes=*/true);
  for (RunTimeSize &size : runTimeSizes) {
    if (size.name == from)
      size.name = to;
    size.bound = rename(size.bound);
  }
  for (const std::string &dim : frame->dims)
    if (Local *local = frame->find(dim))
      if (std::optional<dfg::DimExpr> size = local->value.asDim())
        local->value = Entity::dim(rename(*size));
}

static StringRef plainName(const ast::Expr *size) {
  if (const auto *binary = dyn_cast_or_null<ast::BinaryExpr>(size);
      binary && binary->op == ast::BinaryOp::Le)
    size = binary->lhs;
  const auto *name = dyn_cast_or_null<ast::NameExpr>(size);
  return name ? name->name : StringRef();
}

/// Sizes that this statement or function has bound are called what its author calls them in the
/// type of the result.
void Elaborator::nameNewSizes(const ast::Type &type) {
  if (newSizes == runTimeSizes.size() || !builder.currentEntry())
    return;
  for (const ast::IndexItem &item : type.items) {
    StringRef name = plainName(item.value);
    Local *local = name.empty() || name == "_" ? nullptr : frame->find(name);
    std::optional<dfg::DimExpr> value = local ? local->value.asDim() : std::nullopt;
    const RunTimeSize *size = value ? findRunTimeSize(*value) : nullptr;
    bool isNew = size && size_t(size - runTimeSizes.begin()) >= newSizes;
    if (isNew && size->name != name)
      renameSize(size->name, uniqueSizeName(name));
  }
}

//===----------------------------------------------------------------------===//
// What is known of them
//===----------------------------------------------------------------------===//

/// The least and the most that a size can be, over the sizes that the call brings.
std::pair<dfg::DimExpr, dfg::DimExpr> Elaborator::limitsOf(const dfg::DimExpr &size) const {
  if (runTimeSizes.empty())
    return {size, size};
  return size.limits([&](StringRef name) -> std::pair<dfg::DimExpr, dfg::DimExpr> {
    dfg::DimExpr symbol = dfg::DimExpr::symbol(name);
    if (const RunTimeSize *known = findRunTimeSize(symbol))
      return {dfg::DimExpr(0), limitsOf(known->bound).second};
    return {symbol, symbol};
  });
}

/// `k <= n` in a type: memory is planned for the bound, and the call fails beyond it.
bool Elaborator::boundSize(const ast::BinaryExpr &expr, const dfg::DimExpr &size,
                           function_ref<bool(const std::string &)> mismatch) {
  std::optional<dfg::DimExpr> bound = evalSize(expr.rhs);
  if (!bound)
    return false;
  std::optional<bool> known = compareSizes(ast::BinaryOp::Le, size, *bound);
  if (known && *known)
    return true;
  if (known)
    return mismatch(size.str() + " is larger than " + bound->str());
  const RunTimeSize *found = findRunTimeSize(size);
  if (!found || size_t(found - runTimeSizes.begin()) < newSizes || isRunTimeSize(*bound)) {
    recordFact(ast::BinaryOp::Le, size, *bound, expr.range);
    return true;
  }
  auto op = cast<dfg::BindSizeOp>(found->op);
  op.setBoundAttr(dfg::DimsAttr::get(context, {*bound}));
  runTimeSizes[found - runTimeSizes.begin()].bound = *bound;
  return true;
}

/// Checks a fact about sizes that the data decide where it is stated.
void Elaborator::checkFact(ast::BinaryOp op, const dfg::DimExpr &lhs, const dfg::DimExpr &rhs,
                           SourceRange at) {
  mlir::Location location = locate(at);
  mlir::Type i64 = mlir::IntegerType::get(context, 64);
  StringRef name = StringSwitch<StringRef>(ast::spelling(op))
                       .Case("==", "equal")
                       .Case("!=", "not_equal")
                       .Case("<", "less")
                       .Case("<=", "less_equal")
                       .Case(">", "greater")
                       .Default("greater_equal");
  mlir::Value values[] = {builder.size(lhs, i64, location), builder.size(rhs, i64, location)};
  if (mlir::Value holds = emit(name, {}, values, {}, at))
    builder.check(holds,
                  lhs.str() + " " + ast::spelling(op).str() + " " + rhs.str() + " does not hold",
                  dfg::Failure::InvalidArgument, location);
}

/// Reports a value that leaves the block in which a size of its type is bound. `outside` is the
/// number of sizes that were bound before the block.
bool Elaborator::leavesBlock(mlir::Type type, size_t outside, StringRef keyword, SourceRange at) {
  for (const dfg::DimExpr &size : dfg::shapeOf(type)) {
    SmallVector<std::string> names;
    size.collectSymbols(names);
    for (const std::string &name : names) {
      const RunTimeSize *found = findRunTimeSize(dfg::DimExpr::symbol(name));
      if (!found || size_t(found - runTimeSizes.begin()) < outside)
        continue;
      error(at, "size-escapes",
            "a value of type " + dfg::toText(type) + " cannot leave this '" + keyword +
                "', in which '" + name + "' is bound")
          .note(found->at, "'" + name + "' is bound here, in each run of the block anew")
          .help("reduce it to a size that is known outside, or append its rows to a list");
      return true;
    }
  }
  return false;
}

/// Says where sizes are bound that an error is about.
void Elaborator::noteRunTimeSizes(Diagnostic &diagnostic, ArrayRef<std::string> names) {
  for (const std::string &name : names)
    if (const RunTimeSize *size = findRunTimeSize(dfg::DimExpr::symbol(name)))
      diagnostic.note(size->at, "'" + name + "', at most " + size->bound.str() +
                                    ", is found when the entry runs, here");
}

} // namespace tfc::text
