//===- StageEmitter.cpp - Elements of stages ------------------------------===//
//
// Emits the elements that stages make at a point of a nest's loops, and assigns memory to operands.
//
//===----------------------------------------------------------------------===//

#include "compiler/kernels/emit/StageEmitter.h"
#include "compiler/kernels/Polynomial.h"

using namespace mlir;
using namespace tfc::kernels;
namespace kernel = tfc::kernel;

SmallVector<AffineExpr> StageEmitter::loopsAt(const LoopStage &stage) {
  return llvm::map_to_vector(stage.loops, [&](AffineExpr expr) { return expr.replaceDims(loops); });
}

SmallVector<AffineExpr> StageEmitter::resultAt(const LoopStage &stage, unsigned number) {
  return llvm::map_to_vector(Schedule::resultIndices(stage, number),
                             [&](AffineExpr expr) { return normalize(expr.replaceDims(loops)); });
}

void StageEmitter::evaluateParallel(const LoopStage &stage) {
  SmallVector<Value> values = e.body(stage.generic(), loopsAt(stage), {});
  for (auto [number, value] : llvm::enumerate(values))
    e.bind(stage.op->getResult(number), resultAt(stage, number), value);
}

void StageEmitter::storeStage(const LoopStage &stage) {
  for (OpResult result : stage.op->getResults())
    if (e.buffer(result)) {
      SmallVector<AffineExpr> indices = resultAt(stage, result.getResultNumber());
      e.store(result, indices, e.element(result, indices));
    }
}

void tfc::kernels::placeOperands(KernelEmitter &emitter, ArrayRef<Value> tensors,
                                 ArrayRef<Value> results) {
  kernel::FuncOp kernel = emitter.shapes().kernel();
  for (auto [argument, pointer] :
       llvm::zip_equal(kernel.getArguments().drop_front(kernel.getNumSizes()), tensors))
    emitter.setBuffer(argument, emitter.denseBuffer(argument, pointer, 1));
  unsigned next = 0;
  for (OpOperand &operand : kernel.getBody().front().getTerminator()->getOpOperands()) {
    std::optional<unsigned> shared = kernel.getInPlace(operand.getOperandNumber());
    Value pointer = shared ? tensors[*shared] : results[next++];
    emitter.setBuffer(operand.get(), emitter.denseBuffer(operand.get(), pointer, 1));
  }
}
