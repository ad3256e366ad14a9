// Products of bytes, four to a lane of 32 bits: by an instruction for them, by products of 16 bits,
// or by shifts and products of 32 bits. None of them saturates, so that all sums are the same.

#include "compiler/cpu/ContractionMicro.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tfc::cpu {

static constexpr int64_t kByteBits = 8, kShortBits = 16, kLaneBits = 32;

ByteForm byteFormOf(const Target &target, const ByteSteps &steps) {
  if (target.hasByteProducts && !steps.isSignedA && steps.isSignedB)
    return ByteForm::Direct;
  if (!target.hasEqualByteProducts)
    return ByteForm::Widened;
  return steps.isSignedA == steps.isSignedB ? ByteForm::Direct : ByteForm::Corrected;
}

Value ByteMultiplier::splat(Type type, int64_t value) {
  auto vector = cast<VectorType>(type);
  auto element = b.getIntegerAttr(vector.getElementType(), value);
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(vector, element));
}

ByteMultiplier::Factor ByteMultiplier::loadA(Value pointer, int64_t count) {
  Type byte = b.getI8Type(), word = b.getI32Type();
  auto load = [&](Type type, int64_t offset) -> Value {
    return LLVM::LoadOp::create(b, loc, type, advance(b, loc, pointer, byte, offset, {1, {}}),
                                /*alignment=*/1);
  };
  auto type = VectorType::get({lanes}, word);
  auto everywhere = [&](Value quad) -> Value {
    return vector::BroadcastOp::create(b, loc, type, quad);
  };
  int64_t missing = ByteSteps::kGroup - count;
  if (missing == 0)
    return prepare(everywhere(load(word, 0)), steps.isSignedA);
  if (steps.steps >= ByteSteps::kGroup) {
    Value quads = arith::ShRUIOp::create(b, loc, everywhere(load(word, -missing)),
                                         splat(type, missing * kByteBits));
    return prepare(quads, steps.isSignedA);
  }
  Value quad = arith::ExtUIOp::create(b, loc, word, load(byte, 0));
  for (int64_t i = 1; i < count; ++i) {
    Value next = arith::ExtUIOp::create(b, loc, word, load(byte, i));
    Value bits = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(i * kByteBits)));
    quad = arith::OrIOp::create(b, loc, quad, arith::ShLIOp::create(b, loc, next, bits));
  }
  return prepare(everywhere(quad), steps.isSignedA);
}

ByteMultiplier::Factor ByteMultiplier::loadB(Value pointer, int64_t count, Value mask) {
  auto type = VectorType::get({lanes}, b.getI32Type());
  auto load = [&](VectorType loaded, Value from) -> Value {
    if (mask)
      return LLVM::MaskedLoadOp::create(b, loc, loaded, from, mask, zeroOf(b, loc, loaded), 1);
    return LLVM::LoadOp::create(b, loc, loaded, from, /*alignment=*/1);
  };
  if (count == ByteSteps::kGroup)
    return prepare(load(type, pointer), steps.isSignedB);
  auto bytes = VectorType::get({lanes}, b.getI8Type());
  Value quads;
  for (int64_t i = 0; i < count; ++i) {
    Value from = advance(b, loc, pointer, b.getI8Type(), i, {steps.columns, {}});
    Value step = arith::ExtUIOp::create(b, loc, type, load(bytes, from));
    step = arith::ShLIOp::create(b, loc, step, splat(type, i * kByteBits));
    quads = quads ? arith::OrIOp::create(b, loc, quads, step) : step;
  }
  return prepare(quads, steps.isSignedB);
}

