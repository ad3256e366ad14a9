//===- Formula.h - Tensor arithmetic written as formulas ------------------===//

#pragma once

#include "dialects/dfg/Build.h"

namespace tfc::dfg {

/// A tensor in a formula: operators build dfg operations at one location, and a number becomes a
/// scalar of the other operand's dtype.
class Term {
public:
  Term(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value)
      : builder(&b), loc(loc), value(value) {}

  operator mlir::Value() const { return value; }
  mlir::OpBuilder &getBuilder() const { return *builder; }
  mlir::Location getLoc() const { return loc; }
  mlir::Type getDtype() const { return elementTypeOf(value.getType()); }
  Shape getShape() const { return shapeOf(value.getType()); }

  /// Another tensor in the same formula.
  Term with(mlir::Value other) const { return Term(*builder, loc, other); }
  Term number(double other) const { return with(scalar(*builder, loc, getDtype(), other)); }

private:
  mlir::OpBuilder *builder;
  mlir::Location loc;
  mlir::Value value;
};

namespace detail {
inline mlir::Value plain(const Term &term) { return term; }
template <typename T> decltype(auto) plain(T &&argument) { return std::forward<T>(argument); }
} // namespace detail

/// `dfg.op` of a term and further operands or attributes.
template <typename Op, typename... Args> Term call(const Term &x, Args &&...args) {
  return x.with(Op::create(x.getBuilder(), x.getLoc(), mlir::Value(x),
                           detail::plain(std::forward<Args>(args))...)
                    ->getResult(0));
}

inline Term operator+(const Term &a, const Term &b) { return call<AddOp>(a, b); }
inline Term operator+(const Term &a, double b) { return a + a.number(b); }
inline Term operator+(double a, const Term &b) { return b.number(a) + b; }
inline Term operator-(const Term &a, const Term &b) { return call<SubOp>(a, b); }
inline Term operator-(const Term &a, double b) { return a - a.number(b); }
inline Term operator-(double a, const Term &b) { return b.number(a) - b; }
inline Term operator*(const Term &a, const Term &b) { return call<MulOp>(a, b); }
inline Term operator*(const Term &a, double b) { return a * a.number(b); }
inline Term operator*(double a, const Term &b) { return b.number(a) * b; }
inline Term operator/(const Term &a, const Term &b) { return call<DivOp>(a, b); }
inline Term operator/(const Term &a, double b) { return a / a.number(b); }
inline Term operator/(double a, const Term &b) { return b.number(a) / b; }
inline Term operator-(const Term &a) { return call<NegOp>(a); }

/// Comparisons, elementwise; the result is bool.
inline Term less(const Term &a, const Term &b) { return call<LessOp>(a, b); }
inline Term less(const Term &a, double b) { return less(a, a.number(b)); }
inline Term greater(const Term &a, const Term &b) { return call<GreaterOp>(a, b); }
inline Term greater(const Term &a, double b) { return greater(a, a.number(b)); }

/// `onTrue` where `condition` holds, else `onFalse`.
inline Term select(const Term &condition, const Term &onTrue, const Term &onFalse) {
  return call<SelectOp>(condition, onTrue, onFalse);
}

/// The sum over one axis, which stays with size 1.
inline Term sumKept(const Term &x, int64_t axis) {
  mlir::OpBuilder &b = x.getBuilder();
  return call<SumOp>(x, b.getDenseI64ArrayAttr({axis}), b.getBoolAttr(true));
}

inline Term reshape(const Term &x, llvm::ArrayRef<DimExpr> shape) {
  return x.with(reshapeTo(x.getBuilder(), x, shape));
}

} // namespace tfc::dfg
