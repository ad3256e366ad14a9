#include "compiler/cpu/NestEmitter.h"
#include "compiler/cpu/Passes.h"
#include "compiler/cpu/Polynomial.h"
#include "compiler/cpu/Prepare.h"
#include "dialects/linalg_ext/LinalgExt.h"

namespace tfc::cpu {
#define GEN_PASS_DEF_CPUCODEGENPASS
#include "compiler/cpu/Passes.h.inc"
} // namespace tfc::cpu

using namespace mlir;
using namespace tfc::cpu;

/// Cost from which a chunk of work pays for waking a thread.
static constexpr int64_t kChunkCost = 32 << 10;

namespace {

/// Turns one kernel into a function over pointers.
class KernelCodegen {
public:
  KernelCodegen(func::FuncOp kernel, const Target &target)
      : kernel(kernel), target(target), b(kernel), loc(kernel.getLoc()), shapes(kernel) {}

  LogicalResult run();

private:
  std::optional<unsigned> inplaceArgument(unsigned result);
  LLVM::LLVMFuncOp createFunction();
  void createTask(LLVM::LLVMFuncOp function);
  void placeResults(KernelEmitter &emitter);
  void placeTemporaries(KernelEmitter &emitter, const Schedule &schedule);
  void emitNests(KernelEmitter &emitter, const Schedule &schedule, LLVM::LLVMFuncOp function);
  Value allocate(AffineExpr bytes, KernelEmitter &emitter);
  Buffer temporary(KernelEmitter &emitter, const Schedule &schedule, Value value);

  func::FuncOp kernel;
  const Target &target;
  OpBuilder b;
  Location loc;
  KernelShapes shapes;
  SmallVector<Value> tensorPointers, resultPointers;
  Value scratch, begin, end;
  AffineExpr scratchBytes;
};

} // namespace

/// The tensor argument whose memory result `result` takes.
std::optional<unsigned> KernelCodegen::inplaceArgument(unsigned result) {
  if (auto number = kernel.getResultAttrOfType<IntegerAttr>(result, "tfc.inplace"))
    return number.getInt();
  return std::nullopt;
}

