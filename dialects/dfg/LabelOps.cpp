//===- LabelOps.cpp - Operations written with names of axes ---------------===//
//
// Implements `einsum` and `rearrange`, which decompose into operations whose axes have no names.
// Their patterns are parsed in Labels.cpp.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/Errors.h"
#include "dialects/dfg/Formula.h"
#include "dialects/dfg/Help.h"
#include "dialects/dfg/Labels.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace tfc::dfg;

using Names = LabelNames;
using Sizes = llvm::StringMap<DimExpr>;

static bool contains(ArrayRef<std::string> names, StringRef name) {
  return llvm::is_contained(names, name);
}

static DimExpr product(ArrayRef<std::string> names, const Sizes &sizes) {
  DimExpr size(1);
  for (const std::string &name : names)
    size = size * sizes.lookup(name);
  return size;
}

static Shape sizesOf(ArrayRef<std::string> names, const Sizes &sizes) {
  Shape shape;
  for (const std::string &name : names)
    shape.push_back(sizes.lookup(name));
  return shape;
}

/// `x`, whose axes have the names `from`, with the axes in the order `to`.
static Value permute(OpBuilder &b, Location loc, Value x, ArrayRef<std::string> from,
                     ArrayRef<std::string> to) {
  if (from == to)
    return x;
  SmallVector<int64_t> permutation;
  for (const std::string &name : to)
    permutation.push_back(llvm::find(from, name) - from.begin());
  return TransposeOp::create(b, loc, x, b.getDenseI64ArrayAttr(permutation));
}

//===----------------------------------------------------------------------===//
// EinsumOp
//===----------------------------------------------------------------------===//

static Names flatten(const LabelTerm &term) {
  Names names;
  for (const AxisLabels &axis : term)
    names.append(axis.begin(), axis.end());
  return names;
}

static bool isFlat(const LabelTerm &term) {
  return llvm::all_of(term, [](const AxisLabels &axis) { return axis.size() == 1; });
}

static LogicalResult emitLabelError(std::optional<Location> location, StringRef op,
                                    const LabelError &error) {
  return emitDetailedError(location, {.part = error.part}, quotedName(location, op), ": ",
                           error.text, " [einsum-label]");
}

/// Explains that the term of an operand has too many or too few names.
static std::string explainTerm(StringRef term, Type type) {
  return ("'" + term + "' does not name each axis of " + toText(type) + " once").str();
}

static LogicalResult emitTermError(std::optional<Location> location, StringRef op, StringRef term,
                                   Type type) {
  if (!location)
    return failure();
  InFlightDiagnostic error = emitError(*location) << quotedName(location, op) << ": "
                                                  << explainTerm(term, type) << " [einsum-label]";
  ErrorDetails{.part = term.str()}.attachTo(*error.getUnderlyingDiagnostic());
  bool isOneName = term.size() > 1 && !term.contains(' ');
  if (isOneName)
    attachHelp(error, "names of axes are separated by spaces: \"b i j, b j k -> b i k\"");
  return error;
}

/// Reads the operands' terms and checks them against the shapes.
static LogicalResult readInputs(std::optional<Location> location, StringRef op,
                                LabelPattern &pattern, TypeRange types, Einsum &einsum) {
  for (auto [term, type] : llvm::zip(pattern.inputs, types)) {
    Shape shape = shapeOf(type);
    std::string text = toText(term);
    if (!isFlat(term) || !expandEllipsis(term, shape.size()))
      return emitTermError(location, op, text, type);
    Names names = flatten(term);
    for (auto [name, size] : llvm::zip(names, shape)) {
      auto [it, isNew] = einsum.sizes.try_emplace(name, size);
      if (!isNew && it->second != size)
        return emitDetailedError(location, {.part = name}, quotedName(location, op),
                                 " expects one size for '", name, "', but got ", it->second.str(),
                                 " and ", size.str(), " [unequal-dimensions]");
    }
    einsum.inputs.push_back(names);
  }
  return success();
}

static int64_t countTerms(const Einsum &einsum, StringRef name) {
  return llvm::count_if(einsum.inputs, [&](const Names &names) { return contains(names, name); });
}

