// Which part of the compiler made a value that the oracle does not agree with.
#pragma once

#include "compiler/reference/Reference.h"
#include "tools/tfc/CallableModel.h"
#include "tools/tfc/Compiler.h"
#include <map>

namespace tfc {

/// A call of an entry, and what compiled code gave.
struct RecordedCall {
  std::string entry;
  std::vector<Array> feeds;
  bool fails = false; // in both
  std::vector<Array> fetches;
  std::map<std::string, Array> variables; // behind it
  /// How many elements of fetches and variables, by their names, the oracle knows nothing about.
  std::map<std::string, int64_t> undetermined;
};

/// Repeats calls in a build whose kernels show what they compute, and compares each value with what
/// the oracle makes of those before it. Prints the first that differs, with its place in the source
/// and the kernel; true if there is one. `byKernels` becomes the number of results of which the
/// oracle knows nothing but by their kernels, and which have other bits in this build.
bool compareKernels(const CompileRequest &request, int threads, llvm::ArrayRef<RecordedCall> calls,
                    reference::Agreement &agreement, int64_t &byKernels);

/// Finds out what made the last call's wrong fetches or variables: a kernel, the places of values
/// in memory, or a stage, and prints it.
void explainDifference(const CompileRequest &request, int threads,
                       llvm::ArrayRef<RecordedCall> calls);

} // namespace tfc
