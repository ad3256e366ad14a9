//===- Libclc.cpp - Functions of floats from libclc -----------------------===//
//
// Functions for which there is no polynomial here come from libclc, whose bitcode is part of the
// compiler.
//
//===----------------------------------------------------------------------===//

#include "compiler/gpu/Libclc.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"

// The file is included by the assembler, which takes no time; a C++ array of its size takes long.
#ifdef TFC_LIBCLC
asm(".section .rodata\n"
    ".balign 16\n"
    ".hidden tfc_libclc_begin\n"
    ".globl tfc_libclc_begin\n"
    "tfc_libclc_begin:\n"
    ".incbin \"" TFC_LIBCLC "\"\n"
    ".hidden tfc_libclc_end\n"
    ".globl tfc_libclc_end\n"
    "tfc_libclc_end:\n"
    ".byte 0\n"
    ".text\n");
extern "C" const char tfc_libclc_begin[], tfc_libclc_end[];

static llvm::StringRef bitcode() {
  return {tfc_libclc_begin, size_t(tfc_libclc_end - tfc_libclc_begin)};
}
#else
static llvm::StringRef bitcode() { return {}; }
#endif

/// The first function that the module only declares; null if there is none.
static const llvm::Function *findUndefined(const llvm::Module &module) {
  for (const llvm::Function &function : module)
    if (function.isDeclaration() && !function.isIntrinsic() && !function.use_empty())
      return &function;
  return nullptr;
}

bool tfc::gpu::linkLibclc(llvm::Module &module, std::string &error) {
  const llvm::Function *missing = findUndefined(module);
  if (!missing)
    return true;
  if (bitcode().empty()) {
    error = "'" + missing->getName().str() +
            "' is a function of libclc, which this version of tfc was built without [not-yet]";
    return false;
  }
  auto buffer = llvm::MemoryBuffer::getMemBuffer(bitcode(), "libclc", false);
  auto library = llvm::getOwningLazyBitcodeModule(std::move(buffer), module.getContext());
  if (!library) {
    error = "cannot read libclc: " + llvm::toString(library.takeError());
    return false;
  }
  // Its triple has no vendor and no system.
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  if (!llvm::Linker::linkModules(module, std::move(*library), llvm::Linker::LinkOnlyNeeded))
    return true;
  error = "cannot link libclc";
  return false;
}