/// Declares the function and enters it; pointers to different memory do not alias.
LLVM::LLVMFuncOp KernelCodegen::createFunction() {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext()), i64 = b.getI64Type();
  unsigned numTensors = 0, numResults = 0;
  for (Type type : kernel.getArgumentTypes())
    numTensors += isa<RankedTensorType>(type);
  for (unsigned i = 0; i < kernel.getNumResults(); ++i)
    numResults += !inplaceArgument(i);
  SmallVector<Type> types(shapes.numSizes(), i64);
  types.append(numTensors + numResults + 1, pointer);
  types.append(2, i64);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), types);
  auto function = LLVM::LLVMFuncOp::create(b, loc, kernel.getName(), type);
  function.setVisibility_(LLVM::Visibility::Hidden);
  function.setNoInline(true);
  function.setPassthroughAttr(
      b.getArrayAttr({b.getStrArrayAttr({"prefer-vector-width", std::to_string(target.vectorBits)}),
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

/// The entry that the runtime calls with a context of 8-byte slots.
void KernelCodegen::createTask(LLVM::LLVMFuncOp function) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(function);
  Type pointer = LLVM::LLVMPointerType::get(b.getContext()), i64 = b.getI64Type();
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {pointer, i64, i64});
  auto task = LLVM::LLVMFuncOp::create(b, loc, (kernel.getName() + ".task").str(), type);
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

/// Gives arguments and results their memory.
void KernelCodegen::placeResults(KernelEmitter &emitter) {
  unsigned next = 0;
  for (BlockArgument argument : kernel.getArguments())
    if (isa<RankedTensorType>(argument.getType()))
      emitter.setBuffer(argument, emitter.denseBuffer(argument, tensorPointers[next++], 1));
  next = 0;
  for (OpOperand &operand : kernel.getBody().front().getTerminator()->getOpOperands()) {
    std::optional<unsigned> shared = inplaceArgument(operand.getOperandNumber());
    Value pointer = shared ? tensorPointers[*shared] : resultPointers[next++];
    emitter.setBuffer(operand.get(), emitter.denseBuffer(operand.get(), pointer, 1));
  }
}

/// Takes bytes of the scratch memory.
Value KernelCodegen::allocate(AffineExpr bytes, KernelEmitter &emitter) {
  Value offset = arith::IndexCastOp::create(b, loc, b.getI64Type(),
                                            emitter.indexValue(normalize(scratchBytes)));
  scratchBytes = normalize(scratchBytes + bytes.ceilDiv(64) * 64);
  return LLVM::GEPOp::create(b, loc, scratch.getType(), b.getI8Type(), scratch,
                             ArrayRef<LLVM::GEPArg>{offset});
}

/// Memory of a value that lives on the stack or in scratch.
Buffer KernelCodegen::temporary(KernelEmitter &emitter, const Schedule &schedule, Value value) {
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
  // Whole vectors may be written behind the last element of a single row.
  buffer.padded = inner.size() <= 1;
  int64_t bytes = cast<AffineConstantExpr>(stride).getValue() * elementBytes + 64 * elementBytes;
  Value count = LLVM::ConstantOp::create(b, loc, b.getI64IntegerAttr(bytes));
  buffer.pointer = LLVM::AllocaOp::create(b, loc, scratch.getType(), b.getI8Type(), count, 64);
  return buffer;
}

void KernelCodegen::placeTemporaries(KernelEmitter &emitter, const Schedule &schedule) {
  for (const Nest &nest : schedule.nests())
    for (const Stage *stage : nest.stages)
      for (Value result : stage->op->getResults()) {
        Storage storage = schedule.storage(result);
        if (storage == Storage::Stack || storage == Storage::Scratch)
          emitter.setBuffer(result, temporary(emitter, schedule, result));
      }
}

/// Whether the whole kernel is known to be no more than a chunk.
static bool isSmall(KernelEmitter &emitter, const Schedule &schedule) {
  int64_t cost = 0;
  for (const Nest &nest : schedule.nests()) {
    NestEmitter nestEmitter(emitter, schedule, nest);
    auto units = dyn_cast<AffineConstantExpr>(nestEmitter.units());
    bool fixed = llvm::all_of(nest.sizes, llvm::IsaPred<AffineConstantExpr>);
    if (!units || !fixed)
      return false;
    cost += units.getValue() * nestEmitter.unitCost();
  }
  return cost <= 2 * kChunkCost;
}

/// Emits the nests; independent ones lie one after the other in the range of units.
void KernelCodegen::emitNests(KernelEmitter &emitter, const Schedule &schedule,
                              LLVM::LLVMFuncOp function) {
  Value first = arith::IndexCastOp::create(b, loc, b.getIndexType(), begin);
  Value last = arith::IndexCastOp::create(b, loc, b.getIndexType(), end);
  AffineExpr total = emitter.constantExpr(0);
  int64_t costliest = 1;
  bool uncut = schedule.isSerial() || isSmall(emitter, schedule);
  for (const Nest &nest : schedule.nests()) {
    NestEmitter nestEmitter(emitter, schedule, nest);
    AffineExpr units = nestEmitter.units();
    Value memory = scratch;
    if (!nest.sweeps.empty() && nest.sweeps.front().contraction &&
        nest.sweeps.front().contraction->scratchBytes)
      memory = allocate(nest.sweeps.front().contraction->scratchBytes, emitter);
    KernelEmitter::Scope scope(emitter);
    if (uncut) {
      nestEmitter.emit(emitter.indexConstant(0), emitter.indexValue(units), memory);
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
    // A nest that is not cut runs with the chunk that has its unit.
    Value some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, lower, upper);
    auto branch = scf::IfOp::create(b, loc, some, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    KernelEmitter::Scope inner(emitter);
    nestEmitter.emit(lower, upper, memory);
  }
  if (uncut || schedule.nests().empty())
    total = emitter.constantExpr(1);
  auto map = [&](AffineExpr expr) {
    return AffineMapAttr::get(AffineMap::get(0, shapes.numSizes(), expr));
  };
  function->setAttr("tfc.extent", map(total));
  function->setAttr("tfc.grain", b.getI64IntegerAttr(std::max<int64_t>(1, kChunkCost / costliest)));
  function->setAttr("tfc.scratch", map(scratchBytes));
}

LogicalResult KernelCodegen::run() {
  Schedule schedule(shapes, target);
  if (schedule.failed())
    return failure();
  LLVM::LLVMFuncOp function = createFunction();
  SmallVector<Value> sizes;
  for (unsigned i = 0; i < shapes.numSizes(); ++i)
    sizes.push_back(
        arith::IndexCastOp::create(b, loc, b.getIndexType(), function.getBody().getArgument(i)));
  scratchBytes = getAffineConstantExpr(0, b.getContext());
  KernelEmitter emitter(b, loc, shapes, target, sizes);
  placeResults(emitter);
  placeTemporaries(emitter, schedule);
  emitNests(emitter, schedule, function);
  LLVM::ReturnOp::create(b, loc, ValueRange());
  createTask(function);
  kernel.erase();
  return success(!emitter.failed());
}

namespace {

/// Runs after the memory plan, which says by `tfc.inplace` where results are written.
struct CpuCodegenPass : tfc::cpu::impl::CpuCodegenPassBase<CpuCodegenPass> {
  using CpuCodegenPassBase::CpuCodegenPassBase;

  void runOnOperation() override {
    Target target = Target::get(cpu);
    target.emitsProducts = products;
    for (func::FuncOp kernel : findKernels(getOperation()))
      if (failed(prepareKernel(kernel)) || failed(KernelCodegen(kernel, target).run()))
        return signalPassFailure();
  }
};

} // namespace
