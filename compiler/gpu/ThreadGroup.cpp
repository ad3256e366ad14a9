//===- ThreadGroup.cpp - Threads that cooperate ---------------------------===//
//
// Reductions over the threads of a warp, by exchanges between lanes, and over those of a block, by
// shared memory. Which loops are divided among threads is decided in GridPlan.cpp.
//
//===----------------------------------------------------------------------===//

#include "compiler/gpu/ThreadGroup.h"
#include "compiler/kernels/emit/SpecialEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tfc::gpu;

/// The memory by which a warp passes a value to others, enough for each type.
static constexpr int64_t kSlotBytes = 8;

static Value callIntrinsic(OpBuilder &b, Location loc, Type result, StringRef name,
                           ValueRange arguments) {
  auto intrinsic = b.getStringAttr("llvm.nvvm." + name);
  if (!result) {
    LLVM::CallIntrinsicOp::create(b, loc, intrinsic, arguments);
    return {};
  }
  return LLVM::CallIntrinsicOp::create(b, loc, result, intrinsic, arguments).getResult(0);
}

static Value constant(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(value)));
}

Value tfc::gpu::readRegister(OpBuilder &b, Location loc, StringRef name) {
  return callIntrinsic(b, loc, b.getI32Type(), ("read.ptx.sreg." + name).str(), {});
}

Value tfc::gpu::threadNumber(OpBuilder &b, Location loc) {
  auto read = [&](StringRef name) {
    return arith::ExtUIOp::create(b, loc, b.getI64Type(), readRegister(b, loc, name));
  };
  Value block = read("ctaid.x"), size = read("ntid.x");
  Value before = arith::MulIOp::create(b, loc, block, size);
  Value number = arith::AddIOp::create(b, loc, before, read("tid.x"));
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), number);
}

/// The type in which a value is in memory: a flag has no address.
static Type storedType(Type type) {
  return type.isInteger(1) ? IntegerType::get(type.getContext(), 8) : type;
}

void tfc::gpu::storeNumber(OpBuilder &b, Location loc, Value value, Value address) {
  Type stored = storedType(value.getType());
  if (stored != value.getType())
    value = arith::ExtUIOp::create(b, loc, stored, value);
  LLVM::StoreOp::create(b, loc, value, address);
}

Value tfc::gpu::loadNumber(OpBuilder &b, Location loc, Type type, Value address) {
  Type stored = storedType(type);
  Value value = LLVM::LoadOp::create(b, loc, stored, address);
  return stored == type ? value : arith::TruncIOp::create(b, loc, type, value);
}

ThreadGroup::ThreadGroup(OpBuilder &b, Location loc, ModuleOp module, int64_t size, int64_t stride)
    : b(b), loc(loc), module(module), threads(size), stride(stride) {
  if (threads == 1)
    return;
  inBlock = readRegister(b, loc, "tid.x");
  Value lane = stride > 1
                   ? Value(arith::DivUIOp::create(b, loc, inBlock, constant(b, loc, stride)))
                   : Value(arith::AndIOp::create(b, loc, inBlock, constant(b, loc, threads - 1)));
  first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, lane, constant(b, loc, 0));
  number = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), lane);
}

/// The number of this thread's group among those of its block, i32.
Value ThreadGroup::inStride() {
  return arith::RemUIOp::create(b, loc, inBlock, constant(b, loc, stride));
}

Value ThreadGroup::numberOf(Value thread) {
  if (threads == 1)
    return thread;
  auto index = [&](int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); };
  Value block = arith::DivUIOp::create(b, loc, thread, index(threads * stride));
  if (stride == 1)
    return block;
  Value own = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), inStride());
  return arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, block, index(stride)), own);
}

void ThreadGroup::requireForFirst(Value condition) {
  first = arith::AndIOp::create(b, loc, first, condition);
}

void ThreadGroup::wait() {
  if (threads == kWarpThreads && stride == 1)
    callIntrinsic(b, loc, {}, "bar.warp.sync", constant(b, loc, -1));
  else if (threads > 1)
    callIntrinsic(b, loc, {}, "barrier.cta.sync.aligned.all", constant(b, loc, 0));
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// Creates memory of a block in the device's module.
static LLVM::GlobalOp createShared(OpBuilder &b, Location loc, ModuleOp module, int64_t bytes) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes);
  size_t number = llvm::range_size(module.getOps<LLVM::GlobalOp>());
  auto global = LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/false, LLVM::Linkage::Internal,
                                       "shared_" + std::to_string(number), Attribute(),
                                       /*alignment=*/16, kSharedSpace);
  b.createBlock(&global.getInitializerRegion());
  LLVM::ReturnOp::create(b, loc, LLVM::UndefOp::create(b, loc, type));
  return global;
}

Value ThreadGroup::addressOf(LLVM::GlobalOp memory) {
  Value start = LLVM::AddressOfOp::create(b, loc, memory);
  auto generic = LLVM::LLVMPointerType::get(b.getContext());
  return LLVM::AddrSpaceCastOp::create(b, loc, generic, start);
}

