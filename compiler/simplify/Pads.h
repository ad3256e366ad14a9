//===- Pads.h - Images padded with their own elements ---------------------===//

#pragma once

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace tfc {

/// Adds a pattern that pads along several axes in one pass.
void addPadPatterns(mlir::RewritePatternSet &patterns);

} // namespace tfc
