// Generates a function over pointers for each kernel. The loops are emitted by NestEmitter; this
// file assigns memory, splits the work into units and creates the entry point for the runtime.

#include "compiler/cpu/NestEmitter.h"
#include "compiler/cpu/Passes.h"
#include "compiler/kernels/Polynomial.h"
#include "compiler/kernels/Prepare.h"
#include "compiler/kernels/Sharing.h"
#include "compiler/kernels/math/Functions.h"
#include "dialects/linalg_ext/LinalgExt.h"
#include "dialects/rt/Names.h"

namespace tfc::cpu {
#define GEN_PASS_DEF_CPUCODEGENPASS
#include "compiler/cpu/Passes.h.inc"
} // namespace tfc::cpu

using namespace mlir;
using namespace tfc::cpu;
namespace kernel = tfc::kernel;
namespace rt = tfc::rt;

/// Cost of a chunk of work that is worth waking a thread for.
static constexpr int64_t kChunkCost = 32 << 10;

namespace {

/// Generates the function of one kernel.
class KernelCodegen {
public:
  KernelCodegen(kernel::FuncOp kernel, KernelPlan &plan)
      : kernel(kernel), plan(plan), schedule(plan.getSchedule()), shapes(plan.getShapes()),
        b(kernel), loc(kernel.getLoc()) {}

  LogicalResult run();

private:
  LLVM::LLVMFuncOp createFunction();
  void createTask(LLVM::LLVMFuncOp function);
  void placeTemporaries(KernelEmitter &emitter);
  bool isSmall(KernelEmitter &emitter);
  void emitNests(KernelEmitter &emitter, LLVM::LLVMFuncOp function);
  Value allocate(AffineExpr bytes, KernelEmitter &emitter);
  Value stackMemory(int64_t bytes);
  Buffer temporary(KernelEmitter &emitter, Value value);
  Buffer workMemory(KernelEmitter &emitter, const Workspace &wanted);

  kernel::FuncOp kernel;
  const KernelPlan &plan;
  const Schedule &schedule;
  KernelShapes &shapes;
  OpBuilder b;
  Location loc;
  SmallVector<Value> tensorPointers, resultPointers;
  Value scratch, begin, end;
  AffineExpr scratchBytes;
};

} // namespace

/// Declares the function and sets the insertion point to its entry block; pointers to different
/// memory do not alias.
LLVM::LLVMFuncOp KernelCodegen::createFunction() {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext()), i64 = b.getI64Type();
  unsigned numTensors = kernel.getNumTensors(), numResults = 0;
  for (unsigned i = 0; i < kernel.getNumResults(); ++i)
    numResults += !kernel.getInPlace(i);
  SmallVector<Type> types(shapes.numSizes(), i64);
  types.append(numTensors + numResults + 1, pointer);
  types.append(2, i64);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), types);
  auto function = LLVM::LLVMFuncOp::create(b, loc, kernel.getName(), type);
  function.setVisibility_(LLVM::Visibility::Hidden);
  function.setNoInline(true);
  function.setPassthroughAttr(b.getArrayAttr(
      {b.getStrArrayAttr({"prefer-vector-width", std::to_string(plan.getTarget().vectorBits)}),
       b.getStringAttr("nounwind")}));
  for (unsigned i = 0; i < numTensors + numResults + 1; ++i)
    function.setArgAttr(shapes.numSizes() + i, LLVM::LLVMDialect::getNoAliasAttrName(),
                        b.getUnitAttr());
  Block *entry = function.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  auto arguments = ValueRange(entry->getArguments()).drop_front(shapes.numSizes());
  tensorPointers = llvm::to_vector(arguments.take_front(numTensors));
  resultPointers = llvm::to_vector(arguments.drop_front(numTensors).take_front(numResults));
  scratch = arguments[numTensors + numResults];
  begin = arguments[numTensors + numResults + 1];
  end = arguments[numTensors + numResults + 2];
  return function;
}

/// Creates the entry point that the runtime calls with a context of 8-byte slots.
void KernelCodegen::createTask(LLVM::LLVMFuncOp function) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(function);
  Type pointer = LLVM::LLVMPointerType::get(b.getContext()), i64 = b.getI64Type();
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {pointer, i64, i64});
  auto task = LLVM::LLVMFuncOp::create(b, loc, rt::taskName(kernel.getName()), type);
  task.setVisibility_(LLVM::Visibility::Hidden);
  Block *entry = task.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  SmallVector<Value> operands;
  ArrayRef<Type> types = cast<LLVM::LLVMFunctionType>(function.getFunctionType()).getParams();
  for (auto [i, operandType] : llvm::enumerate(types.drop_back(2))) {
    Value slot = LLVM::GEPOp::create(b, loc, pointer, i64, entry->getArgument(0),
                                     ArrayRef<LLVM::GEPArg>{int32_t(i)});
    operands.push_back(LLVM::LoadOp::create(b, loc, operandType, slot, 8));
  }
  operands.push_back(entry->getArgument(1));
  operands.push_back(entry->getArgument(2));
  LLVM::CallOp::create(b, loc, function, operands);
  LLVM::ReturnOp::create(b, loc, ValueRange());
}

