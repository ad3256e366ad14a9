//===- TileMultiplier.cpp - Products of panels ----------------------------===//
//
// The parts of multipliers that do not depend on who multiplies, and accesses of shared memory.
//
//===----------------------------------------------------------------------===//

#include "compiler/gpu/TileMultiplier.h"
#include "compiler/gpu/Accesses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc::gpu;
using namespace tfc::kernels;

Value tfc::gpu::elementAt(OpBuilder &b, Location loc, Value memory, Type type, Value position) {
  Value offset = arith::IndexCastOp::create(b, loc, b.getI64Type(), position);
  return LLVM::GEPOp::create(b, loc, memory.getType(), type, memory,
                             ArrayRef<LLVM::GEPArg>{offset});
}

SmallVector<Value> tfc::gpu::loadPiece(OpBuilder &b, Location loc, Value address, Type type,
                                       int64_t count) {
  Value piece = LLVM::LoadOp::create(b, loc, VectorType::get({count}, type), address,
                                     std::min<int64_t>(count * bytesOf(type), 16));
  SmallVector<Value> values;
  for (int64_t i = 0; i < count; ++i) {
    Value position = LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(i)));
    values.push_back(LLVM::ExtractElementOp::create(b, loc, piece, position));
  }
  return values;
}

void tfc::gpu::storePiece(OpBuilder &b, Location loc, Value address, ArrayRef<Value> values) {
  Type type = values.front().getType();
  int64_t count = int64_t(values.size());
  Value piece = LLVM::PoisonOp::create(b, loc, VectorType::get({count}, type));
  for (auto [i, value] : llvm::enumerate(values)) {
    Value position = LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(i)));
    piece = LLVM::InsertElementOp::create(b, loc, piece, value, position);
  }
  LLVM::StoreOp::create(b, loc, piece, address, std::min<int64_t>(count * bytesOf(type), 16));
}

std::pair<int64_t, int64_t> TileMultiplier::warpExtents(bool, int64_t fastPieces) const {
  int64_t fast = std::min(fastPieces, kWarpThreads);
  return {fast, kWarpThreads / fast};
}

void TileMultiplier::storeInRow(Value memory, Value row, Value column, ArrayRef<Value> sums) {
  Value position = add(mul(row, sumPitch()), column);
  storePiece(b, loc, elementAt(b, loc, memory, product.form.computeType, position), sums);
}

void TileMultiplier::storeSums(Value memory, Value slice, ArrayRef<Value> sums) {
  if (numSlices() == 1)
    return storeSlice(memory, 0, sums);
  for (int64_t number = 0; number < numSlices(); ++number) {
    Value isOwn = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, slice, constant(number));
    auto branch = scf::IfOp::create(b, loc, isOwn, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    IndexEmitter::Scope scope(indices);
    storeSlice(memory, number, sums);
  }
}

std::unique_ptr<TileMultiplier>
TileMultiplier::create(KernelEmitter &emitter, const TiledProduct &product, ThreadGroup &group) {
  return product.matrixType ? createMatrixMultiplier(emitter, product, group)
                            : createLaneMultiplier(emitter, product, group);
}
