// Arithmetic from which the expansions of functions such as `exp` are composed.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/APFloat.h"

namespace tfc::kernels {

/// Builds arithmetic on f32 or f64 scalars or vectors of the same shape.
///
/// Multiplications and additions may be contracted to fused multiply-adds on processors that have
/// them; the algorithms must be correct in both cases.
class FloatBuilder {
public:
  FloatBuilder(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type)
      : b(b), loc(loc), type(type) {}

  mlir::Type floatType() const { return type; }
  bool isWide() const { return mlir::getElementTypeOrSelf(type).isF64(); }
  /// The integer type that holds the bits of the floats.
  mlir::Type intType() const { return withElement(b.getIntegerType(isWide() ? 64 : 32)); }
  mlir::Type boolType() const { return withElement(b.getI1Type()); }

  mlir::Value constant(double value);
  mlir::Value integer(int64_t value);

  mlir::Value add(mlir::Value l, mlir::Value r) { return binary<mlir::arith::AddFOp>(l, r); }
  mlir::Value sub(mlir::Value l, mlir::Value r) { return binary<mlir::arith::SubFOp>(l, r); }
  mlir::Value mul(mlir::Value l, mlir::Value r) { return binary<mlir::arith::MulFOp>(l, r); }
  mlir::Value div(mlir::Value l, mlir::Value r) { return binary<mlir::arith::DivFOp>(l, r); }
  mlir::Value mulAdd(mlir::Value l, mlir::Value r, mlir::Value s) { return add(mul(l, r), s); }
  /// Returns the magnitude of `v` with the sign of `sign`.
  mlir::Value copySign(mlir::Value v, mlir::Value sign) {
    return mlir::math::CopySignOp::create(b, loc, v, sign);
  }
  mlir::Value neg(mlir::Value v) { return mlir::arith::NegFOp::create(b, loc, v); }
  mlir::Value abs(mlir::Value v) { return mlir::math::AbsFOp::create(b, loc, v); }

  /// Returns c[0] * x^n + ... + c[n].
  mlir::Value polynomial(mlir::Value x, llvm::ArrayRef<double> coefficients);

  mlir::Value less(mlir::Value l, mlir::Value r);
  mlir::Value equal(mlir::Value l, mlir::Value r);
  mlir::Value isNan(mlir::Value v);
  mlir::Value select(mlir::Value condition, mlir::Value yes, mlir::Value no);
  /// Clamps `v` to a range; NaN is kept.
  mlir::Value clamp(mlir::Value v, double low, double high);

  mlir::Value toFloat(mlir::Value v);
  mlir::Value bits(mlir::Value v);
  mlir::Value fromBits(mlir::Value v);
  /// Returns 2^n for an integer n from -126 to 127; for f64, from -1022 to 1023.
  mlir::Value powerOfTwo(mlir::Value n);

  template <typename Op> mlir::Value ints(mlir::Value l, mlir::Value r) {
    return Op::create(b, loc, l, r);
  }
  mlir::Value equalInts(mlir::Value l, mlir::Value r);

private:
  template <typename Op> mlir::Value binary(mlir::Value l, mlir::Value r) {
    return Op::create(b, loc, l, r, mlir::arith::FastMathFlags::contract);
  }
  mlir::Type withElement(mlir::Type element) const;

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type type;
};

} // namespace tfc::kernels
