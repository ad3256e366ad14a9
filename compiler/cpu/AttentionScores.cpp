//===- AttentionScores.cpp - Computations between products of attention ---===//
//
// The part of AttentionEmitter that computes factors from the scores of a row, and the maximum and
// the sum of a softmax as blocks of terms come ("Online normalizer calculation for softmax",
// Milakov and Gimelshein, 2018).
//
//===----------------------------------------------------------------------===//

#include "compiler/cpu/AttentionEmitter.h"
#include "compiler/kernels/Schedule.h"
#include "compiler/kernels/emit/SpecialEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tfc::cpu {

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Makes the products at a row and a vector of terms the elements that the scores are computed
/// from. The emitter is in the vector mode of the terms.
void AttentionEmitter::bindScores(Value row, Value column, AffineExpr rowDim, AffineExpr termDim) {
  for (auto [product, matrix] :
       llvm::zip(form.scores, ArrayRef(scores).take_front(form.scores.size()))) {
    linalg::GenericOp op = product.op;
    Value sum = loadLanes(b, loc, at(matrix, row, column), type, plan.lanes, nullptr);
    Indices indices =
        productIndices(op, pointOf(product.loopOf, op.getNumLoops(), rowDim, termDim));
    e.bind(op->getResult(0), indices, productValue(e, op, product.form, indices, sum));
  }
}

/// Emits a body for the vectors of a row up to a column; the last one may be masked.
AttentionEmitter::Values
AttentionEmitter::alongRow(Value end, Values carried,
                           function_ref<Values(Value, LoopDim, Values)> body) {
  auto vectorAt = [&](LoopDim dim, Value mask, Values inner) {
    Value column = e.indexValue(dim);
    LoopDim term = e.addDim(add(terms.first, column));
    KernelEmitter::VectorMode mode(e, term, plan.lanes, mask);
    return body(column, term, std::move(inner));
  };
  auto [count, rest] = divide(end, plan.lanes);
  Value whole = mul(count, plan.lanes);
  carried = e.forLoop(constant(0), whole, plan.lanes, carried, [&](LoopDim dim, Values inner) {
    return vectorAt(dim, nullptr, std::move(inner));
  });
  std::optional<int64_t> all = constantOf(form.extentOf(form.terms));
  if (all && *all % plan.lanes == 0)
    return carried;
  return e.forLoop(whole, end, plan.lanes, carried, [&](LoopDim dim, Values inner) {
    return vectorAt(dim, firstLanes(plan.lanes, rest), std::move(inner));
  });
}

Value AttentionEmitter::neutral(size_t number) {
  return arith::ConstantOp::create(b, loc,
                                   *arith::getNeutralElement(combinerOf(form.rowOps[number], 0)));
}

Value AttentionEmitter::rowPointer(size_t number, Value row) {
  return advance(b, loc, rowValues[number], type, row, Stride{1, {}});
}

/// Adds a vector of terms to the accumulators of a reduction.
Value AttentionEmitter::reduce(size_t number, AffineExpr rowDim, LoopDim term, Value accumulator) {
  linalg::GenericOp op = form.rowOps[number];
  Indices point = pointOf(form.rowLoops[number], op.getNumLoops(), rowDim, term);
  Value next = e.broadcast(e.body(op, point, {accumulator}).front());
  return e.mask() ? arith::SelectOp::create(b, loc, e.mask(), next, accumulator) : next;
}

Value AttentionEmitter::combineLanes(size_t number, Value vector) {
  return combineTree(b, loc, combinerOf(form.rowOps[number], 0), {vector});
}

