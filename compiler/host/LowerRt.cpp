// Lowers operations of rt to calls of the runtime. The only place that knows the memory layout of a
// frame and the types of the runtime's functions. Runs after structured control flow has been
// lowered to branches, because an operation that ends the call returns from the middle of its
// block.

#include "compiler/host/Passes.h"
#include "compiler/host/RuntimeSymbols.h"
#include "dialects/rt/Names.h"
#include "dialects/rt/Rt.h"
#include "runtime/Model.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::host;

namespace tfc {
#define GEN_PASS_DEF_LOWERRT
#include "compiler/host/Passes.h.inc"
} // namespace tfc

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

static constexpr bool isAt(rt::Field field, size_t offset) { return int(field) * 8 == int(offset); }
static_assert(isAt(rt::Field::Arena, offsetof(tfc_call_frame, arena)) &&
              isAt(rt::Field::Feeds, offsetof(tfc_call_frame, feeds)) &&
              isAt(rt::Field::Fetches, offsetof(tfc_call_frame, fetches)) &&
              isAt(rt::Field::Variables, offsetof(tfc_call_frame, variables)) &&
              isAt(rt::Field::Symbols, offsetof(tfc_call_frame, symbols)) &&
              isAt(rt::Field::Chunks, offsetof(tfc_call_frame, chunks)) &&
              isAt(rt::Field::Found, offsetof(tfc_call_frame, found)));
static_assert(int(rt::TraceKind::Kernel) == TFC_TRACE_KERNEL &&
              int(rt::TraceKind::Send) == TFC_TRACE_SEND &&
              int(rt::TraceKind::Receive) == TFC_TRACE_RECEIVE &&
              int(rt::TraceKind::Wait) == TFC_TRACE_WAIT);
static_assert(sizeof(tfc_chunk) == 16 && offsetof(tfc_chunk, data) == 0 &&
              offsetof(tfc_chunk, bytes) == 8);

namespace {

/// Lowers the operations of one function. They must be passed in reverse order, because blocks are
/// split after them.
class FunctionLowering {
public:
  FunctionLowering(LLVM::LLVMFuncOp function, RuntimeSymbols &symbols)
      : function(function), symbols(symbols), b(function.getContext()), loc(function.getLoc()),
        pointer(LLVM::LLVMPointerType::get(function.getContext())), i32(b.getI32Type()),
        i64(b.getI64Type()) {}

  LogicalResult lower(Operation *op);

private:
  LogicalResult lowerOp(rt::FieldOp op);
  LogicalResult lowerOp(rt::ElementOp op);
  LogicalResult lowerOp(rt::CheckOp op);
  LogicalResult lowerOp(rt::PropagateOp op);
  LogicalResult lowerOp(rt::LaunchOp op);
  LogicalResult lowerOp(rt::ChunkOp op);
  LogicalResult lowerOp(rt::GrowOp op);
  LogicalResult lowerOp(rt::EnqueueOp op);
  LogicalResult lowerOp(rt::DequeueOp op);
  LogicalResult lowerOp(rt::DequeueUpToOp op);
  LogicalResult lowerOp(rt::QueueSizeOp op);
  LogicalResult lowerOp(rt::QueueCloseOp op);
  LogicalResult lowerOp(rt::ReadRowsOp op);
  LogicalResult lowerOp(rt::DatasetSizeOp op);
  LogicalResult lowerOp(rt::OwnFeedOp op);
  LogicalResult lowerOp(rt::RunPartitionsOp op);
  LogicalResult lowerOp(rt::SendOp op);
  LogicalResult lowerOp(rt::NextBufferOp op);
  LogicalResult lowerOp(rt::AwaitReleaseOp op);
  LogicalResult lowerOp(rt::ReceiveOp op);
  LogicalResult lowerOp(rt::ReleaseOp op);
  LogicalResult lowerOp(rt::CommitOp op);
  LogicalResult lowerOp(rt::ReleaseStateOp op);
  LogicalResult lowerOp(rt::DeviceLaunchOp op);
  LogicalResult lowerOp(rt::DeviceReadOp op);
  LogicalResult lowerOp(rt::DeviceWriteOp op);
  LogicalResult lowerOp(rt::DeviceCopyOp op);
  LogicalResult lowerOp(rt::DeviceFillOp op);
  LogicalResult lowerOp(rt::DeviceUploadOp op);
  LogicalResult lowerOp(rt::DeviceSendOp op);
  LogicalResult lowerOp(rt::DeviceConstantOp op);
  LogicalResult lowerOp(rt::TraceBeginOp op);
  LogicalResult lowerOp(rt::TraceEndOp op);
  LogicalResult runTasks(rt::LaunchOp op, LLVM::LLVMFuncOp kernel);
  LogicalResult transfer(Operation *op, StringRef name, ArrayRef<Value> arguments);

