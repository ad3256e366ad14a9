//===- Codegen.cpp - The functions of a kernel's launches -----------------===//
//
// Generates a function for each launch of a kernel, which computes what one thread does, and
// describes the launches to the host. GridEmitter emits the work at a point; this file assigns
// memory and finds the point of a thread.
//
//===----------------------------------------------------------------------===//

#include "compiler/gpu/Accesses.h"
#include "compiler/gpu/Bundles.h"
#include "compiler/gpu/CopyKernel.h"
#include "compiler/gpu/GridEmitter.h"
#include "compiler/gpu/Passes.h"
#include "compiler/kernels/Polynomial.h"
#include "compiler/kernels/Prepare.h"
#include "compiler/kernels/Sharing.h"

namespace tfc::gpu {
#define GEN_PASS_DEF_GPUCODEGENPASS
#include "compiler/gpu/Passes.h.inc"
} // namespace tfc::gpu

using namespace mlir;
using namespace tfc::gpu;
namespace kernel = tfc::kernel;

/// Alignment of operands, results and values in scratch memory.
static constexpr int64_t kAlignment = 64;

namespace {

/// Generates the functions of one kernel.
class KernelCodegen {
public:
  KernelCodegen(kernel::FuncOp kernel, GridPlan &plan, ModuleOp device)
      : kernel(kernel), plan(plan), shapes(plan.getShapes()), device(device), b(kernel),
        loc(kernel.getLoc()) {}

  LogicalResult run();

private:
  void planScratch();
  AffineExpr reserve(AffineExpr bytes);
  void createDeclaration();
  SmallVector<Type> argumentTypes();
  Value scratchOf(LLVM::LLVMFuncOp function);
  Value guarded(LLVM::LLVMFuncOp function, Value condition);
  LogicalResult emitBundle(const Bundle &bundle, unsigned number);
  LogicalResult emitGrid(KernelEmitter &emitter, const Grid &grid, LLVM::LLVMFuncOp function);
  LogicalResult emitGrids(KernelEmitter &emitter, const Bundle &bundle, LLVM::LLVMFuncOp function);
  void emitAt(KernelEmitter &emitter, const Grid &grid, LLVM::LLVMFuncOp function, Value point,
              ThreadGroup &group);
  void addGrid(LLVM::LLVMFuncOp function, AffineExpr threads);
  LLVM::LLVMFuncOp createFunction(StringRef name, bool isAlone);
  void placeArguments(KernelEmitter &emitter, LLVM::LLVMFuncOp function);
  void placeStages(KernelEmitter &emitter, const Grid &grid, LLVM::LLVMFuncOp function,
                   Value thread, ThreadGroup &group);
  void placeOnStack(KernelEmitter &emitter, const LoopStage &stage, Value result,
                    ThreadGroup &group);
  void placeWorkspace(KernelEmitter &emitter, Operation *op, Value scratch, Value thread);
  SmallVector<AffineExpr> pointOf(KernelEmitter &emitter, const Grid &grid, Value thread);
  Value scratchAt(KernelEmitter &emitter, Value scratch, AffineExpr offset);
  AffineMapAttr map(AffineExpr expr) {
    return AffineMapAttr::get(AffineMap::get(0, shapes.numSizes(), expr));
  }

  kernel::FuncOp kernel;
  GridPlan &plan;
  KernelShapes &shapes;
  ModuleOp device;
  OpBuilder b;
  Location loc;
  AffineExpr scratchBytes;
  DenseMap<Value, AffineExpr> offsets;                             // of values in scratch memory
  DenseMap<Operation *, SmallVector<AffineExpr>> workspaceOffsets; // of operations that need some
  DenseMap<const LoopSweep *, AffineExpr> partOffsets; // of reductions in parts, by their sweep
  SmallVector<kernel::GridAttr> grids;
};

} // namespace

//===----------------------------------------------------------------------===//
// Scratch memory
//===----------------------------------------------------------------------===//