/// A name of the einsum for which `name` may be a misspelling.
static StringRef similarName(const Einsum &einsum, StringRef name) {
  StringRef best;
  unsigned least = 3;
  for (const auto &entry : einsum.sizes) {
    unsigned distance = name.edit_distance(entry.first());
    if (distance > 0 && distance < least && distance < name.size()) {
      least = distance;
      best = entry.first();
    }
  }
  return best;
}

/// Fails if a label is in one operand only and not in the result: most likely it is misspelled. Of
/// two such labels the later one is reported.
static LogicalResult checkSummed(std::optional<Location> location, StringRef op,
                                 const Einsum &einsum) {
  for (size_t operand = einsum.inputs.size(); operand-- > 0;)
    for (size_t axis = einsum.inputs[operand].size(); axis-- > 0;) {
      const std::string &name = einsum.inputs[operand][axis];
      bool isTrace = llvm::count(einsum.inputs[operand], name) > 1;
      if (contains(einsum.output, name) || countTerms(einsum, name) > 1 || isTrace)
        continue;
      if (!location)
        return failure();
      StringRef similar = similarName(einsum, name);
      std::string hint = similar.empty() ? "" : "did you mean '" + similar.str() + "'? ";
      InFlightDiagnostic error = emitError(*location)
                                 << quotedName(location, op) << ": label '" << name
                                 << "' is in one operand and not in the result, so it would be "
                                    "summed away [einsum-label]";
      ErrorDetails{.part = name}.attachTo(*error.getUnderlyingDiagnostic());
      attachHelp(error, hint + "to sum on purpose, write sum($" + Twine(operand) +
                            ", axis: " + Twine(axis) + ")");
      return error;
    }
  return success();
}

LogicalResult tfc::dfg::readEinsum(std::optional<Location> location, StringRef op, StringRef labels,
                                   TypeRange types, bool takesDiagonals, Einsum &einsum) {
  LabelPattern pattern;
  if (std::optional<LabelError> error = pattern.parse(labels, takesDiagonals))
    return emitLabelError(location, op, *error);
  if (pattern.inputs.size() != types.size())
    return emitLabelError(location, op,
                          {"the labels are for " + std::to_string(pattern.inputs.size()) +
                           " operands, but there are " + std::to_string(types.size())});
  if (failed(readInputs(location, op, pattern, types, einsum)))
    return failure();
  size_t ellipsis = llvm::count_if(
      einsum.sizes, [](const auto &entry) { return entry.first().starts_with(".."); });
  bool hasEllipsis = llvm::any_of(pattern.output, isEllipsis);
  size_t rank = hasEllipsis ? pattern.output.size() - 1 + ellipsis : pattern.output.size();
  expandEllipsis(pattern.output, rank);
  einsum.output = flatten(pattern.output);
  if (!isFlat(pattern.output))
    return emitLabelError(location, op, {"the result has one name per axis"});
  for (const std::string &name : einsum.output)
    if (!einsum.sizes.contains(name))
      return emitLabelError(location, op,
                            {"label '" + name + "' of the result is in no operand", name});
  return checkSummed(location, op, einsum);
}

LogicalResult EinsumOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &results) {
  if (adaptor.getXs().empty())
    return emitErrorAbout(location, "einsum", "expects at least one tensor [operands]");
  Type first = adaptor.getXs()[0].getType();
  for (Value x : adaptor.getXs()) {
    if (failed(checkDtypes(location, "einsum", Dtypes::Numeric, x.getType())))
      return failure();
    if (elementTypeOf(x.getType()) != elementTypeOf(first))
      return emitErrorAbout(location, "einsum", "expects operands of one dtype, but got ",
                            toText(first), " and ", toText(x.getType()), " [dtype]");
  }
  Einsum einsum;
  if (failed(readEinsum(location, "einsum", adaptor.getLabels(), adaptor.getXs().getTypes(),
                        /*takesDiagonals=*/true, einsum)))
    return failure();
  results.push_back(tensorOf(sizesOf(einsum.output, einsum.sizes), elementTypeOf(first)));
  return success();
}

