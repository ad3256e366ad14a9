// The last stage: from a module in the LLVM dialect to files that a program links or loads.
#pragma once

#include "compiler/pipeline/ModelInfo.h"
#include "dialects/kernel/Kernel.h"
#include "mlir/Support/Timing.h"
#include <string>

namespace tfc {

enum class OutputKind { Library, Object, Archive, Header, LLVM, Assembly };

struct EmissionOptions {
  OutputKind kind = OutputKind::Library;
  kernel::TargetAttr target; // not needed for a header
  std::string output;        // a path; "-" is standard output, for text
  std::string prefix;        // of the C functions: an identifier
  std::string soname;        // how programs find a shared library; empty: in their own folder
  bool keepSymbols = false;  // of kernels, in a library
  unsigned optLevel = 3;
  unsigned threads = 0;       // of the compiler; 0: all processors
  std::string runtimeLibrary; // path of libtfcrt.a, for shared libraries
  std::string sysroot;        // of the target's C library; empty: where its packages install it
  std::string cacheFolder;    // of objects of earlier compilations; empty: none
  bool verbose = false;       // print how many of them were used to standard error
};

/// Turns any text into a prefix of C functions: invalid characters become '_', and if the prefix,
/// with or without the suffixes of its functions, is a name of the language or the C library, a '_'
/// is appended.
std::string makePrefix(llvm::StringRef text);

/// Returns true if functions of this prefix could be those of the runtime.
bool isRuntimePrefix(llvm::StringRef prefix);

/// The beginning of every header that tfc writes.
constexpr llvm::StringLiteral kHeaderMark = "// The C interface of the model '";

/// The path of the header that belongs to the output `path`: "lib/libdigits.so" -> "lib/digits.h".
std::string headerPathFor(llvm::StringRef path);

/// Emits `module`, which holds kernels and host functions in the LLVM dialect, together with the
/// model's descriptor and typed C functions. The files appear whole or not at all; a library,
/// object or archive gets a header next to it. Consumes the module's body.
llvm::LogicalResult emit(mlir::ModuleOp module, const ModelInfo &model,
                         const EmissionOptions &options, mlir::Timer timing = {});

} // namespace tfc
