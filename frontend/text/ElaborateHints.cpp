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

void Elaborator::hintOperation(Diagnostic &diagnostic, StringRef op, ArrayRef<Argument> operands) {
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
}

/// `x.sum()` is `sum(x)` here.
void Elaborator::hintMember(Diagnostic &diagnostic, const ast::MemberExpr &expr) {
  StringRef name = expr.member.text, object = sources.text(expr.base->range);
  std::optional<Entity> meant = lookup(name, expr.range);
  bool isCallable = meant && (meant->is<Function>() || meant->is<Builtin>() || meant->is<All>() ||
                              meant->is<const dfg::OpSignature *>());
  if (name == "T")
    diagnostic.help("operations are functions: transpose(" + object + ")");
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
