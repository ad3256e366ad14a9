// Headers that most translation units of the code generation of targets need, precompiled.
#pragma once

#include "cmake/Precompiled.h"
#include "dialects/kernel/Kernel.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
