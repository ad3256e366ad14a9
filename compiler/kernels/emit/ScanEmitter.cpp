// Emits scans. Each element depends on the one before it, so that lanes run across lines.

#include "compiler/kernels/Polynomial.h"
#include "compiler/kernels/emit/SpecialEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tfc::kernels;
using namespace tfc::linalg_ext;

/// Returns the indices of the element at a step of a line.
static SmallVector<AffineExpr> placeAt(KernelEmitter &e, ScanOp op, ArrayRef<AffineExpr> line,
                                       AffineExpr step) {
  AffineExpr length = e.shapes().shapeOf(op.getResult())[op.getDimension()];
  SmallVector<AffineExpr> place(line);
  place.insert(place.begin() + op.getDimension(), op.getReverse() ? length - 1 - step : step);
  return place;
}

/// Emits the steps [from, to) of a line, or of one line per lane. The running value stays in a
/// register; returns the last one.
static Value emitSteps(KernelEmitter &e, ScanOp op, ArrayRef<AffineExpr> line, Value from, Value to,
                       Value running) {
  return e
      .forLoop(from, to, 1, {running},
               [&](LoopDim step, SmallVector<Value> carried) -> SmallVector<Value> {
                 SmallVector<AffineExpr> place = placeAt(e, op, line, step);
                 Value old = carried.front();
                 SmallVector<Value> scalars = {old};
                 for (Value input : op.getInputs()) {
                   Value element = e.element(input, place);
                   bool isVector = isa<VectorType>(old.getType());
                   scalars.push_back(isVector ? e.broadcast(element) : element);
                 }
                 Value sum = e.inlineRegion(op.getCombine(), scalars);
                 e.store(op.getResult(), place, op.getExclusive() ? old : sum);
                 return {sum};
               })
      .front();
}

void tfc::kernels::emitScanLine(KernelEmitter &e, ScanOp op, ArrayRef<AffineExpr> indices) {
  AffineExpr length = e.shapes().shapeOf(op.getResult())[op.getDimension()];
  emitSteps(e, op, indices, e.indexConstant(0), e.indexValue(length),
            e.broadcast(e.scalar(op.getInit())));
}

/// Emits as many steps as there are lanes, of as many lines along the last dimension, the first of
/// which is `line`. Vectors along the lines are transposed, and so are the results.
static Value emitSquare(KernelEmitter &e, ScanOp op, SmallVector<AffineExpr> line, LoopDim step,
                        int64_t width, Value running) {
  OpBuilder &b = e.builder();
  auto first = cast<AffineDimExpr>(line.back());
  SmallVector<SmallVector<Value>> inputs;
  for (Value input : op.getInputs()) {
    SmallVector<Value> &rows = inputs.emplace_back();
    KernelEmitter::VectorMode mode(e, step, width, Value());
    for (int64_t i = 0; i < width; ++i) {
      line.back() = first + i;
      rows.push_back(e.broadcast(e.element(input, placeAt(e, op, line, step))));
    }
    transpose(b, e.loc(), rows);
  }
  SmallVector<Value> results;
  {
    KernelEmitter::VectorMode mode(e, first, width, Value());
    for (int64_t i = 0; i < width; ++i) {
      SmallVector<Value> scalars = {running};
      for (ArrayRef<Value> rows : inputs)
        scalars.push_back(rows[i]);
      Value next = e.inlineRegion(op.getCombine(), scalars);
      results.push_back(op.getExclusive() ? running : next);
      running = next;
    }
  }
  transpose(b, e.loc(), results);
  KernelEmitter::VectorMode mode(e, step, width, Value());
  for (int64_t i = 0; i < width; ++i) {
    line.back() = first + i;
    e.store(op.getResult(), placeAt(e, op, line, step), results[i]);
  }
  return running;
}

/// Emits `width` lines along the last dimension at a time, then the remaining ones one by one.
static void emitLines(KernelEmitter &e, ScanOp op, ArrayRef<AffineExpr> outer, AffineExpr count,
                      int64_t width) {
  OpBuilder &b = e.builder();
  AffineExpr length = e.shapes().shapeOf(op.getResult())[op.getDimension()];
  AffineExpr lines = normalize(count.floorDiv(width) * width);
  AffineExpr steps = normalize(length.floorDiv(width) * width);
  auto lineAt = [&](AffineExpr last) {
    SmallVector<AffineExpr> line(outer);
    line.push_back(last);
    return line;
  };
  e.forLoop(e.indexConstant(0), e.indexValue(lines), width, {},
            [&](LoopDim first, SmallVector<Value>) -> SmallVector<Value> {
              Value init = e.scalar(op.getInit());
              auto type = VectorType::get({width}, init.getType());
              Value running = vector::BroadcastOp::create(b, e.loc(), type, init);
              running = e.forLoop(e.indexConstant(0), e.indexValue(steps), width, {running},
                                  [&](LoopDim step, SmallVector<Value> carried) {
                                    Value last = emitSquare(e, op, lineAt(first), step, width,
                                                            carried.front());
                                    return SmallVector<Value>{last};
                                  })
                            .front();
              KernelEmitter::VectorMode mode(e, first, width, Value());
              emitSteps(e, op, lineAt(first), e.indexValue(steps), e.indexValue(length), running);
              return {};
            });
  e.forLoop(e.indexValue(lines), e.indexValue(count), 1, {},
            [&](LoopDim line, SmallVector<Value>) -> SmallVector<Value> {
              emitScanLine(e, op, lineAt(line));
              return {};
            });
}

/// Returns true if vectors of the elements of a scan can be transposed.
static bool hasVectors(ScanOp op) {
  auto isWide = [](Value value) {
    Type element = getElementTypeOrSelf(value.getType());
    return element.isIntOrFloat() && !element.isInteger(1);
  };
  return isWide(op.getResult()) && llvm::all_of(op.getInputs(), isWide);
}

void tfc::kernels::emitScan(KernelEmitter &e, ScanOp op) {
  SmallVector<AffineExpr> sizes = lineSizes(e.shapes(), op), indices;
  bool isAcross = op.getDimension() < sizes.size();
  AffineExpr last = sizes.empty() ? AffineExpr() : sizes.pop_back_val();
  int64_t width = last ? lanesFor(e, op.getResult(), last) : 1;
  forEachPoint(e, sizes, indices, [&] {
    if (!last)
      return emitScanLine(e, op, indices);
    if (!isAcross && canTranspose(width) && hasVectors(op))
      return emitLines(e, op, indices, last, width);
    if (!isAcross)
      return forEachPoint(e, last, indices, [&] { emitScanLine(e, op, indices); });
    e.laneLoop(last, width, [&](LoopDim dim) {
      indices.push_back(dim);
      emitScanLine(e, op, indices);
      indices.pop_back();
    });
  });
}
