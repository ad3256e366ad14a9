// Declares the passes of GPUs, which Passes.td defines, and the pipeline to an image.
#pragma once

#include "compiler/gpu/Precision.h"
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

namespace tfc::gpu {

#define GEN_PASS_DECL
#include "compiler/gpu/Passes.h.inc"

/// The name of the module with the functions of GPUs.
inline constexpr llvm::StringLiteral kDeviceCode = "device_code";

/// Lowers that module to the LLVM dialect and replaces it by an image, with binaries for GPUs of
/// the compute capabilities, in tenths; a module without one is unchanged.
void buildGpuLoweringPipeline(mlir::OpPassManager &pm, unsigned optLevel,
                              llvm::ArrayRef<int64_t> capabilities = {});

#define GEN_PASS_REGISTRATION
#include "compiler/gpu/Passes.h.inc"

} // namespace tfc::gpu
