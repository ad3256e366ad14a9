// Builds attributes of dfg operations from plain numbers and types, for the rules of readers.
#pragma once

#include "dialects/dfg/Dfg.h"

namespace tfc::importer {

class AttributeBuilder {
public:
  explicit AttributeBuilder(mlir::MLIRContext *context) : b(context) {}

  mlir::NamedAttribute sizes(llvm::StringRef name, llvm::ArrayRef<dfg::DimExpr> value) {
    return b.getNamedAttr(name, dfg::DimsAttr::get(b.getContext(), value));
  }
  mlir::NamedAttribute integers(llvm::StringRef name, llvm::ArrayRef<int64_t> value) {
    return b.getNamedAttr(name, b.getDenseI64ArrayAttr(value));
  }
  mlir::NamedAttribute integer(llvm::StringRef name, int64_t value) {
    return b.getNamedAttr(name, b.getI64IntegerAttr(value));
  }
  mlir::NamedAttribute flag(llvm::StringRef name, bool value) {
    return b.getNamedAttr(name, b.getBoolAttr(value));
  }
  mlir::NamedAttribute real(llvm::StringRef name, double value) {
    return b.getNamedAttr(name, b.getF64FloatAttr(value));
  }
  mlir::NamedAttribute type(llvm::StringRef name, mlir::Type value) {
    return b.getNamedAttr(name, mlir::TypeAttr::get(value));
  }
  /// A word of an enumeration: `word<dfg::OutsideAttr>("outside", dfg::Outside::Skip)`.
  template <typename WordAttr, typename Word>
  mlir::NamedAttribute word(llvm::StringRef name, Word value) {
    return b.getNamedAttr(name, WordAttr::get(b.getContext(), value));
  }
  mlir::NamedAttribute text(llvm::StringRef name, llvm::StringRef value) {
    return b.getNamedAttr(name, b.getStringAttr(value));
  }

private:
  mlir::Builder b;
};

} // namespace tfc::importer
