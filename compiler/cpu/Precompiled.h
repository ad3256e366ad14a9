// Headers that most translation units of the processor's code generation need, precompiled.
#pragma once

#include "cmake/Precompiled.h"
#include "dialects/kernel/Kernel.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
