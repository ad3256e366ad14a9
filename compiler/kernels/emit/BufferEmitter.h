//===- BufferEmitter.h - Elements in memory -------------------------------===//

#pragma once

#include "compiler/kernels/emit/IndexEmitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tfc::kernels {

/// Memory of a tensor: element (i, j, ...) is at pointer + i*strides[0] + j*strides[1] + ...
///
/// Strides are in elements; they are expressions over the kernel's symbols.
struct Buffer {
  mlir::Value pointer;
  mlir::Type elementType;
  llvm::SmallVector<mlir::AffineExpr> strides;
  /// Known alignment of the first element, in bytes.
  int64_t alignment = 1;
  /// True if whole vectors may be loaded and stored past the last row (temporaries are padded).
  bool padded = false;
  /// Depth of the emitter's scope in which the contents are computed; set by `setBuffer`.
  unsigned level = 0;
};

/// Emits loads and stores of elements, as vectors if the offset varies along the lanes.
class BufferEmitter : public IndexEmitter {
public:
  using IndexEmitter::IndexEmitter;

  /// Loads and stores by the offset in elements, for emitters with their own layouts.
  mlir::Value loadAt(const Buffer &buffer, mlir::AffineExpr offset);
  void storeAt(const Buffer &buffer, mlir::AffineExpr offset, mlir::Value value);

protected:
  mlir::Value address(const Buffer &buffer, mlir::Value offset);

private:
  mlir::Value loadScalar(const Buffer &buffer, mlir::AffineExpr offset);
  mlir::Value loadContiguous(const Buffer &buffer, mlir::AffineExpr base, bool reversed);
  mlir::Value gather(const Buffer &buffer, mlir::AffineExpr offset);
  void storeContiguous(const Buffer &buffer, mlir::AffineExpr base, mlir::Value value);
  mlir::Value fromMemory(mlir::Value value, mlir::Type elementType);
  mlir::Value toMemory(mlir::Value value);
};

/// Allocates memory on the stack, in the entry block of the function.
mlir::Value stackMemory(mlir::OpBuilder &b, mlir::Location loc, mlir::Type elementType,
                        int64_t elements);

} // namespace tfc::kernels
