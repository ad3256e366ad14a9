//===- MatrixMultiplier.cpp - Products by matrix units --------------------===//
//
// `mma.sync` of the warps, for floats of 16 bits and tf32, whose products and sums are in f32. The
// layouts of fragments are those of the PTX ISA, "Matrix Fragments for mma.m16n8k16" and "for
// mma.m16n8k8", and those of ldmatrix.
//
//===----------------------------------------------------------------------===//

#include "compiler/gpu/Accesses.h"
#include "compiler/gpu/TileMultiplier.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc::gpu;
using namespace tfc::kernels;

namespace {

/// Each warp multiplies blocks of 16 rows by 32 columns, by instructions for 16 x 8 elements. A
/// register has a tf32 or a pair of neighbours along the sum; for an instruction, a thread has four
/// registers of the rows, two of the columns, and four sums.
///
/// Panels hold the elements as they are in memory, either the step's terms of a row or column after
/// each other, or those of the tile at a position along the sum. Chunks of 16 bytes are permuted in
/// each, so that neither what a warp loads nor what it stores at once is twice in a bank.
class MatrixMultiplier : public TileMultiplier {
public:
  MatrixMultiplier(KernelEmitter &emitter, const TiledProduct &product, ThreadGroup &group);

  int64_t panelBytes(bool isA) const override {
    const TileShape &tile = product.tile;
    return (isAlongK(isA) ? product.across(isA) * tile.depth : tile.depth * pitch(isA)) *
           bytesOf(type);
  }
  Value positionInPanel(bool isA, Value across, Value along) override;
  void multiply(Value a, Value b, Values &sums) override;

  /// A block has two rows of a thread, and two neighbours in each.
  int64_t ownRows() const override { return 2 * rowBlocks(); }
  int64_t ownColumns() const override { return 2 * kColumnBlocks; }
  int64_t columnPiece() const override { return 2; }
  Value ownRow(int64_t number) override {
    return add(add(firstRow, inWarp), number / 2 * kRows + number % 2 * kGroups);
  }
  Value ownColumn(int64_t number) override {
    return add(add(firstColumn, mul(inGroup, 2)), number / 2 * kColumns + number % 2);
  }
  int64_t sumAt(int64_t row, int64_t column) const override {
    return (row / 2 * kColumnBlocks + column / 2) * kSums + row % 2 * 2 + column % 2;
  }
  int64_t lanesOfRow() const override { return kWarpThreads / kGroups; }
  int64_t warpsOfRow() const override { return product.tile.n / kWarpColumns; }
  Value warpOfRow() override { return columnWarp; }

  /// A slice has a block of rows of each warp.
  int64_t numSlices() const override { return rowBlocks(); }
  Value rowInTile(Value slice, Value row) override {
    auto [warp, inBlock] = divide(row, kRows);
    Value before = b.createOrFold<arith::MulIOp>(loc, slice, constant(kRows));
    return add(add(mul(warp, rowBlocks() * kRows), before), inBlock);
  }

private:
  /// The rows and columns of an instruction, and the sums of a thread in it.
  static constexpr int64_t kRows = 16, kColumns = 8, kSums = 4;
  /// Groups of four lanes have a row of a, a column of b and two rows of sums.
  static constexpr int64_t kGroups = 8;
  /// The instructions for the columns of a warp.
  static constexpr int64_t kColumnBlocks = 4, kWarpColumns = kColumns * kColumnBlocks;

  bool isAlongK(bool isA) const { return product.access(isA).isAlongK; }
  bool isWord() const { return bytesOf(type) == 4; }
  /// The elements of a chunk.
  int64_t chunk() const { return 16 / bytesOf(type); }
  /// The terms of an instruction: two chunks.
  int64_t depth() const { return 2 * chunk(); }
  int64_t rowWarps() const {
    return kBlockThreads / kWarpThreads / (product.tile.n / kWarpColumns);
  }
  int64_t rowBlocks() const { return product.tile.m / kRows / rowWarps(); }
  /// The distance of positions along the sum. Words, which `ldmatrix` does not transpose, are
  /// loaded one by one.
  int64_t pitch(bool isA) const { return product.across(isA) + (isWord() ? 8 : 0); }

