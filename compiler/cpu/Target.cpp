//===- Target.cpp - Properties of CPUs ------------------------------------===//
//
// Derives the vector width, registers and caches from the description of a target. No other file of
// this folder interprets the names of features.
//
//===----------------------------------------------------------------------===//

#include "compiler/cpu/Target.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/TargetParser/Triple.h"

using namespace tfc::cpu;

Target Target::get(kernel::TargetAttr description) {
  llvm::SmallVector<llvm::StringRef> features;
  description.getFeatures().split(features, ',');
  auto has = [&](llvm::StringRef name) {
    return llvm::any_of(features, [&](llvm::StringRef feature) {
      return feature.consume_front("+") && feature == name;
    });
  };
  Target target;
  target.emitsProducts = !description.getWithoutProducts();
  target.l1Bytes = description.getL1();
  target.l2Bytes = description.getL2();
  if (llvm::Triple(description.getTriple()).isAArch64()) {
    target.vectorBits = 128;
    target.vectorRegisters = 32;
    target.hasFma = target.isArm = true;
    target.hasByteProducts = has("i8mm");
    target.hasEqualByteProducts = has("dotprod");
    target.hasPairProducts = has("bf16");
    return target;
  }
  bool avx512 = has("avx512f") && has("avx512bw") && has("avx512vl") && has("avx512dq");
  target.vectorBits = avx512 ? 512 : has("avx") ? 256 : 128;
  target.vectorRegisters = avx512 ? 32 : 16;
  target.hasMaskedMemory = has("avx");
  target.hasMaskRegisters = avx512;
  target.hasFma = has("fma");
  target.hasByteProducts = avx512 ? has("avx512vnni") : has("avxvnni");
  target.hasPairProducts = avx512 && has("avx512bf16");
  target.hasShortProducts = avx512 || has("avx2") || (has("sse2") && !has("avx"));
  return target;
}
