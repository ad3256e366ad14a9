//===- TileMultiplier.cpp - Products of panels ----------------------------===//
//
// Two ways in which a block multiplies: each thread rows by columns in its registers, for all
// types; and `mma.sync` of the warps, for floats of 16 bits, whose products and sums are in f32.
// The layouts of fragments are those of the PTX ISA, "Matrix Fragments for mma.m16n8k16".
//
//===----------------------------------------------------------------------===//

#include "compiler/gpu/TileMultiplier.h"
#include "compiler/kernels/emit/ProductEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tfc::gpu;
using namespace tfc::kernels;

Value tfc::gpu::elementAt(OpBuilder &b, Location loc, Value memory, Type type, Value position) {
  Value offset = arith::IndexCastOp::create(b, loc, b.getI64Type(), position);
  return LLVM::GEPOp::create(b, loc, memory.getType(), type, memory,
                             ArrayRef<LLVM::GEPArg>{offset});
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

namespace {

/// The threads of a block are a square, each with as many rows and columns of the tile.
class LaneMultiplier : public TileMultiplier {
public:
  LaneMultiplier(KernelEmitter &emitter, const TiledProduct &product, ThreadGroup &group)
      : TileMultiplier(emitter, product) {
    std::tie(row, column) = divide(group.lane(), kSide);
  }

  Type elementType() const override { return form.computeType; }
  int64_t panelElements() const override { return kTileDepth * kPitch; }
  Value positionInPanel(Value across, Value along) override {
    return add(mul(along, kPitch), across);
  }
  Values multiply(Value a, Value b, Values sums) override;
  Value positionOfSum(int64_t number) override {
    Value inRow = add(mul(row, kOwn), number / kOwn);
    return add(mul(inRow, kTile), add(mul(column, kOwn), number % kOwn));
  }

private:
  static constexpr int64_t kSide = 16, kOwn = kTile / kSide;
  static_assert(kSide * kSide == kBlockThreads && kOwn == 4);
  /// The distance of positions along the sum, in elements: rows that neighbouring threads write are
  /// in other banks.
  static constexpr int64_t kPitch = kTile + 4;

  Values loadFour(Value panel, int64_t k, Value thread);

  Value row, column;
};

} // namespace

/// Loads this thread's four elements at a position along the sum.
TileMultiplier::Values LaneMultiplier::loadFour(Value panel, int64_t k, Value thread) {
  Value address = elementAt(b, loc, panel, elementType(), add(mul(thread, kOwn), k * kPitch));
  auto vector = VectorType::get({kOwn}, elementType());
  Value four = LLVM::LoadOp::create(b, loc, vector, address, /*alignment=*/16);
  Values values;
  for (int64_t i = 0; i < kOwn; ++i) {
    Value position = LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(i)));
    values.push_back(LLVM::ExtractElementOp::create(b, loc, four, position));
  }
  return values;
}

TileMultiplier::Values LaneMultiplier::multiply(Value left, Value right, Values sums) {
  for (int64_t k = 0; k < kTileDepth; ++k) {
    Values rows = loadFour(left, k, row), columns = loadFour(right, k, column);
    for (auto [i, lhs] : llvm::enumerate(rows))
      for (auto [j, rhs] : llvm::enumerate(columns)) {
        Value &sum = sums[i * kOwn + j];
        sum = isa<FloatType>(elementType())
                  ? Value(math::FmaOp::create(b, loc, lhs, rhs, sum))
                  : addValues(b, loc, sum, arith::MulIOp::create(b, loc, lhs, rhs));
      }
  }
  return sums;
}

//===----------------------------------------------------------------------===//
// Matrix units
//===----------------------------------------------------------------------===//

namespace {

/// Each warp multiplies 16 rows by 32 columns, by four instructions for 16 x 8 elements, in which a
/// thread has pairs of neighbours along the sum, and four sums.
class MatrixMultiplier : public TileMultiplier {
public:
  MatrixMultiplier(KernelEmitter &emitter, const TiledProduct &product, ThreadGroup &group,
                   Type type);

