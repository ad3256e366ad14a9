// Facts about sizes and the attribute that holds one: the meaning of comparisons. Their text is
// parsed in DimExprParser.cpp.

#include "dialects/dfg/Facts.h"
#include "dialects/dfg/Dfg.h"
#include "dialects/dfg/RunTimeSizes.h"
#include "dialects/dfg/SizeComplexity.h"
#include "dialects/dfg/SizeLimits.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tfc::dfg {

//===----------------------------------------------------------------------===//
// Fact
//===----------------------------------------------------------------------===//

StringRef spelling(Comparison comparison) {
  switch (comparison) {
  case Comparison::Equal:
    return "==";
  case Comparison::NotEqual:
    return "!=";
  case Comparison::Less:
    return "<";
  case Comparison::LessEqual:
    return "<=";
  case Comparison::Greater:
    return ">";
  case Comparison::GreaterEqual:
    return ">=";
  }
  llvm_unreachable("an unknown comparison");
}

std::string Fact::str() const {
  return lhs.str() + " " + spelling(comparison).str() + " " + rhs.str();
}

std::string Fact::strWithSite() const { return str() + (site.empty() ? "" : " at ") + site; }

static bool compare(Comparison comparison, int64_t lhs, int64_t rhs) {
  switch (comparison) {
  case Comparison::Equal:
    return lhs == rhs;
  case Comparison::NotEqual:
    return lhs != rhs;
  case Comparison::Less:
    return lhs < rhs;
  case Comparison::LessEqual:
    return lhs <= rhs;
  case Comparison::Greater:
    return lhs > rhs;
  case Comparison::GreaterEqual:
    return lhs >= rhs;
  }
  llvm_unreachable("an unknown comparison");
}

std::optional<bool> Fact::holds(function_ref<std::optional<int64_t>(StringRef)> lookup) const {
  std::optional<int64_t> left = lhs.evaluate(lookup), right = rhs.evaluate(lookup);
  if (!left || !right)
    return std::nullopt;
  return compare(comparison, *left, *right);
}

std::optional<SmallVector<DimExpr>> Fact::asNonNegative() const {
  switch (comparison) {
  case Comparison::Equal:
    return SmallVector<DimExpr>{lhs - rhs, rhs - lhs};
  case Comparison::NotEqual:
    return std::nullopt;
  case Comparison::Less:
    return SmallVector<DimExpr>{rhs - lhs - 1};
  case Comparison::LessEqual:
    return SmallVector<DimExpr>{rhs - lhs};
  case Comparison::Greater:
    return SmallVector<DimExpr>{lhs - rhs - 1};
  case Comparison::GreaterEqual:
    return SmallVector<DimExpr>{lhs - rhs};
  }
  llvm_unreachable("an unknown comparison");
}

/// Returns a size without a division that is at least 0 if and only if `size` is, for a `size` that
/// is `k * (x // d) + c`.
static std::optional<DimExpr> withoutDivision(const DimExpr &size) {
  std::optional<int64_t> factor, divisor;
  const DimExpr::Atom *quotient = nullptr;
  int64_t offset = 0;
  for (const auto &[monomial, coefficient] : size.getTerms()) {
    if (monomial.empty()) {
      offset = coefficient;
      continue;
    }
    quotient = &monomial.front();
    if (factor || monomial.size() != 1 || quotient->kind != DimExpr::AtomKind::FloorDiv)
      return std::nullopt;
    factor = coefficient;
    divisor = quotient->rhs->constant();
  }
  if (!factor || divisor.value_or(0) < 1)
    return std::nullopt;
  if (*factor > 0)
    return *quotient->lhs - DimExpr(*divisor) * llvm::divideCeilSigned(-offset, *factor);
  return DimExpr(*divisor) * (llvm::divideFloorSigned(offset, -*factor) + 1) - 1 - *quotient->lhs;
}

std::optional<SizeBound> boundOfNonNegative(const DimExpr &size) {
  std::optional<DimExpr::Linear> linear = size.asLinear();
  if (!linear) {
    std::optional<DimExpr> simpler = withoutDivision(size.plain());
    return simpler ? boundOfNonNegative(*simpler) : std::nullopt;
  }
  if (linear->scale < 0)
    return SizeBound{linear->name, true, llvm::divideFloorSigned(linear->offset, -linear->scale)};
  return SizeBound{linear->name, false, llvm::divideCeilSigned(-linear->offset, linear->scale)};
}

std::optional<DimExpr> solveFor(StringRef name, const DimExpr &difference) {
  auto at = [&](int64_t value) {
    return *difference.substitute([&](StringRef other) -> std::optional<DimExpr> {
      return other == name ? DimExpr(value) : DimExpr::symbol(other);
    });
  };
  DimExpr rest = at(0);
  std::optional<int64_t> scale = (at(1) - rest).constant();
  if (!scale || *scale == 0 || *scale == INT64_MIN ||
      difference != DimExpr::symbol(name) * *scale + rest)
    return std::nullopt;
  DimExpr multiple = *scale < 0 ? rest : DimExpr(0) - rest;
  DimExpr solution = DimExpr::floorDiv(multiple, std::abs(*scale));
  return solution * std::abs(*scale) == multiple ? std::optional(solution) : std::nullopt;
}

void tighten(DimExpr::Interval &interval, const SizeBound &bound) {
  if (bound.isUpper)
    interval.second = std::min(interval.second.value_or(bound.limit), bound.limit);
  else
    interval.first = std::max(interval.first.value_or(bound.limit), bound.limit);
}

//===----------------------------------------------------------------------===//
// FactAttr
//===----------------------------------------------------------------------===//