void AttentionEmitter::resetRows() {
  for (size_t i = 0; i < form.rowOps.size(); ++i)
    forLoop(constant(0), rows.count, 1,
            [&](Value row) { storeLanes(b, loc, neutral(i), rowPointer(i, row)); });
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Computes the factors of a block in place of its scores, and its part of the reductions.
void AttentionEmitter::computeFactors() {
  forLoop(constant(0), rows.count, 1, [&](Value row) {
    LoopDim rowDim = e.addDim(add(rows.first, row));
    Value end = endOfColumns(row);
    prefetchNext(row);
    Values totals;
    if (form.isSoftmax)
      startSoftmax(row, rowDim, end);
    for (size_t i = form.isSoftmax; i < form.rowOps.size(); ++i)
      totals.push_back(vector::BroadcastOp::create(b, loc, vectorType(), neutral(i)));
    totals = rowFactors(row, rowDim, end, totals);
    for (auto [i, total] : llvm::enumerate(totals)) {
      size_t number = i + form.isSoftmax;
      Value pointer = rowPointer(number, row);
      Value earlier = LLVM::LoadOp::create(b, loc, type, pointer);
      storeLanes(
          b, loc,
          combine(b, loc, combinerOf(form.rowOps[number], 0), earlier, combineLanes(number, total)),
          pointer);
    }
  });
}

/// Computes the factors of a row, and adds to the accumulators of reductions. Columns without terms
/// are zero.
AttentionEmitter::Values AttentionEmitter::rowFactors(Value row, AffineExpr rowDim, Value end,
                                                      Values carried) {
  size_t factors = form.results.empty() ? 0 : *llvm::max_element(factorOfResult) + 1;
  Value zero = zeroOf(b, loc, vectorType());
  carried = alongRow(end, carried, [&](Value column, LoopDim term, Values inner) {
    bindScores(row, column, rowDim, term);
    for (auto [i, value] : llvm::enumerate(inner))
      value = reduce(i + form.isSoftmax, rowDim, term, value);
    Values values(factors);
    for (auto [i, product] : llvm::enumerate(form.results)) {
      Value &value = values[factorOfResult[i]];
      if (value)
        continue;
      linalg::GenericOp op = product.op;
      Indices point = pointOf(product.loopOf, op.getNumLoops(), rowDim, term);
      value = e.broadcast(factorAt(e, op, product.form, product.form.a, point));
      if (e.mask())
        value = arith::SelectOp::create(b, loc, e.mask(), value, zero);
    }
    for (auto [value, matrix] : llvm::zip(values, scores))
      storeLanes(b, loc, value, at(matrix, row, column));
    return inner;
  });
  Value whole = mul(divide(add(end, plan.lanes - 1), plan.lanes).first, plan.lanes);
  forLoop(whole, constant(plan.block), plan.lanes, [&](Value column) {
    for (const Matrix &matrix : ArrayRef(scores).take_front(factors))
      storeLanes(b, loc, zero, at(matrix, row, column));
  });
  return carried;
}

/// Moves the maximum of a row on to the block, and scales earlier sums. Until there is a score
/// above minus infinity, exponentials are NaN, as those of a row without any: sums of them do not
/// count when there is one.
void AttentionEmitter::startSoftmax(Value row, AffineExpr rowDim, Value end) {
  Value lowest = neutral(0);
  Value start = vector::BroadcastOp::create(b, loc, vectorType(), lowest);
  Value largest = alongRow(end, {start}, [&](Value column, LoopDim term, Values inner) -> Values {
                    bindScores(row, column, rowDim, term);
                    return {reduce(0, rowDim, term, inner.front())};
                  }).front();
  Value earlier = LLVM::LoadOp::create(b, loc, type, rowPointer(0, row));
  Value maximum = combine(b, loc, combinerOf(form.rowOps[0], 0), earlier, combineLanes(0, largest));
  storeLanes(b, loc, maximum, rowPointer(0, row));
  std::optional<int64_t> all = constantOf(form.extentOf(form.terms));
  if (!all || *all > plan.block) {
    Value isFirst =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, terms.first, constant(0));
    ifElse(
        isFirst, [] {},
        [&] {
          Value drops = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, earlier, lowest);
          Value scale =
              math::ExpOp::create(b, loc, arith::SubFOp::create(b, loc, earlier, maximum));
          scaleSums(row, scale, drops);
        });
  }
  Value one = arith::ConstantOp::create(b, loc, b.getFloatAttr(type, 1.0));
  for (auto [number, value] : {std::pair<size_t, Value>(0, maximum), {1, one}}) {
    linalg::GenericOp op = form.rowOps[number];
    Indices point = pointOf(form.rowLoops[number], op.getNumLoops(), rowDim, e.constantExpr(0));
    e.bind(op->getResult(0), productIndices(op, point), value);
  }
}

/// Scales what was summed for a row before its maximum grew.
void AttentionEmitter::scaleSums(Value row, Value scale, Value drops) {
  auto scaled = [&](Value sum, Value factor) -> Value {
    Value zero = zeroOf(b, loc, sum.getType());
    Value product = arith::MulFOp::create(b, loc, sum, factor);
    return arith::SelectOp::create(b, loc, drops, zero, product);
  };
  Value total = LLVM::LoadOp::create(b, loc, type, rowPointer(1, row));
  storeLanes(b, loc, scaled(total, scale), rowPointer(1, row));
  Value factor = vector::BroadcastOp::create(b, loc, vectorType(), scale);
  for (auto [matrix, product] : llvm::zip_equal(sums, form.results))
    forLoop(constant(0), constant(plan.vectorsOf(othersOf(product)) * plan.lanes), plan.lanes,
            [&, &matrix = matrix](Value column) {
              Value pointer = at(matrix, row, column);
              storeLanes(b, loc,
                         scaled(loadLanes(b, loc, pointer, type, plan.lanes, nullptr), factor),
                         pointer);
            });
}

/// Divides the sums of rows by those of exponentials, and stores what reductions return. Without a
/// score above minus infinity, elements of the softmax are NaN, but sums over no terms are zero:
/// they need no division.
void AttentionEmitter::finishRows() {
  forLoop(constant(0), rows.count, 1, [&](Value row) {
    LoopDim rowDim = e.addDim(add(rows.first, row));
    for (auto [i, op] : llvm::enumerate(form.rowOps)) {
      linalg::GenericOp reduction = op;
      Value result = reduction->getResult(0);
      if (!e.buffer(result))
        continue;
      Indices indices = productIndices(
          op, pointOf(form.rowLoops[i], reduction.getNumLoops(), rowDim, e.constantExpr(0)));
      Value init = e.element(reduction.getDpsInits()[0], indices);
      Value value = LLVM::LoadOp::create(b, loc, type, rowPointer(i, row));
      e.store(result, indices, combine(b, loc, combinerOf(op, 0), init, value));
    }
    if (!form.isSoftmax)
      return;
    Value one = arith::ConstantOp::create(b, loc, b.getFloatAttr(type, 1.0));
    Value maximum = LLVM::LoadOp::create(b, loc, type, rowPointer(0, row));
    Value total = LLVM::LoadOp::create(b, loc, type, rowPointer(1, row));
    Value isLowest = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, maximum, neutral(0));
    Value divisor = arith::SelectOp::create(b, loc, isLowest, one, total);
    Value all = vector::BroadcastOp::create(b, loc, vectorType(), divisor);
    for (auto [matrix, product] : llvm::zip_equal(sums, form.results))
      forLoop(constant(0), constant(plan.vectorsOf(othersOf(product)) * plan.lanes), plan.lanes,
              [&, &matrix = matrix](Value column) {
                Value pointer = at(matrix, row, column);
                Value sum = loadLanes(b, loc, pointer, type, plan.lanes, nullptr);
                storeLanes(b, loc, arith::DivFOp::create(b, loc, sum, all), pointer);
              });
  });
}

} // namespace tfc::cpu