  Value constant(Type type, int64_t value) {
    return LLVM::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
  }
  /// Returns the address of a text in the library.
  Value textOf(StringRef text) { return LLVM::AddressOfOp::create(b, loc, symbols.text(text)); }
  /// Returns the address of element `number` of an array.
  Value place(Type element, Value array, int32_t number);
  Value arrayOf(ValueRange values);
  /// Builds a call of the runtime. Returns null and emits an error at `user` if that is impossible.
  LLVM::CallOp call(Operation *user, StringRef name, Type result, ArrayRef<Value> arguments);
  Block *addBlock(Block *next);
  /// Branches to `next` if the condition holds, else to `other` with `arguments`.
  void branch(Value isUsual, Block *next, Block *other, ValueRange arguments = {});
  void returnUnlessOk(Value status, Block *next);
  /// Returns the block that returns its argument, a status.
  Block *getReturnBlock();
  /// Returns the block that calls `tfc_rt_fail` with its arguments, or `tfc_rt_fail_check` for
  /// checks with a position, which are the second argument and the third. Returns null and emits an
  /// error at `check` if that is impossible.
  Block *getFailBlock(rt::CheckOp check);

  LLVM::LLVMFuncOp function;
  RuntimeSymbols &symbols;
  StackArray stack;
  Block *returnBlock = nullptr, *failBlock = nullptr, *failCheckBlock = nullptr;
  OpBuilder b;
  Location loc;
  Type pointer, i32, i64;
};

} // namespace

//===----------------------------------------------------------------------===//
// Building blocks
//===----------------------------------------------------------------------===//

Value FunctionLowering::place(Type element, Value array, int32_t number) {
  return LLVM::GEPOp::create(b, loc, pointer, element, array, ArrayRef<LLVM::GEPArg>{number});
}

/// Stores the values in an array on the stack and returns its address.
Value FunctionLowering::arrayOf(ValueRange values) {
  Value array = stack.get(function, std::max<size_t>(values.size(), 1));
  for (auto [i, value] : llvm::enumerate(values))
    LLVM::StoreOp::create(b, loc, value, place(i64, array, i));
  return array;
}

LLVM::CallOp FunctionLowering::call(Operation *user, StringRef name, Type result,
                                    ArrayRef<Value> arguments) {
  auto type =
      LLVM::LLVMFunctionType::get(result, llvm::to_vector(ValueRange(arguments).getTypes()));
  LLVM::LLVMFuncOp callee = symbols.function(user, name, type);
  return callee ? LLVM::CallOp::create(b, loc, callee, arguments) : LLVM::CallOp();
}

Block *FunctionLowering::addBlock(Block *next) {
  OpBuilder::InsertionGuard guard(b);
  return b.createBlock(next);
}

void FunctionLowering::branch(Value isUsual, Block *next, Block *other, ValueRange arguments) {
  LLVM::CondBrOp::create(b, loc, isUsual, next, {}, other, arguments,
                         std::pair<uint32_t, uint32_t>(1 << 20, 1));
}

Block *FunctionLowering::getReturnBlock() {
  if (returnBlock)
    return returnBlock;
  OpBuilder::InsertionGuard guard(b);
  Region &body = function.getBody();
  returnBlock = b.createBlock(&body, body.end(), i32, function.getLoc());
  LLVM::ReturnOp::create(b, function.getLoc(), returnBlock->getArgument(0));
  return returnBlock;
}