  StringRef intrinsic() const;
  Values loadMatrices(bool isA, Value panel, Value across, bool acrossLow, int64_t along);
  Values loadWords(bool isA, Value panel, Value across, bool acrossLow, int64_t along);
  Values loadFragments(bool isA, Value panel, Value across, int64_t along);
  Value toFactor(Value word);
  void storeSlice(Value memory, int64_t slice, ArrayRef<Value> sums) override;

  Type type;
  Value rowWarp, columnWarp, firstRow, firstColumn; // of the warp
  Value lane, inWarp, inGroup; // the number in the warp, of the group in it, and in that
};

} // namespace

MatrixMultiplier::MatrixMultiplier(KernelEmitter &emitter, const TiledProduct &product,
                                   ThreadGroup &group)
    : TileMultiplier(emitter, product), type(product.panelType()) {
  Value warp;
  std::tie(warp, lane) = divide(group.lane(), kWarpThreads);
  std::tie(inWarp, inGroup) = divide(lane, kWarpThreads / kGroups);
  std::tie(rowWarp, columnWarp) = divide(warp, product.tile.n / kWarpColumns);
  firstRow = mul(rowWarp, rowBlocks() * kRows);
  firstColumn = mul(columnWarp, kWarpColumns);
}

StringRef MatrixMultiplier::intrinsic() const {
  if (isWord())
    return "llvm.nvvm.mma.m16n8k8.row.col.tf32";
  return type.isBF16() ? "llvm.nvvm.mma.m16n8k16.row.col.bf16"
                       : "llvm.nvvm.mma.m16n8k16.row.col.f32.f32";
}

Value MatrixMultiplier::positionInPanel(bool isA, Value across, Value along) {
  auto permute = [&](Value inRow, Value by) {
    auto [number, element] = divide(inRow, chunk());
    return add(mul(b.createOrFold<arith::XOrIOp>(loc, number, by), chunk()), element);
  };
  if (isAlongK(isA)) {
    // Four chunks; two rows fill all banks.
    Value by = divide(divide(across, 2).first, 4).second;
    return add(mul(across, product.tile.depth), permute(along, by));
  }
  Value inRow = isWord() ? across : permute(across, divide(along, 8).second);
  return add(mul(along, pitch(isA)), inRow);
}

/// Loads four matrices of 8 x 8 pairs or 8 x 4 words by one instruction, to which each lane passes
/// the address of a row. One bit of a matrix's number is its place across the sum, the lower one if
/// `acrossLow`, and the other that along it.
TileMultiplier::Values MatrixMultiplier::loadMatrices(bool isA, Value panel, Value across,
                                                      bool acrossLow, int64_t along) {
  auto [matrix, rowOfMatrix] = divide(lane, 8);
  auto [high, low] = divide(matrix, 2);
  Value acrossNumber = acrossLow ? low : high, alongNumber = acrossLow ? high : low;
  bool isTransposed = !isAlongK(isA);
  // The lines of a matrix are rows across the sum, unless the panel has them along it.
  Value acrossAt = add(across, mul(acrossNumber, 8)),
        alongAt = add(mul(alongNumber, chunk()), along);
  (isTransposed ? alongAt : acrossAt) = add(isTransposed ? alongAt : acrossAt, rowOfMatrix);
  Value address = elementAt(b, loc, panel, type, positionInPanel(isA, acrossAt, alongAt));
  auto shared = LLVM::LLVMPointerType::get(b.getContext(), kSharedSpace);
  Value inShared = LLVM::AddrSpaceCastOp::create(b, loc, shared, address);
  std::string name = "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4";
  name += isTransposed ? ".trans.b16.p3" : ".b16.p3";
  auto words =
      LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(4, b.getI32Type()));
  Value loaded =
      LLVM::CallIntrinsicOp::create(b, loc, words, b.getStringAttr(name), ValueRange{inShared})
          .getResult(0);
  Values result;
  for (int64_t i = 0; i < 4; ++i)
    result.push_back(LLVM::ExtractValueOp::create(b, loc, loaded, i));
  return result;
}