namespace {
/// A tensor whose axes have names.
struct Labelled {
  Value value;
  Names names;
};

} // namespace

static DimsAttr dimsOf(OpBuilder &b, ArrayRef<DimExpr> sizes) {
  return DimsAttr::get(b.getContext(), sizes);
}

/// Takes the diagonals that repeated names denote: the axes `n, n` become one axis `n`.
static Labelled takeDiagonals(OpBuilder &b, Labelled x, const Sizes &sizes) {
  Location loc = x.value.getLoc();
  for (size_t at = 0; at < x.names.size(); ++at) {
    std::string name = x.names[at];
    size_t other = llvm::find(ArrayRef(x.names).drop_front(at + 1), name) - x.names.begin();
    if (other == x.names.size())
      continue;
    // With both axes last and flattened, elements of the diagonal are n + 1 apart.
    std::string first = name + "'", second = name + "''";
    x.names[at] = first;
    x.names[other] = second;
    Names rest;
    for (const std::string &axis : x.names)
      if (axis != first && axis != second)
        rest.push_back(axis);
    Names order = rest;
    order.append({first, second});
    DimExpr n = sizes.lookup(name);
    Shape flat = sizesOf(rest, sizes);
    flat.push_back(n * n);
    Value matrix = reshapeTo(b, permute(b, loc, x.value, x.names, order), flat);
    Term index(b, loc, IotaOp::create(b, loc, dimsOf(b, {n}), TypeAttr::get(b.getI64Type())));
    index = index * index.with(sizeAs(b, loc, n + 1, b.getI64Type()));
    x.value = GatherOp::create(b, loc, matrix, index, b.getI64IntegerAttr(rest.size()),
                               OutsideAttr::get(b.getContext(), Outside::Skip));
    rest.push_back(name);
    x.names = rest;
    // The name may occur a third time.
    return takeDiagonals(b, x, sizes);
  }
  return x;
}

/// An operand of an einsum in which each name occurs once: diagonals are taken, and summed if
/// `isUsed` returns false, that is, if nothing else has the name.
static Labelled withoutRepeats(OpBuilder &b, const Labelled &x,
                               llvm::function_ref<bool(StringRef)> isUsed, const Sizes &sizes) {
  Labelled result = takeDiagonals(b, x, sizes);
  SmallVector<int64_t> axes;
  Names kept;
  for (auto [axis, name] : llvm::enumerate(result.names)) {
    if (isUsed(name) || llvm::count(x.names, name) == 1)
      kept.push_back(name);
    else
      axes.push_back(axis);
  }
  if (axes.empty())
    return result;
  Value sum = SumOp::create(b, x.value.getLoc(), result.value, b.getDenseI64ArrayAttr(axes),
                            b.getBoolAttr(false));
  return {sum, kept};
}

/// The gradient of diagonals: `x`, whose names are some of `names`, in the shape of `names`, with
/// zeros off the diagonals.
static Value spreadDiagonals(OpBuilder &b, Labelled x, const Names &names, const Sizes &sizes) {
  Location loc = x.value.getLoc();
  Names target;
  for (const std::string &name : names) {
    if (!contains(x.names, name)) {
      Shape shape = shapeOf(x.value.getType());
      shape.push_back(DimExpr(1));
      x.value = reshapeTo(b, x.value, shape);
      shape.back() = sizes.lookup(name);
      x.value = broadcastTo(b, x.value, shape);
      x.names.push_back(name);
    }
    if (!contains(target, name)) {
      target.push_back(name);
      continue;
    }
    std::string copy = name + "'" + std::to_string(target.size());
    Names order;
    for (const std::string &axis : x.names)
      if (axis != name)
        order.push_back(axis);
    order.push_back(name);
    DimExpr n = sizes.lookup(name);
    Value ordered = permute(b, loc, x.value, x.names, order);
    Term rows(b, loc, ordered);
    Shape shape = shapeOf(ordered.getType());
    shape.push_back(DimExpr(1));
    Term index(b, loc, IotaOp::create(b, loc, dimsOf(b, {n}), TypeAttr::get(b.getI64Type())));
    Term isDiagonal = call<EqualOp>(reshape(index, {n, DimExpr(1)}), index);
    x.value = select(isDiagonal, reshape(rows, shape), rows.number(0.0));
    order.push_back(copy);
    x.names = order;
    target.push_back(copy);
  }
  return permute(b, loc, x.value, x.names, target);
}

