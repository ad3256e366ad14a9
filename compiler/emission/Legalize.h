// Operations for which LLVM would call functions that neither libc nor libm has.
#pragma once

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace tfc::emission {

/// Rewrites what the instructions of `target` cannot do and LLVM would leave to compiler-rt or
/// libgcc.
///
/// Afterwards no value is a bf16, and none an f16 where the target has no arithmetic of f16: they
/// are integers of 16 bits, arithmetic is that of f32, and conversions are instructions of the
/// target or integer operations. The type must go, not only the conversions: instruction selection
/// makes new ones to select, move or shuffle values of a type that the target lacks. Quotients of
/// integers of more than 64 bits become loops.
///
/// Runs before LLVM's optimisations, so that they see the expanded code, and again after them.
void legalize(llvm::Module &module, const llvm::TargetMachine &target);

} // namespace tfc::emission
