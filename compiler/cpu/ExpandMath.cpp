// Expands functions on floats; those without a polynomial are calls of libm.

#include "compiler/cpu/Passes.h"
#include "compiler/kernels/math/Functions.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace tfc::cpu {
#define GEN_PASS_DEF_CPUEXPANDMATHPASS
#include "compiler/cpu/Passes.h.inc"
} // namespace tfc::cpu

using namespace mlir;

static std::string nameInLibm(StringRef name, Type element, unsigned) {
  return element.isF32() ? (name + "f").str() : name.str();
}

namespace {

/// Runs after code generation, when vectors have the target's lanes, and before the conversion to
/// LLVM.
struct CpuExpandMathPass : tfc::cpu::impl::CpuExpandMathPassBase<CpuExpandMathPass> {
  void runOnOperation() override {
    tfc::kernels::MathExpansion expansion({SymbolTable(getOperation()), nameInLibm});
    for (auto function : llvm::to_vector(getOperation().getOps<FunctionOpInterface>()))
      if (failed(expansion.applyTo(function)))
        return signalPassFailure();
  }
};

} // namespace
