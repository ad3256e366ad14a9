// Helps for what people who know other libraries write first.
#include "dialects/dfg/OpTable.h"
#include "frontend/text/ElaborateImpl.h"
#include "frontend/text/Library.h"

using namespace llvm;

namespace tfc::text {

static std::optional<dfg::Shape> shapeOfValue(const Entity &value) {
  if (const mlir::Value *tensor = value.get<mlir::Value>();
      tensor && isa<mlir::RankedTensorType>(tensor->getType()))
    return dfg::shapeOf(tensor->getType());
  if (Variable *const *variable = value.get<Variable *>())
    return dfg::shapeOf((*variable)->type);
  return std::nullopt;
}

/// What could be meant by a product of operands that do not fit.
static StringRef productFor(StringRef op, const dfg::Shape &lhs, const dfg::Shape &rhs) {
  bool areMatrices = lhs.size() >= 2 && rhs.size() >= 2 && lhs.back() == rhs[rhs.size() - 2];
  if (op == "mul" && areMatrices)
    return "a product of matrices is matmul($0, $1)";
  if (op == "matmul" && rhs.size() == 1 && !lhs.empty())
    return "a matrix by a vector is sum($0 * $1, axis: -1)";
  if (op == "matmul" && lhs.size() == 1 && rhs.size() == 2)
    return "a vector by a matrix is sum(expand($0, axis: 1) * $1, axis: 0)";
  return "";
}

/// The axis at which `shorter`, with an axis of size 1 more, goes along with `longer`.
static std::optional<size_t> missingAxis(const dfg::Shape &longer, const dfg::Shape &shorter) {
  if (longer.size() != shorter.size() + 1)
    return std::nullopt;
  for (size_t axis = longer.size() - 1; axis > 0; --axis) {
    dfg::Shape rest = longer;
    rest.erase(rest.begin() + axis);
    if (rest == shorter)
      return axis;
  }
  return std::nullopt;
}

/// What could be meant by an operand that lacks an axis.
static std::string expandFor(const dfg::Shape &lhs, const dfg::Shape &rhs) {
  std::string text;
  if (std::optional<size_t> axis = missingAxis(lhs, rhs))
    text = "expand($1, axis: " + std::to_string(*axis);
  else if (std::optional<size_t> axis = missingAxis(rhs, lhs))
    text = "expand($0, axis: " + std::to_string(*axis);
  return text.empty() ? text
                      : text + ") repeats it along that axis; a reduction keeps its axes by "
                               "'keep_dims: true'";
}

/// Whether the label that an error quotes is what others write without spaces: 'bij'.
static bool lacksSpaces(StringRef text) {
  StringRef label = text.split("': '").second.split('\'').first;
  return label.size() > 1 && !label.contains(' ') && text.contains("does not name each axis");
}

void Elaborator::hintOperation(Diagnostic &diagnostic, StringRef op, ArrayRef<Argument> operands) {
  if (diagnostic.slug == "einsum-label" && lacksSpaces(diagnostic.text))
    diagnostic.help("names of axes are separated by spaces: \"b i j, b j k -> b i k\"");
  if (operands.size() != 2)
    return;
  if (op == "div" && diagnostic.slug == "dtype" && !diagnostic.text.ends_with("bool"))
    diagnostic.help("'//' divides integers; f32(x) converts");
  bool isShape = diagnostic.slug == "unequal-dimensions" || diagnostic.slug == "rank";
  std::optional<dfg::Shape> lhs = shapeOfValue(operands[0].value),
                            rhs = shapeOfValue(operands[1].value);
  if (!isShape || !lhs || !rhs)
    return;
  if (StringRef help = productFor(op, *lhs, *rhs); !help.empty())
    diagnostic.help(nameOperands(help.str(), operands));
  else if (std::string help = expandFor(*lhs, *rhs); op != "matmul" && !help.empty())
    diagnostic.help(nameOperands(help, operands));
}

void Elaborator::hintResults(Diagnostic &diagnostic, const Group &results, SourceRange at) {
  StringRef call = sources.text(at);
  bool isShort = call.size() < 40 && !call.contains('\n');
  diagnostic.help("bind them, '" + join(results.names, ", ") + " = ..', or take one: " +
                  (isShort ? call.str() : "r") + "." + results.names.front());
}

bool Elaborator::hintEnded(Diagnostic &diagnostic, StringRef name) {
  auto it = frame ? frame->ended.find(name) : decltype(frame->ended.end())();
  if (!frame || it == frame->ended.end())
    return false;
  auto [at, keyword] = it->second;
  diagnostic.note(at, "bound here, in a block that has ended");
  if (keyword == "if")
    diagnostic.help("both branches yield it: " + name + " = if .. { yield .. } else { yield .. }");
  else
    diagnostic.help("the block yields it: " + name + " = " + keyword + " .. { yield .. }");
  return true;
}

bool Elaborator::hintForeign(Diagnostic &diagnostic, StringRef name) {
  std::string lower = name.lower();
  StringRef help =
      StringSwitch<StringRef>(lower)
          .Cases({"permute", "swapaxes", "moveaxis"},
                 "transpose(x, [0, 2, 1]) gives the axes in that order")
          .Cases({"unsqueeze", "expand_dims", "none", "newaxis"},
                 "expand(x, axis: 1) inserts an axis of size 1")
          .Cases({"zeros_like", "ones_like", "full_like"},
                 "zeros(f32[..shape(x)]) has the sizes of x")
          .Cases({"range", "xrange", "arange"}, "loops run over 0..n; iota(n) is a tensor")
          .Cases({"masked_fill", "ifelse"}, "select(condition, x, y) chooses")
          .Cases({"view", "ravel"}, "reshape(x, [n, -1]) gives another shape")
          .Cases({"bmm", "mm", "mv"}, "a product of matrices is matmul(x, y)")
          .Cases({"flip", "fliplr"}, "reverse(x, axis: [0]) turns an axis around")
          .Case("chunk", "split(x, 2, axis: 1) gives parts of equal size")
          .Case("detach", "stop_gradient(x) is x, held constant")
          .Case("clip", "clamp(x, low, high) limits")
          .Case("cat", "concat([x, y], axis: 1) joins")
          .Cases({"index_select", "embedding_lookup"},
                 "gather(x, i, axis: 0) takes rows by their indices")
          .Cases({"int8", "int16", "int32", "int64", "uint8"},
                 "i8, i16, i32, i64 and u8 are the types of integers")
          .Cases({"float16", "bfloat16", "float32", "float64", "double"},
                 "f16, bf16, f32 and f64 are the types of floating-point numbers")
          .Default("");
  if (!help.empty())
    diagnostic.help(help);
  return !help.empty();
}

/// `x.sum()` is `sum(x)` here.
void Elaborator::hintMember(Diagnostic &diagnostic, const ast::MemberExpr &expr) {
  StringRef name = expr.member.text, object = sources.text(expr.base->range);
  std::optional<Entity> meant = lookup(name, expr.range);
  bool isCallable = meant && (meant->is<Function>() || meant->is<Builtin>() || meant->is<All>() ||
                              meant->is<const dfg::OpSignature *>());
  if (name == "T")
    diagnostic.help("operations are functions: transpose(" + object + ")");
  else if (name == "astype" || name == "to" || name == "float")
    diagnostic.help("cast(" + object + ", f32) and f32(" + object + ") convert");
  else if (isCallable && object.size() < 40)
    diagnostic.help("operations are functions: " + name + "(" + object + ")");
}

void Elaborator::hintLibrary(Diagnostic &diagnostic, StringRef name) {
  for (StringRef file : libraryNames())
    for (StringRef keyword : {"\npart ", "\nfn "})
      if (librarySource(file)->contains((keyword + name + "(").str()) && file != "prelude" &&
          !name.starts_with("_"))
        diagnostic.help("'use " + file + ": " + name + "' makes it available");
}

} // namespace tfc::text