/// d einsum("a, b -> y", A, B) = einsum("y, b -> a", g, B), einsum("y, a -> b", g, A), on the
/// diagonals if a name is repeated.
SmallVector<Value> EinsumOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  LabelPattern pattern;
  (void)pattern.parse(getLabels(), /*takesDiagonals=*/true);
  Einsum einsum;
  (void)readEinsum(std::nullopt, "einsum", getLabels(), getXs().getTypes(), true, einsum);
  SmallVector<Value> grads;
  for (size_t k = 0; k < getXs().size(); ++k) {
    std::string labels = toText(pattern.output);
    SmallVector<Value> operands = {resultGrads[0]};
    for (size_t i = 0; i < getXs().size(); ++i) {
      if (i == k)
        continue;
      labels += ", " + toText(pattern.inputs[i]);
      operands.push_back(getXs()[i]);
    }
    auto isElsewhere = [&](StringRef name) {
      return contains(einsum.output, name) || countTerms(einsum, name) > 1;
    };
    LabelTerm term;
    for (const AxisLabels &axis : pattern.inputs[k])
      if (!llvm::is_contained(term, axis) && (isEllipsis(axis) || isElsewhere(axis[0])))
        term.push_back(axis);
    Labelled grad;
    grad.value =
        EinsumOp::create(b, getLoc(), operands, b.getStringAttr(labels + " -> " + toText(term)));
    for (const std::string &name : einsum.inputs[k])
      if (!contains(grad.names, name) && isElsewhere(name))
        grad.names.push_back(name);
    grads.push_back(spreadDiagonals(b, grad, einsum.inputs[k], einsum.sizes));
  }
  return grads;
}

namespace {
struct MatrixOperand {
  Value value;
  bool isTransposed;
};
} // namespace

/// An operand of a product of matrices: the axes `batch`, then `rows` and `columns` flattened,
/// keeping the existing order if possible.
static MatrixOperand asMatrix(OpBuilder &b, Location loc, const Labelled &x,
                              ArrayRef<std::string> batch, ArrayRef<std::string> rows,
                              ArrayRef<std::string> columns, const Sizes &sizes) {
  auto join = [&](ArrayRef<std::string> first, ArrayRef<std::string> second) {
    Names names(batch);
    names.append(first.begin(), first.end());
    names.append(second.begin(), second.end());
    return names;
  };
  bool isTransposed = x.names == join(columns, rows) && x.names != join(rows, columns);
  ArrayRef<std::string> first = isTransposed ? columns : rows,
                        second = isTransposed ? rows : columns;
  Value value = permute(b, loc, x.value, x.names, join(first, second));
  Shape shape = sizesOf(batch, sizes);
  shape.append({product(first, sizes), product(second, sizes)});
  return {reshapeTo(b, value, shape), isTransposed};
}

/// Multiplies two tensors and sums over the names for which `isKept` returns false.
static Labelled contract(OpBuilder &b, Location loc, const Labelled &lhs, const Labelled &rhs,
                         llvm::function_ref<bool(StringRef)> isKept, const Sizes &sizes) {
  Names batch, rows, inner, columns;
  for (const std::string &name : lhs.names) {
    bool isShared = contains(rhs.names, name);
    (isShared ? (isKept(name) ? batch : inner) : rows).push_back(name);
  }
  for (const std::string &name : rhs.names)
    if (!contains(lhs.names, name))
      columns.push_back(name);
  MatrixOperand a = asMatrix(b, loc, lhs, batch, rows, inner, sizes);
  MatrixOperand c = asMatrix(b, loc, rhs, batch, inner, columns, sizes);
  Value result = MatmulOp::create(b, loc, a.value, c.value, b.getBoolAttr(a.isTransposed),
                                  b.getBoolAttr(c.isTransposed));
  Names names = batch;
  names.append(rows);
  names.append(columns);
  return {reshapeTo(b, result, sizesOf(names, sizes)), names};
}

