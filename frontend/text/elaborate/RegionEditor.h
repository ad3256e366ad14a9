/// Moves reads and other operations out of the regions of an entry.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

/// Moves reads and other operations out of the regions of an entry.
class RegionEditor {
public:
  explicit RegionEditor(Context &context) : context(context) {}

  /// Moves reads in `op` of variables that it does not assign before `op`.
  void finishRegions(mlir::Operation *op);
  /// Runs `build` with the insertion point before the outermost enclosing region.
  void outsideOfRegions(llvm::function_ref<void()> build);
  /// Adds a carried value to the current loop; returns its position.
  unsigned addCarried(LoopContext &loop, mlir::Value init);

private:
  Context &context;
};

} // namespace tfc::text
