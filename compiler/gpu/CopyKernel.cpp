// Copies of a device's memory: blocks take turns, and the threads of a block copy neighbours.

#include "compiler/gpu/CopyKernel.h"
#include "compiler/gpu/ThreadGroup.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

static constexpr int64_t kCopies = 8, kParameters = 3;
static constexpr llvm::StringLiteral kName = "tfc_copies";

namespace {

/// Emits the function's body.
class CopyEmitter {
public:
  CopyEmitter(OpBuilder &b, Location loc, ValueRange arguments)
      : b(b), loc(loc), arguments(arguments) {}

  void emit();

private:
  Value constant(int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
  }
  Value readRegister(StringRef name) {
    return arith::ExtUIOp::create(b, loc, b.getI64Type(), tfc::gpu::readRegister(b, loc, name));
  }
  Value parameterOf(Value copy, int64_t number);
  void copyUnits(Type unit, int64_t size);

  OpBuilder &b;
  Location loc;
  ValueRange arguments;
  Value to, from, bytes; // as i64
  Value first, step;     // the unit of this thread, and its distance from the next one
};

} // namespace

/// A parameter of the copy with a number: parameters have no addresses.
Value CopyEmitter::parameterOf(Value copy, int64_t number) {
  Value result = arguments[number];
  for (int64_t i = 1; i < kCopies; ++i) {
    Value isThis = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, copy, constant(i));
    result = arith::SelectOp::create(b, loc, isThis, arguments[kParameters * i + number], result);
  }
  return result;
}

/// Copies units of `size` bytes.
void CopyEmitter::copyUnits(Type unit, int64_t size) {
  Value end = arith::DivUIOp::create(b, loc, bytes, constant(size));
  auto loop = scf::ForOp::create(b, loc, first, end, step);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value offset = arith::MulIOp::create(b, loc, loop.getInductionVar(), constant(size));
  auto at = [&](Value base) {
    Value address = arith::AddIOp::create(b, loc, base, offset);
    auto global = LLVM::LLVMPointerType::get(b.getContext(), tfc::gpu::kGlobalSpace);
    return LLVM::IntToPtrOp::create(b, loc, global, address);
  };
  Value value = LLVM::LoadOp::create(b, loc, unit, at(from), unsigned(size));
  LLVM::StoreOp::create(b, loc, value, at(to), unsigned(size));
}

void CopyEmitter::emit() {
  Value block = readRegister("ctaid.x"), blocks = readRegister("nctaid.x");
  Value copy = arith::RemUIOp::create(b, loc, block, constant(kCopies));
  Value threads = constant(tfc::gpu::kBlockThreads);
  first = arith::DivUIOp::create(b, loc, block, constant(kCopies));
  first = arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, first, threads),
                                readRegister("tid.x"));
  step = arith::MulIOp::create(b, loc, arith::DivUIOp::create(b, loc, blocks, constant(kCopies)),
                               threads);
  to = parameterOf(copy, 0);
  from = parameterOf(copy, 1);
  bytes = parameterOf(copy, 2);
  Value bits = arith::OrIOp::create(b, loc, arith::OrIOp::create(b, loc, to, from), bytes);
  auto areMultiples = [&](int64_t size) {
    Value rest = arith::AndIOp::create(b, loc, bits, constant(size - 1));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rest, constant(0));
  };
  auto wide = scf::IfOp::create(b, loc, areMultiples(16), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(wide.thenBlock());
  copyUnits(VectorType::get({4}, b.getI32Type()), 16);
  b.setInsertionPointToStart(wide.elseBlock());
  auto words = scf::IfOp::create(b, loc, areMultiples(4), /*withElseRegion=*/true);
  b.setInsertionPointToStart(words.thenBlock());
  copyUnits(b.getI32Type(), 4);
  b.setInsertionPointToStart(words.elseBlock());
  copyUnits(b.getI8Type(), 1);
}

void tfc::gpu::createCopyKernel(ModuleOp device, Location loc) {
  OpBuilder b = OpBuilder::atBlockEnd(device.getBody());
  SmallVector<Type> types(kCopies * kParameters, b.getI64Type());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), types);
  auto function = LLVM::LLVMFuncOp::create(b, loc, kName, type);
  function.setCConv(LLVM::CConv::PTX_Kernel);
  b.setInsertionPointToStart(function.addEntryBlock(b));
  CopyEmitter(b, loc, function.getArguments()).emit();
  LLVM::ReturnOp::create(b, loc, ValueRange());
}