Block *FunctionLowering::getFailBlock(rt::CheckOp check) {
  bool hasPosition = !check.getPosition().empty();
  Block *&block = hasPosition ? failCheckBlock : failBlock;
  if (block)
    return block;
  OpBuilder::InsertionGuard guard(b);
  Region &body = function.getBody();
  SmallVector<Type> types{pointer, i32, pointer, pointer, i32};
  if (hasPosition)
    types.insert(types.begin() + 1, {pointer, i32});
  SmallVector<Location> locations(types.size(), function.getLoc());
  block = b.createBlock(&body, body.end(), types, locations);
  auto status = call(check, hasPosition ? "tfc_rt_fail_check" : "tfc_rt_fail", i32,
                     llvm::to_vector_of<Value>(block->getArguments()));
  if (!status)
    return nullptr;
  LLVM::ReturnOp::create(b, function.getLoc(), status.getResult());
  return block;
}

/// Returns `status` from the function unless it is 0.
void FunctionLowering::returnUnlessOk(Value status, Block *next) {
  Value isOk = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, status, constant(i32, TFC_OK));
  branch(isOk, next, getReturnBlock(), status);
}

/// Moves everything after `op` to a new block, and sets the insertion point to the end of the old
/// one.
static Block *splitAfter(Operation *op, OpBuilder &b) {
  Block *block = op->getBlock(), *next = block->splitBlock(op->getNextNode());
  b.setInsertionPointToEnd(block);
  return next;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LogicalResult FunctionLowering::lowerOp(rt::FieldOp op) {
  Value field = place(pointer, op.getFrame(), int32_t(op.getField()));
  op.getValue().replaceAllUsesWith(LLVM::LoadOp::create(b, loc, pointer, field));
  return success();
}

LogicalResult FunctionLowering::lowerOp(rt::ElementOp op) {
  Type type = op.getValue().getType();
  Value element = place(type, op.getTable(), op.getNumber());
  op.getValue().replaceAllUsesWith(LLVM::LoadOp::create(b, loc, type, element));
  return success();
}

LogicalResult FunctionLowering::lowerOp(rt::CheckOp op) {
  Block *next = splitAfter(op, b), *fail = getFailBlock(op);
  if (!fail)
    return failure();
  SmallVector<Value> values(op.getPosition());
  size_t firstShown = values.size();
  llvm::append_range(values, op.getValues());
  if (!values.empty()) {
    Block *withValues = addBlock(next);
    branch(op.getCondition(), next, withValues);
    b.setInsertionPointToEnd(withValues);
  }
  Value list = values.empty() ? LLVM::ZeroOp::create(b, loc, pointer).getResult() : arrayOf(values);
  SmallVector<Value> arguments{op.getFrame()};
  if (firstShown > 0)
    arguments.append({list, constant(i32, firstShown)});
  arguments.append({constant(i32, int(op.getStatus())), textOf(op.getFormat()),
                    firstShown > 0 ? place(i64, list, firstShown) : list,
                    constant(i32, op.getValues().size())});
  if (values.empty())
    branch(op.getCondition(), next, fail, arguments);
  else
    LLVM::BrOp::create(b, loc, arguments, fail);
  return success();
}

LogicalResult FunctionLowering::lowerOp(rt::PropagateOp op) {
  Block *next = splitAfter(op, b);
  returnUnlessOk(op.getStatus(), next);
  return success();
}

LogicalResult FunctionLowering::lowerOp(rt::LaunchOp op) {
  LLVM::LLVMFuncOp kernel = symbols.kernel(op.getKernel());
  if (op.getGrain())
    return runTasks(op, kernel);
  SmallVector<Value> arguments(op.getArguments());
  arguments.append({constant(i64, 0), op.getExtent()});
  LLVM::CallOp::create(b, loc, kernel, arguments);
  return success();
}

/// Runs the kernel on the runtime's threads. A single chunk runs on the caller's thread.
LogicalResult FunctionLowering::runTasks(rt::LaunchOp op, LLVM::LLVMFuncOp kernel) {
  Value context = arrayOf(op.getArguments());
  Value task = LLVM::AddressOfOp::create(b, loc, pointer, rt::taskName(kernel.getName()));
  Type none = LLVM::LLVMVoidType::get(b.getContext());
  return success(
      call(op, "tfc_rt_parallel_for", none,
           {op.getFrame(), task, context, op.getExtent(), constant(i64, *op.getGrain())}));
}

LogicalResult FunctionLowering::lowerOp(rt::ChunkOp op) {
  Value data = place(i64, op.getChunks(), 2 * op.getNumber());
  op.getData().replaceAllUsesWith(LLVM::LoadOp::create(b, loc, pointer, data));
  return success();
}

LogicalResult FunctionLowering::lowerOp(rt::GrowOp op) {
  Block *next = splitAfter(op, b), *grow = addBlock(next);
  Value room =
      LLVM::LoadOp::create(b, loc, i64, place(i64, op.getChunks(), 2 * op.getNumber() + 1));
  branch(LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::sle, op.getBytes(), room), next, grow);
  b.setInsertionPointToEnd(grow);
  auto status =
      call(op, "tfc_rt_grow", i32, {op.getFrame(), constant(i32, op.getNumber()), op.getBytes()});
  if (!status)
    return failure();
  returnUnlessOk(status.getResult(), next);
  return success();
}

