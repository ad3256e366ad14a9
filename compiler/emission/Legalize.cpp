// Replaces operations on short floats and wide integers that instruction selection would implement
// by calls of compiler-rt or libgcc. ShortFloats.cpp has the conversions of single numbers.
#include "compiler/emission/Legalize.h"
#include "compiler/emission/ShortFloats.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/IntegerDivision.h"

using namespace llvm;
using namespace tfc::emission;

//===----------------------------------------------------------------------===//
// Values of short floats
//===----------------------------------------------------------------------===//

namespace {

/// Changes the types of one function's values to their representations by
/// `ShortFloats`.
class ShortFloatLegalizer {
public:
  ShortFloatLegalizer(Function &function, const ShortFloats &shorts)
      : function(function), shorts(shorts) {}

  void run();

private:
  /// An instruction with operands or a result of short floats, with its original types.
  struct Item {
    Instruction *instruction;
    Type *type;
    SmallVector<Type *, 4> operandTypes;
  };

  bool isShort(Type *type) const { return shorts.isShort(type); }
  Item describe(Instruction &instruction) const;
  bool isRewritten(const Instruction &instruction) const;
  void castAround(const Item &item);
  void changeTypes(const Item &item);
  void rewrite(const Item &item);
  Value *build(IRBuilder<> &b, const Item &item);
  Value *buildInFloats(IRBuilder<> &b, const Item &item);
  Value *buildCall(IRBuilder<> &b, const Item &item);
  Value *float32(IRBuilder<> &b, const Item &item, unsigned operand);

  Function &function;
  const ShortFloats &shorts;
};

} // namespace

/// Returns true if an instruction only moves values, so that its operands may have any type.
static bool isMove(const Instruction &instruction) {
  return isa<PHINode, SelectInst, LoadInst, StoreInst, ExtractElementInst, InsertElementInst,
             ShuffleVectorInst, FreezeInst>(instruction);
}

/// Returns true if an intrinsic only moves elements.
static bool isMove(Intrinsic::ID id) {
  switch (id) {
  case Intrinsic::masked_load:
  case Intrinsic::masked_store:
  case Intrinsic::masked_gather:
  case Intrinsic::masked_scatter:
  case Intrinsic::masked_expandload:
  case Intrinsic::masked_compressstore:
  case Intrinsic::vector_insert:
  case Intrinsic::vector_extract:
  case Intrinsic::vector_reverse:
  case Intrinsic::vector_splice_left:
  case Intrinsic::vector_splice_right:
  case Intrinsic::vector_interleave2:
  case Intrinsic::experimental_vector_compress:
    return true;
  default:
    return false;
  }
}

ShortFloatLegalizer::Item ShortFloatLegalizer::describe(Instruction &instruction) const {
  Item item{&instruction, instruction.getType(), {}};
  for (Value *operand : instruction.operands())
    item.operandTypes.push_back(operand->getType());
  return item;
}

/// Returns true if an instruction has an equivalent without short floats; others get casts around
/// them.
bool ShortFloatLegalizer::isRewritten(const Instruction &instruction) const {
  if (isMove(instruction) || isa<CastInst, BinaryOperator, UnaryOperator, FCmpInst>(instruction))
    return true;
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  return call && call->getIntrinsicID() != Intrinsic::is_fpclass &&
         !call->getCalledFunction()->isTargetIntrinsic() && !instruction.getType()->isStructTy() &&
         !call->hasOperandBundles();
}

/// Inserts casts around an instruction that requires short floats, such as an indirect call.
void ShortFloatLegalizer::castAround(const Item &item) {
  Instruction *instruction = item.instruction;
  for (auto [use, type] : zip_equal(instruction->operands(), item.operandTypes))
    if (isShort(type) && use->getType() != type)
      use.set(CastInst::CreateBitOrPointerCast(use, type, "", instruction->getIterator()));
  if (!isShort(item.type))
    return;
  std::optional<BasicBlock::iterator> after = instruction->getInsertionPointAfterDef();
  auto *bits = new BitCastInst(instruction, shorts.bitsType(item.type), "", *after);
  for (Use &use : make_early_inc_range(instruction->uses()))
    if (use.getUser() != bits)
      use.set(bits);
}

