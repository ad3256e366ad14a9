// The signature of a foreign operation: its numbers of inputs and outputs, and its attributes.
// Rules declare signatures in their tables, as text that is parsed at compile time of tfc, and each
// node is checked against its signature before any rule sees it.
#pragma once

#include "frontend/importer/Diagnostics.h"
#include "frontend/importer/Node.h"
#include "frontend/text/elaborate/LibraryCalls.h"
#include <array>
#include <string_view>
#include <utility>

namespace tfc::importer {

/// A number of inputs or outputs: `base`, plus up to `more` optional ones, plus `factor` times the
/// number given by attribute `attr`, which is an int or the length of a list.
struct Arity {
  static constexpr int kAny = -1; // no limit for `more`

  int base = 0, more = 0, factor = 0;
  std::string_view attr;
};

struct AttrRule {
  std::string_view name;
  AttrKind kind = AttrKind::None;
  bool isRequired = false;
};

/// "INPUTS -> OUTPUTS; ATTRIBUTES", as in "N+1 -> 1; axis:int?, T:type". A number of inputs is "2",
/// "1+" (one or more), "N", "2N" or "N+1", where N is an attribute. A question mark follows
/// attributes that have a default.
class Signature {
public:
  static constexpr unsigned kMaxAttrs = 8;

  consteval Signature(const char *text) : Signature(text, "") {}
  /// `more` holds attributes that several operations have in common.
  consteval Signature(const char *text, const char *more) {
    std::string_view rest = text;
    std::string_view arities = takeUntil(rest, ';');
    size_t arrow = arities.find(" -> ");
    inputs = parseArity(arities.substr(0, arrow));
    outputs = parseArity(arities.substr(arrow + 4));
    parseAttrs(rest);
    parseAttrs(more);
  }

  Arity inputs, outputs;
  std::array<AttrRule, kMaxAttrs> attrs;
  unsigned attrCount = 0;

private:
  /// Not a constant expression, so that a call of it is an error when tfc is compiled.
  static AttrKind thereIsNoSuchKind();

  static consteval std::string_view takeUntil(std::string_view &text, char separator) {
    size_t end = text.find(separator);
    std::string_view part = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    while (part.starts_with(' '))
      part.remove_prefix(1);
    return part;
  }

  static consteval int takeNumber(std::string_view &text, int otherwise) {
    if (text.empty() || text[0] < '0' || text[0] > '9')
      return otherwise;
    int number = 0;
    for (; !text.empty() && text[0] >= '0' && text[0] <= '9'; text.remove_prefix(1))
      number = 10 * number + (text[0] - '0');
    return number;
  }

  static consteval Arity parseArity(std::string_view text) {
    Arity arity;
    int number = takeNumber(text, 1);
    if (text.empty() || text == "+") {
      arity.base = number;
      arity.more = text.empty() ? 0 : Arity::kAny;
      return arity;
    }
    arity.factor = number;
    size_t plus = text.find('+');
    arity.attr = text.substr(0, plus);
    if (plus != std::string_view::npos) {
      text.remove_prefix(plus + 1);
      arity.base = takeNumber(text, 0);
    }
    return arity;
  }

  static consteval AttrKind parseKind(std::string_view text) {
    constexpr std::pair<std::string_view, AttrKind> kKinds[] = {
        {"bool", AttrKind::Bool},   {"float", AttrKind::Float},   {"int", AttrKind::Int},
        {"shape", AttrKind::Shape}, {"string", AttrKind::String}, {"tensor", AttrKind::Tensor},
        {"type", AttrKind::Type},   {"ints", AttrKind::Ints},     {"shapes", AttrKind::Shapes},
        {"types", AttrKind::Types}, {"floats", AttrKind::Floats},
    };
    for (auto [name, kind] : kKinds)
      if (name == text)
        return kind;
    return thereIsNoSuchKind();
  }

  consteval void parseAttrs(std::string_view text) {
    while (!text.empty()) {
      std::string_view attr = takeUntil(text, ',');
      std::string_view name = takeUntil(attr, ':');
      bool hasDefault = attr.ends_with('?');
      if (hasDefault)
        attr.remove_suffix(1);
      attrs[attrCount++] = {name, parseKind(attr), !hasDefault};
    }
  }
};

/// Returns the number given by an attribute, which is an int or the length of a list, or
/// std::nullopt for other attributes.
std::optional<int64_t> countOf(const Node &node, llvm::StringRef attr);

/// Checks nodes against their signatures and reports all errors.
class SignatureChecker {
public:
  /// More inputs or outputs than this are treated as an error.
  static constexpr int64_t kMaxCounted = 1 << 16;

  SignatureChecker(Diagnostics &diagnostics, const Node &node, mlir::Location location)
      : diagnostics(diagnostics), node(node), location(location) {}

  void check(const Signature &signature, int64_t inputCount);
  void checkAttr(llvm::StringRef name, AttrKind kind, bool isRequired);
  /// Checks a call of graph source, whose parameters are attributes and inputs.
  void checkCall(llvm::ArrayRef<text::LibraryCalls::Parameter> parameters, int64_t inputCount);

private:
  void checkFewest(int64_t fewest, int64_t inputCount);
  void checkArity(const Arity &arity, int64_t given);
  void checkOutputs(const Arity &arity);
  mlir::InFlightDiagnostic error();

  Diagnostics &diagnostics;
  const Node &node;
  mlir::Location location;
};

/// Returns the number of outputs of a node according to its signature, or std::nullopt if it is not
/// specified.
std::optional<int64_t> outputCount(const Node &node, const Signature &signature);

} // namespace tfc::importer
