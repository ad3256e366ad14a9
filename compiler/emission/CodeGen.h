// LLVM's part: modules in the LLVM dialect become machine code, several at a time.
#pragma once

#include "compiler/emission/Emission.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Target/TargetMachine.h"

namespace tfc::emission {

/// An LLVM module with the context that it lives in.
struct CodeUnit {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

/// The machine specified by `options`; null, with `error` set, if LLVM does not know it.
std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const EmissionOptions &options,
                                                       std::string &error);

/// A new unit, set up for `target`.
CodeUnit makeUnit(llvm::StringRef name, const llvm::TargetMachine &target);

/// Splits `module` into modules that can be compiled separately: kernels in groups, then the rest.
/// Definitions become visible to the other groups. `whole` keeps everything in one module.
std::vector<mlir::OwningOpRef<mlir::ModuleOp>> splitModule(mlir::ModuleOp module, bool whole);

/// Translates to LLVM IR. The names of the modules' definitions, and of `tfc_weights`, are prefixed
/// with `prefix` and a dot, so that several models can be linked into one program.
mlir::FailureOr<CodeUnit> translate(mlir::ModuleOp module, const llvm::TargetMachine &target,
                                    llvm::StringRef prefix);

/// Runs LLVM's optimisations.
void optimize(llvm::Module &module, llvm::TargetMachine &target, unsigned level);

/// Appends machine code in the format `type`; returns false if the target does not support it.
bool generateCode(llvm::Module &module, llvm::TargetMachine &target, llvm::CodeGenFileType type,
                  llvm::SmallVectorImpl<char> &out);

} // namespace tfc::emission