/// Changes the types of the result and of constants. This completes moves; the operands of all
/// other instructions are integers afterwards.
void ShortFloatLegalizer::changeTypes(const Item &item) {
  for (Use &use : item.instruction->operands())
    if (auto *constant = dyn_cast<Constant>(use); constant && isShort(constant->getType()))
      use.set(ConstantExpr::getBitCast(constant, shorts.bitsType(constant->getType())));
  if (isShort(item.type))
    item.instruction->mutateType(shorts.bitsType(item.type));
}

Value *ShortFloatLegalizer::float32(IRBuilder<> &b, const Item &item, unsigned operand) {
  Value *value = item.instruction->getOperand(operand);
  Type *type = item.operandTypes[operand];
  return isShort(type) ? shorts.extend(b, value, type) : value;
}

/// Creates a call of the same intrinsic with its overloaded types mapped by `change`.
static Value *callAgain(IRBuilder<> &b, IntrinsicInst &call, ArrayRef<Value *> operands,
                        function_ref<Type *(Type *)> change) {
  SmallVector<Type *> types;
  [[maybe_unused]] bool isKnown = Intrinsic::getIntrinsicSignature(call.getCalledFunction(), types);
  assert(isKnown && "an intrinsic has the type of its declaration");
  for (Type *&type : types)
    type = change(type);
  CallInst *again = b.CreateIntrinsic(call.getIntrinsicID(), types, operands);
  again->copyMetadata(call);
  if (isa<FPMathOperator>(again) && isa<FPMathOperator>(call))
    again->copyFastMathFlags(&call);
  again->setAttributes(call.getAttributes());
  AttributeMask wrong =
      AttributeFuncs::typeIncompatible(again->getType(), again->getAttributes().getRetAttrs());
  again->removeRetAttrs(wrong);
  return again;
}

Value *ShortFloatLegalizer::buildCall(IRBuilder<> &b, const Item &item) {
  auto &call = cast<IntrinsicInst>(*item.instruction);
  SmallVector<Value *> operands(call.args());
  if (isMove(call.getIntrinsicID()))
    return callAgain(b, call, operands, [&](Type *type) { return shorts.bitsType(type); });
  for (unsigned i = 0; i < operands.size(); ++i)
    operands[i] = float32(b, item, i);
  Value *result = callAgain(b, call, operands, [&](Type *type) { return shorts.floatType(type); });
  return isShort(item.type) ? shorts.truncate(b, result, item.type) : result;
}

/// Computes an operation on floats in f32.
Value *ShortFloatLegalizer::buildInFloats(IRBuilder<> &b, const Item &item) {
  Instruction *copy = item.instruction->clone();
  copy->mutateType(shorts.floatType(item.type));
  for (unsigned i = 0; i < item.operandTypes.size(); ++i)
    copy->setOperand(i, float32(b, item, i));
  b.Insert(copy);
  return isShort(item.type) ? shorts.truncate(b, copy, item.type) : copy;
}

Value *ShortFloatLegalizer::build(IRBuilder<> &b, const Item &item) {
  Instruction &instruction = *item.instruction;
  Value *first = instruction.getOperand(0);
  if (isa<BitCastInst>(instruction))
    return b.CreateBitCast(first, shorts.bitsType(item.type));
  if (instruction.getOpcode() == Instruction::FNeg)
    return b.CreateXor(first, shorts.signMask(item.type));
  if (isa<FPTruncInst>(instruction)) {
    Value *number = b.CreateFPTrunc(first, shorts.floatType(item.type));
    return shorts.truncate(b, number, item.type);
  }
  if (isa<FPExtInst>(instruction))
    return b.CreateFPExt(float32(b, item, 0), item.type);
  if (auto *call = dyn_cast<IntrinsicInst>(&instruction)) {
    if (call->getIntrinsicID() == Intrinsic::fabs)
      return b.CreateAnd(first, b.CreateNot(shorts.signMask(item.type)));
    return buildCall(b, item);
  }
  return buildInFloats(b, item);
}

void ShortFloatLegalizer::rewrite(const Item &item) {
  if (isMove(*item.instruction))
    return;
  IRBuilder<> b(item.instruction);
  Value *value = build(b, item);
  item.instruction->replaceAllUsesWith(value);
  item.instruction->eraseFromParent();
}

