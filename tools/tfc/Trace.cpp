// Writes recorded steps as a Chrome trace, and prints a summary of them.
#include "tools/tfc/Trace.h"
#include "frontend/Fmt.h"
#include "tools/tfc/Roofline.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include <fmt/format.h>
#include <map>

using namespace llvm;
using namespace tfc;

/// Returns true if the limits of this machine are those of the device.
static bool hasLimits(StringRef device) { return !device.contains("gpu:"); }

//===----------------------------------------------------------------------===//
// Chrome's format
//===----------------------------------------------------------------------===//

static StringRef categoryOf(tfc_trace_kind kind) {
  switch (kind) {
  case TFC_TRACE_KERNEL:
    return "kernel";
  case TFC_TRACE_SEND:
    return "send";
  case TFC_TRACE_RECEIVE:
    return "receive";
  case TFC_TRACE_WAIT:
    return "wait";
  }
}

namespace {

class ChromeWriter {
public:
  ChromeWriter(const Trace &trace, raw_ostream &os) : trace(trace), roofline(trace), os(os) {}

  void write();

private:
  using Attributes = function_ref<void(json::OStream &)>;

  /// An event in the row of a device, on a line of its own.
  void event(StringRef phase, size_t device, Attributes attributes);
  /// An event that describes a row or the process.
  void description(size_t device, StringRef name, StringRef key, json::Value value);
  void slice(size_t device, StringRef category, StringRef name, int64_t begin, int64_t end,
             StringRef place, const TracedStep *kernel = nullptr);
  void writeRates(json::OStream &json, const TracedStep &step) const;
  void arrowEnd(StringRef phase, size_t device, int64_t time);
  void writeArrows(const TracedCall &call);
  int64_t sinceStart(int64_t time) const { return time - trace.calls.front().begin; }

  const Trace &trace;
  Roofline roofline;
  raw_ostream &os;
  const char *separator = "";
  int64_t arrows = 0;
};

} // namespace

/// Writes a time in microseconds.
static void writeTime(json::OStream &json, StringRef name, int64_t nanoseconds) {
  json.attributeBegin(name);
  json.rawValue(fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000));
  json.attributeEnd();
}

void ChromeWriter::event(StringRef phase, size_t device, Attributes attributes) {
  os << std::exchange(separator, ",\n");
  json::OStream json(os);
  json.object([&] {
    json.attribute("ph", phase);
    json.attribute("pid", 0);
    json.attribute("tid", int64_t(device));
    attributes(json);
  });
}

void ChromeWriter::description(size_t device, StringRef name, StringRef key, json::Value value) {
  event("M", device, [&](json::OStream &json) {
    json.attribute("name", name);
    json.attributeObject("args", [&] { json.attribute(key, value); });
  });
}

/// Writes the work of a kernel, and how near it comes to the limits of the machine.
void ChromeWriter::writeRates(json::OStream &json, const TracedStep &step) const {
  double nanoseconds = std::max<int64_t>(step.time(), 1);
  LeastTime least = roofline.leastTime(step);
  auto rate = [&](StringRef name, double value) {
    json.attributeBegin(name);
    json.rawValue(fmt::format("{:.3f}", value));
    json.attributeEnd();
  };
  json.attribute("flops", step.flops);
  json.attribute("bytes", step.bytes);
  rate("GFLOP/s", step.flops / nanoseconds);
  rate("of peak", least.compute * 1e9 / nanoseconds);
  rate("GB/s", step.bytes / nanoseconds);
  rate("of bandwidth", least.memory * 1e9 / nanoseconds);
  json.attribute("bound", least.bound());
}

