// READ THIS FIRST. The stages of the compiler as a table, in the order in which a graph passes
// through them; between two stages there is nothing but the IR. Pipeline.cpp has the table.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include <functional>
#include <string>
#include <vector>

namespace tfc {

struct PipelineOptions {
  unsigned optLevel = 3;
  std::string cpu = "native"; // a name of LLVM's, or the machine that compiles
  std::string startAfter;     // a stage: the module is what it left; empty: from the first
  std::string stopAfter;      // a stage; empty: to the last
  std::string dumpAfter;      // a stage, or "all": prints the module to standard error
  /// The address of a function of this process that is shown what kernels compute: what comes out
  /// runs in this process alone. 0: none. See `kProbeAttr`.
  int64_t probe = 0;
  uint64_t maxOperations = 500'000; // of gradients
  bool verbose = false;             // passes print their reports to standard error
  /// Called with the module behind each stage that runs: tests put faults into it.
  std::function<void(llvm::StringRef, mlir::ModuleOp)> onStage;
  /// Optimisations to leave out, by their names: to find the one that is wrong.
  std::vector<std::string> disabled;

  /// Whether an optimisation of that name is wanted.
  bool isEnabled(llvm::StringRef name) const;
};

/// An optimisation that can be left out: results do not depend on it beyond rounding.
struct Optimization {
  llvm::StringLiteral name;
  llvm::StringLiteral summary;
};
llvm::ArrayRef<Optimization> getOptimizations();

struct Stage {
  llvm::StringLiteral name;
  /// What holds of the module behind it.
  llvm::StringLiteral guarantee;
  void (*addPasses)(mlir::OpPassManager &passes, const PipelineOptions &options);
};

/// All stages from IR to IR. Behind them, emission writes files (compiler/emission/Emission.h).
llvm::ArrayRef<Stage> getStages();

/// The stage's number, or nothing if there is none of that name.
std::optional<unsigned> findStage(llvm::StringRef name);

/// Every dialect that some stage or a test of one reads or makes.
mlir::DialectRegistry makeDialectRegistry();

/// Checks what stages read in attributes of kernels, entries and launches of a module from a file.
llvm::LogicalResult verifyAnnotations(mlir::ModuleOp module);

/// Runs the stages that `options` ask for over `module`, with a timer in `timing` for each and its
/// passes.
llvm::LogicalResult runStages(mlir::ModuleOp module, const PipelineOptions &options,
                              mlir::Timer timing = {});

} // namespace tfc
