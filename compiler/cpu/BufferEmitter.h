//===- BufferEmitter.h - Elements in memory -------------------------------===//

#pragma once

#include "compiler/cpu/IndexEmitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tfc::cpu {

/// Memory of a tensor: element (i, j, ...) is at pointer + i*strides[0] + j*strides[1] ...
///
/// Strides are in elements and expressions over the kernel's symbols.
struct Buffer {
  mlir::Value pointer;
  mlir::Type elementType;
  llvm::SmallVector<mlir::AffineExpr> strides;
  /// Bytes that the first element is known to be aligned to.
  int64_t alignment = 1;
  /// Whether whole vectors may be read and written past the last row (own temporaries are padded).
  bool padded = false;
  /// How deep in the emitter's scopes the contents are made; set by `setBuffer`.
  unsigned level = 0;
};

/// Emits loads and stores of elements, which are vectors where the offset varies along the lanes.
class BufferEmitter : public IndexEmitter {
public:
  using IndexEmitter::IndexEmitter;

  /// Accesses by the offset in elements, for emitters with layouts of their own.
  mlir::Value loadAt(const Buffer &buffer, mlir::AffineExpr offset);
  void storeAt(const Buffer &buffer, mlir::AffineExpr offset, mlir::Value value);

private:
  mlir::Value address(const Buffer &buffer, mlir::Value offset);
  mlir::Value loadScalar(const Buffer &buffer, mlir::AffineExpr offset);
  mlir::Value loadContiguous(const Buffer &buffer, mlir::AffineExpr base, bool reversed);
  mlir::Value gather(const Buffer &buffer, mlir::AffineExpr offset);
  void storeContiguous(const Buffer &buffer, mlir::AffineExpr base, mlir::Value value);
  mlir::Value fromMemory(mlir::Value value, mlir::Type elementType);
  mlir::Value toMemory(mlir::Value value);
};

} // namespace tfc::cpu