AffineExpr KernelCodegen::reserve(AffineExpr bytes) {
  AffineExpr offset = scratchBytes;
  scratchBytes = normalize(scratchBytes + bytes.ceilDiv(kAlignment) * kAlignment);
  return offset;
}

/// The sweep of a launch; the first one if it has several.
static const LoopSweep *sweepOf(const Grid &grid) {
  return grid.sweeps.empty() ? &grid.nest->sweeps.front() : grid.sweeps.front();
}

/// All launches of a kernel have the same scratch memory, in which they pass values to each other.
void KernelCodegen::planScratch() {
  scratchBytes = getAffineConstantExpr(0, b.getContext());
  for (const Grid &grid : plan.getGrids()) {
    if (grid.kind == Grid::Kind::PartEnd)
      partOffsets[sweepOf(grid)] = reserve(GridEmitter::partBytes(grid));
    if (grid.kind == Grid::Kind::Link)
      partOffsets[sweepOf(grid)] = reserve(
          linkBytes(shapes, cast<tfc::linalg_ext::ScatterOp>(grid.nest->stages.front()->op)));
    if (grid.kind == Grid::Kind::ScanTotal)
      partOffsets[sweepOf(grid)] = reserve(ScanEmitter::totalBytes(
          shapes, cast<tfc::linalg_ext::ScanOp>(grid.nest->stages.front()->op), *grid.scan));
    if (grid.kind == Grid::Kind::PartSum)
      partOffsets[sweepOf(grid)] =
          reserve(grid.points() * grid.product->parts * bytesOf(grid.product->form.computeType));
    for (const LoopStage *stage : grid.nest->stages) {
      for (Value result : stage->op->getResults())
        if (plan.storage(result) == Storage::Scratch && !offsets.contains(result)) {
          Type element = cast<RankedTensorType>(result.getType()).getElementType();
          offsets[result] = reserve(shapes.numElements(result) * bytesOf(element));
        }
      if (grid.kind != Grid::Kind::Line || workspaceOffsets.contains(stage->op))
        continue;
      SmallVector<AffineExpr> &own = workspaceOffsets[stage->op];
      AffineExpr threads = grid.points();
      for (const Workspace &wanted : workspaceOf(shapes, stage->op))
        own.push_back(reserve(threads * wanted.count * bytesOf(wanted.elementType)));
    }
  }
}

Value KernelCodegen::scratchAt(KernelEmitter &emitter, Value scratch, AffineExpr offset) {
  Value bytes =
      arith::IndexCastOp::create(b, loc, b.getI64Type(), emitter.indexValue(normalize(offset)));
  return LLVM::GEPOp::create(b, loc, scratch.getType(), b.getI8Type(), scratch,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Sizes, then pointers to tensor arguments, to results that overwrite none, to scratch memory, and
/// to the guard of a kernel that has one.
SmallVector<Type> KernelCodegen::argumentTypes() {
  unsigned pointers = kernel.getNumTensors() + 1 + kernel.getGuarded();
  for (unsigned i = 0; i < kernel.getNumResults(); ++i)
    pointers += !kernel.getInPlace(i);
  SmallVector<Type> types(shapes.numSizes(), b.getI64Type());
  types.append(pointers, LLVM::LLVMPointerType::get(b.getContext()));
  return types;
}

Value KernelCodegen::scratchOf(LLVM::LLVMFuncOp function) {
  return function.getArguments().drop_back(kernel.getGuarded()).back();
}

/// Returns whether a condition and the guard hold.
Value KernelCodegen::guarded(LLVM::LLVMFuncOp function, Value condition) {
  if (!kernel.getGuarded())
    return condition;
  Value byte = LLVM::LoadOp::create(b, loc, b.getI8Type(), function.getArguments().back());
  Value zero = arith::ConstantOp::create(b, loc, b.getI8IntegerAttr(0));
  Value holds = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, byte, zero);
  return arith::AndIOp::create(b, loc, condition, holds);
}

/// The function that the host launches.
void KernelCodegen::createDeclaration() {
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), argumentTypes());
  auto function = LLVM::LLVMFuncOp::create(b, loc, kernel.getName(), type);
  AffineExpr one = getAffineConstantExpr(1, b.getContext());
  kernel::setAbi(function, kernel::AbiAttr::get(b.getContext(), map(one), /*grain=*/1,
                                                map(scratchBytes), kernel.getTargetAttr(), grids));
  if (AffineMapAttr work = kernel::workOf(kernel))
    kernel::setWork(function, work);
}

