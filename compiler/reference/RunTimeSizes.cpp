//===- RunTimeSizes.cpp - Data-dependent sizes ----------------------------===//
//
// Executes `bind_size` and checks the sizes that become known there; evaluates `true_positions`.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/RunTimeSizes.h"
#include "compiler/reference/Interpreter.h"
#include "dialects/dfg/SizeLimits.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

/// Returns true if a size is known after `binder`, and not before it.
static bool isKnownAfter(BindSizeOp binder, const DimExpr &size, const Sizes &sizes) {
  SmallVector<std::string> names;
  size.collectSymbols(names);
  return llvm::is_contained(names, binder.getName()) &&
         llvm::all_of(names, [&](StringRef name) { return sizes.contains(name); });
}

/// A size that is negative in this call among those of the operations after `binder`.
static std::optional<DimExpr> findNegative(BindSizeOp binder, const Sizes &sizes) {
  std::optional<DimExpr> negative;
  binder->getParentRegion()->walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      for (const DimExpr &size : isa<RankedTensorType>(type) ? shapeOf(type) : Shape())
        if (isKnownAfter(binder, size, sizes) && isNonNegative(size) != true &&
            sizeOf(size, sizes) < 0)
          negative = size;
  });
  return negative;
}

/// A number that an operation after `binder` computes from sizes and that does not fit its type,
/// with the limit that it exceeds.
static std::optional<std::pair<DimExpr, const SizeLimit *>> findMisfit(BindSizeOp binder,
                                                                       const Sizes &sizes) {
  std::optional<std::pair<DimExpr, const SizeLimit *>> misfit;
  binder->getParentRegion()->walk([&](NumberingOpInterface op) {
    for (auto [number, type] : op.getNumbers())
      if (isKnownAfter(binder, number, sizes) && !holdsNumber(type, knownSizeOf(number, sizes)))
        misfit = {number, &numberLimitOf(type)};
  });
  return misfit;
}

static LogicalResult bindSize(BindSizeOp op, Interpreter &interpreter) {
  if (failed(interpreter.require(interpreter.get(op.getCount()))))
    return failure();
  bool isDetermined;
  int64_t count = interpreter.decide(op.getCount(), isDetermined);
  if (count < 0 || count > sizeOf(op.getBoundExpr(), interpreter.sizes))
    return interpreter.fail(codeOf(op.getCheckStatus()),
                            interpreter.messageOf(op, interpreter.get(op.getCount())));
  interpreter.bindSize(op.getName(), count);
  if (std::optional<DimExpr> negative = findNegative(op, interpreter.sizes))
    return interpreter.fail(Status::Code::OutOfRange, interpreter.fill([&](OpBuilder &b) {
      return negativeMessage(b, op, *negative);
    }));
  if (auto misfit = findMisfit(op, interpreter.sizes))
    return interpreter.fail(Status::Code::OutOfRange, interpreter.fill([&](OpBuilder &b) {
      return misfitMessage(b, op, *misfit->second, misfit->first);
    }));
  interpreter.notify(op);
  return success();
}

/// Positions after the last true element are 0; those from the first undetermined element on are
/// undetermined.
static void truePositions(TruePositionsOp, Call &call) {
  const Tensor &mask = call.operand();
  Tensor &positions = call.result();
  int64_t next = 0;
  for (int64_t i = 0; i < mask.size() && next < positions.size(); ++i) {
    if (!mask.isDetermined(i)) {
      while (next < positions.size())
        positions.setInteger(next++, 0, /*isDetermined=*/false);
    } else if (mask.integer(i)) {
      positions.setInteger(next++, i);
    }
  }
}

void addRunTimeSizes(Handlers &handlers) { handlers.add<BindSizeOp>(bindSize); }
void addSize(Registry &registry) { registry.add<TruePositionsOp>(truePositions); }

} // namespace tfc::reference
