// bf16 and f16 in terms of integers and f32.
#pragma once

#include "llvm/IR/IRBuilder.h"
#include "llvm/Target/TargetMachine.h"

namespace tfc::emission {

/// How a target represents and converts short floats. Types are scalars or vectors.
class ShortFloats {
public:
  explicit ShortFloats(const llvm::TargetMachine &target);

  /// Returns true if values of the type are represented by integers.
  bool isShort(llvm::Type *type) const;

  /// 16-bit integers for short floats; other types unchanged.
  llvm::Type *bitsType(llvm::Type *type) const;

  /// f32 for short floats; other types unchanged.
  llvm::Type *floatType(llvm::Type *type) const;

  /// The bit of the sign, for the representation of `type`.
  llvm::Constant *signMask(llvm::Type *type) const;

  /// The f32 with the value of `bits`, which represent `type`. NaN becomes quiet.
  llvm::Value *extend(llvm::IRBuilder<> &b, llvm::Value *bits, llvm::Type *type) const;

  /// The bits of an f32 rounded to `type`, ties to even. NaN becomes quiet.
  llvm::Value *truncate(llvm::IRBuilder<> &b, llvm::Value *number, llvm::Type *type) const;

private:
  bool convertsHalf = false; // by instructions, to and from f32
  bool computesHalf = false;
  bool truncatesToBFloat = false; // by instructions, which treat denormals as zero
};

} // namespace tfc::emission
