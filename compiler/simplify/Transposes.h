//===- Transposes.h - Moving transposes past other operations -------------===//

#pragma once

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace tfc {

/// Adds patterns that move transposes towards the results of entries: an operation on transposed
/// tensors becomes one on the tensors, with a transposed result.
void addTransposePatterns(mlir::RewritePatternSet &patterns);

} // namespace tfc