/// Returns the number of scalar multiplications that contracting two operands takes; unknown sizes
/// count as 64.
static double costOf(const Labelled &lhs, const Labelled &rhs, const Sizes &sizes) {
  constexpr int64_t kAssumed = 64;
  double cost = 1;
  auto count = [&](StringRef name) { cost *= sizes.lookup(name).constant().value_or(kAssumed); };
  for (const std::string &name : lhs.names)
    count(name);
  for (const std::string &name : rhs.names)
    if (!contains(lhs.names, name))
      count(name);
  return cost;
}

/// Returns the pair with the fewest scalar multiplications, the first one if there are several.
static std::pair<size_t, size_t> cheapestPair(ArrayRef<Labelled> operands, const Sizes &sizes) {
  std::pair<size_t, size_t> best = {0, 1};
  double least = costOf(operands[0], operands[1], sizes);
  for (size_t i = 0; i < operands.size(); ++i)
    for (size_t j = i + 1; j < operands.size(); ++j)
      if (double cost = costOf(operands[i], operands[j], sizes); cost < least) {
        best = {i, j};
        least = cost;
      }
  return best;
}

/// Decomposes into matrix products, each of the two operands that are cheapest to multiply.
SmallVector<Value> EinsumOp::decompose(OpBuilder &b) {
  Einsum einsum;
  (void)readEinsum(std::nullopt, "einsum", getLabels(), getXs().getTypes(), true, einsum);
  auto isUsed = [&](StringRef name) {
    return contains(einsum.output, name) || countTerms(einsum, name) > 1;
  };
  SmallVector<Labelled> operands;
  for (auto [x, names] : llvm::zip(getXs(), einsum.inputs))
    operands.push_back(withoutRepeats(b, {x, names}, isUsed, einsum.sizes));
  while (operands.size() > 1) {
    auto [i, j] = cheapestPair(operands, einsum.sizes);
    Labelled lhs = operands[i], rhs = operands[j];
    operands.erase(operands.begin() + j);
    auto others = llvm::concat<Labelled>(MutableArrayRef(operands).take_front(i),
                                         MutableArrayRef(operands).drop_front(i + 1));
    auto isKept = [&](StringRef name) {
      return contains(einsum.output, name) || llvm::any_of(others, [&](const Labelled &other) {
               return contains(other.names, name);
             });
    };
    operands[i] = contract(b, getLoc(), lhs, rhs, isKept, einsum.sizes);
  }
  const Labelled &result = operands.front();
  return {permute(b, getLoc(), result.value, result.names, einsum.output)};
}

//===----------------------------------------------------------------------===//
// RearrangeOp
//===----------------------------------------------------------------------===//

namespace {
/// A rearrangement with the ellipsis expanded: the names in both orders and the size of each.
struct Rearrangement {
  Names from, to;
  Shape result;
  Sizes sizes;
};
} // namespace

/// Fails with an error about a part of the pattern.
template <typename... Args>
static LogicalResult emitRearrangeError(std::optional<Location> location, StringRef part,
                                        Args &&...args) {
  return emitDetailedError(location, {.part = part.str()}, quotedName(location, "rearrange"),
                           std::forward<Args>(args)..., " [rearrange]");
}

/// Computes the sizes of the names that make up one axis.
static LogicalResult solveAxis(std::optional<Location> location, const AxisLabels &axis,
                               const DimExpr &size, Sizes &sizes) {
  StringRef open;
  DimExpr known(1);
  for (const std::string &name : axis) {
    if (auto it = sizes.find(name); it != sizes.end())
      known = known * it->second;
    else if (open.empty())
      open = name;
    else
      return emitRearrangeError(location, open, " needs the size of '", open, "' or '", name, "'");
  }
  if (!open.empty() && !known.isConstant(0)) {
    sizes[open] = DimExpr::floorDiv(size, known);
    known = known * sizes[open];
  }
  if (known == size)
    return success();
  return emitUnproven(location, known, size, quotedName(location, "rearrange"), " needs for '",
                      toText(LabelTerm{axis}), "' [unequal-dimensions]");
}

