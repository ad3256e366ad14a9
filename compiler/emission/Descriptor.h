// The constant `tfc_model` of a model and its typed C functions, as LLVM IR.
#pragma once

#include "compiler/emission/CodeGen.h"
#include "compiler/emission/Names.h"

namespace tfc::emission {

/// A unit with the descriptor, the functions of the model's header and, if `isLibrary`, the
/// `tfc_library_get` that every shared library exports.
CodeUnit makeDescriptor(const ModelInfo &model, const ModelNames &names,
                        const llvm::TargetMachine &target, bool isLibrary);

} // namespace tfc::emission
