// Records the steps of calls of a model that was compiled to record them.
#pragma once

#include "runtime/Trace.h"
#include "tools/tfc/LoadedModel.h"
#include "tools/tfc/Trace.h"

namespace tfc {

/// Records in memory that is allocated before the calls.
class Recorder {
public:
  /// Fails if the library does not record its steps.
  static llvm::Expected<Recorder> create(LoadedModel &model);
  ~Recorder() {
    if (into)
      into(nullptr);
  }
  Recorder(Recorder &&other)
      : model(other.model), into(std::exchange(other.into, nullptr)),
        events(std::move(other.events)), buffers(std::move(other.buffers)) {}

  /// Has room for `calls` times the steps that were recorded since the last `reserve`.
  void reserve(int64_t calls);
  /// Calls the entry. The steps are added to `trace`.
  llvm::Error call(const Entry &entry, std::vector<Array> &feeds, std::vector<Array> &fetches,
                   Trace &trace);
  /// Calls the entry a few times before it is measured, and then has room for `calls`.
  llvm::Error warmUp(const Entry &entry, std::vector<Array> &feeds, std::vector<Array> &fetches,
                     int64_t calls);

private:
  Recorder(LoadedModel &model, runtime::TraceInto into)
      : model(&model), into(into), events(model.getDevices().size()), buffers(events.size()) {}
  void collect(size_t device, int64_t begin, std::vector<TracedStep> &steps, int64_t &dropped);

  LoadedModel *model;
  runtime::TraceInto into;
  std::vector<std::vector<runtime::TraceEvent>> events; // by device
  std::vector<runtime::TraceBuffer> buffers;
};

} // namespace tfc
