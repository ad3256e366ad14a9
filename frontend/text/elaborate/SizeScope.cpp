// Sizes of the entry being built: their bounds, and those that depend on data.
#include "frontend/text/elaborate/SizeScope.h"

#include "dialects/dfg/SizeOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include <cmath>

using namespace llvm;

namespace tfc::text {

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

void addBound(SizeBounds &bounds, StringRef name, int64_t value, bool isUpper) {
  auto [known, isNew] = bounds.insert({name.str(), value});
  if (!isNew)
    known->second = isUpper ? std::min(known->second, value) : std::max(known->second, value);
}

const RunTimeSize *SizeScope::findRunTimeSize(const dfg::DimExpr &size) const {
  std::optional<StringRef> name = size.asSymbol();
  return name ? context.entry.runTimeSizes.find(*name) : nullptr;
}

/// Returns true if a name in the size is bound while the entry runs.
bool SizeScope::isRunTimeSize(const dfg::DimExpr &size) const {
  SmallVector<std::string> names;
  size.collectSymbols(names);
  return any_of(names, [&](const std::string &name) {
    return context.entry.runTimeSizes.find(name) != nullptr;
  });
}

/// A name of this entry that no other size has: `name`, or `name` and a number.
std::string SizeScope::uniqueSizeName(StringRef name) const {
  auto isTaken = [&](const std::string &candidate) {
    return (context.entry.header && is_contained(context.entry.header->symbols, candidate)) ||
           context.entry.runTimeSizes.find(candidate) ||
           context.program.variablesByPath.contains(candidate);
  };
  std::string unique = name.str();
  for (unsigned i = 2; isTaken(unique); ++i)
    unique = fmt::format("{}_{}", name, i);
  return unique;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// Returns the operation that binds a size in the block that is being built; null if there is none.
static mlir::Operation *findBinder(mlir::Block &block, StringRef name) {
  for (mlir::Operation &op : reverse(block))
    if (auto binder = dyn_cast<dfg::BindSizeOp>(op); binder && binder.getName() == name)
      return binder;
  return nullptr;
}

/// Renames a size that the last statement has bound. Only operations after the one that binds it
/// have the name.
void SizeScope::renameSize(std::string from, const std::string &to) {
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
    return {dfg::DimsAttr::get(context.mlir, renamed), mlir::WalkResult::skip()};
  });
  for (mlir::Operation *op = findBinder(*context.builder.currentBlock(), from); op;
       op = op->getNextNode())
    replacer.recursivelyReplaceElementsIn(op, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
  RunTimeSizes &sizes = context.entry.runTimeSizes;
  size_t first = sizes.numberOf(*sizes.find(from));
  for (size_t number = first; number < sizes.size(); ++number)
    sizes.setBound(number, rename(sizes[number].bound));
  sizes.rename(first, to);
  for (const std::string &dim : context.activation->dims)
    if (Local *local = context.activation->find(dim))
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

/// Renames sizes bound by this statement or function to their names in the type of the result.
void SizeScope::nameNewSizes(const ast::Type &type) {
  if (context.entry.newSizes == context.entry.runTimeSizes.size() ||
      !context.builder.currentEntry())
    return;
  for (const ast::IndexItem &item : type.items) {
    StringRef name = plainName(item.value);
    Local *local = name.empty() || name == "_" ? nullptr : context.activation->find(name);
    std::optional<dfg::DimExpr> value = local ? local->value.asDim() : std::nullopt;
    const RunTimeSize *size = value ? findRunTimeSize(*value) : nullptr;
    bool isNew = size && context.entry.runTimeSizes.numberOf(*size) >= context.entry.newSizes;
    if (isNew && size->name != name)
      renameSize(size->name, uniqueSizeName(name));
  }
}

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

/// Lower and upper bounds of a size in terms of the sizes of the call.
std::pair<dfg::DimExpr, dfg::DimExpr> SizeScope::limitsOf(const dfg::DimExpr &size) const {
  if (context.entry.runTimeSizes.empty())
    return {size, size};
  return size.limits([&](StringRef name) -> std::pair<dfg::DimExpr, dfg::DimExpr> {
    if (const RunTimeSize *known = context.entry.runTimeSizes.find(name))
      return {dfg::DimExpr(0), limitsOf(known->bound).second};
    dfg::DimExpr symbol = dfg::DimExpr::symbol(name);
    return {symbol, symbol};
  });
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

dfg::DimExpr::Interval SizeScope::boundsOf(StringRef symbol) const {
  dfg::DimExpr::Interval interval{0, std::nullopt};
  if (!context.entry.header)
    return interval;
  std::string name = symbol.str();
  const SizeBounds &upper = context.entry.header->bounds, &lower = context.entry.lowerBounds;
  if (const auto *bound = upper.find(name); bound != upper.end())
    interval.second = bound->second;
  if (const auto *bound = lower.find(name); bound != lower.end())
    interval.first = std::max(*interval.first, bound->second);
  return interval;
}

std::optional<bool> SizeScope::compareSizes(ast::BinaryOp op, const dfg::DimExpr &lhs,
                                            const dfg::DimExpr &rhs) {
  auto bounds = [&](StringRef symbol) { return boundsOf(symbol); };
  auto [least, most] = limitsOf(lhs - rhs);
  std::optional<int64_t> low = least.interval(bounds).first, high = most.interval(bounds).second;
  switch (op) {
  case ast::BinaryOp::Eq:
  case ast::BinaryOp::Ne: {
    bool isEq = op == ast::BinaryOp::Eq;
    if (low && high && *low == 0 && *high == 0)
      return isEq;
    if ((low && *low > 0) || (high && *high < 0))
      return !isEq;
    return std::nullopt;
  }
  case ast::BinaryOp::Lt:
    if (high && *high < 0)
      return true;
    return low && *low >= 0 ? std::optional<bool>(false) : std::nullopt;
  case ast::BinaryOp::Le:
    if (high && *high <= 0)
      return true;
    return low && *low > 0 ? std::optional<bool>(false) : std::nullopt;
  case ast::BinaryOp::Gt:
    return compareSizes(ast::BinaryOp::Lt, rhs, lhs);
  case ast::BinaryOp::Ge:
    return compareSizes(ast::BinaryOp::Le, rhs, lhs);
  default:
    return std::nullopt;
  }
}

} // namespace tfc::text