Value ThreadGroup::sharedMemory(int64_t bytes) {
  int64_t own = llvm::alignTo(std::max<int64_t>(bytes, 1), 16);
  Value start = addressOf(createShared(b, loc, module, own * (kBlockThreads / threads)));
  if (threads == kBlockThreads)
    return start;
  Value group = stride > 1
                    ? inStride()
                    : Value(arith::DivUIOp::create(b, loc, inBlock, constant(b, loc, threads)));
  Value offset = arith::MulIOp::create(b, loc, group, constant(b, loc, own));
  return LLVM::GEPOp::create(b, loc, start.getType(), b.getI8Type(), start,
                             ArrayRef<LLVM::GEPArg>{offset});
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// The value of another lane. Lanes exchange words of 32 bits.
Value ThreadGroup::exchangeLanes(Value value, StringRef mode, int64_t operand, int64_t clamp) {
  Type type = value.getType();
  unsigned bits = type.getIntOrFloatBitWidth();
  Type word = b.getI32Type();
  auto exchange = [&](Value part) {
    return callIntrinsic(
        b, loc, word, ("shfl.sync." + mode + ".i32").str(),
        {constant(b, loc, -1), part, constant(b, loc, operand), constant(b, loc, clamp)});
  };
  Value number = isa<FloatType>(type)
                     ? arith::BitcastOp::create(b, loc, b.getIntegerType(bits), value)
                     : value;
  if (bits < 32)
    number = arith::TruncIOp::create(b, loc, number.getType(),
                                     exchange(arith::ExtUIOp::create(b, loc, word, number)));
  else if (bits == 32)
    number = exchange(number);
  else {
    Value half = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(32));
    Value low = exchange(arith::TruncIOp::create(b, loc, word, number));
    Value high = arith::ShRUIOp::create(b, loc, number, half);
    high = exchange(arith::TruncIOp::create(b, loc, word, high));
    high =
        arith::ShLIOp::create(b, loc, arith::ExtUIOp::create(b, loc, b.getI64Type(), high), half);
    number =
        arith::OrIOp::create(b, loc, high, arith::ExtUIOp::create(b, loc, b.getI64Type(), low));
  }
  return isa<FloatType>(type) ? arith::BitcastOp::create(b, loc, type, number) : number;
}

/// The value of the thread whose number in the warp differs in one bit.
Value ThreadGroup::fromLane(Value value, int64_t bit) {
  return exchangeLanes(value, "bfly", bit, kWarpThreads - 1);
}

Value ThreadGroup::fromLaneBefore(Value value, int64_t distance) {
  return exchangeLanes(value, "up", distance, /*clamp=*/0);
}

Value ThreadGroup::fromLastLane(Value value) {
  return exchangeLanes(value, "idx", kWarpThreads - 1, kWarpThreads - 1);
}

Value ThreadGroup::combine(Operation *combiner, Value value) {
  if (threads == 1)
    return value;
  // Lanes combine the same pairs, with operands in either order.
  for (int64_t bit = stride; bit < kWarpThreads; bit *= 2)
    value = kernels::combine(b, loc, combiner, value, fromLane(value, bit));
  return warps() > 1 ? combineWarps(combiner, value) : value;
}

Value ThreadGroup::combineLanes(Operation *combiner, Value value, int64_t lanes) {
  for (int64_t bit = 1; bit < lanes; bit *= 2)
    value = kernels::combine(b, loc, combiner, value, fromLane(value, bit));
  return value;
}

/// Combines the values of warps, which are the same in all threads of a group in a warp.
Value ThreadGroup::combineWarps(Operation *combiner, Value value) {
  if (!exchange)
    exchange = createShared(b, loc, module, warps() * stride * kSlotBytes);
  Value memory = addressOf(exchange);
  auto slot = [&](LLVM::GEPArg warp) {
    Type element = LLVM::LLVMArrayType::get(b.getI8Type(), kSlotBytes);
    return LLVM::GEPOp::create(b, loc, memory.getType(), element, memory,
                               ArrayRef<LLVM::GEPArg>{warp});
  };
  wait(); // for the readers of other values
  Value warpSize = constant(b, loc, kWarpThreads);
  Value inWarp = arith::RemUIOp::create(b, loc, inBlock, warpSize);
  Value speaks =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, inWarp, constant(b, loc, stride));
  auto branch = scf::IfOp::create(b, loc, speaks, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value place = arith::DivUIOp::create(b, loc, inBlock, warpSize);
    place = arith::MulIOp::create(b, loc, place, constant(b, loc, stride));
    place = arith::AddIOp::create(b, loc, place, inWarp);
    storeNumber(b, loc, value, slot(place));
  }
  wait();
  Value all;
  Value column = inStride();
  for (int64_t i = 0; i < warps(); ++i) {
    Value place = arith::AddIOp::create(b, loc, column, constant(b, loc, i * stride));
    Value part = loadNumber(b, loc, value.getType(), slot(place));
    all = all ? kernels::combine(b, loc, combiner, all, part) : part;
  }
  return all;
}
