//===- Compare.h - Programs compiled and interpreted ----------------------===//

#pragma once

#include "Program.h"
#include "compiler/emission/Link.h"
#include "compiler/pipeline/Pipeline.h"
#include "tools/tfc/LoadedModel.h"

namespace tfc::random {

/// How a program is compiled.
struct Variant {
  PipelineOptions pipeline;
  unsigned llvmLevel = 1;

  /// As options of `tfc`.
  std::string text() const;
};

/// The processors that tests compile for, those of test/targets.txt.
llvm::ArrayRef<llvm::StringRef> getTargets();

/// The target of a program, and for further numbers those that follow. test/e2e/Inputs/targets.py
/// does the same.
llvm::StringRef drawTarget(llvm::StringRef name, unsigned number);

/// Returns true if this processor can run code for a target.
bool canRun(llvm::StringRef target);

/// All optimisations, some of them, or none: a third of the seeds each.
Variant makeVariant(uint64_t seed, llvm::StringRef target);

/// The outcome of a compiled call.
struct CallResult {
  tfc_status status = TFC_OK;
  std::string message;
  std::vector<Array> fetches;
  std::vector<Array> variables; // after the call
};

/// A program as a library.
class Compiled {
public:
  /// An error holds what the compiler printed.
  static llvm::Expected<Compiled> compile(const Program &program, const Variant &variant);

  /// Makes all calls in a new instance.
  llvm::Expected<std::vector<CallResult>> run(const Program &program, int threads);

  /// How many devices the program is placed on.
  size_t getDeviceCount() const { return deviceCount; }

private:
  explicit Compiled(emission::WorkFolder folder) : folder(std::move(folder)) {}
  std::string path() const { return folder.file("librandom.so"); }

  emission::WorkFolder folder;
  size_t deviceCount = 1;
};

/// Counters over all compared programs.
struct Counts {
  int64_t calls = 0, refusedCalls = 0, elements = 0, undetermined = 0;
  int64_t divided = 0;                     // programs on several devices
  std::map<std::string, int64_t> executed; // operations by name
  std::string unsupported;                 // why the oracle gave up, of one program
  std::map<std::string, int64_t> reasons;  // the same of several

  void add(const Counts &other);
};

/// Makes the calls in the oracle alone; returns the error of a wrong gradient, or nothing.
std::string interpret(const Program &program, Counts &counts);

/// Compiles and runs the program, once with each number of threads; returns a difference from the
/// oracle or between runs, or nothing. A program whose operations have devices is compiled twice,
/// as a function for each device and as one, which must return the same bits.
std::string compare(const Program &program, const Variant &variant, Counts &counts);

/// Makes the program smaller as long as `fails` returns true for it.
void shrink(Program &program, llvm::function_ref<bool(const Program &)> fails);

} // namespace tfc::random