/// Creates a function of the device with its entry block. Pointers to different memory do not
/// alias; kernels only read arguments that no result overwrites. Unless each thread `isAlone`,
/// others may write where it reads, so that only pointers that none writes through are marked.
LLVM::LLVMFuncOp KernelCodegen::createFunction(StringRef name, bool isAlone) {
  b.setInsertionPointToEnd(device.getBody());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), argumentTypes());
  auto function = LLVM::LLVMFuncOp::create(b, loc, name, type);
  function.setCConv(LLVM::CConv::PTX_Kernel);
  llvm::SmallDenseSet<unsigned> written;
  for (unsigned i = 0; i < kernel.getNumResults(); ++i)
    if (std::optional<unsigned> tensor = kernel.getInPlace(i))
      written.insert(*tensor);
  unsigned pointers = type.getNumParams() - shapes.numSizes();
  for (unsigned i = 0; i < pointers; ++i) {
    unsigned argument = shapes.numSizes() + i;
    bool isGuard = kernel.getGuarded() && i + 1 == pointers;
    bool isRead = isGuard || (i < kernel.getNumTensors() && !written.contains(i));
    function.setArgAttr(argument, LLVM::LLVMDialect::getAlignAttrName(),
                        b.getI64IntegerAttr(kAlignment));
    if (isAlone || isRead)
      function.setArgAttr(argument, LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
    if (isRead)
      function.setArgAttr(argument, LLVM::LLVMDialect::getReadonlyAttrName(), b.getUnitAttr());
  }
  b.setInsertionPointToStart(function.addEntryBlock(b));
  return function;
}

/// Divides the number of a thread by the extents, from the last to the first.
SmallVector<AffineExpr> KernelCodegen::pointOf(KernelEmitter &emitter, const Grid &grid,
                                               Value thread) {
  SmallVector<AffineExpr> point(grid.sizes.size());
  for (unsigned i = grid.sizes.size(); i-- > 0;) {
    Value index = thread;
    if (i > 0) {
      Value size = emitter.indexValue(grid.sizes[i]);
      index = arith::RemUIOp::create(b, loc, thread, size);
      thread = arith::DivUIOp::create(b, loc, thread, size);
    }
    point[i] = emitter.addDim(index);
  }
  return point;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Gives a value memory of the thread or the group, for the dimensions that the loops around its
/// sweeps do not fix.
void KernelCodegen::placeOnStack(KernelEmitter &emitter, const LoopStage &stage, Value value,
                                 ThreadGroup &group) {
  Buffer buffer = emitter.denseBuffer(value, {}, 16);
  ArrayRef<AffineExpr> shape = shapes.shapeOf(value);
  int64_t count = 1;
  buffer.strides.assign(shape.size(), emitter.constantExpr(0));
  for (unsigned dim : llvm::reverse(plan.getSchedule().innerDims(value))) {
    buffer.strides[dim] = emitter.constantExpr(count);
    count *= cast<AffineConstantExpr>(normalize(shape[dim])).getValue();
  }
  int64_t bytes = std::max<int64_t>(count, 1) * bytesOf(buffer.elementType);
  if (group.size() > 1)
    buffer.pointer = group.sharedMemory(bytes);
  else
    buffer.pointer =
        LLVM::AllocaOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()), b.getI8Type(),
                               LLVM::ConstantOp::create(b, loc, b.getI64IntegerAttr(bytes)), 16);
  emitter.setBuffer(value, buffer);
}

