// Turns functions that are not expanded into polynomials into calls of libm, one for each lane.

#include "compiler/cpu/LibraryCalls.h"
#include "compiler/kernels/math/FloatBuilder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace tfc::kernels;

/// Flushes denormals in `x` to zero: libm inspects their bits and scales them by multiplications,
/// whose denormal operands are flushed while a call runs.
static Value flushDenormals(OpBuilder &b, Location loc, Value x) {
  FloatBuilder f(b, loc, x.getType());
  double smallest = f.isWide() ? 0x1p-1022 : 0x1p-126;
  Value isTiny = f.less(f.abs(x), f.constant(smallest));
  return f.select(isTiny, f.copySign(f.constant(0.0), x), x);
}

/// Declares a function of libm, which does not access memory.
static LLVM::LLVMFuncOp declare(SymbolTable &symbols, Location loc, StringRef name, Type type,
                                unsigned arity) {
  if (auto known = symbols.lookup<LLVM::LLVMFuncOp>(name))
    return known;
  auto module = cast<ModuleOp>(symbols.getOp());
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  auto signature = LLVM::LLVMFunctionType::get(type, SmallVector<Type>(arity, type));
  auto function = LLVM::LLVMFuncOp::create(b, loc, name, signature);
  auto none = LLVM::ModRefInfo::NoModRef;
  function.setMemoryEffectsAttr(
      LLVM::MemoryEffectsAttr::get(b.getContext(), none, none, none, none, none, none));
  function.setNoUnwind(true);
  function.setWillReturn(true);
  symbols.insert(function);
  return function;
}

namespace {

/// Replaces an operation by a call of libm for each lane. `name` is that of the f64 function.
template <typename Op> struct CallLibrary : OpRewritePattern<Op> {
  CallLibrary(MLIRContext *context, SymbolTable &symbols, StringRef name)
      : OpRewritePattern<Op>(context), symbols(symbols), name(name.str()) {}

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op.getType());
    if (!element.isF32() && !element.isF64())
      return failure();
    Location loc = op.getLoc();
    LLVM::LLVMFuncOp function =
        declare(symbols, loc, element.isF32() ? name + "f" : name, element, op->getNumOperands());
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

  SymbolTable &symbols;
  std::string name;
};

} // namespace

template <typename Op>
static void add(RewritePatternSet &patterns, SymbolTable &symbols, StringRef name) {
  patterns.add<CallLibrary<Op>>(patterns.getContext(), symbols, name);
}

void tfc::cpu::populateLibraryPatterns(RewritePatternSet &patterns, SymbolTable &symbols) {
  add<math::ExpOp>(patterns, symbols, "exp");
  add<math::Exp2Op>(patterns, symbols, "exp2");
  add<math::ExpM1Op>(patterns, symbols, "expm1");
  add<math::LogOp>(patterns, symbols, "log");
  add<math::Log2Op>(patterns, symbols, "log2");
  add<math::Log10Op>(patterns, symbols, "log10");
  add<math::Log1pOp>(patterns, symbols, "log1p");
  add<math::PowFOp>(patterns, symbols, "pow");
  add<math::CbrtOp>(patterns, symbols, "cbrt");
  add<math::SinOp>(patterns, symbols, "sin");
  add<math::CosOp>(patterns, symbols, "cos");
  add<math::TanOp>(patterns, symbols, "tan");
  add<math::AsinOp>(patterns, symbols, "asin");
  add<math::AcosOp>(patterns, symbols, "acos");
  add<math::AtanOp>(patterns, symbols, "atan");
  add<math::Atan2Op>(patterns, symbols, "atan2");
  add<math::SinhOp>(patterns, symbols, "sinh");
  add<math::CoshOp>(patterns, symbols, "cosh");
  add<math::TanhOp>(patterns, symbols, "tanh");
  add<math::AsinhOp>(patterns, symbols, "asinh");
  add<math::AcoshOp>(patterns, symbols, "acosh");
  add<math::AtanhOp>(patterns, symbols, "atanh");
  add<math::ErfOp>(patterns, symbols, "erf");
  add<math::ErfcOp>(patterns, symbols, "erfc");
}
