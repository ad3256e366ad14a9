//===- LaneMultiplier.cpp - Products by lanes -----------------------------===//
//
// Each thread multiplies rows by columns in its registers, for all types.
//
//===----------------------------------------------------------------------===//

#include "compiler/gpu/Accesses.h"
#include "compiler/gpu/TileMultiplier.h"
#include "compiler/kernels/emit/ProductEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tfc::gpu;
using namespace tfc::kernels;

namespace {

/// The threads of a block are a square, each with as many rows and columns of the tile. Panels hold
/// the elements of a position along the sum after those of the one before, or rows if factor a has
/// neighbours along the sum.
class LaneMultiplier : public TileMultiplier {
public:
  LaneMultiplier(KernelEmitter &emitter, const TiledProduct &product, ThreadGroup &group)
      : TileMultiplier(emitter, product), type(product.panelType()) {
    std::tie(row, column) = divide(group.lane(), kSide);
  }

  int64_t panelBytes(bool isA) const override {
    return hasRows(isA) ? product.across(isA) * rowPitch() * bytesOf(type) + kPanelShift
                        : product.tile.depth * pitch(isA) * bytesOf(type);
  }
  Value positionInPanel(bool isA, Value across, Value along) override {
    return hasRows(isA) ? add(mul(across, rowPitch()), along) : add(mul(along, pitch(isA)), across);
  }
  std::pair<int64_t, int64_t> warpExtents(bool isA, int64_t fastPieces) const override;
  bool keepsPieces(bool isA) const override { return hasRows(isA) == product.access(isA).isAlongK; }
  void multiply(Value a, Value b, Values &sums) override;

  int64_t ownRows() const override { return own(true); }
  int64_t ownColumns() const override { return own(false); }
  int64_t columnPiece() const override { return pieceSize(); }
  Value ownRow(int64_t number) override {
    return hasRows(true) ? add(row, number * kSide)
                         : add(placeOf(row, number), number % pieceSize());
  }
  Value ownColumn(int64_t number) override {
    return add(placeOf(column, number), number % pieceSize());
  }
  int64_t sumAt(int64_t row, int64_t column) const override { return row * own(false) + column; }
  int64_t lanesOfRow() const override { return kSide; }
  int64_t warpsOfRow() const override { return 1; }
  Value warpOfRow() override { return constant(0); }

  /// The pieces of a thread's rows are in different slices.
  int64_t numSlices() const override { return own(true) / kPiece; }
  Value rowInTile(Value slice, Value row) override {
    return add(b.createOrFold<arith::MulIOp>(loc, slice, constant(kSide * kPiece)), row);
  }

private:
  /// The rows and columns of threads, and the number of neighbours among those of a thread.
  static constexpr int64_t kSide = 16, kPiece = 4;
  static_assert(kSide * kSide == kBlockThreads);

  /// The distance of positions along the sum, in elements: rows that neighbouring threads write are
  /// in other banks.
  int64_t pitch(bool isA) const { return product.across(isA) + 4; }
  /// Returns true if a panel has rows of words. A warp has sums of two neighbouring rows at a time,
  /// which are in different halves of the banks, and so are the same rows of one panel and the
  /// next, which threads write that have scores.
  bool hasRows(bool isA) const {
    return isA && product.hasRowPanel && bytesOf(type) == sizeof(float);
  }
  int64_t rowPitch() const { return product.tile.depth; }
  static constexpr int64_t kPanelShift = 64;
  /// The rows or columns of a thread.
  int64_t own(bool isA) const { return product.across(isA) / kSide; }
  /// The number of neighbours that a thread loads and stores at once, of 16 bytes at most. Those of
  /// the next thread follow, so that a warp accesses all banks.
  int64_t pieceSize() const { return std::min(kPiece, 16 / bytesOf(type)); }
  /// The place of the first neighbour in which the `number`-th element of a thread is.
  Value placeOf(Value thread, int64_t number) {
    int64_t size = pieceSize();
    return add(mul(thread, size), number / size * size * kSide);
  }
  Values loadOwn(bool isA, Value panel, int64_t k);
  Values loadRows(Value panel, int64_t k);
  void storeSlice(Value memory, int64_t slice, ArrayRef<Value> sums) override;

  Type type;
  Value row, column;
};

} // namespace

/// Elements that are neighbours in memory are not in a panel.
std::pair<int64_t, int64_t> LaneMultiplier::warpExtents(bool isA, int64_t fastPieces) const {
  const FactorAccess &access = product.access(isA);
  if (keepsPieces(isA))
    return TileMultiplier::warpExtents(isA, fastPieces);
  int64_t fast = (bytesOf(type) > 4 ? 4 : 8) / access.pieceSize;
  return {fast, kWarpThreads / fast};
}

/// Loads this thread's elements at a position along the sum.
TileMultiplier::Values LaneMultiplier::loadOwn(bool isA, Value panel, int64_t k) {
  Values values;
  for (int64_t first = 0; first < own(isA); first += pieceSize()) {
    Value position = add(placeOf(isA ? row : column, first), k * pitch(isA));
    llvm::append_range(
        values, loadPiece(b, loc, elementAt(b, loc, panel, type, position), type, pieceSize()));
  }
  return values;
}

/// Loads some neighbours along the sum of each of this thread's rows; returns those of the first
/// position before those of the next one.
TileMultiplier::Values LaneMultiplier::loadRows(Value panel, int64_t k) {
  int64_t rows = own(true), size = pieceSize();
  Values values(rows * size);
  for (int64_t i = 0; i < rows; ++i) {
    Value position = add(mul(ownRow(i), rowPitch()), k);
    Values piece = loadPiece(b, loc, elementAt(b, loc, panel, type, position), type, size);
    for (auto [j, value] : llvm::enumerate(piece))
      values[int64_t(j) * rows + i] = value;
  }
  return values;
}

void LaneMultiplier::multiply(Value left, Value right, Values &sums) {
  Values several;
  for (int64_t k = 0; k < product.tile.depth; ++k) {
    int64_t inPiece = k % pieceSize();
    if (hasRows(true) && inPiece == 0)
      several = loadRows(left, k);
    Values rows = hasRows(true) ? Values(ArrayRef(several).slice(inPiece * own(true), own(true)))
                                : loadOwn(true, left, k);
    Values columns = loadOwn(false, right, k);
    for (auto [i, lhs] : llvm::enumerate(rows))
      for (auto [j, rhs] : llvm::enumerate(columns)) {
        Value &sum = sums[i * columns.size() + j];
        sum = isa<FloatType>(type)
                  ? Value(math::FmaOp::create(b, loc, lhs, rhs, sum))
                  : addValues(b, loc, sum, arith::MulIOp::create(b, loc, lhs, rhs));
      }
  }
}

void LaneMultiplier::storeSlice(Value memory, int64_t slice, ArrayRef<Value> sums) {
  int64_t columns = own(false);
  for (int64_t i = 0; i < kPiece; ++i)
    for (int64_t j = 0; j < columns; j += pieceSize())
      storeInRow(memory, ownRow(i), placeOf(column, j),
                 sums.slice((slice * kPiece + i) * columns + j, pieceSize()));
}

std::unique_ptr<TileMultiplier> tfc::gpu::createLaneMultiplier(KernelEmitter &emitter,
                                                               const TiledProduct &product,
                                                               ThreadGroup &group) {
  return std::make_unique<LaneMultiplier>(emitter, product, group);
}
