// Which part of the compiler made a value that the oracle does not agree with.
#pragma once

#include "compiler/reference/Reference.h"
#include "tools/tfc/Compiler.h"
#include "tools/tfc/Model.h"
#include <map>

namespace tfc {

/// A call of an entry, and the variables that compiled code left behind it.
struct RecordedCall {
  std::string entry;
  std::vector<Array> feeds;
  std::map<std::string, Array> variables;
};

/// Repeats calls and compares what each kernel computes in the last one. Prints the first value
/// that differs, with its place in the source and the kernel; true if there is one.
bool reportDifferingNode(const CompileRequest &request, int threads,
                         llvm::ArrayRef<RecordedCall> calls, reference::Agreement &agreement);

/// Repeats calls with the oracle behind each stage, and prints which one changes what the last call
/// gives.
void reportChangingStage(const CompileRequest &request, llvm::ArrayRef<RecordedCall> calls);

} // namespace tfc