void ChromeWriter::slice(size_t device, StringRef category, StringRef name, int64_t begin,
                         int64_t end, StringRef place, const TracedStep *kernel) {
  event("X", device, [&](json::OStream &json) {
    json.attribute("cat", category);
    json.attribute("name", json::fixUTF8(name));
    writeTime(json, "ts", sinceStart(begin));
    writeTime(json, "dur", end - begin);
    bool hasWork = kernel && kernel->bytes > 0 && hasLimits(trace.devices[device]);
    if (place.empty() && !hasWork)
      return;
    json.attributeObject("args", [&] {
      if (!place.empty())
        json.attribute("place", json::fixUTF8(place));
      if (hasWork)
        writeRates(json, *kernel);
    });
  });
}

void ChromeWriter::arrowEnd(StringRef phase, size_t device, int64_t time) {
  event(phase, device, [&](json::OStream &json) {
    json.attribute("cat", "transfer");
    json.attribute("name", "transfer");
    json.attribute("id", arrows);
    writeTime(json, "ts", sinceStart(time));
    if (phase == "f")
      json.attribute("bp", "e"); // belongs to the slice around it
  });
}

/// The messages of a slot are received in the order in which they are sent. An arrow goes from the
/// begin of a send, which may end later than the receive, to the end of the receive. Perfetto
/// points an arrow at the slice that begins later, so a receive that waited for its send has a
/// slice of its own for what came after.
void ChromeWriter::writeArrows(const TracedCall &call) {
  using Ends = std::vector<std::pair<size_t, const TracedStep *>>;
  std::map<int32_t, std::pair<Ends, Ends>> slots;
  for (auto [device, steps] : enumerate(call.steps))
    for (const TracedStep &step : steps) {
      if (step.kind == TFC_TRACE_SEND)
        slots[step.slot].first.emplace_back(device, &step);
      if (step.kind == TFC_TRACE_RECEIVE)
        slots[step.slot].second.emplace_back(device, &step);
    }
  for (auto &[slot, ends] : slots)
    for (auto [sender, receiver] : zip(ends.first, ends.second)) {
      const TracedStep &send = *sender.second, &receive = *receiver.second;
      int64_t sent = send.end < receive.end ? send.end : send.begin;
      if (receive.begin < sent)
        slice(receiver.first, "transfer", "transfer", sent, receive.end, receive.place);
      arrowEnd("s", sender.first, send.begin);
      arrowEnd("f", receiver.first, std::max(receive.begin, receive.end - 1));
      ++arrows;
    }
}

void ChromeWriter::write() {
  os << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  description(0, "process_name", "name", json::fixUTF8("entry " + trace.entry));
  for (auto [i, device] : enumerate(trace.devices)) {
    description(i, "thread_name", "name", device);
    description(i, "thread_sort_index", "sort_index", int64_t(i));
  }
  for (auto [i, call] : enumerate(trace.calls)) {
    slice(0, "call", fmt::format("call {}", i), call.begin, call.end, "");
    for (auto [device, steps] : enumerate(call.steps))
      for (const TracedStep &step : steps)
        slice(device, categoryOf(step.kind), step.name, step.begin, step.end, step.place,
              step.kind == TFC_TRACE_KERNEL ? &step : nullptr);
    writeArrows(call);
  }
  os << "\n]}\n";
}

void tfc::writeChromeTrace(const Trace &trace, raw_ostream &os) { ChromeWriter(trace, os).write(); }

//===----------------------------------------------------------------------===//
// The summary
//===----------------------------------------------------------------------===//

namespace {
struct DeviceTimes {
  int64_t busy = 0, waiting = 0, kernels = 0, messages = 0;
};
} // namespace

static DeviceTimes timesOf(const Trace &trace, size_t device) {
  DeviceTimes times;
  for (const TracedCall &call : trace.calls)
    for (const TracedStep &step : call.steps[device]) {
      (step.kind == TFC_TRACE_KERNEL ? times.busy : times.waiting) += step.time();
      times.kernels += step.kind == TFC_TRACE_KERNEL;
      times.messages += step.kind == TFC_TRACE_SEND || step.kind == TFC_TRACE_RECEIVE;
    }
  return times;
}