/// Calls the runtime with an array of addresses, and returns its status unless it is 0.
LogicalResult FunctionLowering::transfer(Operation *op, StringRef name, ArrayRef<Value> arguments) {
  Block *next = splitAfter(op, b);
  auto status = call(op, name, i32, arguments);
  if (!status)
    return failure();
  returnUnlessOk(status.getResult(), next);
  return success();
}

LogicalResult FunctionLowering::lowerOp(rt::EnqueueOp op) {
  return transfer(op, "tfc_rt_enqueue",
                  {op.getFrame(), constant(i32, op.getQueue()), arrayOf(op.getValues()),
                   op.getCount(), constant(i32, op.getLate()), textOf(op.getSubject())});
}

LogicalResult FunctionLowering::lowerOp(rt::DequeueOp op) {
  return transfer(op, "tfc_rt_dequeue",
                  {op.getFrame(), constant(i32, op.getQueue()), arrayOf(op.getValues()),
                   op.getCount(), constant(i32, op.getLate()), textOf(op.getSubject())});
}

LogicalResult FunctionLowering::lowerOp(rt::DequeueUpToOp op) {
  return transfer(op, "tfc_rt_dequeue_up_to",
                  {op.getFrame(), constant(i32, op.getQueue()), arrayOf(op.getValues()),
                   op.getCount(), op.getTaken(), constant(i32, op.getLate()),
                   textOf(op.getSubject())});
}

LogicalResult FunctionLowering::lowerOp(rt::QueueSizeOp op) {
  auto size = call(op, "tfc_rt_queue_size", i32, {op.getFrame(), constant(i32, op.getQueue())});
  if (!size)
    return failure();
  op.getSize().replaceAllUsesWith(size.getResult());
  return success();
}

LogicalResult FunctionLowering::lowerOp(rt::QueueCloseOp op) {
  return success(
      call(op, "tfc_rt_queue_close", LLVM::LLVMVoidType::get(b.getContext()),
           {op.getFrame(), constant(i32, op.getQueue()), constant(i32, op.getCancelPending())}));
}

//===--- datasets ---------------------------------------------------------===//

LogicalResult FunctionLowering::lowerOp(rt::ReadRowsOp op) {
  Value next = op.getNext(), nextCount = op.getNextCount();
  if (!next) {
    next = LLVM::ZeroOp::create(b, loc, pointer);
    nextCount = constant(i64, 0);
  }
  return transfer(op, "tfc_rt_read_rows",
                  {op.getFrame(), constant(i32, op.getDataset()), arrayOf(op.getValues()),
                   op.getRows(), op.getCount(), next, nextCount, textOf(op.getSubject())});
}

LogicalResult FunctionLowering::lowerOp(rt::DatasetSizeOp op) {
  return transfer(
      op, "tfc_rt_dataset_size",
      {op.getFrame(), constant(i32, op.getDataset()), op.getTo(), textOf(op.getSubject())});
}

LogicalResult FunctionLowering::lowerOp(rt::OwnFeedOp op) {
  return transfer(op, "tfc_rt_own_feed",
                  {op.getFrame(), constant(i32, op.getNumber()), op.getTo(), op.getBytes(),
                   textOf(op.getSubject())});
}

//===--- messages ---------------------------------------------------------===//

LogicalResult FunctionLowering::lowerOp(rt::RunPartitionsOp op) {
  return transfer(op, "tfc_rt_run_partitions", {op.getFrame()});
}

