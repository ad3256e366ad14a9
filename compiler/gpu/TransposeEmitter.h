// Emits sweeps that read along another loop than they write.
#pragma once

#include "compiler/gpu/ThreadGroup.h"
#include "compiler/gpu/Transposition.h"
#include "compiler/kernels/emit/IndexArithmetic.h"
#include "compiler/kernels/emit/StageEmitter.h"

namespace tfc::gpu {

/// Emits what a thread does for a square of points, the threads of whose block are a group.
class TransposeEmitter : kernels::StageEmitter {
public:
  TransposeEmitter(kernels::KernelEmitter &emitter, const kernels::Nest &nest,
                   const kernels::LoopSweep &sweep, const Transposition &transposition,
                   ThreadGroup &group)
      : StageEmitter(emitter, nest), sweep(sweep), transposition(transposition), group(group),
        indices(emitter) {}

  /// Emits the square whose numbers along the loop of the reads and that of the stores are the last
  /// two of `point`; the others are points of `outer` loops.
  void emit(llvm::ArrayRef<unsigned> outer, llvm::ArrayRef<mlir::AffineExpr> point);

private:
  /// A point of the square, by its number along both loops.
  struct Place {
    mlir::Value alongRead, alongStore;
  };

  /// Rows of the square, or its columns if they are what threads store: its lines along a loop.
  struct Order {
    const Transposition::Lines &lines;
    bool isAlongRead;
  };

  Place placeInOrder(const Order &order, mlir::Value round);
  mlir::Value lineBegin(const Order &order, mlir::Value line);
  mlir::Value isInside(const Order &order, const Place &place);
  void reach(const Place &place);
  void load(const Order &order, llvm::ArrayRef<Place> places);
  void compute(const Order &order, const Place &place);
  mlir::AffineExpr positionIn(const kernels::Buffer &tile, const Place &place);
  llvm::SmallVector<mlir::AffineExpr> readAt(const Transposition::Read &read);
  void forEachPart(const Order &order, llvm::function_ref<void(llvm::ArrayRef<Place>)> body);

  const kernels::LoopSweep &sweep;
  const Transposition &transposition;
  ThreadGroup &group;
  kernels::IndexArithmetic indices;
  /// The first point along both loops, and their extents.
  Place first, extents;
  llvm::SmallVector<kernels::Buffer> tiles; // of the reads
};

} // namespace tfc::gpu
