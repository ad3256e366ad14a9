// Converts bf16 and f16 to and from f32 by integer operations, or by the target's instructions.
#include "compiler/emission/ShortFloats.h"
#include "llvm/MC/MCSubtargetInfo.h"

using namespace llvm;
using namespace tfc::emission;

ShortFloats::ShortFloats(const TargetMachine &target) {
  const MCSubtargetInfo *info = target.getMCSubtargetInfo();
  auto has = [&](StringRef feature) { return info->checkFeatures(("+" + feature).str()); };
  if (target.getTargetTriple().isX86()) {
    convertsHalf = has("f16c");
    computesHalf = has("avx512fp16");
    truncatesToBFloat = has("avx512bf16") && has("avx512vl");
  } else if (target.getTargetTriple().isAArch64()) {
    convertsHalf = true;
    computesHalf = has("fullfp16");
  }
}

bool ShortFloats::isShort(Type *type) const {
  Type *element = type->getScalarType();
  return element->isBFloatTy() || (element->isHalfTy() && !computesHalf);
}

Type *ShortFloats::bitsType(Type *type) const {
  return isShort(type) ? type->getWithNewType(Type::getInt16Ty(type->getContext())) : type;
}

Type *ShortFloats::floatType(Type *type) const {
  return isShort(type) ? type->getWithNewType(Type::getFloatTy(type->getContext())) : type;
}

Constant *ShortFloats::signMask(Type *type) const {
  return ConstantInt::get(bitsType(type), 0x8000);
}

//===----------------------------------------------------------------------===//
// bf16: the upper half of an f32
//===----------------------------------------------------------------------===//

static Value *extendBFloat(IRBuilder<> &b, Value *bits, Type *ints, Type *floats) {
  return b.CreateBitCast(b.CreateShl(b.CreateZExt(bits, ints), 16), floats);
}

/// Rounds to nearest even: adds half of the last remaining bit, minus one unit if that bit is 0,
/// and drops the lower bits.
static Value *truncateToBFloat(IRBuilder<> &b, Value *number, Type *ints, Type *shorts) {
  Value *bits = b.CreateBitCast(number, ints);
  Value *high = b.CreateLShr(bits, 16);
  Value *odd = b.CreateAnd(high, 1);
  Value *rounded = b.CreateAdd(bits, b.CreateAdd(odd, ConstantInt::get(ints, 0x7fff)));
  Value *isNan = b.CreateFCmpUNO(number, number), *nan = ConstantInt::get(ints, 0x7fc0);
  return b.CreateTrunc(b.CreateSelect(isNan, nan, b.CreateLShr(rounded, 16)), shorts);
}

//===----------------------------------------------------------------------===//
// f16 by integers
//===----------------------------------------------------------------------===//

// During a call f32 denormals count as zero, so intermediate results must not
// be denormal.

/// The exponent of f32 for the smallest exponent of f16, in place: 2^-14.
static constexpr uint32_t kSmallestHalf = 113 << 23;

static Value *extendHalf(IRBuilder<> &b, Value *bits, Type *ints, Type *floats) {
  auto constant = [&](uint32_t value) { return ConstantInt::get(ints, value); };
  Value *wide = b.CreateZExt(bits, ints);
  Value *sign = b.CreateShl(b.CreateAnd(wide, constant(0x8000)), 16);
  Value *size = b.CreateShl(b.CreateAnd(wide, constant(0x7fff)), 13);
  Value *normal = b.CreateAdd(size, constant((127 - 15) << 23));
  // The exponent of infinities and NaN is 255, and NaN is quiet.
  Value *special = b.CreateAdd(size, constant((255 - 31) << 23));
  Value *quiet = b.CreateOr(special, constant(1 << 22));
  special = b.CreateSelect(b.CreateICmpUGT(size, constant(31 << 23)), quiet, special);
  // A denormal is the difference between 2^-14 with its digits and 2^-14.
  Value *smallest = b.CreateBitCast(constant(kSmallestHalf), floats);
  Value *sum = b.CreateBitCast(b.CreateAdd(size, constant(kSmallestHalf)), floats);
  Value *denormal = b.CreateBitCast(b.CreateFSub(sum, smallest), ints);
  Value *result = b.CreateSelect(b.CreateICmpUGE(size, constant(31 << 23)), special, normal);
  result = b.CreateSelect(b.CreateICmpULT(size, constant(1 << 23)), denormal, result);
  return b.CreateBitCast(b.CreateOr(result, sign), floats);
}

static Value *truncateToHalf(IRBuilder<> &b, Value *number, Type *ints, Type *shorts) {
  auto constant = [&](uint32_t value) { return ConstantInt::get(ints, value); };
  Type *floats = number->getType();
  Value *bits = b.CreateBitCast(number, ints);
  Value *sign = b.CreateAnd(b.CreateLShr(bits, 16), constant(0x8000));
  Value *size = b.CreateAnd(bits, constant(0x7fffffff));
  // Like for bf16; numbers that are too large carry into the exponent of infinity.
  Value *odd = b.CreateAnd(b.CreateLShr(size, 13), 1);
  Value *rounded = b.CreateAdd(size, b.CreateAdd(odd, constant(0xfff - ((127 - 15) << 23))));
  Value *result = b.CreateLShr(rounded, 13);
  // The last bit of 1/2 is that of the smallest denormal, so the sum rounds to it.
  Value *half = ConstantFP::get(floats, 0.5);
  Value *sum = b.CreateFAdd(b.CreateBitCast(size, floats), half);
  Value *denormal = b.CreateSub(b.CreateBitCast(sum, ints), b.CreateBitCast(half, ints));
  result = b.CreateSelect(b.CreateICmpULT(size, constant(kSmallestHalf)), denormal, result);
  Value *digits = b.CreateAnd(b.CreateLShr(size, 13), constant(0x3ff));
  Value *isNan = b.CreateICmpUGT(size, constant(0x7f800000));
  Value *special = b.CreateSelect(isNan, b.CreateOr(digits, constant(0x7e00)), constant(0x7c00));
  result = b.CreateSelect(b.CreateICmpUGE(size, constant(143 << 23)), special, result);
  return b.CreateTrunc(b.CreateOr(result, sign), shorts);
}

Value *ShortFloats::extend(IRBuilder<> &b, Value *bits, Type *type) const {
  Type *floats = floatType(type), *ints = type->getWithNewType(b.getInt32Ty());
  if (type->getScalarType()->isBFloatTy())
    return extendBFloat(b, bits, ints, floats);
  if (convertsHalf)
    return b.CreateFPExt(b.CreateBitCast(bits, type), floats);
  return extendHalf(b, bits, ints, floats);
}

Value *ShortFloats::truncate(IRBuilder<> &b, Value *number, Type *type) const {
  Type *shorts = bitsType(type), *ints = type->getWithNewType(b.getInt32Ty());
  bool isBFloat = type->getScalarType()->isBFloatTy();
  if (isBFloat ? truncatesToBFloat : convertsHalf)
    return b.CreateBitCast(b.CreateFPTrunc(number, type), shorts);
  return isBFloat ? truncateToBFloat(b, number, ints, shorts)
                  : truncateToHalf(b, number, ints, shorts);
}
