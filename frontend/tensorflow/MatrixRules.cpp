// Implements the rules of matrix products, `Einsum`, diagonals and triangles.

#include "frontend/Fmt.h"
#include "frontend/tensorflow/NodeBuilder.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

using dfg::DimExpr;

/// `argument` is the prefix of the attributes that request a transpose.
/// The attribute `Tout`, if there is one, is the dtype of the result.
static Outcome buildMatMul(NodeBuilder &node, const OpRule &rule) {
  bool isBatch = rule.argument == "adj";
  NodeValue lhs = node.in(0), rhs = node.in(1);
  if (node.node.has("Tout")) {
    Type type = node.dtype("Tout");
    if (!type)
      return Outcome::Failed;
    lhs = node.cast(lhs, type);
    rhs = node.cast(rhs, type);
  }
  return node.done(
      {node.op("matmul", {lhs, rhs},
               {node.attrs.flag("transpose_lhs", node.flag(isBatch ? "adj_x" : "transpose_a")),
                node.attrs.flag("transpose_rhs", node.flag(isBatch ? "adj_y" : "transpose_b"))})});
}

/// Returns the labels of a term of an equation: letters and "...".
static SmallVector<StringRef> splitTerm(StringRef term) {
  SmallVector<StringRef> labels;
  for (size_t i = 0; i < term.size();) {
    size_t length = term.substr(i).starts_with("...") ? 3 : 1;
    if (term[i] != ' ')
      labels.push_back(term.substr(i, length));
    i += length;
  }
  return labels;
}

/// Returns a term in the dialect's syntax: "b i .." for "bi...".
static std::string spellTerm(ArrayRef<StringRef> labels) {
  std::string text;
  for (StringRef label : labels)
    text += (text.empty() ? "" : " ") + (label == "..." ? ".." : label).str();
  return text;
}

/// Sums over the axes whose labels occur only once in the equation, which `einsum` rejects, and
/// removes them from `labels`.
static NodeValue sumLoneAxes(NodeBuilder &node, NodeValue x, SmallVectorImpl<StringRef> &labels,
                             StringRef equation) {
  SmallVector<int64_t> axes;
  SmallVector<StringRef> kept;
  bool isBehindRest = false;
  for (auto [i, label] : enumerate(labels)) {
    isBehindRest |= label == "...";
    bool isLone = label != "..." && equation.count(label) == 1;
    if (isLone)
      axes.push_back(isBehindRest ? int64_t(i) - int64_t(labels.size()) : int64_t(i));
    else
      kept.push_back(label);
  }
  labels.assign(kept.begin(), kept.end());
  return axes.empty() ? x : node.op("sum", x, node.attrs.integers("axis", axes));
}

/// Returns the labels without those that occurred before.
static SmallVector<StringRef> withoutRepetitions(ArrayRef<StringRef> labels) {
  SmallVector<StringRef> distinct;
  for (StringRef label : labels)
    if (!is_contained(distinct, label))
      distinct.push_back(label);
  return distinct;
}

/// Returns a tensor whose axes have the given labels, from one that has an axis for each distinct
/// one: elements outside of the diagonals of repeated labels are 0.
static NodeValue onDiagonals(NodeBuilder &node, NodeValue x, ArrayRef<StringRef> labels) {
  SmallVector<StringRef> present = withoutRepetitions(labels);
  if (!x || present.size() == labels.size())
    return x;
  Type position = IntegerType::get(node.context(), 64);
  for (size_t i = 0; i < labels.size() && x; ++i) {
    if (i < present.size() && present[i] == labels[i])
      continue;
    dfg::Shape shape = dfg::shapeOf(x.getType());
    // "..." stands for any number of axes.
    int64_t rest = int64_t(shape.size()) - int64_t(present.size());
    auto axisOf = [&](size_t number) {
      bool isBehind = is_contained(ArrayRef(present).take_front(number), "...");
      return int64_t(number) + (isBehind ? rest : 0);
    };
    int64_t from = axisOf(find(present, labels[i]) - present.begin()), to = axisOf(i);
    DimExpr size = shape[from];
    auto positions = [&](int64_t axis, size_t rank) {
      dfg::Shape along(rank, DimExpr(1));
      along[axis] = size;
      return node.reshape(node.iota(size, position), along);
    };
    shape.insert(shape.begin() + to, DimExpr(1));
    x = node.reshape(x, shape);
    shape[to] = size;
    NodeValue isInside =
        node.op("equal", {positions(from, shape.size()), positions(to, shape.size())});
    NodeValue zero = node.scalar(0, dfg::elementTypeOf(x.getType()));
    x = node.op("select", {isInside, node.broadcast(x, shape), zero});
    present.insert(present.begin() + i, labels[i]);
  }
  return x;
}

