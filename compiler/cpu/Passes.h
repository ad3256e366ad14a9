// Declares the passes of the CPU, which Passes.td defines, and the pipeline to the LLVM dialect.
#pragma once

#include "dialects/kernel/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tfc::cpu {

#define GEN_PASS_DECL
#include "compiler/cpu/Passes.h.inc"

/// Lowers scf, arith, math, vector, index and func operations of a module to the LLVM dialect.
void buildCpuLoweringPipeline(mlir::OpPassManager &pm);

#define GEN_PASS_REGISTRATION
#include "compiler/cpu/Passes.h.inc"

} // namespace tfc::cpu
