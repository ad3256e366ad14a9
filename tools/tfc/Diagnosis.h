// Finds the part of the compiler responsible for a value that differs from the oracle's.
#pragma once

#include "compiler/reference/Reference.h"
#include "tools/tfc/CallableModel.h"
#include "tools/tfc/Compiler.h"
#include <map>

namespace tfc {

/// A call of an entry with the results of compiled code.
struct RecordedCall {
  std::string entry;
  std::vector<Array> feeds;
  bool fails = false; // in both
  std::vector<Array> fetches;
  std::map<std::string, Array> variables; // after the call
  /// The number of undetermined elements of each fetch and variable, by name.
  std::map<std::string, int64_t> undetermined;
};

/// Repeats calls in a build whose kernels expose the values that they compute, and compares each
/// value with the oracle's result for the same inputs. Prints the first that differs, with its
/// location in the source and the kernel, and returns true if there is one. Sets `byKernels` to the
/// number of results that could only be compared kernel by kernel, and that have other bits in this
/// build.
bool compareKernels(const CompileRequest &request, int threads, llvm::ArrayRef<RecordedCall> calls,
                    reference::Agreement &agreement, int64_t &byKernels);

/// Finds the cause of the last call's wrong fetches or variables (a kernel, the memory plan, or
/// a stage) and prints it.
void explainDifference(const CompileRequest &request, int threads,
                       llvm::ArrayRef<RecordedCall> calls);

} // namespace tfc