static LogicalResult readSizes(std::optional<Location> location, DictionaryAttr given,
                               const LabelTerm &input, Sizes &sizes) {
  Names names = flatten(input);
  if (!given)
    return success();
  for (NamedAttribute entry : given) {
    auto dims = dyn_cast<DimsAttr>(entry.getValue());
    if (!dims || dims.getSizes().size() != 1)
      return emitRearrangeError(location, entry.getName(), " expects one size for '",
                                entry.getName().getValue(), "'");
    if (!contains(names, entry.getName().getValue()))
      return emitRearrangeError(location, toText(input), " has no axis '",
                                entry.getName().getValue(), "' in '", toText(input), "'");
    DimExpr size = dims.getExprs()[0];
    if (size.constant().value_or(0) < 0)
      return emitRearrangeError(location, entry.getName(), " expects a size of at least 0 for '",
                                entry.getName().getValue(), "', but got ", size.str());
    sizes[entry.getName().getValue()] = size;
  }
  return success();
}

static LogicalResult readRearrangement(std::optional<Location> location, StringRef text,
                                       DictionaryAttr given, Type type, Rearrangement &result) {
  LabelPattern pattern;
  std::optional<LabelError> error = pattern.parse(text);
  if (!error && pattern.inputs.size() != 1)
    error = LabelError{"expected the axes of one tensor before '->'"};
  if (error)
    return emitRearrangeError(location, error->part, ": ", error->text);
  LabelTerm input = pattern.inputs[0];
  Shape shape = shapeOf(type);
  size_t written = input.size();
  if (!expandEllipsis(input, shape.size()))
    return emitRearrangeError(location, toText(pattern.inputs[0]), ": ",
                              explainTerm(toText(pattern.inputs[0]), type));
  if (failed(readSizes(location, given, input, result.sizes)))
    return failure();
  for (auto [axis, size] : llvm::zip(input, shape))
    if (failed(solveAxis(location, axis, size, result.sizes)))
      return failure();
  expandEllipsis(pattern.output, pattern.output.size() + input.size() - written);
  result.from = flatten(input);
  result.to = flatten(pattern.output);
  Names before = result.from, after = result.to;
  llvm::sort(before);
  llvm::sort(after);
  if (before != after)
    return emitRearrangeError(location, text, " expects the same names on both sides, but got '",
                              text, "'");
  for (const AxisLabels &axis : pattern.output)
    result.result.push_back(product(axis, result.sizes));
  return success();
}

LogicalResult RearrangeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &results) {
  Type type = adaptor.getX().getType();
  Rearrangement rearrangement;
  if (failed(readRearrangement(location, adaptor.getPattern(), adaptor.getSizesAttr(), type,
                               rearrangement)))
    return failure();
  results.push_back(tensorOf(rearrangement.result, elementTypeOf(type)));
  return success();
}

/// d(rearrange x) = g, rearranged back.
SmallVector<Value> RearrangeOp::buildOperandGradients(OpBuilder &b, ValueRange resultGrads) {
  Rearrangement r;
  (void)readRearrangement(std::nullopt, getPattern(), getSizesAttr(), getX().getType(), r);
  Value split = reshapeTo(b, resultGrads[0], sizesOf(r.to, r.sizes));
  Value ordered = permute(b, getLoc(), split, r.to, r.from);
  return {reshapeTo(b, ordered, shapeOf(getX().getType()))};
}

SmallVector<Value> RearrangeOp::decompose(OpBuilder &b) {
  Rearrangement r;
  (void)readRearrangement(std::nullopt, getPattern(), getSizesAttr(), getX().getType(), r);
  Value split = reshapeTo(b, getX(), sizesOf(r.from, r.sizes));
  return {reshapeTo(b, permute(b, getLoc(), split, r.from, r.to), r.result)};
}
