// Expands functions on floats; those without a polynomial are calls of libclc.

#include "compiler/gpu/Passes.h"
#include "compiler/kernels/math/Functions.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace tfc::gpu {
#define GEN_PASS_DEF_GPUEXPANDMATHPASS
#include "compiler/gpu/Passes.h.inc"
} // namespace tfc::gpu

using namespace mlir;

/// The name of an OpenCL function, as C++ mangles it: `_Z3powdd`.
static std::string nameInLibclc(StringRef name, Type element, unsigned arity) {
  std::string mangled = ("_Z" + Twine(name.size()) + name).str();
  return mangled + std::string(arity, element.isF32() ? 'f' : 'd');
}

namespace {

/// Runs after code generation and before the conversion to LLVM.
struct GpuExpandMathPass : tfc::gpu::impl::GpuExpandMathPassBase<GpuExpandMathPass> {
  void runOnOperation() override {
    tfc::kernels::MathExpansion expansion(
        {SymbolTable(getOperation()), nameInLibclc, /*hasRemainder=*/true});
    for (auto function : llvm::to_vector(getOperation().getOps<FunctionOpInterface>()))
      if (failed(expansion.applyTo(function)))
        return signalPassFailure();
  }
};

} // namespace
