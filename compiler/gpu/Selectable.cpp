//===- Selectable.cpp - Instructions that can be selected -----------------===//
//
// A list of the intrinsics and types that LLVM's code generator for GPUs is known to select; all
// others are errors here. Each row has been tried for each of its types (test/compiler/gpu).
//
//===----------------------------------------------------------------------===//

#include "compiler/gpu/Selectable.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace mlir;

namespace {

/// The types with which an intrinsic may be used.
enum Types : unsigned {
  kHalf = 1,     // f16
  kSingle = 2,   // f32
  kDouble = 4,   // f64
  kIntegers = 8, // of 8, 16, 32 and 64 bits, also as results of conversions
  kFloats = kHalf | kSingle | kDouble,
  kAny = ~0u
};

struct Row {
  llvm::Intrinsic::ID id;
  unsigned types;
};

} // namespace

static constexpr Row kRows[] = {
    {llvm::Intrinsic::fabs, kFloats},
    {llvm::Intrinsic::fma, kFloats},
    {llvm::Intrinsic::fmuladd, kFloats},
    {llvm::Intrinsic::sqrt, kSingle | kDouble},
    {llvm::Intrinsic::copysign, kFloats},
    {llvm::Intrinsic::floor, kFloats},
    {llvm::Intrinsic::ceil, kFloats},
    {llvm::Intrinsic::trunc, kFloats},
    {llvm::Intrinsic::rint, kFloats},
    {llvm::Intrinsic::nearbyint, kFloats},
    {llvm::Intrinsic::roundeven, kFloats},
    {llvm::Intrinsic::round, kSingle | kDouble},
    {llvm::Intrinsic::minnum, kFloats},
    {llvm::Intrinsic::maxnum, kFloats},
    {llvm::Intrinsic::minimumnum, kFloats},
    {llvm::Intrinsic::maximumnum, kFloats},
    {llvm::Intrinsic::minimum, kHalf | kSingle},
    {llvm::Intrinsic::maximum, kHalf | kSingle},
    {llvm::Intrinsic::canonicalize, kSingle | kDouble},
    {llvm::Intrinsic::is_fpclass, kFloats},
    {llvm::Intrinsic::ldexp, kSingle | kDouble},
    {llvm::Intrinsic::fptosi_sat, kFloats | kIntegers},
    {llvm::Intrinsic::fptoui_sat, kFloats | kIntegers},
    {llvm::Intrinsic::abs, kIntegers},
    {llvm::Intrinsic::smin, kIntegers},
    {llvm::Intrinsic::smax, kIntegers},
    {llvm::Intrinsic::umin, kIntegers},
    {llvm::Intrinsic::umax, kIntegers},
    {llvm::Intrinsic::ctpop, kIntegers},
    {llvm::Intrinsic::ctlz, kIntegers},
    {llvm::Intrinsic::cttz, kIntegers},
    {llvm::Intrinsic::bswap, kIntegers},
    {llvm::Intrinsic::bitreverse, kIntegers},
    {llvm::Intrinsic::fshl, kIntegers},
    {llvm::Intrinsic::fshr, kIntegers},
    {llvm::Intrinsic::sadd_with_overflow, kIntegers},
    {llvm::Intrinsic::uadd_with_overflow, kIntegers},
    {llvm::Intrinsic::ssub_with_overflow, kIntegers},
    {llvm::Intrinsic::usub_with_overflow, kIntegers},
    {llvm::Intrinsic::umul_with_overflow, kIntegers},
    {llvm::Intrinsic::uadd_sat, kIntegers},
    {llvm::Intrinsic::usub_sat, kIntegers},
    {llvm::Intrinsic::sadd_sat, kIntegers},
    {llvm::Intrinsic::ssub_sat, kIntegers},
    {llvm::Intrinsic::scmp, kIntegers},
    {llvm::Intrinsic::ucmp, kIntegers},
    {llvm::Intrinsic::assume, kAny},
    {llvm::Intrinsic::lifetime_start, kAny},
    {llvm::Intrinsic::lifetime_end, kAny},
    {llvm::Intrinsic::experimental_noalias_scope_decl, kAny},
    {llvm::Intrinsic::memcpy, kAny},
    {llvm::Intrinsic::memmove, kAny},
    {llvm::Intrinsic::memset, kAny},
};

static unsigned classOf(const llvm::Type *type) {
  const llvm::Type *element = type->getScalarType();
  if (element->isHalfTy())
    return kHalf;
  if (element->isFloatTy())
    return kSingle;
  if (element->isDoubleTy())
    return kDouble;
  if (element->isIntegerTy())
    return element->getIntegerBitWidth() <= 64 ? kIntegers : 1u << 31;
  // Pairs of results with their flags of overflow.
  if (auto pair = dyn_cast<llvm::StructType>(element))
    return classOf(pair->getElementType(0));
  return 1u << 31;
}

static bool isSelectable(const llvm::IntrinsicInst &call) {
  if (call.getCalledFunction()->getName().starts_with("llvm.nvvm."))
    return true;
  for (const Row &row : kRows)
    if (row.id == call.getIntrinsicID()) {
      if (row.types == kAny)
        return true;
      unsigned used = classOf(call.getType());
      if (call.arg_size() > 0 && row.id != llvm::Intrinsic::ldexp)
        used |= classOf(call.getArgOperand(0)->getType());
      // A test of a float's class returns a flag.
      if (row.id == llvm::Intrinsic::is_fpclass)
        used &= ~kIntegers;
      return (used & ~row.types) == 0;
    }
  return false;
}

/// Describes what the code generator lacks; empty if nothing.
static std::string findUnselectable(const llvm::Instruction &instruction) {
  if (instruction.getOpcode() == llvm::Instruction::FRem)
    return "remainders of floats";
  bool isDivision = llvm::is_contained({llvm::Instruction::SDiv, llvm::Instruction::UDiv,
                                        llvm::Instruction::SRem, llvm::Instruction::URem},
                                       instruction.getOpcode());
  if (unsigned bits = instruction.getType()->getScalarSizeInBits(); isDivision && bits > 64)
    return "divisions of integers of " + std::to_string(bits) + " bits";
  auto call = dyn_cast<llvm::CallInst>(&instruction);
  if (!call)
    return "";
  if (auto intrinsic = dyn_cast<llvm::IntrinsicInst>(call))
    return isSelectable(*intrinsic) ? "" : "'" + call->getCalledFunction()->getName().str() + "'";
  const llvm::Function *callee = call->getCalledFunction();
  if (!callee || !callee->isDeclaration())
    return "";
  return "a definition of '" + callee->getName().str() + "'";
}

LogicalResult tfc::gpu::checkSelectable(const llvm::Module &module, ModuleOp device) {
  SymbolTable symbols(device);
  LogicalResult result = success();
  for (const llvm::Function &function : module)
    for (const llvm::Instruction &instruction : llvm::instructions(function)) {
      std::string missing = findUnselectable(instruction);
      if (missing.empty())
        continue;
      Operation *code = symbols.lookup(function.getName());
      emitError(code ? code->getLoc() : device.getLoc())
          << "the code generator for GPUs lacks " << missing << " [not-yet]";
      result = failure();
    }
  return result;
}