/// Gives each thread of an operation's launch a part of its temporary memory.
void KernelCodegen::placeWorkspace(KernelEmitter &emitter, Operation *op, Value scratch,
                                   Value thread) {
  SmallVector<Buffer> memory;
  AffineExpr number = emitter.addSymbol(thread);
  for (auto [wanted, offset] :
       llvm::zip_equal(workspaceOf(shapes, op), workspaceOffsets.lookup(op))) {
    Buffer buffer{{}, wanted.elementType, {emitter.constantExpr(1)}, 1};
    AffineExpr own = number * wanted.count * bytesOf(wanted.elementType);
    buffer.pointer = scratchAt(emitter, scratch, offset + own);
    memory.push_back(buffer);
  }
  emitter.setWorkspace(op, std::move(memory));
}

void KernelCodegen::placeArguments(KernelEmitter &emitter, LLVM::LLVMFuncOp function) {
  SmallVector<Value> pointers(ValueRange(function.getArguments())
                                  .drop_front(shapes.numSizes())
                                  .drop_back(1 + kernel.getGuarded()));
  ArrayRef<Value> all(pointers);
  placeOperands(emitter, all.take_front(kernel.getNumTensors()),
                all.drop_front(kernel.getNumTensors()));
  Value scratch = scratchOf(function);
  for (auto [value, offset] : offsets) {
    Buffer buffer = emitter.denseBuffer(value, {}, kAlignment);
    buffer.pointer = scratchAt(emitter, scratch, offset);
    emitter.setBuffer(value, buffer);
  }
}

/// Gives the stages of a launch memory that only it uses.
void KernelCodegen::placeStages(KernelEmitter &emitter, const Grid &grid, LLVM::LLVMFuncOp function,
                                Value thread, ThreadGroup &group) {
  Value scratch = scratchOf(function);
  for (const LoopStage *stage : grid.nest->stages) {
    for (Value result : stage->op->getResults())
      if (plan.storage(result) == Storage::Stack)
        placeOnStack(emitter, *stage, result, group);
    if (grid.kind == Grid::Kind::Line)
      placeWorkspace(emitter, stage->op, scratch, thread);
  }
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// PTX allows fewer characters than MLIR, and names of kernels contain dots.
static std::string nameOf(kernel::FuncOp kernel, unsigned number) {
  std::string name = (kernel.getName() + "_" + Twine(number)).str();
  for (char &c : name)
    if (!llvm::isAlnum(c) && c != '_')
      c = '$';
  return llvm::isDigit(name.front()) ? "_" + name : name;
}

/// Emits the work of a thread at a point, given by its number.
void KernelCodegen::emitAt(KernelEmitter &emitter, const Grid &grid, LLVM::LLVMFuncOp function,
                           Value point, ThreadGroup &group) {
  Value partMemory;
  if (auto offset = partOffsets.find(sweepOf(grid)); offset != partOffsets.end())
    partMemory = scratchAt(emitter, scratchOf(function), offset->second);
  GridEmitter(emitter, grid, group, partMemory).emit(pointOf(emitter, grid, point));
}

void KernelCodegen::addGrid(LLVM::LLVMFuncOp function, AffineExpr threads) {
  grids.push_back(kernel::GridAttr::get(b.getContext(), function.getNameAttr(),
                                        map(normalize(threads)), kBlockThreads));
}

/// Emits the only grid of a launch.
LogicalResult KernelCodegen::emitGrid(KernelEmitter &emitter, const Grid &grid,
                                      LLVM::LLVMFuncOp function) {
  Value thread = threadNumber(b, loc);
  ThreadGroup group(b, loc, device, grid.groupThreads, grid.groupStride);
  placeStages(emitter, grid, function, thread, group);
  auto scatter = dyn_cast<tfc::linalg_ext::ScatterOp>(grid.nest->stages.front()->op);
  if (grid.kind == Grid::Kind::Copy && !copiesOperand(emitter, scatter)) {
    function.erase();
    return success();
  }
  AffineExpr points = grid.points();
  Value count = emitter.indexValue(points);
  thread = group.numberOf(thread);
  Value isThere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, thread, count);
  Value enters = isThere;
  if (group.sharesBarriers()) {
    // Threads beyond the last point compute it, too, but store nothing.
    group.requireForFirst(isThere);
    Value one = emitter.indexConstant(1);
    Value last = arith::SubIOp::create(b, loc, count, one);
    enters = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, count, one);
    thread = arith::MinUIOp::create(b, loc, thread, last);
  }
  auto branch = scf::IfOp::create(b, loc, guarded(function, enters), /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  KernelEmitter::Scope scope(emitter);
  emitAt(emitter, grid, function, thread, group);
  addGrid(function, points * group.size());
  return success(!emitter.failed());
}