  Type elementType() const override { return type; }
  int64_t panelElements() const override { return kTile * kPitch; }
  Value positionInPanel(Value across, Value along) override {
    return add(mul(across, kPitch), along);
  }
  Values multiply(Value a, Value b, Values sums) override;
  Value positionOfSum(int64_t number) override {
    int64_t matrix = number / kSums, inMatrix = number % kSums;
    Value inRow = add(row, inMatrix / 2 * kGroups);
    Value inColumn = add(add(firstColumn, mul(inGroup, 2)), matrix * kColumns + inMatrix % 2);
    return add(mul(inRow, kTile), inColumn);
  }

private:
  /// The rows and columns of an instruction, and the sums of a thread in it.
  static constexpr int64_t kRows = 16, kColumns = 8, kSums = 4;
  /// Groups of four lanes have a row of a, a column of b and two rows of sums.
  static constexpr int64_t kGroups = 8, kMatrices = 4, kWarpColumns = kColumns * kMatrices;
  static_assert(kTileDepth == 16 && kMatrices * kSums == kSumsOfThread);
  /// The distance of rows, in elements of 16 bits: the pairs that a warp loads are in all banks.
  static constexpr int64_t kPitch = kTileDepth + 8;

  Value loadPair(Value panel, Value across, int64_t along);

  Type type;
  Value row, firstColumn, inGroup, inWarp;
};

} // namespace

MatrixMultiplier::MatrixMultiplier(KernelEmitter &emitter, const TiledProduct &product,
                                   ThreadGroup &group, Type type)
    : TileMultiplier(emitter, product), type(type) {
  constexpr int64_t kAcross = kTile / kWarpColumns;
  auto [warp, lane] = divide(group.lane(), kWarpThreads);
  std::tie(inWarp, inGroup) = divide(lane, kWarpThreads / kGroups);
  auto [rowOfWarp, columnOfWarp] = divide(warp, kAcross);
  row = add(mul(rowOfWarp, kRows), inWarp);
  firstColumn = mul(columnOfWarp, kWarpColumns);
}

/// Loads two neighbours along the sum into a register; the first is in its lower half.
Value MatrixMultiplier::loadPair(Value panel, Value across, int64_t along) {
  Value address =
      elementAt(b, loc, panel, elementType(), positionInPanel(across, add(mul(inGroup, 2), along)));
  Value pair = LLVM::LoadOp::create(b, loc, b.getI32Type(), address, /*alignment=*/4);
  if (elementType().isBF16())
    return pair;
  return LLVM::BitcastOp::create(b, loc, VectorType::get({2}, elementType()), pair);
}

TileMultiplier::Values MatrixMultiplier::multiply(Value left, Value right, Values sums) {
  constexpr int64_t kHalf = kTileDepth / 2;
  Type f32 = b.getF32Type();
  auto result = LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(kSums, f32));
  auto intrinsic =
      b.getStringAttr(elementType().isBF16() ? "llvm.nvvm.mma.m16n8k16.row.col.bf16"
                                             : "llvm.nvvm.mma.m16n8k16.row.col.f32.f32");
  Values rows;
  for (int64_t along : {int64_t(0), kHalf})
    for (int64_t across : {int64_t(0), kGroups})
      rows.push_back(loadPair(left, add(row, across), along));
  for (int64_t matrix = 0; matrix < kMatrices; ++matrix) {
    Value column = add(add(firstColumn, inWarp), matrix * kColumns);
    Values operands(rows);
    for (int64_t along : {int64_t(0), kHalf})
      operands.push_back(loadPair(right, column, along));
    for (int64_t i = 0; i < kSums; ++i)
      operands.push_back(sums[matrix * kSums + i]);
    Value next = LLVM::CallIntrinsicOp::create(b, loc, result, intrinsic, operands).getResult(0);
    for (int64_t i = 0; i < kSums; ++i)
      sums[matrix * kSums + i] = LLVM::ExtractValueOp::create(b, loc, next, i);
  }
  return sums;
}

/// The narrowest type that has all values of a factor.
static Type typeOf(const ContractionFactor &factor, const ContractionForm &form) {
  auto extension = factor.root.getDefiningOp<arith::ExtFOp>();
  return extension ? extension.getIn().getType() : form.factorType;
}

std::unique_ptr<TileMultiplier>
TileMultiplier::create(KernelEmitter &emitter, const TiledProduct &product, ThreadGroup &group) {
  const ContractionForm &form = product.form;
  Type type = typeOf(form.a, form);
  bool isHalf = type.isF16() || type.isBF16();
  if (isHalf && typeOf(form.b, form) == type && form.computeType.isF32())
    return std::make_unique<MatrixMultiplier>(emitter, product, group, type);
  return std::make_unique<LaneMultiplier>(emitter, product, group);
}