static Outcome buildEinsum(NodeBuilder &node, const OpRule &) {
  constexpr size_t kMaxLength = 4096;
  StringRef equation = node.node.attr("equation").text;
  if (equation.size() > kMaxLength)
    return node.fail("expected an equation of at most {} characters [graph-attribute]", kMaxLength);
  auto [inputs, output] = equation.split("->");
  SmallVector<StringRef> terms;
  inputs.split(terms, ',');
  SmallVector<NodeValue> values = node.allInputs();
  if (terms.size() != values.size())
    return node.fail("expected a term of '{}' for each input [graph-edge]", equation);
  SmallVector<std::string> labels;
  for (auto [term, value] : zip(terms, values)) {
    SmallVector<StringRef> names = splitTerm(term);
    value = sumLoneAxes(node, value, names, equation);
    labels.push_back(spellTerm(names));
  }
  SmallVector<StringRef> results = splitTerm(output);
  std::string text =
      fmt::format("{} -> {}", join(labels, ", "), spellTerm(withoutRepetitions(results)));
  return node.done(
      {onDiagonals(node, node.op("einsum", values, node.attrs.text("labels", text)), results)});
}

//===----------------------------------------------------------------------===//
// Diagonals
//===----------------------------------------------------------------------===//

/// Returns column minus row for each element of matrices of these sizes.
static NodeValue diagonalNumbers(NodeBuilder &node, const DimExpr &rows, const DimExpr &columns) {
  Type type = IntegerType::get(node.context(), 64);
  NodeValue row = node.reshape(node.iota(rows, type), {rows, DimExpr(1)});
  return node.op("sub", {node.iota(columns, type), row});
}

/// Returns whether each element of matrices of these sizes is on diagonal `k`.
static NodeValue onDiagonal(NodeBuilder &node, const DimExpr &rows, const DimExpr &columns,
                            int64_t k) {
  Type type = IntegerType::get(node.context(), 64);
  return node.op("equal", {diagonalNumbers(node, rows, columns), node.scalar(k, type)});
}

/// Diagonals from the lower one to the upper one; 0 is the main diagonal.
struct Bands {
  int64_t lower = 0, upper = 0;
  bool areOne() const { return lower == upper; }
};

/// Returns the diagonals that operand `i` selects; without the operand, the main diagonal.
static std::optional<Bands> bandsAt(NodeBuilder &node, unsigned i) {
  if (i >= node.numInputs())
    return Bands();
  std::optional<SmallVector<int64_t>> bounds = node.ints(i);
  if (!bounds)
    return std::nullopt;
  // Bounds are int32 in TensorFlow.
  bool isKnown = (bounds->size() == 1 || bounds->size() == 2) && isInt<32>(bounds->front()) &&
                 isInt<32>(bounds->back()) && bounds->front() <= bounds->back();
  if (isKnown)
    return Bands{bounds->front(), bounds->back()};
  node.error() << "expected the number of a diagonal, or those of the lowest and the highest one "
                  "[operand]";
  return std::nullopt;
}

