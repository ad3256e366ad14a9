//===- AttentionCopies.cpp - Operands and results of attention ------------===//
//
// The part of AttentionEmitter that copies blocks of operands to the stack and stores results. All
// views, conversions and layouts of operands end here.
//
//===----------------------------------------------------------------------===//

#include "compiler/cpu/AttentionEmitter.h"
#include "compiler/kernels/Polynomial.h"
#include "compiler/kernels/emit/SpecialEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tfc::cpu {

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

/// The indices of an element of the scores.
AttentionEmitter::Indices AttentionEmitter::scoreAt(AffineExpr row, AffineExpr term) const {
  Indices indices(form.sizes.size());
  for (auto [dim, index] : llvm::zip_equal(form.batch, inBatch))
    indices[dim] = constantOf(form.sizes[dim]) == 1 ? e.constantExpr(0) : index;
  splitCounter(form.sizes, form.rows, row, indices);
  splitCounter(form.sizes, form.terms, term, indices);
  return indices;
}

/// The loops of an operation at an element of the scores.
AttentionEmitter::Indices AttentionEmitter::pointOf(ArrayRef<std::optional<unsigned>> loopOf,
                                                    unsigned numLoops, AffineExpr row,
                                                    AffineExpr term) const {
  Indices point(numLoops, e.constantExpr(0));
  for (auto [loop, index] : llvm::zip_equal(loopOf, scoreAt(row, term)))
    if (loop)
      point[*loop] = index;
  return point;
}

