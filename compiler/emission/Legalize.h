// Replaces operations for which LLVM would call functions that neither libc nor libm has.
#pragma once

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace tfc::emission {

/// Rewrites operations without instructions on `target`, for which LLVM would call compiler-rt or
/// libgcc.
///
/// Afterwards no value is a bf16, or an f16 if the target has no f16 arithmetic: they are 16-bit
/// integers, arithmetic is done in f32, and conversions are instructions of the target or integer
/// operations. Removing only the conversions would not suffice: instruction selection creates new
/// ones to select, move or shuffle values of a type that the target lacks. Quotients of integers of
/// more than 64 bits become loops.
///
/// Runs before LLVM's optimisations, so that they see the expanded code, and again after them.
void legalize(llvm::Module &module, const llvm::TargetMachine &target);

} // namespace tfc::emission
