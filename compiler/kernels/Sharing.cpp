//===- Sharing.cpp - Results that may overwrite arguments -----------------===//
//
// Decides whether a result of a kernel may overwrite an argument, from the order of reads and
// writes in its schedule. The memory plan chooses among the pairs that this file allows.
//
//===----------------------------------------------------------------------===//

#include "compiler/kernels/Sharing.h"
#include "dialects/linalg_ext/LinalgExt.h"

using namespace mlir;
using namespace tfc::kernels;
namespace kernel = tfc::kernel;

/// Returns true if a scatter may update `argument` in place: the argument is its operand, and
/// nothing else reads it.
static bool scatterMayShare(const Schedule &schedule, tfc::linalg_ext::ScatterOp scatter,
                            Value argument) {
  if (scatter.getOperand() != argument)
    return false;
  const LoopStage *stage = schedule.stage(scatter);
  int64_t reads = 0;
  for (const Nest &nest : schedule.nests())
    for (const LoopStage *other : nest.stages)
      for (const Access &read : other->footprint.reads)
        reads += read.tensor == argument;
  return reads == 1 && stage;
}

/// Returns true if an element of an argument is read before result `number` of `writer` overwrites
/// it.
static bool readsBeforeWrite(const Schedule &schedule, const LoopStage &reader, const Access &read,
                             const LoopStage &writer, unsigned number) {
  auto [readNest, readSweep] = schedule.position(&reader);
  auto [writeNest, writeSweep] = schedule.position(&writer);
  if (readNest != writeNest)
    return schedule.isSerial() && readNest < writeNest;
  if (!reader.generic() || readSweep > writeSweep)
    return false;
  const Nest &nest = schedule.nests()[readNest];
  const LoopSweep &sweep = nest.sweeps[writeSweep];
  SmallVector<AffineExpr> written = Schedule::resultIndices(writer, number);
  SmallVector<AffineExpr> indices = Schedule::readIndices(reader, read);
  if (readSweep == writeSweep) {
    // The inputs of a reduction are read until its last step.
    bool reducing = !reader.isParallel() || sweep.kind == LoopSweep::Kind::Special;
    return indices == written && (!reducing || sweep.kind == LoopSweep::Kind::Pointwise);
  }
  // Earlier sweeps may read any element of the same outer iteration.
  for (unsigned loop : nest.outer) {
    AffineExpr dim = getAffineDimExpr(loop, writer.op->getContext());
    auto *place = llvm::find(written, dim);
    if (place == written.end() || indices[place - written.begin()] != dim)
      return false;
  }
  return true;
}

bool tfc::kernels::mayShare(const Schedule &schedule, KernelShapes &shapes, Value result,
                            BlockArgument argument) {
  // The blocks of an attention kernel read all rows.
  if (schedule.isAttention())
    return false;
  if (result.getType() != argument.getType() || shapes.shapeOf(result) != shapes.shapeOf(argument))
    return false;
  const LoopStage *writer = schedule.stage(result.getDefiningOp());
  if (auto scatter = dyn_cast<tfc::linalg_ext::ScatterOp>(writer->op))
    return scatterMayShare(schedule, scatter, argument);
  if (!writer->generic())
    return false;
  unsigned number = cast<OpResult>(result).getResultNumber();
  for (const Nest &nest : schedule.nests())
    for (const LoopStage *reader : nest.stages) {
      for (const Access &read : reader->footprint.reads)
        if (read.tensor == argument && !readsBeforeWrite(schedule, *reader, read, *writer, number))
          return false;
      // The initial value of a reduction is read at the element that the result overwrites.
      if (linalg::GenericOp op = reader->generic(); op && op.getNumReductionLoops() != 0)
        for (auto [i, init] : llvm::enumerate(op.getDpsInits()))
          if (init == argument && (reader != writer || i != number))
            return false;
    }
  return true;
}

void tfc::kernels::annotateSharing(kernel::FuncOp kernel, const Schedule &schedule,
                                   KernelShapes &shapes) {
  auto tensors = kernel.getArguments().drop_front(kernel.getNumSizes());
  for (OpOperand &operand : kernel.getBody().front().getTerminator()->getOpOperands()) {
    SmallVector<int32_t> shared;
    for (auto [k, argument] : llvm::enumerate(tensors))
      if (mayShare(schedule, shapes, operand.get(), argument))
        shared.push_back(k);
    kernel.setMayShare(operand.getOperandNumber(), shared);
  }
}

LogicalResult tfc::kernels::verifyInPlace(kernel::FuncOp kernel, const Schedule &schedule,
                                          KernelShapes &shapes) {
  for (OpOperand &operand : kernel.getBody().front().getTerminator()->getOpOperands()) {
    unsigned result = operand.getOperandNumber();
    std::optional<unsigned> tensor = kernel.getInPlace(result);
    if (tensor && !mayShare(schedule, shapes, operand.get(),
                            kernel.getArgument(kernel.getNumSizes() + *tensor)))
      return kernel.emitOpError("cannot write result ")
             << result << " over tensor argument " << *tensor << ", which it reads later";
  }
  return success();
}
