// Expands functions on floats; those without a polynomial are calls of libm.

#include "compiler/cpu/Passes.h"
#include "compiler/cpu/Target.h"
#include "compiler/kernels/math/Functions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace tfc::cpu {
#define GEN_PASS_DEF_CPUEXPANDMATHPASS
#include "compiler/cpu/Passes.h.inc"
} // namespace tfc::cpu

using namespace mlir;

static std::string nameInLibm(StringRef name, Type element, unsigned) {
  return element.isF32() ? (name + "f").str() : name.str();
}

/// The target of a kernel, std::nullopt for other functions.
static std::optional<tfc::cpu::Target> targetOfKernel(FunctionOpInterface function) {
  if (tfc::kernel::abiOf(function))
    if (tfc::kernel::TargetAttr description = tfc::kernel::targetOf(function))
      return tfc::cpu::Target::get(description);
  return std::nullopt;
}

/// Replaces extremes of vectors of 512 bits by the instruction that returns its second operand if
/// one is NaN, which leaves lanes in which the first operand is NaN as they are: two instructions.
/// As a comparison and selections, LLVM would merge the selections of the first operand, and no
/// longer see an extreme; with a constant NaN in place of it (`populateExtremePatterns`) they are
/// three. Only for processors with masked instructions for vectors of 512 bits.
static void selectExtremes(FunctionOpInterface function) {
  SmallVector<Operation *> extremes;
  function->walk([&](Operation *op) {
    auto type =
        op->getNumResults() == 1 ? dyn_cast<VectorType>(op->getResult(0).getType()) : nullptr;
    if (isa<arith::MaximumFOp, arith::MinimumFOp>(op) && type && type.getRank() == 1 &&
        type.getNumElements() * type.getElementTypeBitWidth() == 512 &&
        (type.getElementType().isF32() || type.getElementType().isF64()) &&
        llvm::none_of(op->getOperands(),
                      [](Value value) { return matchPattern(value, m_Constant()); }))
      extremes.push_back(op);
  });
  for (Operation *op : extremes) {
    OpBuilder b(op);
    Location loc = op->getLoc();
    // In a reduction the accumulator is on the left: whether the element is NaN is known before it.
    Value left = op->getOperand(0), right = op->getOperand(1);
    Type type = left.getType();
    std::string name = isa<arith::MaximumFOp>(op) ? "llvm.x86.avx512.max." : "llvm.x86.avx512.min.";
    name += getElementTypeOrSelf(type).isF32() ? "ps.512" : "pd.512";
    constexpr int64_t kCurrentRounding = 4;
    Value rounding = LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(kCurrentRounding));
    Value extreme = LLVM::CallIntrinsicOp::create(b, loc, type, b.getStringAttr(name),
                                                  ValueRange{right, left, rounding})
                        .getResult(0);
    Value isNumber = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, right, right);
    op->replaceAllUsesWith(
        ValueRange(arith::SelectOp::create(b, loc, isNumber, extreme, right).getResult()));
    op->erase();
  }
}

namespace {

/// Runs after code generation, when vectors have the target's lanes, and before the conversion to
/// LLVM.
struct CpuExpandMathPass : tfc::cpu::impl::CpuExpandMathPassBase<CpuExpandMathPass> {
  void runOnOperation() override {
    tfc::kernels::MathExpansion expansion({SymbolTable(getOperation()), nameInLibm});
    for (auto function : llvm::to_vector(getOperation().getOps<FunctionOpInterface>())) {
      std::optional<tfc::cpu::Target> target = targetOfKernel(function);
      if (target && target->hasMaskRegisters)
        selectExtremes(function);
      if (failed(expansion.applyTo(function, /*fuses=*/target && target->hasFma)))
        return signalPassFailure();
    }
  }
};

} // namespace
