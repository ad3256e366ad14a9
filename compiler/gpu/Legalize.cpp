//===- Legalize.cpp - Code that LLVM's code generator takes ---------------===//
//
// Rewrites instructions that the code generator for GPUs of LLVM 22 lacks or gets wrong. Arithmetic
// on 16-bit floats is in f32, as elsewhere: that of bf16 is incomplete, and that of f16 flushes
// denormals where that of f32 shall.
//
//===----------------------------------------------------------------------===//

#include "compiler/gpu/Legalize.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

/// Limits the amounts of 64-bit shifts. The code generator takes `n < 64 ? x << n : 0` for a shift,
/// because those of PTX clamp their amount, but that has 32 bits, so that it clamps the wrong
/// number for large `n`. It does not recognise a limited amount.
static void limitAmount(Instruction &shift) {
  Value *amount = shift.getOperand(1);
  if (!shift.getType()->isIntegerTy(64) || isa<Constant>(amount))
    return;
  IRBuilder<> b(&shift);
  Value *most = ConstantInt::get(amount->getType(), 63);
  shift.setOperand(1, b.CreateBinaryIntrinsic(Intrinsic::umin, amount, most));
}

/// Expands copysign to integer operations. Instruction selection would sink it below a truncation
/// to half, and the instructions that it selects there flush denormals.
static void copySign(IntrinsicInst &call) {
  IRBuilder<> b(&call);
  Type *type = call.getType(), *bits = b.getIntNTy(type->getScalarSizeInBits());
  Constant *sign = ConstantInt::get(bits, APInt::getSignMask(bits->getIntegerBitWidth()));
  Value *magnitude = b.CreateAnd(b.CreateBitCast(call.getArgOperand(0), bits), b.CreateNot(sign));
  Value *other = b.CreateAnd(b.CreateBitCast(call.getArgOperand(1), bits), sign);
  call.replaceAllUsesWith(b.CreateBitCast(b.CreateOr(magnitude, other), type));
  call.eraseFromParent();
}

static bool isShort(const Value *value) {
  return value->getType()->isBFloatTy() || value->getType()->isHalfTy();
}

static Value *widen(IRBuilder<> &b, Value *value) {
  return isShort(value) ? b.CreateFPExt(value, b.getFloatTy()) : value;
}

/// Replaces an instruction by a value in f32, which is rounded if the instruction is of 16 bits.
static void replace(IRBuilder<> &b, Instruction &old, Value *value) {
  if (isShort(&old))
    value = b.CreateFPTrunc(value, old.getType());
  old.replaceAllUsesWith(value);
  old.eraseFromParent();
}

static void computeInF32(IntrinsicInst &call) {
  IRBuilder<> b(&call);
  SmallVector<Value *> arguments;
  for (Value *argument : call.args())
    arguments.push_back(widen(b, argument));
  SmallVector<Type *> overloads{b.getFloatTy()};
  bool convertsToInteger = call.getIntrinsicID() == Intrinsic::fptosi_sat ||
                           call.getIntrinsicID() == Intrinsic::fptoui_sat;
  if (convertsToInteger)
    overloads.insert(overloads.begin(), call.getType());
  replace(b, call, b.CreateIntrinsic(call.getIntrinsicID(), overloads, arguments));
}

static void computeInF32(Instruction &instruction) {
  IRBuilder<> b(&instruction);
  if (auto *call = dyn_cast<IntrinsicInst>(&instruction))
    return computeInF32(*call);
  if (auto *compare = dyn_cast<FCmpInst>(&instruction))
    return replace(b, instruction,
                   b.CreateFCmp(compare->getPredicate(), widen(b, compare->getOperand(0)),
                                widen(b, compare->getOperand(1))));
  if (instruction.getOpcode() == Instruction::FNeg)
    return replace(b, instruction, b.CreateFNeg(widen(b, instruction.getOperand(0))));
  auto &operation = cast<BinaryOperator>(instruction);
  replace(b, instruction,
          b.CreateBinOp(operation.getOpcode(), widen(b, operation.getOperand(0)),
                        widen(b, operation.getOperand(1))));
}

/// Returns true for arithmetic and comparisons on floats of 16 bits. Conversions and moves are
/// left.
static bool computesInShort(const Instruction &instruction) {
  if (!isa<IntrinsicInst, FCmpInst, BinaryOperator, UnaryOperator>(instruction))
    return false;
  return isShort(&instruction) || any_of(instruction.operand_values(), isShort);
}

void tfc::gpu::legalize(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction : make_early_inc_range(instructions(function)))
      if (instruction.isShift())
        limitAmount(instruction);
      else if (auto *call = dyn_cast<IntrinsicInst>(&instruction);
               call && call->getIntrinsicID() == Intrinsic::copysign &&
               !call->getType()->isVectorTy())
        copySign(*call);
      else if (computesInShort(instruction))
        computeInF32(instruction);
}
