// The register tile of a contraction in terms of pointers and strides, without the operation.
#pragma once

#include "compiler/cpu/ContractionTiles.h"
#include "compiler/kernels/emit/BufferEmitter.h"
#include "mlir/IR/Builders.h"
#include <functional>
#include <optional>

namespace tfc::cpu {

/// A stride in elements; `dynamic` is set if it is not known at compile time.
struct Stride {
  int64_t fixed = 0;
  mlir::Value dynamic;

  bool isFixed() const { return !dynamic; }
};

/// One loop along k, and the stride of a step in each operand.
struct ReductionLoop {
  mlir::Value count;
  Stride a, b;
};

/// An operand of a register tile in memory.
struct TileSource {
  /// Element (0, 0) of the tile.
  mlir::Value pointer;
  mlir::Type elementType;
  /// Stride between rows of `a`; `b` is contiguous along its lanes.
  Stride across;
  /// Computes factors from elements (scalars or vectors); null if they are the same.
  std::function<mlir::Value(mlir::Value)> convert;
};

/// The memory that a tile brings to the cache for the tiles after it: a part of what they read of
/// b.
struct Prefetch {
  /// Lines for each step along k; 0 if there is nothing.
  int64_t lines = 0;
  /// Where the part begins, in bytes from where the tile's b does.
  mlir::Value distance = nullptr;
  /// The binary logarithm of the bytes that the tile reads for each one of the part.
  mlir::Value shift = nullptr;
  /// True if all fit into the first-level cache.
  bool isNear = true;
};

/// Returns the part of tile number `number` of `count` tiles that read the same `elements` elements
/// of b, `stepElements` in each step, and together prefetch as many after them. Each line is
/// prefetched by one tile, or few, at the pace of its steps: a prefetch of what is in the cache
/// takes the time of a load, and many at once wait for each other.
Prefetch sharePrefetch(mlir::OpBuilder &b, mlir::Location loc, const Target &target,
                       int64_t elements, int64_t stepElements, mlir::Type type, mlir::Value number,
                       mlir::Value count);

/// A tile of bytes whose innermost loop reads four steps at once from panels that are packed so;
/// `a` is contiguous along it.
struct ByteSteps {
  /// Bytes that are adjacent in panels, for each column.
  static constexpr int64_t kGroup = 4;
  /// The steps of the innermost loop, and the columns of the panel.
  int64_t steps = 0, columns = 0;
  bool isSignedA = false, isSignedB = true;
};

/// A tile of bf16 whose innermost loop reads words: two steps, adjacent in both operands, which one
/// instruction multiplies and adds to a lane.
struct PairSteps {
  static constexpr int64_t kGroup = 2;
  /// True for operands that are copies in words, with a zero beside a step that is left.
  bool copiesA = false, copiesB = false;
  /// The words of two steps among those of the innermost loop; null if there are no others. Of the
  /// last one, operands that are no copies have one step.
  mlir::Value whole;
};

/// How products of bytes are computed.
enum class ByteForm {
  Direct,    // by an instruction for these kinds of bytes
  Corrected, // by one for bytes with a sign, on the others less 128; the difference is added
  Widened,   // as numbers of 16 or 32 bits
};

ByteForm byteFormOf(const Target &target, const ByteSteps &steps);

/// A register tile of a product: `shape.rows` by `shape.vectors` vectors of `lanes` lanes.
struct MicroTile {
  RegisterTile shape;
  int64_t lanes = 1;
  mlir::Type computeType;
  TileSource a, b;
  /// Outermost loop first.
  llvm::SmallVector<ReductionLoop> loops;
  /// For each vector, the mask of the lanes that exist in b; null for all lanes.
  llvm::SmallVector<mlir::Value> masks;
  Prefetch prefetch = {};
  std::optional<ByteSteps> bytes = {};
  std::optional<PairSteps> pairs = {};
};

/// Emits the loops along k and returns the accumulators row by row. An empty `initial` means zeros.
llvm::SmallVector<mlir::Value> emitMicroTile(mlir::OpBuilder &b, mlir::Location loc,
                                             const Target &target, const MicroTile &tile,
                                             mlir::ValueRange initial);

/// Adds the products of four bytes for each lane of 32 bits to sums. All targets compute the same.
class ByteMultiplier {
public:
  ByteMultiplier(mlir::OpBuilder &b, mlir::Location loc, const Target &target,
                 const ByteSteps &steps, int64_t lanes)
      : b(b), loc(loc), target(target), steps(steps), form(byteFormOf(target, steps)),
        lanes(lanes) {}

  /// Four bytes for each lane, prepared for products with several others.
  using Factor = llvm::SmallVector<mlir::Value, 4>;

  /// Loads `count` bytes of a row, the same for all lanes. With fewer than four, those before them
  /// are read, too, if the row has so many.
  Factor loadA(mlir::Value pointer, int64_t count);
  /// Loads `count` steps of so many columns.
  Factor loadB(mlir::Value pointer, int64_t count, mlir::Value mask);
  mlir::Value add(const Factor &a, const Factor &bytes, mlir::Value sum);

private:
  Factor prepare(mlir::Value quads, bool isSigned);
  Factor prepareCorrected(mlir::Value bytes, bool isSigned);
  mlir::Value addDirect(mlir::Value a, mlir::Value bytes, mlir::Value sum);
  mlir::Value intrinsic(llvm::StringRef name, mlir::ValueRange operands);
  mlir::Value splat(mlir::Type type, int64_t value);

  mlir::OpBuilder &b;
  mlir::Location loc;
  const Target &target;
  const ByteSteps &steps;
  ByteForm form;
  int64_t lanes;
};

/// The size of an element in memory.
unsigned elementBytes(mlir::Type type);

/// Returns pointer + index * stride, in elements.
mlir::Value advance(mlir::OpBuilder &b, mlir::Location loc, mlir::Value pointer,
                    mlir::Type elementType, mlir::Value index, const Stride &stride);
mlir::Value advance(mlir::OpBuilder &b, mlir::Location loc, mlir::Value pointer,
                    mlir::Type elementType, int64_t index, const Stride &stride);

/// Loads a vector with the alignment of its elements or of another type; disabled lanes are zero.
mlir::Value loadLanes(mlir::OpBuilder &b, mlir::Location loc, mlir::Value pointer,
                      mlir::Type elementType, int64_t lanes, mlir::Value mask,
                      mlir::Type alignedAs = nullptr);
void storeLanes(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value, mlir::Value pointer);

/// Returns a * b + c.
mlir::Value multiplyAdd(mlir::OpBuilder &b, mlir::Location loc, const Target &target,
                        mlir::Value lhs, mlir::Value rhs, mlir::Value sum);
/// Adds the products of two bf16 for each lane to sums of f32. Factors are vectors of bf16, or of
/// words of 32 bits.
mlir::Value multiplyPairs(mlir::OpBuilder &b, mlir::Location loc, const Target &target,
                          mlir::Value lhs, mlir::Value rhs, mlir::Value sum);
/// Returns a word for each lane from vectors of one or two steps of bf16.
mlir::Value joinPairs(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<mlir::Value> steps);
mlir::Value zeroOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type);

} // namespace tfc::cpu
