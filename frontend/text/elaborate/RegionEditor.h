/// Moves reads and other operations out of the regions of an entry.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

/// Moves reads and other operations out of the regions of an entry.
class RegionEditor {
public:
  explicit RegionEditor(Context &context) : context(context) {}

  /// What is read inside of `op` and not assigned there is read before it.
  void finishRegions(mlir::Operation *op);
  /// Runs `build` with operations going before the outermost region around.
  void outsideOfRegions(llvm::function_ref<void()> build);
  /// Adds a carried value to a loop that is being elaborated; returns its place.
  unsigned addCarried(LoopContext &loop, mlir::Value init);

private:
  Context &context;
};

} // namespace tfc::text
