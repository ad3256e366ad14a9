// The function of an image that copies memory of a device.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace tfc::gpu {

/// Adds a function to the module of a device that makes up to kCopies copies at once, which do not
/// overlap: loops make many small ones, each of which would be a step of its own. Its name and the
/// number are those that runtime/GpuWork.cpp knows. Parameters are the addresses to and from which
/// and the bytes of each copy; the blocks of a launch are a multiple of kCopies.
void createCopyKernel(mlir::ModuleOp device, mlir::Location loc);

} // namespace tfc::gpu
