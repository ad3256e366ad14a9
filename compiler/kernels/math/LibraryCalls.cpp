// Turns functions that are not expanded into polynomials into calls of a library, one for each
// lane.

#include "compiler/kernels/math/FloatBuilder.h"
#include "compiler/kernels/math/Functions.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace tfc::kernels;

/// Flushes denormals in `x` to zero: libraries inspect their bits and scales them by
/// multiplications, whose denormal operands are flushed while a call runs.
static Value flushDenormals(OpBuilder &b, Location loc, Value x) {
  FloatBuilder f(b, loc, x.getType());
  double smallest = f.isWide() ? 0x1p-1022 : 0x1p-126;
  Value isTiny = f.less(f.abs(x), f.constant(smallest));
  return f.select(isTiny, f.copySign(f.constant(0.0), x), x);
}

/// Declares a function of the library, which does not access memory.
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

/// Replaces an operation by a call of the library for each lane. `name` is that of the f64 function
/// in C.
template <typename Op> struct CallLibrary : OpRewritePattern<Op> {
  CallLibrary(MLIRContext *context, Library &library, StringRef name)
      : OpRewritePattern<Op>(context), library(library), name(name.str()) {}

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op.getType());
    if (!element.isF32() && !element.isF64())
      return failure();
    Location loc = op.getLoc();
    LLVM::LLVMFuncOp function =
        declare(library.symbols, loc, library.nameOf(name, element, op->getNumOperands()), element,
                op->getNumOperands());
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

  Library &library;
  std::string name;
};

} // namespace

template <typename Op>
static void add(RewritePatternSet &patterns, Library &library, StringRef name) {
  patterns.add<CallLibrary<Op>>(patterns.getContext(), library, name);
}

void tfc::kernels::populateLibraryPatterns(RewritePatternSet &patterns, Library &library) {
  add<math::ExpOp>(patterns, library, "exp");
  add<math::Exp2Op>(patterns, library, "exp2");
  add<math::ExpM1Op>(patterns, library, "expm1");
  add<math::LogOp>(patterns, library, "log");
  add<math::Log2Op>(patterns, library, "log2");
  add<math::Log10Op>(patterns, library, "log10");
  add<math::Log1pOp>(patterns, library, "log1p");
  add<math::PowFOp>(patterns, library, "pow");
  add<math::CbrtOp>(patterns, library, "cbrt");
  add<math::SinOp>(patterns, library, "sin");
  add<math::CosOp>(patterns, library, "cos");
  add<math::TanOp>(patterns, library, "tan");
  add<math::AsinOp>(patterns, library, "asin");
  add<math::AcosOp>(patterns, library, "acos");
  add<math::AtanOp>(patterns, library, "atan");
  add<math::Atan2Op>(patterns, library, "atan2");
  add<math::SinhOp>(patterns, library, "sinh");
  add<math::CoshOp>(patterns, library, "cosh");
  add<math::TanhOp>(patterns, library, "tanh");
  add<math::AsinhOp>(patterns, library, "asinh");
  add<math::AcoshOp>(patterns, library, "acosh");
  add<math::AtanhOp>(patterns, library, "atanh");
  add<math::ErfOp>(patterns, library, "erf");
  add<math::ErfcOp>(patterns, library, "erfc");
  if (library.hasRemainder)
    add<arith::RemFOp>(patterns, library, "fmod");
}