FactAttr FactAttr::get(MLIRContext *context, const Fact &fact) {
  return get(context, StringAttr::get(context, fact.lhs.canonical()), fact.comparison,
             StringAttr::get(context, fact.rhs.canonical()));
}

Fact FactAttr::getFact() const {
  auto parse = [](StringAttr size) {
    return DimExpr::parse(size.getValue()).value_or(DimExpr::symbol("?"));
  };
  return {parse(getLhs()), getComparison(), parse(getRhs())};
}

LogicalResult FactAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr lhs,
                               Comparison, StringAttr rhs) {
  for (StringAttr side : {lhs, rhs}) {
    std::optional<DimExpr> size = DimExpr::parse(side.getValue());
    if (!size || size->canonical() != side.getValue() || isOverflow(*size) || isTooComplex(*size))
      return emitError() << "expected a comparison of sizes, but got '" << side.getValue()
                         << "' as one of them";
  }
  return success();
}

Attribute FactAttr::parse(AsmParser &parser, Type) {
  std::string text;
  if (parser.parseLess())
    return {};
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseString(&text) || parser.parseGreater())
    return {};
  std::optional<Fact> fact = Fact::parse(text);
  if (!fact) {
    parser.emitError(location) << "expected a comparison of sizes, but got '" << text << "'";
    return {};
  }
  auto emitError = [&] { return parser.emitError(location); };
  MLIRContext *context = parser.getContext();
  return getChecked(emitError, context, StringAttr::get(context, fact->lhs.canonical()),
                    fact->comparison, StringAttr::get(context, fact->rhs.canonical()));
}

void FactAttr::print(AsmPrinter &printer) const {
  printer << "<\"" << getLhs().getValue() << " " << spelling(getComparison()) << " "
          << getRhs().getValue() << "\">";
}

//===----------------------------------------------------------------------===//
// Facts of an entry
//===----------------------------------------------------------------------===//

/// The sites of facts, by their text.
static DictionaryAttr sitesIn(Location location) {
  auto fused = dyn_cast<FusedLoc>(location);
  return fused ? dyn_cast_or_null<DictionaryAttr>(fused.getMetadata()) : DictionaryAttr();
}

Location withSites(Location location, ArrayRef<Fact> facts) {
  if (sitesIn(location))
    location = cast<FusedLoc>(location).getLocations().front();
  NamedAttrList sites;
  for (const Fact &fact : facts)
    if (!fact.site.empty())
      sites.set(fact.str(), StringAttr::get(location.getContext(), fact.site));
  MLIRContext *context = location.getContext();
  return sites.empty() ? location
                       : FusedLoc::get({location}, sites.getDictionary(context), context);
}

Fact withSite(Fact fact, EntryOp entry) {
  DictionaryAttr sites = sitesIn(entry.getLoc());
  if (auto site = sites ? sites.getAs<StringAttr>(fact.str()) : StringAttr())
    fact.site = site.str();
  return fact;
}

/// The sizes that are at least 0 because of the facts of an entry.
static SmallVector<DimExpr> knownNonNegative(EntryOp entry) {
  SmallVector<DimExpr> known;
  if (ArrayAttr where = entry.getWhereAttr())
    for (FactAttr fact : where.getAsRange<FactAttr>())
      if (std::optional<SmallVector<DimExpr>> sizes = fact.getFact().asNonNegative())
        llvm::append_range(known, *sizes);
  return known;
}

/// Returns the interval of a name, from the bounds of an entry and its facts about that name alone.
static DimExpr::Interval boundsOf(EntryOp entry, ArrayRef<DimExpr> known, StringRef name) {
  DimExpr::Interval interval(0, std::nullopt);
  if (DictionaryAttr bounds = entry.getBoundsAttr())
    if (auto bound = bounds.getAs<IntegerAttr>(name))
      interval.second = bound.getInt();
  for (const DimExpr &size : known) {
    std::optional<SizeBound> bound = boundOfNonNegative(size);
    if (bound && bound->name == name)
      tighten(interval, *bound);
  }
  return interval;
}

bool isNonNegativeAt(Operation *op, const DimExpr &size) {
  if (std::optional<bool> always = isNonNegative(size))
    return *always;
  auto entry = op->getParentOfType<EntryOp>();
  if (!entry)
    return false;
  SmallVector<DimExpr> known = knownNonNegative(entry);
  auto isAtLeast0 = [&](const DimExpr &expr) {
    auto bounds = [&](StringRef name) { return boundsOf(entry, known, name); };
    return expr.interval(bounds).first.value_or(-1) >= 0;
  };
  // It may also exceed a size that is not negative.
  return isAtLeast0(size) ||
         llvm::any_of(known, [&](const DimExpr &other) { return isAtLeast0(size - other); });
}

SmallVector<FactAttr> requiredFacts(EntryOp entry) {
  llvm::SetVector<FactAttr> facts;
  if (ArrayAttr where = entry.getWhereAttr())
    facts.insert_range(where.getAsRange<FactAttr>());
  RunTimeSizes found(entry);
  // Data-dependent sizes are checked where they are used.
  auto isFoundLater = [&](const DimExpr &size) {
    SmallVector<std::string> names;
    size.collectSymbols(names);
    return llvm::any_of(names, [&](StringRef name) { return found.binds(name); });
  };
  auto require = [&](TypeRange types) {
    for (Type type : types)
      if (isa<RankedTensorType>(type))
        for (const DimExpr &size : shapeOf(type))
          if (isNonNegative(size) != true && !isFoundLater(size))
            facts.insert(FactAttr::get(entry.getContext(), {size, Comparison::GreaterEqual, 0}));
  };
  require(entry.getArgumentTypes());
  entry.walk([&](Operation *op) { require(op->getResultTypes()); });
  return facts.takeVector();
}

} // namespace tfc::dfg