AttentionEmitter::Indices AttentionEmitter::pointOf(const AttentionProduct &product, AffineExpr row,
                                                    AffineExpr term, AffineExpr other) const {
  linalg::GenericOp op = product.op;
  Indices point = pointOf(product.loopOf, op.getNumLoops(), row, term);
  point[product.others.front()] = other;
  return point;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Returns the indices of what a copy reads, over dims for the batch, its rows or terms, and the
/// others; empty if it computes its elements.
AttentionEmitter::Indices AttentionEmitter::elementsOf(const Copy &copy) const {
  if (!isa<BlockArgument>(copy.factor->root))
    return {};
  linalg::GenericOp op = copy.product->op;
  MLIRContext *context = b.getContext();
  Indices indices(form.sizes.size(), e.constantExpr(0));
  unsigned next = 0;
  for (unsigned dim : form.batch)
    indices[dim] = getAffineDimExpr(next++, context);
  splitCounter(form.sizes, copy.isOfRows ? form.rows : form.terms,
               getAffineDimExpr(next++, context), indices);
  Indices point(op.getNumLoops(), e.constantExpr(0));
  for (auto [loop, index] : llvm::zip_equal(copy.product->loopOf, indices))
    if (loop)
      point[*loop] = index;
  point[copy.product->others.front()] = getAffineDimExpr(next, context);
  return llvm::map_to_vector(indicesOf(op, op.getDpsInputOperand(copy.factor->inputs.front())),
                             [&](AffineExpr index) { return normalize(index.replaceDims(point)); });
}

static Value tensorOf(const AttentionProduct &product, const ContractionFactor &factor) {
  linalg::GenericOp op = product.op;
  return op.getDpsInputOperand(factor.inputs.front())->get();
}

/// Adds a copy unless there is one of the same elements in the same order.
void AttentionEmitter::addCopy(const AttentionProduct &product, const ContractionFactor &factor,
                               bool isOfRows, bool isTransposed) {
  Copy copy{&product, &factor, isOfRows, isTransposed, {}};
  Indices elements = elementsOf(copy);
  for (const Copy &other : copies) {
    bool isSame = !elements.empty() && other.isOfRows == isOfRows &&
                  other.isTransposed == isTransposed && elementsOf(other) == elements &&
                  tensorOf(*other.product, *other.factor) == tensorOf(product, factor) &&
                  other.product->form.factorType == product.form.factorType &&
                  othersOf(*other.product) == othersOf(product);
    if (!isSame)
      continue;
    copy.memory = other.memory;
    copy.isShared = true;
    break;
  }
  int64_t others = othersOf(product);
  if (!copy.isShared)
    copy.memory = isTransposed ? matrix(others, plan.block) : matrix(plan.block, others);
  copies.push_back(copy);
}

const AttentionEmitter::Matrix &AttentionEmitter::copyOf(const AttentionProduct &product,
                                                         const ContractionFactor &factor,
                                                         bool isTransposed) const {
  return llvm::find_if(
             copies,
             [&](const Copy &copy) { return copy.product == &product && copy.factor == &factor; })
      ->memory;
}

/// Returns true if elements are consecutive in memory along the others, or along the rows or terms.
bool AttentionEmitter::isContiguous(const Copy &copy, bool alongOthers) {
  Indices elements = elementsOf(copy);
  const Buffer *buffer =
      elements.empty() ? nullptr : e.buffer(tensorOf(*copy.product, *copy.factor));
  if (!buffer)
    return false;
  AffineExpr offset = e.constantExpr(0), stride, rest;
  for (auto [index, step] : llvm::zip_equal(elements, buffer->strides))
    offset = offset + index * step;
  auto dim = cast<AffineDimExpr>(
      getAffineDimExpr(form.batch.size() + (alongOthers ? 1 : 0), b.getContext()));
  return Polynomial(normalize(offset)).split(dim, stride, rest) && stride == e.constantExpr(1);
}

/// An element, or a vector of them, given the index among rows or terms and among the others.
Value AttentionEmitter::factorOf(const Copy &copy, AffineExpr across, AffineExpr other) {
  AffineExpr zero = e.constantExpr(0);
  Indices point = copy.isOfRows ? pointOf(*copy.product, across, zero, other)
                                : pointOf(*copy.product, zero, across, other);
  return e.broadcast(factorAt(e, copy.product->op, copy.product->form, *copy.factor, point));
}

/// Returns a mask of the existing lanes of a vector with so many elements at and after it; null if
/// all `extent` elements are whole vectors.
Value AttentionEmitter::maskOf(AffineExpr extent, Value rest) {
  std::optional<int64_t> count = constantOf(normalize(extent));
  return count && *count % plan.lanes == 0 ? Value() : firstLanes(plan.lanes, rest);
}

/// Copies a block of rows or terms.
void AttentionEmitter::fill(const Copy &copy, Range range) {
  if (copy.isShared)
    return;
  // Vectors run along the rows of the copy, except where memory is contiguous along its columns.
  bool readsAlongOthers = isContiguous(copy, /*alongOthers=*/true) ||
                          (!isContiguous(copy, /*alongOthers=*/false) && !copy.isTransposed);
  if (readsAlongOthers == copy.isTransposed && canTranspose(plan.lanes))
    return fillTransposed(copy, range, readsAlongOthers);
  Value others = constant(othersOf(*copy.product));
  Value outer = copy.isTransposed ? others : range.count;
  Value inner = copy.isTransposed ? range.count : others;
  forLoop(constant(0), outer, 1, [&](Value i) {
    LoopDim outerDim = e.addDim(copy.isTransposed ? i : add(range.first, i));
    forLoop(constant(0), inner, plan.lanes, [&](Value j) {
      LoopDim innerDim = e.addDim(copy.isTransposed ? add(range.first, j) : j);
      Value mask = maskOf(extentOf(copy, !copy.isTransposed), sub(inner, j));
      KernelEmitter::VectorMode mode(e, innerDim, plan.lanes, mask);
      Value value = copy.isTransposed ? factorOf(copy, innerDim, outerDim)
                                      : factorOf(copy, outerDim, innerDim);
      storeLanes(b, loc, value, at(copy.memory, i, j));
    });
  });
}

/// Returns true if a copy reads runs of a tensor that is expected in memory, rather than in a
/// cache.
bool AttentionEmitter::isWorthFetching(const Copy &copy) {
  if (copy.isShared || !isContiguous(copy, /*alongOthers=*/true))
    return false;
  auto tensor = cast<RankedTensorType>(tensorOf(*copy.product, *copy.factor).getType());
  return !tensor.hasStaticShape() ||
         tensor.getNumElements() * elementBytes(tensor.getElementType()) >= target.l2Bytes / 2;
}

/// Brings a row of the operands of the next unit to the second-level cache: they are in short runs,
/// which no processor fetches ahead.
void AttentionEmitter::prefetchNext(Value row) {
  if (nextInBatch.empty())
    return;
  for (const Copy &copy : copies) {
    if (!isWorthFetching(copy))
      continue;
    Value tensor = tensorOf(*copy.product, *copy.factor);
    AffineExpr last = normalize(extentOf(copy, /*ofOthers=*/false)) - 1;
    LoopDim dim = e.addDim(minimum(row, e.indexValue(last)));
    int64_t step = kLineBytes / elementBytes(getElementTypeOrSelf(tensor));
    for (int64_t other = 0; other < othersOf(*copy.product); other += step) {
      Indices point(nextInBatch);
      point.append({dim, e.constantExpr(other)});
      Indices indices = llvm::map_to_vector(
          elementsOf(copy), [&](AffineExpr index) { return normalize(index.replaceDims(point)); });
      LLVM::Prefetch::create(b, loc, e.addressOf(tensor, indices), /*rw=*/0, /*hint=*/2,
                             /*cache=*/1);
    }
  }
}

/// The same for squares that are read along the columns of the copy and transposed in registers.
/// Those beyond the last row, for which the copy has space, repeat it.
void AttentionEmitter::fillTransposed(const Copy &copy, Range range, bool alongOthers) {
  Value others = constant(othersOf(*copy.product));
  Value read = alongOthers ? others : range.count, across = alongOthers ? range.count : others;
  Value last = sub(across, constant(1));
  forLoop(constant(0), across, plan.lanes, [&](Value i) {
    forLoop(constant(0), read, plan.lanes, [&](Value j) {
      LoopDim readDim = e.addDim(alongOthers ? j : add(range.first, j));
      Values lines;
      {
        KernelEmitter::VectorMode mode(e, readDim, plan.lanes,
                                       maskOf(extentOf(copy, alongOthers), sub(read, j)));
        for (int64_t k = 0; k < plan.lanes; ++k) {
          Value index = minimum(add(i, k), last);
          LoopDim acrossDim = e.addDim(alongOthers ? add(range.first, index) : index);
          lines.push_back(alongOthers ? factorOf(copy, acrossDim, readDim)
                                      : factorOf(copy, readDim, acrossDim));
        }
      }
      kernels::transpose(b, loc, lines);
      for (auto [k, line] : llvm::enumerate(lines))
        storeLanes(b, loc, line, at(copy.memory, add(j, k), i));
    });
  });
}

/// The extent of the others of a copy, or of its rows or terms.
AffineExpr AttentionEmitter::extentOf(const Copy &copy, bool ofOthers) const {
  if (ofOthers)
    return copy.product->form.extentOf(copy.product->others);
  return form.extentOf(copy.isOfRows ? form.rows : form.terms);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void AttentionEmitter::clear(const Matrix &matrix, int64_t columns) {
  Value zero = zeroOf(b, loc, vectorType());
  forLoop(constant(0), constant(plan.block), 1, [&](Value row) {
    forLoop(constant(0), constant(plan.vectorsOf(columns) * plan.lanes), plan.lanes,
            [&](Value column) { storeLanes(b, loc, zero, at(matrix, row, column)); });
  });
}

/// Stores the sums of a block of rows, or of terms, or adds them to what the result is so far.
void AttentionEmitter::storeResult(size_t number, Range range, bool adds) {
  const AttentionProduct &product = form.results[number];
  const ContractionNest &nest = form.nests[number];
  int64_t columns = othersOf(product);
  forLoop(constant(0), range.count, 1, [&](Value row) {
    LoopDim dim = e.addDim(add(range.first, row));
    forLoop(constant(0), constant(columns), plan.lanes, [&](Value column) {
      LoopDim other = e.addDim(column);
      AffineExpr zero = e.constantExpr(0);
      Indices point = product.sumsRows ? pointOf(product, zero, dim, other)
                                       : pointOf(product, dim, zero, other);
      Value mask = maskOf(e.constantExpr(columns), sub(constant(columns), column));
      KernelEmitter::VectorMode mode(e, other, plan.lanes, mask);
      Value sum = loadLanes(b, loc, at(sums[number], row, column), type, plan.lanes, nullptr);
      if (adds) {
        linalg::GenericOp op = product.op;
        Value result = op->getResult(0);
        Indices indices = productIndices(op, point);
        e.store(result, indices, addValues(b, loc, e.broadcast(e.element(result, indices)), sum));
        return;
      }
      storeProduct(e, nest, product.form, point, sum);
    });
  });
}

} // namespace tfc::cpu
