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

std::optional<SizeBound> boundOfNonNegative(const DimExpr &size) {
  std::optional<DimExpr::Linear> linear = size.asLinear();
  if (!linear)
    return std::nullopt;
  if (linear->scale < 0)
    return SizeBound{linear->name, true, llvm::divideFloorSigned(linear->offset, -linear->scale)};
  return SizeBound{linear->name, false, llvm::divideCeilSigned(-linear->offset, linear->scale)};
}

//===----------------------------------------------------------------------===//
// FactAttr
//===----------------------------------------------------------------------===//

FactAttr FactAttr::get(MLIRContext *context, const Fact &fact) {
  return get(context, StringAttr::get(context, fact.lhs.str()), fact.comparison,
             StringAttr::get(context, fact.rhs.str()));
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
    if (!size || size->str() != side.getValue() || isOverflow(*size) || isTooComplex(*size))
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
  return getChecked(emitError, context, StringAttr::get(context, fact->lhs.str()), fact->comparison,
                    StringAttr::get(context, fact->rhs.str()));
}

void FactAttr::print(AsmPrinter &printer) const { printer << "<\"" << getFact().str() << "\">"; }

//===----------------------------------------------------------------------===//
// Facts of an entry
//===----------------------------------------------------------------------===//

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