/// Calls a function in graph source for several diagonals, of which short ones are at the left or
/// at the right of their rows.
static Outcome buildBands(NodeBuilder &node, StringRef function, ArrayRef<NodeValue> operands,
                          const Bands &bands, const DimExpr &rows, const DimExpr &columns) {
  // Before version 3 all are at the left.
  std::string align = node.node.has("align")                    ? node.node.attr("align").text
                      : StringRef(node.node.op).ends_with("V3") ? "RIGHT_LEFT"
                                                                : "LEFT_LEFT";
  if (!is_contained({"LEFT_LEFT", "LEFT_RIGHT", "RIGHT_LEFT", "RIGHT_RIGHT"}, align))
    return node.fail("'{}' is no alignment of diagonals [graph-attribute]", align);
  auto results = node.library().on(function, operands,
                                   {{"lower", dfg::Shape{bands.lower}},
                                    {"upper", dfg::Shape{bands.upper}},
                                    {"rows", dfg::Shape{rows}},
                                    {"columns", dfg::Shape{columns}},
                                    {"upper_left", StringRef(align).starts_with("LEFT")},
                                    {"lower_left", StringRef(align).ends_with("LEFT")}});
  return node.doneWith(results);
}

/// Builds matrices with the vectors of `diagonal` on a diagonal: elements are shifted to their
/// columns or rows, broadcast along the other axis and masked.
static Outcome buildDiag(NodeBuilder &node, const OpRule &) {
  NodeValue diagonal = node.in(0);
  std::optional<Bands> bands = bandsAt(node, 1);
  if (!diagonal || !bands)
    return Outcome::Failed;
  dfg::Shape shape = dfg::shapeOf(diagonal.getType());
  if (shape.size() < (bands->areOne() ? 1 : 2))
    return node.fail("expected vectors, but got {} [graph-edge]", dfg::toText(diagonal.getType()));
  if (!bands->areOne() && !shape[shape.size() - 2].isConstant(bands->upper - bands->lower + 1))
    return node.fail("expected {} diagonals, but got {} [graph-edge]",
                     bands->upper - bands->lower + 1, shape[shape.size() - 2].str());
  // The diagonals reach the last row and the last column, unless sizes are given.
  DimExpr length = shape.back();
  int64_t below = std::max<int64_t>(-bands->upper, 0), right = std::max<int64_t>(bands->lower, 0);
  std::optional<DimExpr> sides[2];
  for (unsigned i : {2u, 3u}) {
    std::optional<dfg::Shape> given = node.numInputs() > i ? node.dims(i) : dfg::Shape{DimExpr(-1)};
    if (!given)
      return Outcome::Failed;
    if (given->size() != 1)
      return node.fail("expected one number of rows or columns [graph-edge]");
    if (!given->front().isConstant(-1))
      sides[i - 2] = given->front();
  }
  bool isSquare = !sides[0] && !sides[1];
  DimExpr side = length + DimExpr(std::max(below, right));
  DimExpr rows = isSquare ? side : sides[0].value_or(length + DimExpr(below));
  DimExpr columns = isSquare ? side : sides[1].value_or(length + DimExpr(right));
  if (!bands->areOne()) {
    NodeValue padding =
        node.numInputs() > 4 ? node.in(4) : node.scalar(0, dfg::elementTypeOf(diagonal.getType()));
    return buildBands(node, "_band_matrix", {diagonal, padding}, *bands, rows, columns);
  }
  int64_t k = bands->lower;
  // Element j is in column j + k if k >= 0, else in row j - k.
  NodeValue spread = diagonal;
  dfg::Shape axis = shape;
  bool alongColumns = k >= 0;
  spread = node.op("place", spread,
                   {node.attrs.sizes("starts",
                                     [&] {
                                       dfg::Shape starts(shape.size(), DimExpr(0));
                                       starts.back() = std::abs(k);
                                       return starts;
                                     }()),
                    node.attrs.sizes("shape", [&] {
                      dfg::Shape whole = shape;
                      whole.back() = alongColumns ? columns : rows;
                      return whole;
                    }())});
  if (!spread)
    return Outcome::Failed;
  axis = dfg::shapeOf(spread.getType());
  axis.insert(axis.end() - (alongColumns ? 1 : 0), DimExpr(1));
  spread = node.reshape(spread, axis);
  NodeValue padding =
      node.numInputs() > 4 ? node.in(4) : node.scalar(0, dfg::elementTypeOf(diagonal.getType()));
  NodeValue mask = onDiagonal(node, rows, columns, k);
  return node.done({node.op("select", {mask, spread, padding})});
}

