//===- Device.cpp - The emulated device -----------------------------------===//
//
// Runs the work of streams when somebody waits for it.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/driver/Device.h"
#include <cinttypes>
#include <cstdio>

namespace tfc::gpu {

void EmulatedDevice::enqueue(EmulatedStream &stream, Work work) {
  if (stream.capture) {
    stream.capture->work.push_back(std::move(work));
    return;
  }
  if (&stream == &legacy)
    synchronizeAll();
  else
    synchronize(legacy);
  stream.work.push_back(std::move(work));
  ++stream.enqueued;
}

/// Work may advance other streams, which it waits for.
void EmulatedDevice::advance(EmulatedStream &stream, uint64_t position) {
  while (stream.done < position) {
    Work work = std::move(stream.work.front());
    stream.work.pop_front();
    ++stream.done;
    if (!failure.empty())
      continue;
    failure = work();
    if (!failure.empty())
      fprintf(stderr, "emulated device: %s\n", failure.c_str());
  }
}

void EmulatedDevice::synchronizeAll() {
  synchronize(legacy);
  for (const auto &stream : streams)
    synchronize(*stream);
}

bool EmulatedDevice::isCapturing() const {
  for (const auto &stream : streams)
    if (stream->capture && stream->capturer == std::this_thread::get_id())
      return true;
  return false;
}

void EmulatedDevice::invalidateCaptures() {
  for (const auto &stream : streams)
    stream->isInvalidated |= stream->capture && stream->capturer == std::this_thread::get_id();
}

bool EmulatedDevice::isPinned(const void *address) const {
  auto next = pinned.upper_bound(static_cast<const char *>(address));
  if (next == pinned.begin())
    return false;
  const auto &[start, bytes] = *std::prev(next);
  return static_cast<const char *>(address) < start + bytes;
}

std::vector<std::string> EmulatedDevice::getLeaks() const {
  std::vector<std::string> leaks = memory.getLeaks();
  auto add = [&](size_t count, const char *what) {
    if (count > 0)
      leaks.push_back(std::to_string(count) + " " + what);
  };
  add(streams.size(), "streams");
  add(events.size(), "events");
  add(modules.size(), "modules");
  add(graphs.size() + executables.size(), "graphs");
  add(pinned.size(), "allocations of the host");
  return leaks;
}

void EmulatedDevice::writeCounters(const char *path) const {
  std::unique_ptr<FILE, int (*)(FILE *)> file(fopen(path, "w"), fclose);
  if (!file)
    return (void)fprintf(stderr, "emulated device: cannot write %s\n", path);
  for (const auto &[kernel, counts] : counters) {
    fprintf(file.get(), "{\"kernel\":\"%s\",\"instructions\":%" PRIu64, kernel.c_str(),
            counts.total());
    const std::pair<const char *, uint64_t> fields[] = {
        {"warp_instructions", counts.warpInstructions},
        {"global_requests", counts.globalRequests},
        {"global_bytes_read", counts.globalBytesRead},
        {"global_bytes_written", counts.globalBytesWritten},
        {"global_sectors", counts.globalSectors},
        {"shared_requests", counts.sharedRequests},
        {"shared_conflicts", counts.sharedConflicts},
        {"multiply_adds", counts.multiplyAdds},
        {"tensor_multiply_adds", counts.tensorMultiplyAdds},
        {"barriers", counts.barriers},
        {"local_instructions", counts.of(Class::Local)}};
    for (auto [name, value] : fields)
      fprintf(file.get(), ",\"%s\":%" PRIu64, name, value);
    fputs("}\n", file.get());
  }
}

} // namespace tfc::gpu