/// Emits several grids, each for blocks of its own.
LogicalResult KernelCodegen::emitGrids(KernelEmitter &emitter, const Bundle &bundle,
                                       LLVM::LLVMFuncOp function) {
  Value thread = threadNumber(b, loc);
  ThreadGroup group(b, loc, device, /*size=*/1, /*stride=*/1);
  for (const Grid *grid : bundle)
    placeStages(emitter, *grid, function, thread, group);
  AffineExpr first = emitter.constantExpr(0);
  for (const Grid *grid : bundle) {
    AffineExpr points = grid->points();
    // A thread of an earlier grid has a number that is too large.
    Value own = arith::SubIOp::create(b, loc, thread, emitter.indexValue(normalize(first)));
    Value isThere =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, own, emitter.indexValue(points));
    emitIf(emitter, guarded(function, isThere),
           [&] { emitAt(emitter, *grid, function, own, group); });
    first = first + points.ceilDiv(kBlockThreads) * kBlockThreads;
  }
  addGrid(function, first);
  return success(!emitter.failed());
}

LogicalResult KernelCodegen::emitBundle(const Bundle &bundle, unsigned number) {
  bool isAlone = llvm::all_of(bundle, [](const Grid *grid) { return grid->groupThreads == 1; });
  LLVM::LLVMFuncOp function = createFunction(nameOf(kernel, number), isAlone);
  SmallVector<Value> sizes;
  for (unsigned i = 0; i < shapes.numSizes(); ++i)
    sizes.push_back(arith::IndexCastOp::create(b, loc, b.getIndexType(), function.getArgument(i)));
  Operation *end = LLVM::ReturnOp::create(b, loc, ValueRange());
  b.setInsertionPoint(end);
  LaneTarget target;
  target.hasFma = target.guardsLoads = true;
  KernelEmitter emitter(b, loc, shapes, target, sizes);
  placeArguments(emitter, function);
  return bundle.size() == 1 ? emitGrid(emitter, *bundle.front(), function)
                            : emitGrids(emitter, bundle, function);
}

LogicalResult KernelCodegen::run() {
  if (failed(verifyInPlace(kernel, plan.getSchedule(), shapes)))
    return failure();
  planScratch();
  for (auto [number, bundle] : llvm::enumerate(bundleGrids(kernel, plan)))
    if (failed(emitBundle(bundle, number)))
      return failure();
  b.setInsertionPoint(kernel);
  createDeclaration();
  kernel.erase();
  return success();
}

namespace {

/// Runs after the memory plan, which records in `kernel.in_place` where results are written.
struct GpuCodegenPass : tfc::gpu::impl::GpuCodegenPassBase<GpuCodegenPass> {
  using GpuCodegenPassBase::GpuCodegenPassBase;

  void runOnOperation() override {
    auto kernels = findKernels(getOperation(), isForGpu);
    if (failed(kernels))
      return signalPassFailure();
    if (kernels->empty())
      return markAllAnalysesPreserved();
    OpBuilder b = OpBuilder::atBlockEnd(getOperation().getBody());
    auto device = ModuleOp::create(b, getOperation().getLoc(), kDeviceCode);
    // Functions of the device find the description of their target in their module.
    kernel::setTargets(device, kernel::getTargets(getOperation()));
    for (kernel::FuncOp kernel : *kernels) {
      auto &plan = getChildAnalysis<GridPlan>(kernel);
      if (plan.failed() || failed(KernelCodegen(kernel, plan, device).run()))
        return signalPassFailure();
    }
    createCopyKernel(device, getOperation().getLoc());
  }
};

} // namespace
