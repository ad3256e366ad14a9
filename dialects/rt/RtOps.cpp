// Verifies the operations of rt. Operations that it accepts can be lowered to calls of the runtime.

#include "dialects/dfg/SizeLimits.h"
#include "dialects/rt/Names.h"
#include "dialects/rt/Rt.h"
#include "runtime/Model.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::rt;

#define GET_OP_CLASSES
#include "dialects/rt/Rt.cpp.inc"

static_assert(int(Status::InvalidArgument) == TFC_INVALID_ARGUMENT &&
              int(Status::OutOfRange) == TFC_OUT_OF_RANGE &&
              int(Status::FailedPrecondition) == TFC_FAILED_PRECONDITION &&
              int(Status::OutOfMemory) == TFC_OUT_OF_MEMORY);

LogicalResult tfc::rt::verifyEndsCall(Operation *op) {
  auto function = op->getParentOfType<FunctionOpInterface>();
  if (!function || function.getNumResults() != 1 || !function.getResultTypes()[0].isInteger(32))
    return op->emitOpError("expects to be in a function that returns a status, an 'i32'");
  return success();
}

/// Verifies a number that the runtime uses as an index.
static LogicalResult verifyNumber(Operation *op, StringRef what, int32_t number,
                                  int64_t end = INT32_MAX) {
  if (number >= 0 && number < end)
    return success();
  return op->emitOpError("expects a ")
         << what << " from 0 to " << end - 1 << ", but got " << number;
}

//===--- element ----------------------------------------------------------===//

LogicalResult ElementOp::verify() { return verifyNumber(*this, "number", getNumber()); }

//===--- check ------------------------------------------------------------===//

LogicalResult CheckOp::verify() {
  if (getValues().size() > dfg::kMaxMessageValues)
    return emitOpError("expects at most ")
           << dfg::kMaxMessageValues << " values, but got " << getValues().size();
  std::optional<size_t> shown = dfg::countFormatValues(getFormat());
  if (!shown)
    return emitOpError("expects a format of text, '%lld' and '%%'");
  if (*shown != getValues().size())
    return emitOpError("expects as many values as its format shows, which are ")
           << *shown << ", but got " << getValues().size();
  return success();
}

//===--- launch -----------------------------------------------------------===//

LogicalResult LaunchOp::verify() {
  if (getGrain().value_or(1) < 1)
    return emitOpError("expects a grain of at least 1, but got ") << *getGrain();
  return success();
}

/// Verifies that a symbol is a function without results that takes `types`.
static LogicalResult verifyCallee(LaunchOp op, SymbolTableCollection &symbols, StringRef name,
                                  ArrayRef<Type> types) {
  auto function =
      symbols.lookupNearestSymbolFrom<LLVM::LLVMFuncOp>(op, StringAttr::get(op.getContext(), name));
  if (!function)
    return op.emitOpError("expects '@") << name << "' to be a function of generated code";
  Type none = LLVM::LLVMVoidType::get(op.getContext());
  if (function.getFunctionType() != LLVM::LLVMFunctionType::get(none, types))
    return op.emitOpError("expects '@")
           << name << "' to take (" << types << ") and to return nothing, but its type is "
           << function.getFunctionType();
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Type i64 = IntegerType::get(getContext(), 64);
  SmallVector<Type> types(getArguments().getTypes());
  types.append(2, i64);
  if (failed(verifyCallee(*this, symbols, getKernel(), types)))
    return failure();
  if (!getGrain())
    return success();
  return verifyCallee(*this, symbols, taskName(getKernel()),
                      {LLVM::LLVMPointerType::get(getContext()), i64, i64});
}

//===--- chunk, grow ------------------------------------------------------===//

LogicalResult ChunkOp::verify() {
  return verifyNumber(*this, "chunk", getNumber(), dfg::kMaxChunks);
}
LogicalResult GrowOp::verify() {
  return verifyNumber(*this, "chunk", getNumber(), dfg::kMaxChunks);
}

//===--- queues -----------------------------------------------------------===//

LogicalResult EnqueueOp::verify() { return verifyNumber(*this, "queue", getQueue()); }
LogicalResult DequeueOp::verify() { return verifyNumber(*this, "queue", getQueue()); }
LogicalResult DequeueUpToOp::verify() { return verifyNumber(*this, "queue", getQueue()); }
LogicalResult QueueSizeOp::verify() { return verifyNumber(*this, "queue", getQueue()); }
LogicalResult QueueCloseOp::verify() { return verifyNumber(*this, "queue", getQueue()); }

//===--- datasets ---------------------------------------------------------===//

LogicalResult ReadRowsOp::verify() {
  if (!getNext() != !getNextCount())
    return emitOpError("expects 'next' with its count");
  return verifyNumber(*this, "dataset", getDataset());
}
LogicalResult DatasetSizeOp::verify() { return verifyNumber(*this, "dataset", getDataset()); }

LogicalResult OwnFeedOp::verify() { return verifyNumber(*this, "feed", getNumber()); }

//===--- messages ---------------------------------------------------------===//

static LogicalResult verifySlot(Operation *op, int32_t slot) {
  return verifyNumber(op, "slot", slot);
}

LogicalResult SendOp::verify() { return verifySlot(*this, getSlot()); }
LogicalResult NextBufferOp::verify() { return verifySlot(*this, getSlot()); }
LogicalResult AwaitReleaseOp::verify() { return verifySlot(*this, getSlot()); }
LogicalResult ReceiveOp::verify() { return verifySlot(*this, getSlot()); }
LogicalResult ReleaseOp::verify() { return verifySlot(*this, getSlot()); }

//===--- devices ----------------------------------------------------------===//

LogicalResult DeviceLaunchOp::verify() {
  // A launch has at most 4 KB of parameters.
  constexpr size_t kMost = 512;
  if (failed(verifyNumber(*this, "grid", getGrid())))
    return failure();
  if (getArguments().size() > kMost)
    return emitOpError("expects at most ")
           << kMost << " arguments, but got " << getArguments().size();
  return success();
}

static LogicalResult verifyScalar(Operation *op, Type type) {
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits % 8 == 0 && bits <= 64)
    return success();
  return op->emitOpError("expects a scalar of whole bytes, 8 at most, but got ") << type;
}

LogicalResult DeviceReadOp::verify() { return verifyScalar(*this, getValue().getType()); }
LogicalResult DeviceWriteOp::verify() { return verifyScalar(*this, getValue().getType()); }
LogicalResult DeviceSendOp::verify() { return verifySlot(*this, getSlot()); }

LogicalResult DeviceConstantOp::verify() { return verifyNumber(*this, "constant", getNumber()); }