/// Allocates bytes in the scratch memory.
Value KernelCodegen::allocate(AffineExpr bytes, KernelEmitter &emitter) {
  Value offset = arith::IndexCastOp::create(b, loc, b.getI64Type(),
                                            emitter.indexValue(normalize(scratchBytes)));
  scratchBytes = normalize(scratchBytes + bytes.ceilDiv(64) * 64);
  return LLVM::GEPOp::create(b, loc, scratch.getType(), b.getI8Type(), scratch,
                             ArrayRef<LLVM::GEPArg>{offset});
}

Value KernelCodegen::stackMemory(int64_t bytes) {
  Value count = LLVM::ConstantOp::create(b, loc, b.getI64IntegerAttr(bytes));
  return LLVM::AllocaOp::create(b, loc, scratch.getType(), b.getI8Type(), count, 64);
}

/// Returns the memory of a value that lives on the stack or in scratch memory.
Buffer KernelCodegen::temporary(KernelEmitter &emitter, Value value) {
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  int64_t elementBytes = std::max(1u, element.getIntOrFloatBitWidth() / 8);
  Buffer buffer = emitter.denseBuffer(value, {}, 64);
  ArrayRef<AffineExpr> shape = shapes.shapeOf(value);
  if (schedule.storage(value) == Storage::Scratch) {
    buffer.pointer = allocate(shapes.numElements(value) * elementBytes, emitter);
    return buffer;
  }
  ArrayRef<unsigned> inner = schedule.innerDims(value);
  AffineExpr stride = emitter.constantExpr(1);
  buffer.strides.assign(shape.size(), emitter.constantExpr(0));
  for (unsigned dim : llvm::reverse(inner)) {
    buffer.strides[dim] = stride;
    stride = normalize(stride * shape[dim]);
  }
  // Whole vectors may be stored past the last element of a single row.
  buffer.padded = inner.size() <= 1;
  int64_t bytes = cast<AffineConstantExpr>(stride).getValue() * elementBytes + 64 * elementBytes;
  buffer.pointer = stackMemory(bytes);
  return buffer;
}

/// Returns temporary memory for the code of one operation, on the stack if it is small.
Buffer KernelCodegen::workMemory(KernelEmitter &emitter, const Workspace &wanted) {
  int64_t elementBytes = std::max(1u, wanted.elementType.getIntOrFloatBitWidth() / 8);
  Buffer buffer{{}, wanted.elementType, {emitter.constantExpr(1)}, 64};
  auto count = dyn_cast<AffineConstantExpr>(wanted.count);
  if (!count || count.getValue() > schedule.getOptions().stackElements) {
    buffer.pointer = allocate(wanted.count * elementBytes, emitter);
    return buffer;
  }
  buffer.padded = true;
  buffer.pointer = stackMemory((count.getValue() + 64) * elementBytes);
  return buffer;
}

void KernelCodegen::placeTemporaries(KernelEmitter &emitter) {
  for (const Nest &nest : schedule.nests())
    for (const LoopStage *stage : nest.stages) {
      for (Value result : stage->op->getResults()) {
        Storage storage = schedule.storage(result);
        if (storage == Storage::Stack || storage == Storage::Scratch)
          emitter.setBuffer(result, temporary(emitter, result));
      }
      SmallVector<Buffer> memory;
      for (const Workspace &wanted : workspaceOf(shapes, stage->op))
        memory.push_back(workMemory(emitter, wanted));
      emitter.setWorkspace(stage->op, std::move(memory));
    }
}

/// Returns true if the whole kernel is known to be no larger than a chunk.
bool KernelCodegen::isSmall(KernelEmitter &emitter) {
  int64_t cost = 0;
  for (const Nest &nest : schedule.nests()) {
    NestEmitter nestEmitter(emitter, plan, nest);
    auto units = dyn_cast<AffineConstantExpr>(nestEmitter.units());
    bool fixed = llvm::all_of(nest.sizes, llvm::IsaPred<AffineConstantExpr>);
    if (!units || !fixed)
      return false;
    cost += units.getValue() * nestEmitter.unitCost();
  }
  return cost <= 2 * kChunkCost;
}

