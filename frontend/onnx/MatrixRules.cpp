// Implements the rules of products of matrices.

#include "frontend/onnx/NodeBuilder.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace mlir;
using namespace llvm;

namespace tfc::onnx {

using dfg::DimExpr;

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

/// Vectors are a row on the left, and a column on the right.
static NodeValue multiply(NodeBuilder &node, NodeValue x, NodeValue y) {
  if (!x || !y)
    return {};
  bool isRow = rankOf(x) == 1, isColumn = rankOf(y) == 1;
  if (isRow)
    x = node.op("expand", x, node.attrs.integer("axis", 0));
  if (isColumn)
    y = node.op("expand", y, node.attrs.integer("axis", 1));
  NodeValue product = node.op("matmul", {x, y});
  if (product && isColumn)
    product = node.op("squeeze", product, node.attrs.integers("axis", -1));
  if (product && isRow)
    product = node.op("squeeze", product, node.attrs.integers("axis", isColumn ? -1 : -2));
  return product;
}

static Outcome buildMatMul(NodeBuilder &node, const OpRule &) {
  return node.done({multiply(node, node.in(0), node.in(1))});
}

static NodeValue scaled(NodeBuilder &node, NodeValue x, StringRef factor) {
  double value = node.node.real(factor, 1.0);
  return !x || value == 1.0 ? x : node.op("mul", {x, node.scalar(value, elementOf(x))});
}

static Outcome buildGemm(NodeBuilder &node, const OpRule &) {
  NodeValue product = node.op("matmul", {node.in(0), node.in(1)},
                              {node.attrs.flag("transpose_lhs", node.flag("transA")),
                               node.attrs.flag("transpose_rhs", node.flag("transB"))});
  product = scaled(node, product, "alpha");
  if (node.hasInput(2) && node.node.real("beta", 1.0) != 0)
    product = node.op("add", {product, scaled(node, node.in(2), "beta")});
  return node.done({product});
}

/// Applies the function that an attribute names.
static Outcome buildFusedGemm(NodeBuilder &node, const OpRule &rule) {
  if (buildGemm(node, rule) != Outcome::Done)
    return Outcome::Failed;
  return node.done({node.library().compute("_fused", {node.getResults().front()})});
}

/// Returns an input as i32, minus its zero point. With `isRow` there may be one zero point for each
/// row.
static NodeValue centered(NodeBuilder &node, unsigned input, unsigned zeroPoint, bool isRow) {
  Type type = IntegerType::get(node.context(), 32);
  NodeValue x = node.cast(node.in(input), type);
  if (!x || !node.hasInput(zeroPoint))
    return x;
  NodeValue zero = node.cast(node.in(zeroPoint), type);
  if (zero && isRow && rankOf(zero) == 1)
    zero = node.op("expand", zero, node.attrs.integer("axis", 1));
  return node.op("sub", {x, zero});
}

static Outcome buildMatMulInteger(NodeBuilder &node, const OpRule &) {
  return node.done({multiply(node, centered(node, 0, 2, /*isRow=*/true),
                             centered(node, 1, 3, /*isRow=*/false))});
}

//===----------------------------------------------------------------------===//
// Einsum
//===----------------------------------------------------------------------===//

namespace {
/// The axes of each operand and of the result: letters, and "..".
struct Labels {
  std::vector<std::vector<std::string>> operands;
  std::vector<std::string> result;
};
} // namespace

/// Splits "ab...c" into "a", "b", ".." and "c"; std::nullopt for other texts.
static std::optional<std::vector<std::string>> splitAxes(StringRef text) {
  std::vector<std::string> axes;
  while (!(text = text.ltrim()).empty()) {
    if (text.consume_front("...")) {
      axes.push_back("..");
    } else {
      if (!isAlpha(text.front()))
        return std::nullopt;
      axes.push_back(text.take_front(1).str());
      text = text.drop_front();
    }
  }
  return axes;
}

static unsigned countAxis(const Labels &labels, const std::string &axis) {
  unsigned count = 0;
  for (const std::vector<std::string> &operand : labels.operands)
    count += llvm::count(operand, axis);
  return count;
}

/// Without an arrow, the result has the letters that occur once, in order.
static void addResult(Labels &labels) {
  std::set<std::string> axes;
  for (const std::vector<std::string> &operand : labels.operands)
    axes.insert(operand.begin(), operand.end());
  for (const std::string &axis : axes)
    if (axis == ".." || countAxis(labels, axis) == 1)
      labels.result.push_back(axis);
}

static std::optional<Labels> parseEquation(StringRef text) {
  Labels labels;
  auto [left, right] = text.split("->");
  SmallVector<StringRef> operands;
  left.split(operands, ',');
  for (StringRef operand : operands) {
    std::optional<std::vector<std::string>> axes = splitAxes(operand);
    if (!axes)
      return std::nullopt;
    labels.operands.push_back(std::move(*axes));
  }
  if (!text.contains("->")) {
    addResult(labels);
    return labels;
  }
  std::optional<std::vector<std::string>> result = splitAxes(right);
  if (!result)
    return std::nullopt;
  labels.result = std::move(*result);
  return labels;
}

/// Sums over axes that only this operand has and the result lacks.
static NodeValue sumLonely(NodeBuilder &node, NodeValue x, Labels &labels, unsigned operand) {
  std::vector<std::string> &axes = labels.operands[operand], kept;
  int64_t count = axes.size(), ellipsis = find(axes, "..") - axes.begin();
  SmallVector<int64_t> summed;
  for (auto [i, axis] : enumerate(axes)) {
    bool isLonely =
        axis != ".." && countAxis(labels, axis) == 1 && !is_contained(labels.result, axis);
    if (isLonely)
      summed.push_back(int64_t(i) < ellipsis ? i : int64_t(i) - count);
    else
      kept.push_back(axis);
  }
  if (summed.empty())
    return x;
  axes = kept;
  return node.op("sum", x, node.attrs.integers("axis", summed));
}

static Outcome buildEinsum(NodeBuilder &node, const OpRule &) {
  const std::string &equation = node.node.attr("equation").text;
  std::optional<Labels> labels = parseEquation(equation);
  if (!labels || labels->operands.size() != node.numInputs())
    return node.fail("expected an equation for " + Twine(node.numInputs()) +
                     " operands, but got '" + equation + "' [graph-attribute]");
  SmallVector<NodeValue> operands;
  std::string text;
  for (unsigned i = 0; i < node.numInputs(); ++i) {
    NodeValue x = node.in(i);
    int64_t letters = llvm::count_if(labels->operands[i], [](auto &axis) { return axis != ".."; });
    if (x && letters > rankOf(x))
      return node.fail("expected at most {} letters for input {}, but got {} [graph-attribute]",
                       rankOf(x), i, letters);
    operands.push_back(sumLonely(node, x, *labels, i));
    text += (i ? ", " : "") + join(labels->operands[i], " ");
  }
  return node.done({node.op("einsum", operands,
                            node.attrs.text("labels", text + " -> " + join(labels->result, " ")))});
}

static constexpr OpRule kRules[] = {
    {"MatMul", "2 -> 1", buildMatMul},
    {"Gemm", "2-3 -> 1; alpha:float?, beta:float?, transA:int?, transB:int?, broadcast:int?",
     buildGemm},
    {"com.microsoft.FusedGemm",
     "2-3 -> 1; alpha:float?, beta:float?, transA:int?, transB:int?, activation:string?, "
     "activation_alpha:float?, activation_beta:float?, activation_gamma:float?",
     buildFusedGemm},
    {"MatMulInteger", "2-4 -> 1", buildMatMulInteger},
    {"Einsum", "1+ -> 1; equation:string", buildEinsum},
};

ArrayRef<OpRule> matrixRules() { return kRules; }

} // namespace tfc::onnx