LogicalResult FunctionLowering::lowerOp(rt::SendOp op) {
  Value value = op.getValue(), bytes = op.getBytes();
  bool isScalar = value.getType().isInteger(64);
  if (isScalar)
    value = LLVM::IntToPtrOp::create(b, loc, pointer, value);
  if (!bytes)
    bytes = LLVM::ConstantOp::create(b, loc, b.getI64IntegerAttr(isScalar ? TFC_RT_SCALAR : 0));
  return transfer(op, "tfc_rt_send", {op.getFrame(), constant(i32, op.getSlot()), value, bytes});
}

/// Negative results end the call; others are the number of a buffer.
LogicalResult FunctionLowering::lowerOp(rt::NextBufferOp op) {
  Block *next = splitAfter(op, b);
  auto number = call(op, "tfc_rt_next_buffer", i32, {op.getFrame(), constant(i32, op.getSlot())});
  if (!number)
    return failure();
  Value isBuffer =
      LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::sge, number.getResult(), constant(i32, 0));
  branch(isBuffer, next, getReturnBlock(), number.getResult());
  op.getBuffer().replaceAllUsesWith(number.getResult());
  return success();
}

LogicalResult FunctionLowering::lowerOp(rt::AwaitReleaseOp op) {
  return transfer(op, "tfc_rt_await_release", {op.getFrame(), constant(i32, op.getSlot())});
}

LogicalResult FunctionLowering::lowerOp(rt::ReceiveOp op) {
  Block *next = splitAfter(op, b);
  Value place = stack.get(function, 1);
  auto status =
      call(op, "tfc_rt_receive", i32, {op.getFrame(), constant(i32, op.getSlot()), place});
  if (!status)
    return failure();
  returnUnlessOk(status.getResult(), next);
  b.setInsertionPointToStart(next);
  op.getValue().replaceAllUsesWith(LLVM::LoadOp::create(b, loc, op.getValue().getType(), place));
  return success();
}

LogicalResult FunctionLowering::lowerOp(rt::ReleaseOp op) {
  return success(call(op, "tfc_rt_release", LLVM::LLVMVoidType::get(b.getContext()),
                      {op.getFrame(), constant(i32, op.getSlot())}));
}

LogicalResult FunctionLowering::lowerOp(rt::CommitOp op) {
  return transfer(op, "tfc_rt_commit", {op.getFrame()});
}

LogicalResult FunctionLowering::lowerOp(rt::ReleaseStateOp op) {
  return success(
      call(op, "tfc_rt_release_state", LLVM::LLVMVoidType::get(b.getContext()), {op.getFrame()}));
}

//===--- devices ----------------------------------------------------------===//

LogicalResult FunctionLowering::lowerOp(rt::DeviceLaunchOp op) {
  return transfer(op, "tfc_rt_device_launch",
                  {op.getFrame(), constant(i32, op.getGrid()), op.getThreads(),
                   arrayOf(op.getArguments()), constant(i32, op.getArguments().size())});
}

/// The value passes through the stack.
LogicalResult FunctionLowering::lowerOp(rt::DeviceReadOp op) {
  Block *next = splitAfter(op, b);
  Type type = op.getValue().getType();
  Value place = stack.get(function, 1);
  auto status =
      call(op, "tfc_rt_device_read", i32,
           {op.getFrame(), place, op.getFrom(), constant(i64, type.getIntOrFloatBitWidth() / 8)});
  if (!status)
    return failure();
  returnUnlessOk(status.getResult(), next);
  b.setInsertionPointToStart(next);
  op.getValue().replaceAllUsesWith(LLVM::LoadOp::create(b, loc, type, place));
  return success();
}

LogicalResult FunctionLowering::lowerOp(rt::DeviceWriteOp op) {
  Value place = arrayOf(op.getValue());
  int64_t bytes = op.getValue().getType().getIntOrFloatBitWidth() / 8;
  return transfer(op, "tfc_rt_device_upload",
                  {op.getFrame(), op.getTo(), place, constant(i64, bytes)});
}

LogicalResult FunctionLowering::lowerOp(rt::DeviceCopyOp op) {
  return transfer(op, "tfc_rt_device_copy",
                  {op.getFrame(), op.getTo(), op.getFrom(), op.getBytes()});
}

LogicalResult FunctionLowering::lowerOp(rt::DeviceFillOp op) {
  return transfer(op, "tfc_rt_device_fill",
                  {op.getFrame(), op.getTo(), constant(i32, uint8_t(op.getByte())), op.getBytes()});
}