/// Emits the nests. Independent nests have consecutive ranges of units.
void KernelCodegen::emitNests(KernelEmitter &emitter, LLVM::LLVMFuncOp function) {
  Value first = arith::IndexCastOp::create(b, loc, b.getIndexType(), begin);
  Value last = arith::IndexCastOp::create(b, loc, b.getIndexType(), end);
  AffineExpr total = emitter.constantExpr(0);
  int64_t costliest = 1;
  bool uncut = schedule.isSerial() || isSmall(emitter);
  for (const Nest &nest : schedule.nests()) {
    NestEmitter nestEmitter(emitter, plan, nest);
    AffineExpr units = nestEmitter.units();
    KernelEmitter::Scope scope(emitter);
    if (uncut) {
      nestEmitter.emit(emitter.indexConstant(0), emitter.indexValue(units));
      continue;
    }
    Value lower = first, upper = last;
    if (schedule.nests().size() > 1) {
      Value offset = emitter.indexValue(total), count = emitter.indexValue(units);
      Value zero = emitter.indexConstant(0);
      lower = arith::SubIOp::create(b, loc, first, offset);
      lower = arith::MaxSIOp::create(b, loc, lower, zero);
      lower = arith::MinSIOp::create(b, loc, lower, count);
      upper = arith::SubIOp::create(b, loc, last, offset);
      upper = arith::MaxSIOp::create(b, loc, upper, zero);
      upper = arith::MinSIOp::create(b, loc, upper, count);
    }
    total = normalize(total + units);
    costliest = std::max(costliest, nestEmitter.unitCost());
    // A nest that is not split runs in the chunk that contains its unit.
    Value some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, lower, upper);
    auto branch = scf::IfOp::create(b, loc, some, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    KernelEmitter::Scope inner(emitter);
    nestEmitter.emit(lower, upper);
  }
  if (uncut || schedule.nests().empty())
    total = emitter.constantExpr(1);
  auto map = [&](AffineExpr expr) {
    return AffineMapAttr::get(AffineMap::get(0, shapes.numSizes(), expr));
  };
  int64_t grain = std::max<int64_t>(1, kChunkCost / costliest);
  kernel::setAbi(function, kernel::AbiAttr::get(b.getContext(), map(total), grain,
                                                map(scratchBytes), kernel.getTargetAttr(),
                                                /*grids=*/{}));
  if (AffineMapAttr work = kernel::workOf(kernel))
    kernel::setWork(function, work);
}

LogicalResult KernelCodegen::run() {
  if (failed(verifyInPlace(kernel, schedule, shapes)))
    return failure();
  LLVM::LLVMFuncOp function = createFunction();
  SmallVector<Value> sizes;
  for (unsigned i = 0; i < shapes.numSizes(); ++i)
    sizes.push_back(
        arith::IndexCastOp::create(b, loc, b.getIndexType(), function.getBody().getArgument(i)));
  scratchBytes = getAffineConstantExpr(0, b.getContext());
  KernelEmitter emitter(b, loc, shapes, plan.getTarget(), sizes);
  placeOperands(emitter, tensorPointers, resultPointers);
  placeTemporaries(emitter);
  emitNests(emitter, function);
  if (plan.getTarget().hasFma)
    tfc::kernels::fuseMultiplyAdds(function);
  LLVM::ReturnOp::create(b, loc, ValueRange());
  createTask(function);
  kernel.erase();
  return success(!emitter.failed());
}

namespace {

/// Runs after the memory plan, which records in `kernel.in_place` where results are written.
struct CpuCodegenPass : tfc::cpu::impl::CpuCodegenPassBase<CpuCodegenPass> {
  using CpuCodegenPassBase::CpuCodegenPassBase;

  void runOnOperation() override {
    auto kernels = findKernels(getOperation(), isForCpu);
    if (failed(kernels))
      return signalPassFailure();
    for (kernel::FuncOp kernel : *kernels)
      if (failed(generate(kernel)))
        return signalPassFailure();
  }

private:
  LogicalResult generate(kernel::FuncOp kernel) {
    if (reportSchedules && !getCachedChildAnalysis<KernelPlan>(kernel))
      kernel.emitRemark("schedules the kernel");
    auto &plan = getChildAnalysis<KernelPlan>(kernel);
    return failure(plan.failed() || failed(KernelCodegen(kernel, plan).run()));
  }
};

} // namespace