static Outcome buildDiagPart(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  std::optional<Bands> bands = bandsAt(node, 1);
  if (!x || !bands)
    return Outcome::Failed;
  dfg::Shape shape = dfg::shapeOf(x.getType());
  if (shape.size() < 2)
    return node.fail("expected matrices, but got {} [graph-edge]", dfg::toText(x.getType()));
  DimExpr rows = shape[shape.size() - 2], columns = shape.back();
  if (!bands->areOne()) {
    NodeValue padding =
        node.numInputs() > 2 ? node.in(2) : node.scalar(0, dfg::elementTypeOf(x.getType()));
    return buildBands(node, "_bands", {x, padding}, *bands, rows, columns);
  }
  int64_t k = bands->lower;
  int64_t down = std::max<int64_t>(-k, 0), right = std::max<int64_t>(k, 0);
  std::optional<int64_t> height = rows.constant(), width = columns.constant();
  DimExpr length = height && width
                       ? DimExpr(std::max<int64_t>(0, std::min(*height - down, *width - right)))
                       : DimExpr::min(rows - DimExpr(down), columns - DimExpr(right));
  // Sum each row after masking all elements except the diagonal.
  NodeValue zero = node.scalar(0, dfg::elementTypeOf(x.getType()));
  bool isBool = dfg::elementTypeOf(x.getType()).isInteger(1);
  NodeValue kept = node.op("select", {onDiagonal(node, rows, columns, k), x, zero});
  NodeValue all = node.op(isBool ? "any" : "sum", kept, node.attrs.integers("axis", -1));
  shape.pop_back();
  dfg::Shape starts(shape.size(), DimExpr(0));
  starts.back() = down;
  shape.back() = length;
  return node.done({node.slice(all, starts, shape)});
}

/// The elements of a tensor of any rank are on the diagonal of one with its axes twice.
static Outcome buildTensorDiag(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  if (!x)
    return Outcome::Failed;
  dfg::Shape shape = dfg::shapeOf(x.getType()), twice = shape;
  twice.append(shape.begin(), shape.end());
  DimExpr count = dfg::elementCount(shape);
  NodeValue zero = node.scalar(0, dfg::elementTypeOf(x.getType()));
  NodeValue column = node.reshape(x, {count, DimExpr(1)});
  return node.done(
      {node.reshape(node.op("select", {onDiagonal(node, count, count, 0), column, zero}), twice)});
}

static Outcome buildTensorDiagPart(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  if (!x)
    return Outcome::Failed;
  dfg::Shape twice = dfg::shapeOf(x.getType());
  ArrayRef<DimExpr> shape = ArrayRef(twice).take_front(twice.size() / 2);
  if (twice.size() % 2 != 0 || shape != ArrayRef(twice).drop_front(shape.size()))
    return node.fail("expected a tensor that has each axis twice, but got {} [graph-edge]",
                     dfg::toText(x.getType()));
  DimExpr count = dfg::elementCount(shape);
  bool isBool = dfg::elementTypeOf(x.getType()).isInteger(1);
  NodeValue kept =
      node.op("select", {onDiagonal(node, count, count, 0), node.reshape(x, {count, count}),
                         node.scalar(0, dfg::elementTypeOf(x.getType()))});
  return node.done({node.reshape(
      node.op(isBool ? "any" : "sum", kept, node.attrs.integers("axis", -1)), shape)});
}

