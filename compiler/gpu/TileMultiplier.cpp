//===- TileMultiplier.cpp - Products of panels ----------------------------===//
//
// Two ways in which a block multiplies: each thread rows by columns in its registers, for all
// types; and `mma.sync` of the warps, for floats of 16 bits and tf32, whose products and sums are
// in f32. The layouts of fragments are those of the PTX ISA, "Matrix Fragments for mma.m16n8k16"
// and "for mma.m16n8k8".
//
//===----------------------------------------------------------------------===//

#include "compiler/gpu/TileMultiplier.h"
#include "compiler/gpu/Accesses.h"
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
  std::pair<int64_t, int64_t> warpExtents(bool isAlongK) const override {
    if (!isAlongK)
      return {32, 1};
    return bytesOf(form.computeType) > 4 ? std::pair(4, 8) : std::pair(8, 4);
  }
  Values multiply(Value a, Value b, Values sums) override;
  void storeSums(Value memory, ArrayRef<Value> sums) override;

private:
  static constexpr int64_t kSide = 16, kOwn = kTile / kSide;
  static_assert(kSide * kSide == kBlockThreads && kOwn == 4);
  /// The distance of positions along the sum, in elements: rows that neighbouring threads write are
  /// in other banks.
  static constexpr int64_t kPitch = kTile + 4;

  /// The number of neighbours that a thread loads and stores at once, of 16 bytes at most. Those of
  /// the next thread follow, so that a warp accesses all banks.
  int64_t pieceSize() const { return std::min(kOwn, 16 / bytesOf(form.computeType)); }
  /// The place of the first neighbour in which the `number`-th element of a thread is.
  Value placeOf(Value thread, int64_t number) {
    int64_t size = pieceSize();
    return add(mul(thread, size), number / size * size * kSide);
  }
  Values loadFour(Value panel, int64_t k, Value thread);

  Value row, column;
};

} // namespace

/// Loads this thread's four elements at a position along the sum.
TileMultiplier::Values LaneMultiplier::loadFour(Value panel, int64_t k, Value thread) {
  auto vector = VectorType::get({pieceSize()}, elementType());
  Values values;
  for (int64_t first = 0; first < kOwn; first += pieceSize()) {
    Value address =
        elementAt(b, loc, panel, elementType(), add(placeOf(thread, first), k * kPitch));
    Value piece =
        LLVM::LoadOp::create(b, loc, vector, address, pieceSize() * bytesOf(elementType()));
    for (int64_t i = 0; i < pieceSize(); ++i) {
      Value position = LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(i)));
      values.push_back(LLVM::ExtractElementOp::create(b, loc, piece, position));
    }
  }
  return values;
}

void LaneMultiplier::storeSums(Value memory, ArrayRef<Value> sums) {
  for (int64_t i = 0; i < kOwn; ++i)
    for (int64_t j = 0; j < kOwn; j += pieceSize())
      storeInRow(memory, add(placeOf(row, i), i % pieceSize()), placeOf(column, j),
                 sums.slice(i * kOwn + j, pieceSize()));
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

/// Each warp multiplies 16 rows by 32 columns, by four instructions for 16 x 8 elements. A register
/// has a tf32 or a pair of neighbours along the sum; a thread has four registers of the rows, two
/// of the columns, and four sums.
class MatrixMultiplier : public TileMultiplier {
public:
  MatrixMultiplier(KernelEmitter &emitter, const TiledProduct &product, ThreadGroup &group);

  /// That of tf32 is a word, which MLIR's tf32 is not.
  Type elementType() const override { return type.isTF32() ? Type(b.getI32Type()) : type; }
  int64_t panelElements() const override { return kTile * kTileDepth; }
  Value toElement(Value factor) override;
  std::pair<int64_t, int64_t> warpExtents(bool isAlongK) const override {
    return isAlongK ? std::pair(16, 2) : type.isTF32() ? std::pair(8, 4) : std::pair(16, 2);
  }
  Value positionInPanel(Value across, Value along) override;
  Values multiply(Value a, Value b, Values sums) override;
  void storeSums(Value memory, ArrayRef<Value> sums) override;

private:
  /// The rows and columns of an instruction, and the sums of a thread in it.
  static constexpr int64_t kRows = 16, kColumns = 8, kSums = 4;
  /// Groups of four lanes have a row of a, a column of b and two rows of sums.
  static constexpr int64_t kGroups = 8, kMatrices = 4, kWarpColumns = kColumns * kMatrices;
  static_assert(kMatrices * kSums == kSumsOfThread);

  /// The elements in a register.
  int64_t perRegister() const { return type.isTF32() ? 1 : 2; }
  /// The terms of an instruction: each of a group's lanes has two registers of them.
  int64_t depth() const { return 2 * (kWarpThreads / kGroups) * perRegister(); }
  StringRef intrinsic() const;
  Value load(Value panel, Value across, int64_t along);
  void multiplyStep(Value left, Value right, int64_t along, Values &sums);

  Type type;
  Value row, firstColumn, inGroup, inWarp;
};

} // namespace

MatrixMultiplier::MatrixMultiplier(KernelEmitter &emitter, const TiledProduct &product,
                                   ThreadGroup &group)
    : TileMultiplier(emitter, product), type(product.matrixType) {
  constexpr int64_t kAcross = kTile / kWarpColumns;
  auto [warp, lane] = divide(group.lane(), kWarpThreads);
  std::tie(inWarp, inGroup) = divide(lane, kWarpThreads / kGroups);
  auto [rowOfWarp, columnOfWarp] = divide(warp, kAcross);
  row = add(mul(rowOfWarp, kRows), inWarp);
  firstColumn = mul(columnOfWarp, kWarpColumns);
}

