// The signature of a TensorFlow operation: its numbers of inputs and outputs, and its attributes.
// Rules declare it in their tables, as text that is parsed when tfc is compiled, and each node is
// checked against it before any rule sees the node.
#pragma once

#include <array>
#include <string_view>
#include <utility>

namespace tfc::tensorflow {

/// Which of the values an attribute holds. EmptyList goes for any list.
enum class AttrKind {
  None,
  Bool,
  Float,
  Int,
  Shape,
  String,
  Tensor,
  Type,
  EmptyList,
  Ints,
  Shapes,
  Types,
  OtherList
};

/// A number of inputs or outputs: `base` of them, up to `more` others, and `factor` for each one
/// that the attribute `attr` counts, as an int or as the length of a list.
struct Arity {
  static constexpr int kAny = -1; // `more` without a limit

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
  /// Attributes that several operations have are a text of their own.
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
  /// No constant expression: a call of it is an error of the C++ compiler.
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
        {"types", AttrKind::Types},
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

} // namespace tfc::tensorflow