/// The same for words of a panel that has rows along the sum.
TileMultiplier::Values MatrixMultiplier::loadWords(bool isA, Value panel, Value across,
                                                   bool acrossLow, int64_t along) {
  Values result;
  for (int64_t number = 0; number < 4; ++number) {
    int64_t high = number / 2, low = number % 2;
    Value acrossAt = add(add(across, inWarp), (acrossLow ? low : high) * 8);
    Value alongAt = add(inGroup, along + (acrossLow ? high : low) * chunk());
    Value address = elementAt(b, loc, panel, type, positionInPanel(isA, acrossAt, alongAt));
    result.push_back(LLVM::LoadOp::create(b, loc, b.getI32Type(), address, /*alignment=*/4));
  }
  return result;
}

/// Returns four registers: those of a block of rows for an instruction, or those of two blocks of
/// columns.
TileMultiplier::Values MatrixMultiplier::loadFragments(bool isA, Value panel, Value across,
                                                       int64_t along) {
  bool acrossLow = isA;
  Values words = isWord() && !isAlongK(isA) ? loadWords(isA, panel, across, acrossLow, along)
                                            : loadMatrices(isA, panel, across, acrossLow, along);
  for (Value &word : words)
    word = toFactor(word);
  return words;
}

/// Returns a register as an operand of the instruction. tf32 is rounded to the nearest, ties away
/// from zero: the only way that the conversion has.
Value MatrixMultiplier::toFactor(Value word) {
  if (isWord()) {
    Value number = arith::BitcastOp::create(b, loc, b.getF32Type(), word);
    auto round = b.getStringAttr("llvm.nvvm.f2tf32.rna");
    return LLVM::CallIntrinsicOp::create(b, loc, b.getI32Type(), round, ValueRange{number})
        .getResult(0);
  }
  if (type.isBF16())
    return word;
  return LLVM::BitcastOp::create(b, loc, VectorType::get({2}, type), word);
}

void MatrixMultiplier::multiply(Value left, Value right, Values &sums) {
  auto result =
      LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(kSums, b.getF32Type()));
  for (int64_t along = 0; along < product.tile.depth; along += depth()) {
    Values columns;
    for (int64_t block = 0; block < kColumnBlocks; block += 2)
      llvm::append_range(columns,
                         loadFragments(false, right, add(firstColumn, block * kColumns), along));
    for (int64_t rowBlock = 0; rowBlock < rowBlocks(); ++rowBlock) {
      Values rows = loadFragments(true, left, add(firstRow, rowBlock * kRows), along);
      for (int64_t block = 0; block < kColumnBlocks; ++block) {
        MutableArrayRef<Value> own =
            MutableArrayRef(sums).slice((rowBlock * kColumnBlocks + block) * kSums, kSums);
        Values operands(rows);
        llvm::append_range(operands, ArrayRef(columns).slice(2 * block, 2));
        llvm::append_range(operands, own);
        Value next =
            LLVM::CallIntrinsicOp::create(b, loc, result, b.getStringAttr(intrinsic()), operands)
                .getResult(0);
        for (int64_t i = 0; i < kSums; ++i)
          own[i] = LLVM::ExtractValueOp::create(b, loc, next, i);
      }
    }
  }
}

/// Each thread has neighbours in two rows of each instruction.
void MatrixMultiplier::storeSlice(Value memory, int64_t slice, ArrayRef<Value> sums) {
  constexpr int64_t kPair = 2;
  for (int64_t block = 0; block < kColumnBlocks; ++block)
    for (int64_t half = 0; half < kSums / kPair; ++half) {
      Value row = add(add(mul(rowWarp, kRows), inWarp), half * kGroups);
      Value column = add(add(firstColumn, mul(inGroup, kPair)), block * kColumns);
      storeInRow(memory, row, column,
                 sums.slice((slice * kColumnBlocks + block) * kSums + half * kPair, kPair));
    }
}

std::unique_ptr<TileMultiplier> tfc::gpu::createMatrixMultiplier(KernelEmitter &emitter,
                                                                 const TiledProduct &product,
                                                                 ThreadGroup &group) {
  return std::make_unique<MatrixMultiplier>(emitter, product, group);
}
