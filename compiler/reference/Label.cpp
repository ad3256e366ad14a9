//===- Label.cpp - Operations written with names of axes ------------------===//
//
// Evaluates `einsum`, `contract` and `rearrange` by the names of their axes, without decomposing
// them.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Registry.h"
#include "dialects/dfg/ConvolutionOps.h"
#include "dialects/dfg/Labels.h"
#include <cmath>

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

using Names = SmallVector<std::string>;
using Extents = llvm::StringMap<int64_t>;

static Names flatten(const LabelTerm &term) {
  Names names;
  for (const AxisLabels &axis : term)
    names.append(axis.begin(), axis.end());
  return names;
}

/// The offset of an element of a tensor of these sizes whose axes have names with these values.
static int64_t offsetOf(ArrayRef<std::string> names, ArrayRef<int64_t> shape, const Extents &at) {
  int64_t offset = 0;
  for (auto [name, size] : llvm::zip_equal(names, shape))
    offset = offset * size + at.lookup(name);
  return offset;
}

static void setPlace(Extents &at, ArrayRef<std::string> names, ArrayRef<int64_t> place) {
  for (auto [name, position] : llvm::zip_equal(names, place))
    at[name] = position;
}

//===----------------------------------------------------------------------===//
// EinsumOp
//===----------------------------------------------------------------------===//

namespace {
/// The names of the axes, and those that are summed over.
struct Einsum {
  std::vector<Names> inputs;
  Names output, summed;
  SmallVector<int64_t> summedSizes;
};
} // namespace

template <typename Op> static Einsum readEinsum(Op op, Call &call) {
  LabelPattern pattern;
  (void)pattern.parse(op.getLabels(), /*takesDiagonals=*/true);
  Einsum einsum;
  Extents sizes;
  for (auto [term, operand] : llvm::zip_equal(pattern.inputs, call.getOperands())) {
    expandEllipsis(term, operand->getRank());
    einsum.inputs.push_back(flatten(term));
    setPlace(sizes, einsum.inputs.back(), operand->getShape());
  }
  expandEllipsis(pattern.output, call.result().getRank());
  einsum.output = flatten(pattern.output);
  for (const auto &entry : sizes)
    if (!llvm::is_contained(einsum.output, entry.first())) {
      einsum.summed.push_back(entry.first().str());
      einsum.summedSizes.push_back(entry.second);
    }
  return einsum;
}

/// Adds one of `terms` products of several factors, of which some may have been multiplied, summed
/// and stored before the others, in any order.
static void addProduct(Sum &sum, const Call &call, ArrayRef<int64_t> offsets, double terms) {
  Real product = call.operand(0).real(offsets[0]);
  if (offsets.size() == 1)
    return sum.add(product);
  const Format &format = formatOf(call.operand().getElementType());
  auto sizeOf = [&](size_t n) {
    double size = std::fabs(call.operand(n).number(offsets[n]));
    return std::isfinite(size) ? size : 1;
  };
  // The largest and the smallest product of some of the factors.
  double most = std::max(1.0, sizeOf(0)), least = std::min(1.0, sizeOf(0));
  for (size_t n = 1; n < offsets.size(); ++n) {
    most *= std::max(1.0, sizeOf(n));
    least *= std::min(1.0, sizeOf(n));
    if (n + 1 == offsets.size())
      break;
    product = multiply(product, call.operand(n).real(offsets[n]));
    if (product.isBounded())
      product.widen((format.computeUlp + format.ulp) * product.size());
  }
  if (offsets.size() > 2) {
    // An infinite factor may be multiplied with a sum of the others, or with each of them. Finite
    // ones may overflow, or not, if the last one comes first.
    bool isInfinite = std::isinf(product.value);
    for (auto [n, offset] : llvm::enumerate(offsets))
      isInfinite |= std::isinf(call.operand(n).number(offset));
    if (isInfinite)
      product.error = kUndetermined;
  }
  if (offsets.size() > 2 && std::isfinite(product.value)) {
    if (most > 0.5 * format.largest / terms)
      product.error = kUndetermined;
    else if (least < format.normal)
      product.widen(product.size());
  }
  sum.addProduct(product, call.operand(offsets.size() - 1).real(offsets.back()));
}