StringRef MatrixMultiplier::intrinsic() const {
  if (type.isTF32())
    return "llvm.nvvm.mma.m16n8k8.row.col.tf32";
  return type.isBF16() ? "llvm.nvvm.mma.m16n8k16.row.col.bf16"
                       : "llvm.nvvm.mma.m16n8k16.row.col.f32.f32";
}

/// Rows follow each other. Their parts of 16 bytes, or of 8 bytes in the second half of 16 rows,
/// are permuted, so that neither what a warp loads for an instruction nor what it stores for a step
/// is twice in a bank.
Value MatrixMultiplier::positionInPanel(Value across, Value along) {
  auto bit = [&](int64_t number) {
    return divide(divide(across, int64_t(1) << number).first, 2).second;
  };
  Value permuted =
      type.isTF32() ? add(mul(bit(1), 4), mul(bit(2), 8)) : add(mul(bit(2), 8), mul(bit(3), 4));
  return add(mul(across, kTileDepth), b.createOrFold<arith::XOrIOp>(loc, along, permuted));
}

/// Each thread has neighbours in two rows of each instruction.
void MatrixMultiplier::storeSums(Value memory, ArrayRef<Value> sums) {
  constexpr int64_t kPair = 2;
  for (int64_t i = 0; i < kSumsOfThread; i += kPair) {
    int64_t matrix = i / kSums, half = i % kSums / kPair;
    Value inColumn = add(add(firstColumn, mul(inGroup, kPair)), matrix * kColumns);
    storeInRow(memory, add(row, half * kGroups), inColumn, sums.slice(i, kPair));
  }
}

/// Rounds to tf32 to the nearest, ties away from zero: the only way that the instruction has.
Value MatrixMultiplier::toElement(Value factor) {
  if (!type.isTF32())
    return TileMultiplier::toElement(factor);
  auto round = b.getStringAttr("llvm.nvvm.f2tf32.rna");
  return LLVM::CallIntrinsicOp::create(b, loc, elementType(), round, ValueRange{factor})
      .getResult(0);
}

/// Loads this thread's register of a row or column; the first of a pair is in its lower half.
Value MatrixMultiplier::load(Value panel, Value across, int64_t along) {
  Value position = positionInPanel(across, add(mul(inGroup, perRegister()), along));
  Value address = elementAt(b, loc, panel, elementType(), position);
  Value word = LLVM::LoadOp::create(b, loc, b.getI32Type(), address, /*alignment=*/4);
  if (!type.isF16())
    return word;
  return LLVM::BitcastOp::create(b, loc, VectorType::get({2}, type), word);
}

/// Adds the products of the terms from `along` on.
void MatrixMultiplier::multiplyStep(Value left, Value right, int64_t along, Values &sums) {
  Type f32 = b.getF32Type();
  auto result = LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(kSums, f32));
  const int64_t halves[] = {along, along + depth() / 2};
  Values rows;
  for (int64_t half : halves)
    for (int64_t across : {int64_t(0), kGroups})
      rows.push_back(load(left, add(row, across), half));
  for (int64_t matrix = 0; matrix < kMatrices; ++matrix) {
    Value column = add(add(firstColumn, inWarp), matrix * kColumns);
    Values operands(rows);
    for (int64_t half : halves)
      operands.push_back(load(right, column, half));
    for (int64_t i = 0; i < kSums; ++i)
      operands.push_back(sums[matrix * kSums + i]);
    Value next =
        LLVM::CallIntrinsicOp::create(b, loc, result, b.getStringAttr(intrinsic()), operands)
            .getResult(0);
    for (int64_t i = 0; i < kSums; ++i)
      sums[matrix * kSums + i] = LLVM::ExtractValueOp::create(b, loc, next, i);
  }
}

TileMultiplier::Values MatrixMultiplier::multiply(Value left, Value right, Values sums) {
  for (int64_t along = 0; along < kTileDepth; along += depth())
    multiplyStep(left, right, along, sums);
  return sums;
}

void TileMultiplier::storeInRow(Value memory, Value row, Value column, ArrayRef<Value> sums) {
  Type type = form.computeType;
  auto vectorType = VectorType::get({int64_t(sums.size())}, type);
  Value vector = LLVM::PoisonOp::create(b, loc, vectorType);
  for (auto [i, sum] : llvm::enumerate(sums)) {
    Value position = LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(i)));
    vector = LLVM::InsertElementOp::create(b, loc, vector, sum, position);
  }
  Value address = elementAt(b, loc, memory, type, add(mul(row, kSumPitch), column));
  unsigned bytes = sums.size() * type.getIntOrFloatBitWidth() / 8;
  LLVM::StoreOp::create(b, loc, vector, address, std::min(bytes, 16u));
}

Value TileMultiplier::toElement(Value factor) {
  return convertNumber(b, loc, factor, elementType());
}

std::unique_ptr<TileMultiplier>
TileMultiplier::create(KernelEmitter &emitter, const TiledProduct &product, ThreadGroup &group) {
  if (product.matrixType)
    return std::make_unique<MatrixMultiplier>(emitter, product, group);
  return std::make_unique<LaneMultiplier>(emitter, product, group);
}
