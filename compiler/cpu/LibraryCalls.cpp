// Turns functions that are not expanded into polynomials into calls of libm, one for each lane.

#include "compiler/cpu/FloatBuilder.h"
#include "compiler/cpu/Functions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace tfc::cpu;

/// Flushes denormals in `x` to zero: libm inspects their bits and scales them by multiplications,
/// whose denormal operands are flushed while a call runs.
static Value flushDenormals(OpBuilder &b, Location loc, Value x) {
  FloatBuilder f(b, loc, x.getType());
  double smallest = f.isWide() ? 0x1p-1022 : 0x1p-126;
  Value isTiny = f.less(f.abs(x), f.constant(smallest));
  return f.select(isTiny, f.copySign(f.constant(0.0), x), x);
}

/// Declares a function of libm, which does not access memory.
static LLVM::LLVMFuncOp declare(PatternRewriter &rewriter, Operation *user, StringRef name,
                                Type type, unsigned arity) {
  auto module = user->getParentOfType<ModuleOp>();
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(module.getBody());
  auto signature = LLVM::LLVMFunctionType::get(type, SmallVector<Type>(arity, type));
  auto function = LLVM::LLVMFuncOp::create(rewriter, user->getLoc(), name, signature);
  auto none = LLVM::ModRefInfo::NoModRef;
  function.setMemoryEffectsAttr(
      LLVM::MemoryEffectsAttr::get(rewriter.getContext(), none, none, none, none, none, none));
  function.setNoUnwind(true);
  function.setWillReturn(true);
  return function;
}

namespace {

/// Replaces an operation by a call of libm for each lane. `name` is that of the f64 function.
template <typename Op> struct CallLibrary : OpRewritePattern<Op> {
  CallLibrary(MLIRContext *context, StringRef name)
      : OpRewritePattern<Op>(context), name(name.str()) {}

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op.getType());
    if (!element.isF32() && !element.isF64())
      return failure();
    Location loc = op.getLoc();
    LLVM::LLVMFuncOp function =
        declare(rewriter, op, element.isF32() ? name + "f" : name, element, op->getNumOperands());
    auto call = [&](ValueRange operands) {
      return LLVM::CallOp::create(rewriter, loc, function, operands).getResult();
    };
    SmallVector<Value> flushed = llvm::map_to_vector(
        op->getOperands(), [&](Value x) { return flushDenormals(rewriter, loc, x); });
    auto vector = dyn_cast<VectorType>(op.getType());
    if (!vector) {
      rewriter.replaceOp(op, call(flushed));
      return success();
    }
    SmallVector<Value> lanes;
    for (int64_t lane = 0; lane < vector.getNumElements(); ++lane) {
      SmallVector<Value> operands;
      for (Value operand : flushed)
        operands.push_back(
            vector::ExtractOp::create(rewriter, loc, operand, ArrayRef<int64_t>{lane}));
      lanes.push_back(call(operands));
    }
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, vector, lanes);
    return success();
  }

  std::string name;
};

} // namespace

template <typename Op> static void add(RewritePatternSet &patterns, StringRef name) {
  patterns.add<CallLibrary<Op>>(patterns.getContext(), name);
}

void tfc::cpu::populateLibraryPatterns(RewritePatternSet &patterns) {
  add<math::ExpOp>(patterns, "exp");
  add<math::Exp2Op>(patterns, "exp2");
  add<math::ExpM1Op>(patterns, "expm1");
  add<math::LogOp>(patterns, "log");
  add<math::Log2Op>(patterns, "log2");
  add<math::Log10Op>(patterns, "log10");
  add<math::Log1pOp>(patterns, "log1p");
  add<math::PowFOp>(patterns, "pow");
  add<math::CbrtOp>(patterns, "cbrt");
  add<math::SinOp>(patterns, "sin");
  add<math::CosOp>(patterns, "cos");
  add<math::TanOp>(patterns, "tan");
  add<math::AsinOp>(patterns, "asin");
  add<math::AcosOp>(patterns, "acos");
  add<math::AtanOp>(patterns, "atan");
  add<math::Atan2Op>(patterns, "atan2");
  add<math::SinhOp>(patterns, "sinh");
  add<math::CoshOp>(patterns, "cosh");
  add<math::TanhOp>(patterns, "tanh");
  add<math::AsinhOp>(patterns, "asinh");
  add<math::AcoshOp>(patterns, "acosh");
  add<math::AtanhOp>(patterns, "atanh");
  add<math::ErfOp>(patterns, "erf");
  add<math::ErfcOp>(patterns, "erfc");
}
