// The register tile of a contraction in terms of pointers and strides, without the operation.
#pragma once

#include "compiler/cpu/ContractionTiles.h"
#include "mlir/IR/Builders.h"
#include <functional>

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

/// The memory that a tile brings to the cache for the tiles after it.
struct Prefetch {
  /// Lines for each step along k; 0 if there is nothing.
  int64_t lines = 0;
  /// The distance of the first one from what the step reads of b, in elements.
  mlir::Value distance = nullptr;
  /// True if all fit into the first-level cache.
  bool isNear = true;
};

/// Returns the part of tile number `number` of `count` tiles that read the same `elements` elements
/// of b, `stepElements` in each step, and together prefetch as many after them.
Prefetch sharePrefetch(mlir::OpBuilder &b, mlir::Location loc, const Target &target,
                       int64_t elements, int64_t stepElements, mlir::Type type, mlir::Value number,
                       int64_t count);

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
};

/// Emits the loops along k and returns the accumulators row by row. An empty `initial` means zeros.
llvm::SmallVector<mlir::Value> emitMicroTile(mlir::OpBuilder &b, mlir::Location loc,
                                             const Target &target, const MicroTile &tile,
                                             mlir::ValueRange initial);

/// The size of an element in memory.
unsigned elementBytes(mlir::Type type);

/// Returns pointer + index * stride, in elements.
mlir::Value advance(mlir::OpBuilder &b, mlir::Location loc, mlir::Value pointer,
                    mlir::Type elementType, mlir::Value index, const Stride &stride);
mlir::Value advance(mlir::OpBuilder &b, mlir::Location loc, mlir::Value pointer,
                    mlir::Type elementType, int64_t index, const Stride &stride);

/// Loads a vector with the alignment of its elements; disabled lanes are zero.
mlir::Value loadLanes(mlir::OpBuilder &b, mlir::Location loc, mlir::Value pointer,
                      mlir::Type elementType, int64_t lanes, mlir::Value mask);
void storeLanes(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value, mlir::Value pointer);

/// Returns a * b + c.
mlir::Value multiplyAdd(mlir::OpBuilder &b, mlir::Location loc, const Target &target,
                        mlir::Value lhs, mlir::Value rhs, mlir::Value sum);
/// Allocates memory on the stack, in the entry block of the function.
mlir::Value stackMemory(mlir::OpBuilder &b, mlir::Location loc, mlir::Type elementType,
                        int64_t elements);
mlir::Value zeroOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type);

} // namespace tfc::cpu
