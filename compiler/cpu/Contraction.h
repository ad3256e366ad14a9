// Plans sums of products that are emitted by register tiles, and the entry point of their emitter.
#pragma once

#include "compiler/cpu/ContractionTiles.h"
#include "compiler/cpu/WinogradForm.h"
#include "compiler/kernels/ContractionForm.h"
#include "compiler/kernels/emit/KernelEmitter.h"
#include <optional>

namespace tfc::cpu {

/// How a contraction is divided into parallel units, and how a unit is blocked and tiled.
struct ContractionPlan {
  /// Number of units, over the kernel's size symbols.
  mlir::AffineExpr units;
  /// Smallest number of units that is worth waking a thread for.
  int64_t grain = 1;
  /// The register tile that the innermost loops compute, and the lanes of its vectors.
  RegisterTile tile;
  int64_t lanes = 1;
  /// The extent of a unit: points of the loops of mOuter, rows at each of them, and panels of the
  /// tile's width.
  int64_t unitPoints = 1, unitRows = 1, unitPanels = 1;
  /// Steps along k in a block that is copied for all panels of the unit; 0 if the size of copies
  /// decides.
  int64_t blockSteps = 0;
  /// The rows of b at a time, read in place, whose products are added to the sums of all columns of
  /// the unit; 0 if tiles read panels.
  int64_t streamSteps = 0;
  /// Number of loops of kOuter, from the outermost, that run around the tiles; sums are kept in
  /// memory between their iterations.
  unsigned blockLoops = 0;
  /// True if tiles read packed copies of b. Only used if there are loops of kOuter.
  bool copiesB = false;
  /// True if b is a constant whose elements are in the order in which tiles read them.
  bool isPacked = false;
  /// Steps that are adjacent for each column where tiles read them, and that one instruction
  /// multiplies: 4 of bytes, 2 of bf16, else 1.
  int64_t group = 1;
  /// True if both operands are read along k and each lane accumulates a part of the sum.
  bool lanesAlongK = false;
  /// True if such a product reads b from memory, where one long stream is faster than several.
  bool streamsB = false;
  /// True if one factor is a small constant that becomes code; units are points of the other loops.
  bool isTransform = false;
  /// How a convolution with transformed weights is divided; empty for other products.
  std::optional<WinogradPlan> winograd;

  int64_t tileColumns() const { return tile.vectors * lanes; }
  int64_t unitColumns() const { return unitPanels * tileColumns(); }
};

/// Returns the names of the ways in which a contraction may be emitted, that of the cost model
/// first, in a kernel that names none of them. With `winograd`, one that may transform its weights
/// has ways that do. Measurements choose among them (`tfc-cpu-choose-schedules`).
llvm::SmallVector<std::string> waysOf(KernelShapes &shapes, const Target &target,
                                      mlir::linalg::GenericOp op, bool winograd);

/// Chooses how to emit a generic that is a contraction: in the way that `kernel.schedule` of the
/// kernel names, if there is one of that name, else by the cost model.
ContractionPlan planContraction(KernelShapes &shapes, const Target &target,
                                mlir::linalg::GenericOp op);

/// Chooses the order of the elements of b, if it is a constant that tiles can read in their order;
/// returns the number of the argument, among the tensors of the kernel, and the order.
std::optional<std::pair<unsigned, kernel::PackingAttr>>
choosePacking(KernelShapes &shapes, const Target &target, mlir::linalg::GenericOp op);

/// Emits units [begin, end) of the contraction.
void emitContraction(KernelEmitter &emitter, const Target &target, const ContractionNest &nest,
                     const ContractionPlan &plan, mlir::Value begin, mlir::Value end);

} // namespace tfc::cpu