/// Calls `visit` with the operands' offsets of each term of the sum for one element of the result.
static void forEachTerm(const Einsum &einsum, Call &call, Extents &at,
                        llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
  SmallVector<int64_t> offsets(einsum.inputs.size());
  for (Positions term(einsum.summedSizes); !term.done(); term.next()) {
    setPlace(at, einsum.summed, *term);
    for (auto [n, names] : llvm::enumerate(einsum.inputs))
      offsets[n] = offsetOf(names, call.operand(n).getShape(), at);
    visit(offsets);
  }
}

template <typename Op> static void einsum(Op op, Call &call) {
  Einsum einsum = readEinsum(op, call);
  Tensor &result = call.result();
  Extents at;
  double terms = 1;
  for (int64_t size : einsum.summedSizes)
    terms *= size;
  int64_t i = 0;
  for (Positions place(result.getShape()); !place.done(); place.next(), ++i) {
    setPlace(at, einsum.output, *place);
    if (result.isFloat()) {
      Sum sum(result.getElementType());
      forEachTerm(einsum, call, at,
                  [&](ArrayRef<int64_t> offsets) { addProduct(sum, call, offsets, terms); });
      result.setReal(i, rounded(result.getElementType(), sum.get(), 0.5));
      continue;
    }
    uint64_t sum = 0;
    bool isDetermined = true;
    forEachTerm(einsum, call, at, [&](ArrayRef<int64_t> offsets) {
      uint64_t product = 1;
      for (auto [n, offset] : llvm::enumerate(offsets)) {
        product *= uint64_t(call.operand(n).integer(offset));
        isDetermined &= call.operand(n).isDetermined(offset);
      }
      sum += product;
    });
    result.setInteger(i, int64_t(sum), isDetermined);
  }
}

//===----------------------------------------------------------------------===//
// RearrangeOp
//===----------------------------------------------------------------------===//

/// Sizes of all names: given ones, then the remaining one of each axis.
static Extents solveSizes(RearrangeOp op, Call &call, const LabelTerm &input) {
  Extents sizes;
  if (DictionaryAttr given = op.getSizesAttr())
    for (NamedAttribute entry : given)
      sizes[entry.getName()] = call.size(cast<DimsAttr>(entry.getValue()).getExprs()[0]);
  for (auto [axis, extent] : llvm::zip_equal(input, call.operand().getShape())) {
    int64_t known = 1;
    for (const std::string &name : axis)
      if (sizes.contains(name))
        known *= sizes.lookup(name);
    for (const std::string &name : axis)
      if (!sizes.contains(name))
        sizes[name] = known == 0 ? 0 : extent / known;
  }
  return sizes;
}

static void rearrange(RearrangeOp op, Call &call) {
  LabelPattern pattern;
  (void)pattern.parse(op.getPattern());
  LabelTerm input = pattern.inputs[0], output = pattern.output;
  size_t written = input.size();
  expandEllipsis(input, call.operand().getRank());
  expandEllipsis(output, output.size() + input.size() - written);
  Extents sizes = solveSizes(op, call, input), at;
  Names from = flatten(input), to = flatten(output);
  auto sizesOf = [&](ArrayRef<std::string> names) {
    return llvm::map_to_vector(names, [&](const std::string &name) { return sizes.lookup(name); });
  };
  SmallVector<int64_t> fromSizes = sizesOf(from);
  int64_t i = 0;
  for (Positions place(sizesOf(to)); !place.done(); place.next(), ++i) {
    setPlace(at, to, *place);
    call.result().copy(i, call.operand(), offsetOf(from, fromSizes, at));
  }
}

void addLabel(Registry &registry) {
  registry.add<ContractOp>(einsum<ContractOp>);
  registry.add<EinsumOp>(einsum<EinsumOp>);
  registry.add<RearrangeOp>(rearrange);
}

} // namespace tfc::reference