void ShortFloatLegalizer::run() {
  std::vector<Item> rewritten, kept;
  for (Instruction &instruction : instructions(function)) {
    Item item = describe(instruction);
    if (isShort(item.type) || any_of(item.operandTypes, [&](Type *t) { return isShort(t); }))
      (isRewritten(instruction) ? rewritten : kept).push_back(std::move(item));
  }
  for (const Item &item : rewritten)
    changeTypes(item);
  for (const Item &item : kept)
    castAround(item);
  for (const Item &item : rewritten)
    rewrite(item);
}

//===----------------------------------------------------------------------===//
// Short floats between functions
//===----------------------------------------------------------------------===//

static FunctionType *bitsSignature(FunctionType *type, const ShortFloats &shorts) {
  SmallVector<Type *> parameters;
  for (Type *parameter : type->params())
    parameters.push_back(shorts.bitsType(parameter));
  return FunctionType::get(shorts.bitsType(type->getReturnType()), parameters, type->isVarArg());
}

/// Moves the body, with casts of arguments and results.
static void moveBody(Function &from, Function &to) {
  to.splice(to.begin(), &from);
  if (to.empty())
    return;
  IRBuilder<> b(&to.getEntryBlock(), to.getEntryBlock().getFirstInsertionPt());
  for (auto [old, argument] : zip_equal(from.args(), to.args()))
    old.replaceAllUsesWith(b.CreateBitCast(&argument, old.getType()));
  for (BasicBlock &block : to)
    if (auto *result = dyn_cast<ReturnInst>(block.getTerminator());
        result && result->getNumOperands())
      result->setOperand(
          0, IRBuilder<>(result).CreateBitCast(result->getOperand(0), to.getReturnType()));
}

static void callInstead(CallInst &call, Function &function) {
  IRBuilder<> b(&call);
  SmallVector<Value *> operands;
  for (auto [operand, type] : zip_equal(call.args(), function.getFunctionType()->params()))
    operands.push_back(b.CreateBitCast(operand, type));
  CallInst *again = b.CreateCall(&function, operands);
  again->setCallingConv(call.getCallingConv());
  again->setAttributes(call.getAttributes());
  if (!call.getType()->isVoidTy())
    call.replaceAllUsesWith(b.CreateBitCast(again, call.getType()));
  call.eraseFromParent();
}

/// Makes functions take and return integers in place of short floats, consistently in all objects
/// of a model.
static void changeSignatures(Module &module, const ShortFloats &shorts) {
  for (Function &function : make_early_inc_range(module)) {
    FunctionType *type = function.getFunctionType(), *changed = bitsSignature(type, shorts);
    if (changed == type || function.isIntrinsic() || function.isVarArg())
      continue;
    Function *again = Function::Create(changed, function.getLinkage(), function.getAddressSpace());
    module.getFunctionList().insert(function.getIterator(), again);
    again->copyAttributesFrom(&function);
    again->takeName(&function);
    moveBody(function, *again);
    for (User *user : make_early_inc_range(function.users()))
      if (auto *call = dyn_cast<CallInst>(user); call && call->getCalledOperand() == &function)
        callInstead(*call, *again);
    function.replaceAllUsesWith(again);
    function.eraseFromParent();
  }
}

//===----------------------------------------------------------------------===//
// Wide integers
//===----------------------------------------------------------------------===//

/// The widest integers that processors can divide.
static constexpr unsigned kWidestQuotient = 64;

static bool isQuotient(const Instruction &instruction) {
  return instruction.getOpcode() == Instruction::UDiv ||
         instruction.getOpcode() == Instruction::SDiv;
}

static bool isRemainder(const Instruction &instruction) {
  return instruction.getOpcode() == Instruction::URem ||
         instruction.getOpcode() == Instruction::SRem;
}

static void expandWideQuotients(Function &function) {
  SmallVector<BinaryOperator *> wide;
  for (Instruction &instruction : instructions(function))
    if (auto *binary = dyn_cast<BinaryOperator>(&instruction);
        binary && (isQuotient(instruction) || isRemainder(instruction)) &&
        binary->getType()->isIntegerTy() &&
        binary->getType()->getIntegerBitWidth() > kWidestQuotient)
      wide.push_back(binary);
  for (BinaryOperator *binary : wide)
    isQuotient(*binary) ? expandDivision(binary) : expandRemainder(binary);
}

void tfc::emission::legalize(Module &module, const TargetMachine &target) {
  ShortFloats shorts(target);
  changeSignatures(module, shorts);
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    ShortFloatLegalizer(function, shorts).run();
    expandWideQuotients(function);
  }
}
