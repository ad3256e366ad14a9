// The recorded steps of calls, as a Chrome trace and as a summary.
#pragma once

#include "runtime/Model.h"
#include "tools/tfc/Limits.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace tfc {

/// Times are in nanoseconds.
struct TracedStep {
  int64_t begin, end;
  std::string name, place; // what was done, and its places in the graph
  tfc_trace_kind kind;
  int32_t slot;
  int64_t flops, bytes, held; // of a kernel, as in runtime/Model.h

  int64_t time() const { return end - begin; }
};

struct TracedCall {
  int64_t begin, end;
  std::vector<std::vector<TracedStep>> steps; // by device, in the order of time

  int64_t time() const { return end - begin; }
};

struct Trace {
  std::string entry;
  std::vector<std::string> devices; // the caller's first
  MachineLimits limits;
  std::vector<TracedCall> calls;
  int64_t dropped = 0; // steps for which there was no memory
};

/// Writes the trace in the format of Chrome, which Perfetto reads: a row for each device, and
/// arrows from sends to receives.
void writeChromeTrace(const Trace &trace, llvm::raw_ostream &os);

/// Prints the times of devices, and the kernels beside the limits of the machine.
void printSummary(const Trace &trace, llvm::raw_ostream &os);

} // namespace tfc
