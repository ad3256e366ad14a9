// Scatters and sorts by many threads.
#pragma once

#include "compiler/kernels/emit/SpecialEmitter.h"

namespace tfc::gpu {

// A scatter is ordered: updates of the same row are made one after the other. Each update finds the
// next one of its row by comparing its indices with all others; then the first update of each row
// makes all of them. Many updates take too long for that, and few need no links.

/// Whether many threads can make a scatter or a sort, as far as the number of updates or of keys is
/// known.
enum class Parallelism { Always, Never, WhenItRuns };

Parallelism linkingOf(kernels::KernelShapes &shapes, linalg_ext::ScatterOp op);
/// The bytes of the memory for links.
mlir::AffineExpr linkBytes(kernels::KernelShapes &shapes, linalg_ext::ScatterOp op);
/// Returns whether updates are linked if that is known when the kernel runs; else null.
mlir::Value areLinked(kernels::KernelEmitter &emitter, linalg_ext::ScatterOp op);
/// Emits the search for the updates before and after one in the same row.
void emitLink(kernels::KernelEmitter &emitter, linalg_ext::ScatterOp op,
              llvm::ArrayRef<mlir::AffineExpr> update, mlir::Value links);
/// Emits all updates of an element of a row if that of `point`, an update and an element of its
/// row, is the first.
void emitChain(kernels::KernelEmitter &emitter, linalg_ext::ScatterOp op,
               llvm::ArrayRef<mlir::AffineExpr> point, mlir::Value links);

// The place of a key in a sorted line is the number of keys that come before it, which a thread
// counts. Lines of many keys are sorted by a thread each.

Parallelism rankingOf(kernels::KernelShapes &shapes, linalg_ext::SortOp op);
/// Returns whether keys are ranked if that is known when the kernel runs; else null.
mlir::Value areRanked(kernels::KernelEmitter &emitter, linalg_ext::SortOp op);
/// The sizes of lines, and their length.
llvm::SmallVector<mlir::AffineExpr> keySizes(kernels::KernelShapes &shapes, linalg_ext::SortOp op);
/// Emits the search for the place of a key.
void emitRank(kernels::KernelEmitter &emitter, linalg_ext::SortOp op,
              llvm::ArrayRef<mlir::AffineExpr> key);
/// Returns true if a sort may have more places than keys, and emits the value of a place without
/// one, if it is one.
bool hasRest(kernels::KernelShapes &shapes, linalg_ext::SortOp op);
llvm::SmallVector<mlir::AffineExpr> placeSizes(kernels::KernelShapes &shapes,
                                               linalg_ext::SortOp op);
void emitRest(kernels::KernelEmitter &emitter, linalg_ext::SortOp op,
              llvm::ArrayRef<mlir::AffineExpr> place);

} // namespace tfc::gpu