/// With x + 128 instead of the factor without a sign, the sum of products x * y lacks 128 * y,
/// which is computed once for each y.
ByteMultiplier::Factor ByteMultiplier::prepareCorrected(Value bytes, bool isSigned) {
  constexpr int64_t kHalf = 64;
  if (!isSigned)
    return {arith::XOrIOp::create(b, loc, bytes, splat(bytes.getType(), -2 * kHalf))};
  Value half = splat(bytes.getType(), kHalf);
  Value sum = zeroOf(b, loc, VectorType::get({lanes}, b.getI32Type()));
  for (int i = 0; i < 2; ++i)
    sum = addDirect(half, bytes, sum);
  return {bytes, sum};
}

/// Bytes become numbers of 16 bits, those at even positions and those at odd ones, or of 32 bits.
ByteMultiplier::Factor ByteMultiplier::prepare(Value quads, bool isSigned) {
  if (form != ByteForm::Widened) {
    auto type = VectorType::get({lanes * ByteSteps::kGroup}, b.getI8Type());
    Value bytes = vector::BitCastOp::create(b, loc, type, quads);
    return form == ByteForm::Direct ? Factor{bytes} : prepareCorrected(bytes, isSigned);
  }
  int64_t bits = target.hasShortProducts ? kShortBits : kLaneBits;
  auto type = VectorType::get({lanes * kLaneBits / bits}, b.getIntegerType(bits));
  Value all = vector::BitCastOp::create(b, loc, type, quads);
  Factor factor;
  for (int64_t i = 0; i < bits / kByteBits; ++i) {
    // Shifted to the top, and back.
    int64_t up = bits - kByteBits * (i + 1), down = bits - kByteBits;
    Value part = all;
    if (up > 0)
      part = arith::ShLIOp::create(b, loc, part, splat(type, up));
    if (isSigned)
      part = arith::ShRSIOp::create(b, loc, part, splat(type, down));
    else
      part = arith::ShRUIOp::create(b, loc, part, splat(type, down));
    factor.push_back(part);
  }
  return factor;
}

Value ByteMultiplier::intrinsic(StringRef name, ValueRange operands) {
  auto type = VectorType::get({lanes}, b.getI32Type());
  return LLVM::CallIntrinsicOp::create(b, loc, type, b.getStringAttr(name), operands).getResult(0);
}

/// By the instruction for these kinds of bytes, or, of corrected ones, for bytes with a sign.
Value ByteMultiplier::addDirect(Value a, Value bytes, Value sum) {
  int64_t bits = lanes * kLaneBits;
  if (!target.isArm)
    return intrinsic("llvm.x86.avx512.vpdpbusd." + std::to_string(bits), {sum, a, bytes});
  bool isMixed = form == ByteForm::Direct && steps.isSignedA != steps.isSignedB;
  bool isSigned = form == ByteForm::Corrected || steps.isSignedA;
  std::string name = isMixed ? "usdot" : isSigned ? "sdot" : "udot";
  name = "llvm.aarch64.neon." + name + ".v" + std::to_string(lanes) + "i32.v" +
         std::to_string(lanes * ByteSteps::kGroup) + "i8";
  return intrinsic(name, {sum, a, bytes});
}

Value ByteMultiplier::add(const Factor &a, const Factor &bytes, Value sum) {
  int64_t bits = lanes * kLaneBits;
  if (form != ByteForm::Widened) {
    sum = addDirect(a.front(), bytes.front(), sum);
    for (const Factor &factor : {a, bytes})
      if (factor.size() > 1)
        sum = arith::AddIOp::create(b, loc, sum, factor.back());
    return sum;
  }
  for (auto [left, right] : llvm::zip_equal(a, bytes)) {
    Value product;
    if (target.hasShortProducts)
      product = intrinsic(bits == 512   ? "llvm.x86.avx512.pmaddw.d.512"
                          : bits == 256 ? "llvm.x86.avx2.pmadd.wd"
                                        : "llvm.x86.sse2.pmadd.wd",
                          {left, right});
    else
      product = arith::MulIOp::create(b, loc, left, right);
    sum = arith::AddIOp::create(b, loc, sum, product);
  }
  return sum;
}

} // namespace tfc::cpu
