//===- Logic.cpp - Logic, bits, kinds of numbers --------------------------===//
//
// Evaluates logic, bit operations and predicates of floats.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Pointwise.h"
#include <cmath>

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

using Integers = ArrayRef<int64_t>;

template <typename Op> static void addInteger(Registry &registry, int64_t (*function)(Integers)) {
  registry.add<Op>([=](Op, Call &call) { mapInteger(call, function); });
}

/// Registers a function of two truth values, which is `absorbing` if one of them is: then nothing
/// depends on the other one.
template <typename Op> static void addAbsorbing(Registry &registry, int64_t absorbing) {
  registry.add<Op>([=](Op, Call &call) {
    forEachElement(call, [&](int64_t i, ArrayRef<int64_t> at) {
      bool isAbsorbed = false, isDetermined = true;
      for (auto [n, offset] : llvm::enumerate(at)) {
        const Tensor &x = call.operand(n);
        bool isAbsorbing = x.integer(offset) == absorbing;
        isDetermined &= x.isDetermined(offset);
        if (isAbsorbing && x.isDetermined(offset))
          return call.result().setInteger(i, absorbing, /*isDetermined=*/true);
        isAbsorbed |= isAbsorbing;
      }
      call.result().setInteger(i, isAbsorbed ? absorbing : 1 - absorbing, isDetermined);
    });
  });
}

/// Registers a predicate of floats that rounding does not affect, unless it may have made a number
/// infinite.
template <typename Op> static void addPredicate(Registry &registry, bool (*holds)(double)) {
  registry.add<Op>([=](Op, Call &call) {
    forEachElement(call, [&](int64_t i, ArrayRef<int64_t> at) {
      Real x = call.operand().real(at[0]);
      call.result().setInteger(i, holds(x.value), x.isDetermined());
    });
  });
}

/// Returns true if `count`, as an unsigned number, is less than the width.
static bool isShort(const Tensor &x, int64_t count) {
  return count >= 0 && count < int64_t(x.getElementType().getIntOrFloatBitWidth());
}

static void shiftLeft(ShiftLeftOp, Call &call) {
  mapInteger(call, [&](Integers x) -> int64_t {
    return isShort(call.operand(), x[1]) ? int64_t(uint64_t(x[0]) << x[1]) : 0;
  });
}

/// Numbers are stored sign-extended, so the right bit is shifted in.
static void shiftRight(ShiftRightOp, Call &call) {
  bool isUnsigned = call.operand().getElementType().isUnsignedInteger();
  mapInteger(call, [&](Integers x) -> int64_t {
    if (isUnsigned)
      return isShort(call.operand(), x[1]) ? int64_t(uint64_t(x[0]) >> x[1]) : 0;
    if (isShort(call.operand(), x[1]))
      return x[0] >> x[1];
    return x[0] < 0 ? -1 : 0;
  });
}

/// Returns the bits of a number that is a float of this type.
static int64_t bitsOf(Type type, double value) {
  APFloat number(value);
  bool losesInfo;
  number.convert(cast<FloatType>(type).getFloatSemantics(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return number.bitcastToAPInt().getSExtValue();
}

/// Returns the float of this type with these bits.
static double floatOf(Type type, int64_t bits) {
  const llvm::fltSemantics &semantics = cast<FloatType>(type).getFloatSemantics();
  APInt narrow = APInt(64, uint64_t(bits)).trunc(type.getIntOrFloatBitWidth());
  return APFloat(semantics, narrow).convertToDouble();
}

static void bitcast(BitcastOp op, Call &call) {
  Type to = op.getDtype(), from = call.operand().getElementType();
  for (int64_t i = 0; i < call.result().size(); ++i) {
    Real x = call.operand().isFloat() ? call.operand().real(i) : Real();
    bool isDetermined = call.operand().isFloat() ? x.isExact() && !std::isnan(x.value)
                                                 : call.operand().isDetermined(i);
    int64_t bits = call.operand().isFloat() ? bitsOf(from, x.value) : call.operand().integer(i);
    if (call.result().isFloat())
      call.result().setReal(i, {floatOf(to, bits), isDetermined ? 0 : kUndetermined});
    else
      call.result().setInteger(i, bits, isDetermined);
  }
}

void addLogic(Registry &registry) {
  addAbsorbing<LogicalAndOp>(registry, 0);
  addAbsorbing<LogicalOrOp>(registry, 1);
  addInteger<LogicalXorOp>(registry, [](Integers x) { return x[0] ^ x[1]; });
  addInteger<LogicalNotOp>(registry, [](Integers x) { return int64_t(x[0] == 0); });
  addInteger<BitwiseAndOp>(registry, [](Integers x) { return x[0] & x[1]; });
  addInteger<BitwiseOrOp>(registry, [](Integers x) { return x[0] | x[1]; });
  addInteger<BitwiseXorOp>(registry, [](Integers x) { return x[0] ^ x[1]; });
  addInteger<BitwiseNotOp>(registry, [](Integers x) { return ~x[0]; });
  registry.add<BitcastOp>(bitcast);
  registry.add<ShiftLeftOp>(shiftLeft);
  registry.add<ShiftRightOp>(shiftRight);
  addPredicate<IsNanOp>(registry, [](double x) { return std::isnan(x); });
  addPredicate<IsInfOp>(registry, [](double x) { return std::isinf(x); });
  addPredicate<IsFiniteOp>(registry, [](double x) { return std::isfinite(x); });
}

} // namespace tfc::reference
