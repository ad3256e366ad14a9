// Measures messages between two devices of a call, in nanoseconds: `rendezvous ROUNDS` prints a
// name, the median and the best of all rounds per line. It uses the internals of the runtime; the
// script `rendezvous` compiles it.

#include "runtime/Rendezvous.h"
#include "runtime/DeviceThreads.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <vector>

using namespace tfc::runtime;

using Function = std::function<void(int)>;

static constexpr tfc_slot_info kSlots[] = {{0, 1}, {1, 0}};
static constexpr tfc_partitioning kTwo = {nullptr, kSlots, 2, 2};

static double now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e9 + time.tv_nsec;
}

static void run(Rendezvous &rendezvous, DeviceThreads &threads, const Function &partition) {
  rendezvous.begin(kTwo);
  threads.run(
      2, [](void *context, int32_t i) { (*static_cast<const Function *>(context))(i); },
      const_cast<Function *>(&partition));
  rendezvous.end();
}

/// Receives a message and returns the first number of its value.
static double receive(Rendezvous &rendezvous, int32_t slot) {
  const void *value = nullptr;
  rendezvous.receive(slot, value);
  double number = *static_cast<const double *>(value);
  rendezvous.release(slot);
  return number;
}

/// The time of a message, half of that there and back. The values are read in place.
static double pingPong(Rendezvous &rendezvous, DeviceThreads &threads, double *there, double *back,
                       int count) {
  double nanoseconds = 0;
  run(rendezvous, threads, [&](int partition) {
    double start = now();
    for (int i = 0; i < count; ++i) {
      if (partition == 0) {
        *there = i;
        rendezvous.send(0, there);
        if (receive(rendezvous, 1) != i + 1)
          abort();
      } else {
        *back = receive(rendezvous, 0) + 1;
        rendezvous.send(1, back);
      }
    }
    if (partition == 0)
      nanoseconds = (now() - start) / (2 * count);
  });
  return nanoseconds;
}

/// The time of an integer that is sent in place of an address.
static double pingPongInMessage(Rendezvous &rendezvous, DeviceThreads &threads, int count) {
  double nanoseconds = 0;
  run(rendezvous, threads, [&](int partition) {
    double start = now();
    const void *number = nullptr;
    for (int i = 0; i < count; ++i) {
      if (partition == 0)
        rendezvous.send(0, reinterpret_cast<const void *>(intptr_t(i)));
      rendezvous.receive(1 - partition, number);
      rendezvous.release(1 - partition);
      if (partition == 1)
        rendezvous.send(1, number);
      else if (reinterpret_cast<intptr_t>(number) != i)
        abort();
    }
    if (partition == 0)
      nanoseconds = (now() - start) / (2 * count);
  });
  return nanoseconds;
}

/// The time per message of a loop whose sender runs ahead.
static double stream(Rendezvous &rendezvous, DeviceThreads &threads, int count) {
  double start = now();
  run(rendezvous, threads, [&](int partition) {
    double buffers[2];
    for (int i = 0; i < count; ++i) {
      if (partition == 1) {
        receive(rendezvous, 0);
      } else {
        int32_t buffer = rendezvous.nextBuffer(0);
        buffers[buffer] = i;
        rendezvous.send(0, &buffers[buffer]);
      }
    }
    if (partition == 0)
      rendezvous.awaitRelease(0);
  });
  return (now() - start) / count;
}

static double emptyCalls(Rendezvous &rendezvous, DeviceThreads &threads, int count) {
  double start = now();
  for (int i = 0; i < count; ++i)
    run(rendezvous, threads, [](int) {});
  return (now() - start) / count;
}

static void print(const char *name, int rounds, const std::function<double()> &measure) {
  std::vector<double> times;
  measure();
  for (int i = 0; i < rounds; ++i)
    times.push_back(measure());
  std::sort(times.begin(), times.end());
  printf("%s %.0f %.0f\n", name, times[times.size() / 2], times[0]);
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 1;
  int rounds = std::max(1, atoi(argv[1]));
  Rendezvous rendezvous;
  DeviceThreads threads;
  if (!rendezvous.reserve(defaultAllocator(), 2) || !threads.reserve(defaultAllocator(), 2))
    return 1;
  double there, back;
  print("a scalar", rounds, [&] { return pingPong(rendezvous, threads, &there, &back, 200); });
  print("an integer in place of an address", rounds,
        [&] { return pingPongInMessage(rendezvous, threads, 200); });
  constexpr size_t kBytes = 100'000'000;
  std::vector<double> large(kBytes / sizeof(double)), larger(large.size());
  print("100 MB", rounds,
        [&] { return pingPong(rendezvous, threads, large.data(), larger.data(), 200); });
  print("100 MB, copied by one thread", std::min(rounds, 5), [&] {
    double start = now();
    memcpy(larger.data(), large.data(), kBytes);
    return now() - start;
  });
  print("a scalar in a loop", rounds, [&] { return stream(rendezvous, threads, 500); });
  print("a call without messages", rounds, [&] { return emptyCalls(rendezvous, threads, 100); });
  std::vector<BusyThread> others(1000); // waits no longer spin
  print("a scalar, without spinning", rounds,
        [&] { return pingPong(rendezvous, threads, &there, &back, 100); });
  print("a call without messages, without spinning", rounds,
        [&] { return emptyCalls(rendezvous, threads, 100); });
}
