//===- RendezvousDevices.h - Partitions that are functions of a test ------===//

#pragma once

#include "runtime/DeviceThreads.h"
#include "runtime/Rendezvous.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <random>
#include <thread>
#include <vector>

namespace tfc::runtime {

using Functions = std::vector<std::function<void()>>;

/// A rendezvous with threads, as a handle has them.
struct Devices : Rendezvous {
  explicit Devices(std::vector<tfc_slot_info> slots) : slots(std::move(slots)) {
    EXPECT_TRUE(reserve(defaultAllocator(), this->slots.size()));
  }

  /// Makes a call, and returns its status.
  int32_t run(const Functions &partitions) {
    auto count = static_cast<int32_t>(partitions.size());
    EXPECT_TRUE(threads.reserve(defaultAllocator(), count));
    partitioning = {nullptr, slots.data(), count, static_cast<int32_t>(slots.size())};
    begin(partitioning);
    threads.run(
        count, [](void *context, int32_t i) { (*static_cast<const Functions *>(context))[i](); },
        const_cast<Functions *>(&partitions));
    end();
    return status();
  }

  std::vector<tfc_slot_info> slots;
  tfc_partitioning partitioning;
  DeviceThreads threads;
};

/// A received message.
struct Received {
  const void *value = nullptr;
  int32_t result;
  Received(Rendezvous &from, int32_t slot) : result(from.receive(slot, value)) {}
  int number() const { return value ? *static_cast<const int *>(value) : -1; }
};

/// Random numbers and delays.
struct Delays {
  explicit Delays(int seed) : engine(seed) {}
  int below(int bound) { return std::uniform_int_distribution(0, bound - 1)(engine); }
  /// Nothing, a time within the spin of a wait, or one beyond it.
  void wait() {
    if (int kind = below(8); kind < 2)
      std::this_thread::sleep_for(std::chrono::microseconds(kind == 0 ? 10 : 200));
  }
  std::minstd_rand engine;
};

/// Commits without a failed check, and returns the result.
inline int32_t commit(Devices &devices) {
  const CheckPosition *first;
  return devices.commit(nullptr, first);
}

} // namespace tfc::runtime