LogicalResult FunctionLowering::lowerOp(rt::DeviceUploadOp op) {
  return transfer(op, "tfc_rt_device_upload",
                  {op.getFrame(), op.getTo(), op.getFrom(), op.getBytes()});
}

LogicalResult FunctionLowering::lowerOp(rt::DeviceSendOp op) {
  return transfer(op, "tfc_rt_device_send",
                  {op.getFrame(), constant(i32, op.getSlot()), op.getFrom(), op.getBytes()});
}

LogicalResult FunctionLowering::lowerOp(rt::DeviceConstantOp op) {
  auto address =
      call(op, "tfc_rt_device_constant", pointer, {op.getFrame(), constant(i32, op.getNumber())});
  if (!address)
    return failure();
  op.getAddress().replaceAllUsesWith(address.getResult());
  return success();
}

//===--- tracing ----------------------------------------------------------===//

LogicalResult FunctionLowering::lowerOp(rt::TraceBeginOp op) {
  auto time = call(op, "tfc_rt_trace_begin", i64, {});
  if (!time)
    return failure();
  op.getTime().replaceAllUsesWith(time.getResult());
  return success();
}

LogicalResult FunctionLowering::lowerOp(rt::TraceEndOp op) {
  return success(call(op, "tfc_rt_trace_end", LLVM::LLVMVoidType::get(b.getContext()),
                      {op.getFrame(), op.getBegin(), constant(i32, int(op.getKind())),
                       constant(i32, op.getSlot()), textOf(op.getName()), op.getFlops(),
                       op.getBytes(), op.getHeld()}));
}

LogicalResult FunctionLowering::lower(Operation *op) {
  b.setInsertionPoint(op);
  loc = op->getLoc();
  LogicalResult result =
      llvm::TypeSwitch<Operation *, LogicalResult>(op)
          .Case<rt::FieldOp, rt::ElementOp, rt::CheckOp, rt::PropagateOp, rt::LaunchOp, rt::ChunkOp,
                rt::GrowOp, rt::EnqueueOp, rt::DequeueOp, rt::DequeueUpToOp, rt::QueueSizeOp,
                rt::QueueCloseOp, rt::ReadRowsOp, rt::DatasetSizeOp, rt::OwnFeedOp,
                rt::RunPartitionsOp, rt::SendOp, rt::NextBufferOp, rt::AwaitReleaseOp,
                rt::ReceiveOp, rt::ReleaseOp, rt::CommitOp, rt::ReleaseStateOp, rt::DeviceLaunchOp,
                rt::DeviceReadOp, rt::DeviceWriteOp, rt::DeviceCopyOp, rt::DeviceFillOp,
                rt::DeviceUploadOp, rt::DeviceSendOp, rt::DeviceConstantOp, rt::TraceBeginOp,
                rt::TraceEndOp>([&](auto op) { return lowerOp(op); })
          .Default([](Operation *op) { return op->emitOpError("cannot be lowered"); });
  if (succeeded(result))
    op->erase();
  return result;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Verifies that the operation is in a block where it can be lowered.
static LogicalResult verifyPlace(Operation *op, ModuleOp module) {
  auto function = op->getParentOfType<LLVM::LLVMFuncOp>();
  if (!function || function->getParentOp() != module)
    return op->emitOpError("expects to be in an 'llvm.func' of the module");
  if (op->hasTrait<rt::EndsCall>() && op->getParentOp() != function)
    return op->emitOpError("expects the regions around it to be lowered to branches first");
  return success();
}

namespace {
struct LowerRtPass : tfc::impl::LowerRtBase<LowerRtPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::MapVector<Operation *, SmallVector<Operation *>> calls; // by function
    WalkResult result = module.walk([&](Operation *op) {
      if (!isa_and_nonnull<rt::RtDialect>(op->getDialect()))
        return WalkResult::advance();
      calls[op->getParentOfType<LLVM::LLVMFuncOp>()].push_back(op);
      return failed(verifyPlace(op, module)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    RuntimeSymbols symbols(module);
    for (auto &[function, ops] : calls) {
      FunctionLowering lowering(cast<LLVM::LLVMFuncOp>(function), symbols);
      for (Operation *op : llvm::reverse(ops))
        if (failed(lowering.lower(op)))
          return signalPassFailure();
    }
  }
};
} // namespace
