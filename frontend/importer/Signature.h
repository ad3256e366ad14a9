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

/// A number of inputs or outputs: `least`, plus `factor` times the number given by attribute
/// `attr`, which is an int or the length of a list. Without an attribute it is from `least` to
/// `most`, of which those from `least` on may be absent; a variadic one is followed by any number
/// of others.
struct Arity {
  int least = 0, most = 0;
  bool isVariadic = false;
  int factor = 0;
  std::string_view attr;
};

struct AttrRule {
  std::string_view name;
  AttrKind kind = AttrKind::None;
  bool isRequired = false;
  int64_t least = INT64_MIN; // of an int
};

/// "INPUTS -> OUTPUTS; ATTRIBUTES", as in "N+1 -> 1; N:int>=1?, axis:int?, T:type". A number of
/// inputs is "2", "2-3" (the third one is optional), "2+" (two or more), "2-3+" (the third one may
/// be absent, and others follow), "N", "2N" or "N+1", where N is an attribute. A question mark
/// follows attributes that have a default.
class Signature {
public:
  static constexpr unsigned kMaxAttrs = 12;

  consteval Signature(const char *text) : Signature(text, "") {}
  /// `more` holds attributes that several operations have in common.
  consteval Signature(const char *text, const char *more) {
    std::string_view rest = text;
    std::string_view arities = takeUntil(rest, ';');
    size_t arrow = arities.find(" -> ");
    if (arrow == std::string_view::npos)
      signatureHasNoArrow();
    inputs = parseArity(arities.substr(0, arrow));
    outputs = parseArity(arities.substr(arrow + 4));
    parseAttrs(rest);
    parseAttrs(more);
  }

  Arity inputs, outputs;
  std::array<AttrRule, kMaxAttrs> attrs;
  unsigned attrCount = 0;

private:
  // Not constant expressions, so that a call of them is an error when tfc is compiled.
  static AttrKind thereIsNoSuchKind();
  static void signatureHasNoArrow();
  static void arityIsMalformed();
  static void thereAreMoreAttributesThanKMaxAttrs();

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

  static consteval bool take(std::string_view &text, std::string_view prefix) {
    bool isThere = text.starts_with(prefix);
    text.remove_prefix(isThere ? prefix.size() : 0);
    return isThere;
  }

  static consteval Arity parseArity(std::string_view text) {
    Arity arity;
    if (text.empty())
      arityIsMalformed();
    int number = takeNumber(text, 1);
    if (text.empty() || text[0] == '-' || text[0] == '+') {
      arity.least = number;
      arity.most = take(text, "-") ? takeNumber(text, 0) : number;
      arity.isVariadic = take(text, "+");
      if (!text.empty() || arity.most < arity.least)
        arityIsMalformed();
      return arity;
    }
    arity.factor = number;
    arity.attr = text.substr(0, text.find('+'));
    text.remove_prefix(arity.attr.size());
    if (take(text, "+"))
      arity.least = takeNumber(text, 0);
    return arity;
  }

  static consteval AttrKind parseKind(std::string_view text) {
    constexpr std::pair<std::string_view, AttrKind> kKinds[] = {
        {"bool", AttrKind::Bool},       {"float", AttrKind::Float},   {"int", AttrKind::Int},
        {"shape", AttrKind::Shape},     {"string", AttrKind::String}, {"tensor", AttrKind::Tensor},
        {"type", AttrKind::Type},       {"ints", AttrKind::Ints},     {"shapes", AttrKind::Shapes},
        {"types", AttrKind::Types},     {"floats", AttrKind::Floats}, {"graph", AttrKind::Graph},
        {"strings", AttrKind::Strings},
    };
    for (auto [name, kind] : kKinds)
      if (name == text)
        return kind;
    return thereIsNoSuchKind();
  }

  static consteval AttrRule parseAttr(std::string_view text) {
    AttrRule attr;
    attr.name = takeUntil(text, ':');
    attr.isRequired = !text.ends_with('?');
    if (!attr.isRequired)
      text.remove_suffix(1);
    attr.kind = parseKind(text.substr(0, text.find('>')));
    if (size_t least = text.find(">="); least != std::string_view::npos) {
      text.remove_prefix(least + 2);
      attr.least = takeNumber(text, 0);
    }
    return attr;
  }

  consteval void parseAttrs(std::string_view text) {
    while (!text.empty()) {
      if (attrCount == kMaxAttrs)
        thereAreMoreAttributesThanKMaxAttrs();
      attrs[attrCount++] = parseAttr(takeUntil(text, ','));
    }
  }
};

/// Returns the text from which an arity is parsed.
std::string toText(const Arity &arity);

/// Returns the number given by an attribute, which is an int or the length of a list, or
/// std::nullopt for other attributes.
std::optional<int64_t> countOf(const Node &node, llvm::StringRef attr);

/// Returns true if a signature has an attribute of this name.
bool declares(const Signature &signature, llvm::StringRef attr);

/// Checks nodes against their signatures and reports all errors.
class SignatureChecker {
public:
  /// More inputs or outputs than this are treated as an error.
  static constexpr int64_t kMaxCounted = 1 << 16;

  /// `inputCount` includes the absent inputs, whose positions are `absent`, in order.
  SignatureChecker(Diagnostics &diagnostics, const Node &node, mlir::Location location,
                   int64_t inputCount, llvm::ArrayRef<unsigned> absent = {})
      : diagnostics(diagnostics), node(node), location(location), inputCount(inputCount),
        absent(absent) {}

  /// The format numbers types, and an attribute that is a type holds an int.
  bool typesAreInts = false;

  /// Checks the inputs and attributes.
  void check(const Signature &signature);
  /// Checks the number of outputs of a node that lists them.
  void checkOutputs(const Signature &signature, int64_t outputCount);
  /// Checks a call of graph source, whose parameters are attributes and inputs.
  void checkCall(llvm::ArrayRef<text::LibraryCalls::Parameter> parameters);
  /// Reports attributes that are not declared.
  void checkNames(llvm::function_ref<bool(llvm::StringRef)> isDeclared);

private:
  /// Checks a number of inputs or outputs.
  void checkCount(const Arity &arity, int64_t given, llvm::StringRef noun);
  /// The same, if it is the value of an attribute, which is at least `least`.
  void checkCounted(const Arity &arity, int64_t least, int64_t given, llvm::StringRef noun);
  /// Reports inputs that are absent, unless they are from `first` up to `end`.
  void checkAbsent(int64_t first, int64_t end);
  void checkAttr(const AttrRule &attr);
  /// Returns true if an attribute of kind `kind` is acceptable where `expected` is declared.
  bool isOfKind(AttrKind kind, AttrKind expected) const;
  void checkOutputAttr(const Arity &arity);
  mlir::InFlightDiagnostic error();

  Diagnostics &diagnostics;
  const Node &node;
  mlir::Location location;
  int64_t inputCount;
  llvm::ArrayRef<unsigned> absent;
};

/// Returns the largest number of outputs of a node according to its signature, or std::nullopt if
/// it is not specified.
std::optional<int64_t> outputCount(const Node &node, const Signature &signature);

} // namespace tfc::importer