static Outcome buildSetDiag(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0), diagonal = node.in(1);
  std::optional<Bands> bands = bandsAt(node, 2);
  if (!x || !diagonal || !bands)
    return Outcome::Failed;
  dfg::Shape shape = dfg::shapeOf(x.getType()), vector = dfg::shapeOf(diagonal.getType());
  if (shape.size() < 2 || vector.size() + (bands->areOne() ? 1 : 0) != shape.size())
    return node.fail("expected matrices and their diagonals [graph-edge]");
  DimExpr rows = shape[shape.size() - 2], columns = shape.back();
  if (!bands->areOne())
    return buildBands(node, "_with_bands", {x, diagonal}, *bands, rows, columns);
  int64_t k = bands->lower;
  bool alongColumns = k >= 0;
  dfg::Shape starts(vector.size(), DimExpr(0)), whole = vector;
  starts.back() = std::abs(k);
  whole.back() = alongColumns ? columns : rows;
  NodeValue spread = node.op(
      "place", diagonal, {node.attrs.sizes("starts", starts), node.attrs.sizes("shape", whole)});
  whole.insert(whole.end() - (alongColumns ? 1 : 0), DimExpr(1));
  spread = node.reshape(spread, whole);
  return node.done({node.op("select", {onDiagonal(node, rows, columns, k), spread, x})});
}

/// Keeps a number of diagonals below and above the main one; -1 keeps all.
static Outcome buildBandPart(NodeBuilder &node, const OpRule &) {
  NodeValue x = node.in(0);
  std::optional<int64_t> low = node.integer(1), high = node.integer(2);
  if (!x || !low || !high)
    return Outcome::Failed;
  dfg::Shape shape = dfg::shapeOf(x.getType());
  if (shape.size() < 2)
    return node.fail("expected matrices, but got {} [graph-edge]", dfg::toText(x.getType()));
  Type type = IntegerType::get(node.context(), 64);
  NodeValue numbers = diagonalNumbers(node, shape[shape.size() - 2], shape.back());
  NodeValue zero = node.scalar(0, dfg::elementTypeOf(x.getType()));
  if (*low >= 0)
    x = node.op("select", {node.op("greater_equal", {numbers, node.scalar(-*low, type)}), x, zero});
  if (*high >= 0)
    x = node.op("select", {node.op("less_equal", {numbers, node.scalar(*high, type)}), x, zero});
  return node.done({x});
}

static constexpr OpRule kRules[] = {
    {"MatMul", "2 -> 1; transpose_a:bool?, transpose_b:bool?", buildMatMul},
    {"BatchMatMul", "2 -> 1; adj_x:bool?, adj_y:bool?", buildMatMul, "adj"},
    {"BatchMatMulV2", "2 -> 1; adj_x:bool?, adj_y:bool?", buildMatMul, "adj"},
    {"BatchMatMulV3", "2 -> 1; adj_x:bool?, adj_y:bool?, Tout:type?", buildMatMul, "adj"},
    {"Einsum", "N -> 1; N:int>=1?, equation:string", buildEinsum},
    {"Diag", "1 -> 1", buildTensorDiag, "", OpRule::Planes},
    {"DiagPart", "1 -> 1", buildTensorDiagPart, "", OpRule::Planes},
    {"MatrixDiag", "1 -> 1", buildDiag, "", OpRule::Planes},
    {"MatrixDiagV2", "5 -> 1", buildDiag, "", OpRule::Planes},
    {"MatrixDiagV3", "5 -> 1; align:string?", buildDiag, "", OpRule::Planes},
    {"MatrixDiagPart", "1 -> 1", buildDiagPart, "", OpRule::Planes},
    {"MatrixDiagPartV2", "3 -> 1", buildDiagPart, "", OpRule::Planes},
    {"MatrixDiagPartV3", "3 -> 1; align:string?", buildDiagPart, "", OpRule::Planes},
    {"MatrixSetDiag", "2 -> 1", buildSetDiag, "", OpRule::Planes},
    {"MatrixSetDiagV2", "3 -> 1", buildSetDiag, "", OpRule::Planes},
    {"MatrixSetDiagV3", "3 -> 1; align:string?", buildSetDiag, "", OpRule::Planes},
    {"MatrixBandPart", "3 -> 1", buildBandPart, "", OpRule::Planes},
};

ArrayRef<OpRule> matrixRules() { return kRules; }

} // namespace tfc::tensorflow