/// Prints a row of the table; that of all kernels has no launches and no bound.
static void printRow(const Trace &trace, const KernelTimes &row, const LeastTime &least,
                     double share, StringRef name, raw_ostream &os) {
  double calls = trace.calls.size(), seconds = std::max<int64_t>(row.time, 1) * 1e-9;
  std::string launches = row.count ? fmt::format("{:.1f}", row.count / calls) : "";
  std::string rates(47, ' ');
  if (row.bytes > 0)
    rates = fmt::format("{:>9.1f} {:>6.1f} % {:>8.1f} {:>10.1f} %  {:8}", row.flops / seconds / 1e9,
                        100 * least.compute / seconds, row.bytes / seconds / 1e9,
                        100 * least.memory / seconds, row.count ? least.bound() : StringRef());
  os << fmt::format("{:>10.4f} {:>6.1f} % {:>8} {} {}\n", row.time / calls / 1e6, 100 * share,
                    launches, rates, name);
}

static void printKernels(const Trace &trace, raw_ostream &os) {
  SmallVector<KernelTimes, 0> kernels = kernelsOf(trace);
  if (kernels.empty())
    return;
  os << fmt::format("limits of {} thread{}: {:.1f} GFLOP/s, and GB/s of", trace.limits.threads,
                    trace.limits.threads == 1 ? "" : "s", trace.limits.flops / 1e9);
  for (const MemoryLevel &level : trace.limits.levels)
    os << fmt::format(" {}: {:.1f}", level.name, level.bytesPerSecond / 1e9);
  os << fmt::format("\n\n{:>10} {:>8} {:>8} {:>9} {:>8} {:>8} {:>12}  {:8} {}\n", "ms", "share",
                    "launches", "GFLOP/s", "of peak", "GB/s", "of bandwidth", "bound", "kernel");
  Roofline roofline(trace);
  KernelTimes total;
  LeastTime least;
  for (const KernelTimes &kernel : kernels)
    total.time += kernel.time;
  for (KernelTimes &kernel : kernels) {
    if (!hasLimits(kernel.device))
      kernel.flops = kernel.bytes = kernel.held = 0;
    LeastTime own = roofline.leastTime(kernel);
    StringRef comma = kernel.place.empty() ? "" : ", ";
    printRow(trace, kernel, own, double(kernel.time) / std::max<int64_t>(total.time, 1),
             fmt::format("{} on {}{}{}", kernel.name, kernel.device, comma, kernel.place), os);
    total.flops += kernel.flops;
    total.bytes += kernel.bytes;
    least.compute += own.compute;
    least.memory += own.memory;
  }
  printRow(trace, total, least, 1, "total", os);
}

void tfc::printSummary(const Trace &trace, raw_ostream &os) {
  double calls = trace.calls.size();
  auto milliseconds = [&](int64_t time) { return time / calls / 1e6; };
  std::vector<int64_t> times;
  for (const TracedCall &call : trace.calls)
    times.push_back(call.time());
  llvm::sort(times);
  os << fmt::format("{}: {} calls, {:.4f} ms (median)\n\n", trace.entry, trace.calls.size(),
                    times[times.size() / 2] / 1e6);
  size_t width = 10;
  for (const std::string &device : trace.devices)
    width = std::max(width, device.size());
  os << fmt::format("{:{}} {:>10} {:>10} {:>8} {:>8}\n", "per call", width, "busy ms", "waiting ms",
                    "kernels", "messages");
  for (auto [i, device] : enumerate(trace.devices)) {
    DeviceTimes own = timesOf(trace, i);
    os << fmt::format("{:{}} {:>10.4f} {:>10.4f} {:>8.1f} {:>8.1f}\n", device, width,
                      milliseconds(own.busy), milliseconds(own.waiting), own.kernels / calls,
                      own.messages / calls);
  }
  os << '\n';
  printKernels(trace, os);
  if (trace.dropped > 0)
    os << fmt::format("\n{} steps were dropped, for which there was no memory: request fewer "
                      "--calls\n",
                      trace.dropped);
}
