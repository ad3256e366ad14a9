// Symbols and stack memory that calls of the runtime need.
#pragma once

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace tfc::host {

/// Declarations of the runtime's functions and constants for texts, created at their first use.
class RuntimeSymbols {
public:
  explicit RuntimeSymbols(mlir::ModuleOp module) : module(module), symbols(module) {}

  /// Returns null and emits an error at `user` if the module defines something else under that
  /// name.
  mlir::LLVM::LLVMFuncOp function(mlir::Operation *user, llvm::StringRef name,
                                  mlir::LLVM::LLVMFunctionType type);
  mlir::LLVM::GlobalOp text(llvm::StringRef text);
  mlir::LLVM::LLVMFuncOp kernel(llvm::StringRef name) {
    return symbols.lookup<mlir::LLVM::LLVMFuncOp>(name);
  }

private:
  mlir::OpBuilder end() { return mlir::OpBuilder::atBlockEnd(module.getBody()); }

  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  llvm::StringMap<mlir::LLVM::GlobalOp> texts;
};

/// Stack memory of a function for 8-byte values, shared by all its operations.
class StackArray {
public:
  /// Returns the address of space for `count` values.
  mlir::Value get(mlir::LLVM::LLVMFuncOp function, unsigned count);

private:
  mlir::LLVM::AllocaOp array;
  unsigned size = 0;
};

} // namespace tfc::host
