//===- Program.h - A module and the calls that are made of it -------------===//
//
// Programs are modules as the frontend makes them. So whatever is a graph file
// can be compared and shrunk, and a failure is a graph file: its calls stand in
// comments, and the names of feeds say what data they take.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"
#include "mlir/IR/BuiltinOps.h"
#include "tools/tfc/Array.h"
#include <map>

namespace tfc::random {

/// One call of an entry. The data of its feeds follow from the seed and the feeds' names.
struct CallPlan {
  std::string entry;
  std::map<std::string, int64_t> sizes;
  uint64_t seed = 0;
};

struct Program {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<CallPlan> calls;
  /// The stage after which the module is; empty if it is as the frontend makes it.
  std::string after;

  Program clone() const { return {mlir::cast<mlir::ModuleOp>((*module)->clone()), calls, after}; }
};

/// The feeds of a call, in the entry's order; nothing if its sizes lead to invalid shapes.
///
/// The name of a feed determines its data: `x_positive` has only positive numbers, `x_extreme`
/// often those of `drawExtreme`, `i_extreme_nonzero` such integers except 0, `i_below_n_17`
/// integers from 0 up to but not including n and 17.
std::optional<std::vector<Array>> makeFeeds(dfg::EntryOp entry, const CallPlan &plan);

/// Graph source with the calls as comments; MLIR text if the language cannot express the program.
std::string toText(const Program &program, llvm::StringRef comment);
/// Writes it to `stem` with the suffix of a graph file, or .mlir if that could not be read again;
/// returns the path.
std::string writeProgram(const Program &program, llvm::StringRef stem, llvm::StringRef comment);
/// Reads the output of `toText`, or any graph file, which gets calls of all its entries.
mlir::FailureOr<Program> readProgram(mlir::MLIRContext &context, llvm::StringRef path);

/// Properties of the programs to generate.
struct Style {
  /// Factor on the number of statements; above 1 there is one more level of branches and loops.
  unsigned scale = 1;
  /// True if programs have `dataflow` blocks.
  bool hasGraphs = false;
  /// True if operations and variables say on which devices they shall be.
  bool hasDevices = false;
};

/// A program of random statements; equal seeds make equal programs.
Program makeProgram(mlir::MLIRContext &context, uint64_t seed, const Style &style = {});

/// Returns true for operations of the table that random statements do not use: some are created in
/// other ways, the rest has tests of its own.
bool isLeftOut(llvm::StringRef op);

} // namespace tfc::random
