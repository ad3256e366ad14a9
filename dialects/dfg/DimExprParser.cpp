//===- DimExprParser.cpp - Reading sizes and facts ------------------------===//
//
// Parses sizes and facts as the intermediate form writes them. A size of graph source is elaborated
// like any other expression and does not come here.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/DimExpr.h"
#include "dialects/dfg/Facts.h"
#include "dialects/dfg/SizeComplexity.h"
#include "dialects/dfg/SizeLimits.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tfc::dfg {

namespace {
/// Recursive descent over `sum = product {(+|-) product}`, `product = unary {(*|//|/|%) unary}`.
class Parser {
public:
  explicit Parser(StringRef text) : rest(text) {}

  std::optional<DimExpr> parseSize() {
    std::optional<DimExpr> result = parseSum();
    return isAtEnd() ? result : std::nullopt;
  }

  std::optional<Fact> parseFact() {
    std::optional<DimExpr> lhs = parseSum();
    std::optional<Comparison> comparison = parseComparison();
    std::optional<DimExpr> rhs = lhs && comparison ? parseSum() : std::nullopt;
    if (!rhs || !isAtEnd())
      return std::nullopt;
    return Fact{*lhs, *comparison, *rhs};
  }

private:
  bool isAtEnd() const { return rest.ltrim().empty(); }

  bool consume(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }

  std::optional<Comparison> parseComparison() {
    for (Comparison comparison : {Comparison::Equal, Comparison::NotEqual, Comparison::LessEqual,
                                  Comparison::GreaterEqual, Comparison::Less, Comparison::Greater})
      if (consume(spelling(comparison)))
        return comparison;
    return std::nullopt;
  }

  std::optional<DimExpr> parseSum() {
    std::vector<DimExpr> summands;
    bool plus = true;
    do {
      std::optional<DimExpr> summand = parseProduct();
      if (!summand)
        return std::nullopt;
      summands.push_back(plus ? std::move(*summand) : DimExpr(0) - *summand);
      plus = consume("+");
    } while (plus || consume("-"));
    return sumOf(std::move(summands));
  }

  std::optional<DimExpr> parseProduct() {
    std::optional<DimExpr> result = parseUnary();
    while (result) {
      DimExpr (*apply)(const DimExpr &, const DimExpr &) = nullptr;
      bool multiplies = false;
      if (consume("//"))
        apply = DimExpr::floorDiv;
      else if (consume("/"))
        apply = DimExpr::quotient;
      else if (consume("%"))
        apply = DimExpr::mod;
      else if ((multiplies = consume("*")))
        apply = [](const DimExpr &a, const DimExpr &b) { return a * b; };
      else
        break;
      std::optional<DimExpr> other = parseUnary();
      if (!other || (multiplies && isProductTooComplex(*result, *other)))
        return std::nullopt;
      result = apply(*result, *other);
    }
    return result;
  }

  std::optional<DimExpr> parseUnary() {
    if (++depth > 200)
      return std::nullopt;
    std::optional<DimExpr> result;
    if (consume("-")) {
      if ((result = parseUnary()))
        result = DimExpr(0) - *result;
    } else {
      result = parsePrimary();
    }
    --depth;
    return result;
  }

  std::optional<DimExpr> parsePrimary() {
    if (consume("(")) {
      std::optional<DimExpr> result = parseSum();
      return consume(")") ? result : std::nullopt;
    }
    if (consume("`")) {
      auto [name, after] = rest.split('`');
      if (name.size() == rest.size())
        return std::nullopt;
      rest = after;
      return DimExpr::symbol(name);
    }
    if (consume(kOverflow))
      return DimExpr::symbol(kOverflowName);
    if (consume(kTooComplex))
      return DimExpr::symbol(kTooComplexName);
    rest = rest.ltrim();
    StringRef word = rest.take_while([](char c) { return isAlnum(c) || c == '_'; });
    if (word.empty())
      return std::nullopt;
    rest = rest.drop_front(word.size());
    if (isDigit(word[0])) {
      int64_t value;
      return word.getAsInteger(10, value) ? std::nullopt : std::optional(DimExpr(value));
    }
    if ((word == "min" || word == "max") && consume("("))
      return parseMinMax(word == "min");
    return DimExpr::symbol(word);
  }

  std::optional<DimExpr> parseMinMax(bool isMin) {
    std::optional<DimExpr> lhs = parseSum();
    if (!lhs || !consume(","))
      return std::nullopt;
    std::optional<DimExpr> rhs = parseSum();
    if (!rhs || !consume(")"))
      return std::nullopt;
    return isMin ? DimExpr::min(*lhs, *rhs) : DimExpr::max(*lhs, *rhs);
  }

  StringRef rest;
  int depth = 0;
};
} // namespace

std::optional<DimExpr> DimExpr::parse(StringRef text) {
  // Most sizes are a number or a name.
  int64_t number;
  if (!text.empty() && llvm::all_of(text, isDigit) && !text.getAsInteger(10, number))
    return DimExpr(number);
  return Parser(text).parseSize();
}

std::optional<Fact> Fact::parse(StringRef text) { return Parser(text).parseFact(); }

} // namespace tfc::dfg
