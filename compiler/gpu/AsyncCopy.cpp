// Copies from global to shared memory: `cp.async` of the PTX ISA.

#include "compiler/gpu/AsyncCopy.h"
#include "compiler/gpu/ThreadGroup.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

static void call(OpBuilder &b, Location loc, StringRef name, ValueRange arguments) {
  LLVM::CallIntrinsicOp::create(b, loc, b.getStringAttr("llvm.nvvm.cp.async." + name.str()),
                                arguments);
}

static Value number(OpBuilder &b, Location loc, int64_t value) {
  return LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(value)));
}

void tfc::gpu::copyPiece(OpBuilder &b, Location loc, Value to, Value from, Value isThere) {
  auto inSpace = [&](Value address, unsigned space) {
    auto type = LLVM::LLVMPointerType::get(b.getContext(), space);
    return LLVM::AddrSpaceCastOp::create(b, loc, type, address);
  };
  Value bytes = arith::SelectOp::create(b, loc, isThere, number(b, loc, 16), number(b, loc, 0));
  call(b, loc, "cg.shared.global.16.s",
       {inSpace(to, kSharedSpace), inSpace(from, kGlobalSpace), bytes});
}

void tfc::gpu::endCopyGroup(OpBuilder &b, Location loc) { call(b, loc, "commit.group", {}); }

void tfc::gpu::waitForCopies(OpBuilder &b, Location loc, int64_t count) {
  call(b, loc, "wait.group", number(b, loc, count));
}
