//===- Scalar.h - Computations of one element -----------------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace tfc::dfg {

/// Builds `arith` and `math` operations on scalars of one type at one location.
class ScalarBuilder {
public:
  ScalarBuilder(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  template <typename Op, typename... Args> mlir::Value create(Args &&...args) {
    return Op::create(b, loc, std::forward<Args>(args)...);
  }

  /// A constant of the type of `like`.
  mlir::Value number(mlir::Value like, double value) {
    mlir::Type type = like.getType();
    if (llvm::isa<mlir::FloatType>(type))
      return create<mlir::arith::ConstantOp>(b.getFloatAttr(type, value));
    return create<mlir::arith::ConstantOp>(b.getIntegerAttr(type, int64_t(value)));
  }

  mlir::Value add(mlir::Value x, mlir::Value y) { return create<mlir::arith::AddFOp>(x, y); }
  mlir::Value sub(mlir::Value x, mlir::Value y) { return create<mlir::arith::SubFOp>(x, y); }
  mlir::Value mul(mlir::Value x, mlir::Value y) { return create<mlir::arith::MulFOp>(x, y); }
  mlir::Value div(mlir::Value x, mlir::Value y) { return create<mlir::arith::DivFOp>(x, y); }
  mlir::Value abs(mlir::Value x) { return create<mlir::math::AbsFOp>(x); }
  mlir::Value exp(mlir::Value x) { return create<mlir::math::ExpOp>(x); }
  mlir::Value neg(mlir::Value x) { return create<mlir::arith::NegFOp>(x); }
  mlir::Value select(mlir::Value condition, mlir::Value onTrue, mlir::Value onFalse) {
    return create<mlir::arith::SelectOp>(condition, onTrue, onFalse);
  }
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value x, mlir::Value y) {
    return create<mlir::arith::CmpFOp>(predicate, x, y);
  }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value x, mlir::Value y) {
    return create<mlir::arith::CmpIOp>(predicate, x, y);
  }

private:
  mlir::OpBuilder &b;
  mlir::Location loc;
};

inline bool isFloatScalar(mlir::Value scalar) {
  return llvm::isa<mlir::FloatType>(scalar.getType());
}

inline bool hasUnsignedElements(mlir::Value tensor) {
  return elementTypeOf(tensor.getType()).isUnsignedInteger();
}

} // namespace tfc::dfg
