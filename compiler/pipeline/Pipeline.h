// READ THIS FIRST. The stages of the compiler as a table, in the order in which a graph passes
// through them; stages communicate only through the IR. Pipeline.cpp has the table.
#pragma once

#include "compiler/gpu/Precision.h"
#include "dialects/dfg/ExpansionLimit.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include <functional>
#include <string>
#include <vector>

namespace tfc {

/// How constant factors of products on CPUs are stored; products compute in f32.
enum class Weights { F32, Bfloat16, Int8 };

struct PipelineOptions {
  unsigned optLevel = 3;
  std::string triple;     // of CPUs; empty: of the machine that tfc runs on
  std::string cpu;        // LLVM's name of a processor; empty: see kernels::findProcessor
  std::string startAfter; // the stage after which the module was written; empty: run all stages
  std::string stopAfter;  // the last stage to run; empty: all
  std::string dumpAfter;  // a stage, or "all": prints the module to standard error
  /// The address of a function of this process that receives the values that kernels compute; the
  /// code then runs only in this process. 0: none. See `dfg.push`.
  int64_t probe = 0;
  uint64_t maxOperations = dfg::kMaxOperations; // of gradients
  bool verbose = false;                         // passes print their reports to standard error
  /// The device of what says nothing, and a file that describes devices; empty: none.
  std::string device, devicesFile;
  std::string cluster; // the tasks of the program, `ps=2,worker=6`, or a file with them
  gpu::Precision precision = gpu::Precision::F32;
  Weights weights = Weights::F32;     // how constant factors of products are stored
  std::vector<std::string> schedules; // of kernels that were measured, HASH=WAY
  int64_t candidate = -1;             // the number of the way of each kernel, to measure it
  bool isStrict = false; // no algorithm whose errors are larger than those of the definition
  std::vector<int64_t> capabilities; // of GPUs to assemble for, in tenths, besides PTX for all
  bool movesUnsupported = false;     // to the default device, with a warning
  bool explainsPlacement = false;    // to standard error
  bool traces = false;               // the code records its steps (tfc_rt_trace_end)
  /// Called with the name of each stage when it begins.
  std::function<void(llvm::StringRef)> onBegin;
  /// Called with the module after each stage that runs: tests insert faults into it.
  std::function<void(llvm::StringRef, mlir::ModuleOp)> onStage;
  /// Names of optimisations to disable, to find the one that is wrong.
  std::vector<std::string> disabled;

  /// Returns true if the optimisation of that name is enabled.
  bool isEnabled(llvm::StringRef name) const;

  /// Returns true if there are options for placement.
  bool concernsPlacement() const {
    return !device.empty() || !devicesFile.empty() || !cluster.empty() || movesUnsupported ||
           explainsPlacement;
  }
};

/// An optimisation that can be disabled: results do not depend on it beyond rounding.
struct Optimization {
  llvm::StringLiteral name;
  llvm::StringLiteral summary;
};
llvm::ArrayRef<Optimization> getOptimizations();

struct Stage {
  llvm::StringLiteral name;
  /// The property that the module has after the stage.
  llvm::StringLiteral guarantee;
  void (*addPasses)(mlir::OpPassManager &passes, const PipelineOptions &options);
};

/// All stages from IR to IR. After them, emission writes files (compiler/emission/Emission.h).
llvm::ArrayRef<Stage> getStages();

/// The stage's number; std::nullopt if there is none of that name.
std::optional<unsigned> findStage(llvm::StringRef name);

/// Every dialect that a stage, or a test of one, reads or creates.
mlir::DialectRegistry makeDialectRegistry();

/// Runs the stages that `options` request on `module`, with a timer in `timing` for each and its
/// passes. Fails if the entries are code already, because entries describe the model.
llvm::LogicalResult runStages(mlir::ModuleOp module, const PipelineOptions &options,
                              mlir::Timer timing = {});

} // namespace tfc
