//===- RendezvousTest.cpp - Messages between the devices of a call --------===//
//
// Tests messages, aborts, poison and commits with partitions that are functions of the test.
//
//===----------------------------------------------------------------------===//

#include "runtime/Rendezvous.h"
#include "runtime/DeviceThreads.h"

#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <functional>
#include <random>
#include <thread>
#include <vector>

using namespace tfc::runtime;

namespace {
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
} // namespace

static void sleepMilliseconds(int count) {
  std::this_thread::sleep_for(std::chrono::milliseconds(count));
}

//===- Messages -----------------------------------------------------------===//

TEST(Rendezvous, PassesPointersBothWays) {
  Devices devices({{0, 1}, {1, 0}});
  int question = 6, answer = 0;
  EXPECT_EQ(devices.run({[&] {
                           EXPECT_EQ(devices.send(0, &question), TFC_OK);
                           Received received(devices, 1);
                           EXPECT_EQ(received.value, &answer);
                           EXPECT_EQ(received.number(), 42);
                           devices.release(1);
                         },
                         [&] {
                           Received received(devices, 0);
                           EXPECT_EQ(received.value, &question);
                           answer = received.number() * 7;
                           devices.release(0);
                           EXPECT_EQ(devices.send(1, &answer), TFC_OK);
                         }}),
            TFC_OK);
}

TEST(Rendezvous, ReceivesInAnotherOrderThanThatOfTheSends) {
  Devices devices(std::vector<tfc_slot_info>(10, {0, 1}));
  int values[10];
  devices.run({[&] {
                 for (int i = 0; i < 10; ++i) {
                   values[i] = i * i;
                   EXPECT_EQ(devices.send(i, &values[i]), TFC_OK);
                 }
               },
               [&] {
                 for (int i = 9; i >= 0; --i)
                   EXPECT_EQ(Received(devices, i).number(), i * i);
               }});
}

TEST(Rendezvous, NeedsNoReleaseInStraightLineCode) {
  Devices devices({{0, 1}});
  for (int call = 0; call < 1000; ++call)
    devices.run({[&] { EXPECT_EQ(devices.send(0, &call), TFC_OK); },
                 [&] { EXPECT_EQ(Received(devices, 0).number(), call); }});
}

TEST(Rendezvous, UsesTwoBuffersInALoop) {
  Devices devices({{0, 1}});
  for (int call = 0; call < 3; ++call) {
    Delays sending(2 * call), receiving(2 * call + 1);
    int buffers[2];
    devices.run({[&] {
                   for (int i = 0; i < 3000; ++i) {
                     int32_t buffer = devices.nextBuffer(0);
                     ASSERT_EQ(buffer, i & 1);
                     buffers[buffer] = i;
                     EXPECT_EQ(devices.send(0, &buffers[buffer]), TFC_OK);
                     if (i % 20 == 0)
                       sending.wait();
                   }
                 },
                 [&] {
                   for (int i = 0; i < 3000; ++i) {
                     ASSERT_EQ(Received(devices, 0).number(), i);
                     if (i % 20 == 0)
                       receiving.wait();
                     devices.release(0);
                   }
                 }});
  }
}

TEST(Rendezvous, SendsTwoMessagesAheadOfTheReleases) {
  Devices devices({{0, 1}});
  std::atomic<int> sent = 0, released = 0;
  int value = 0, most = 0;
  devices.run({[&] {
                 for (int i = 0; i < 500; ++i) {
                   EXPECT_EQ(devices.send(0, &value), TFC_OK);
                   most = std::max(most, ++sent - released);
                 }
               },
               [&] {
                 while (sent < 2) // the first two are sent without a release
                   std::this_thread::yield();
                 for (int i = 0; i < 500; ++i) {
                   EXPECT_EQ(Received(devices, 0).result, TFC_OK);
                   ++released;
                   devices.release(0);
                 }
               }});
  EXPECT_EQ(most, 2);
}

TEST(Rendezvous, ReceivesTheNextMessageBeforeTheReleaseOfTheLast) {
  Devices devices({{0, 1}});
  int values[100];
  devices.run({[&] {
                 for (int i = 0; i < 100; ++i) {
                   values[i] = i;
                   EXPECT_EQ(devices.send(0, &values[i]), TFC_OK);
                 }
               },
               [&] {
                 int last = Received(devices, 0).number();
                 for (int i = 1; i < 100; ++i) {
                   EXPECT_EQ(Received(devices, 0).number(), last + 1);
                   devices.release(0);
                   ++last;
                 }
               }});
}

TEST(Rendezvous, LetsTheSenderWaitForTheRelease) {
  Devices devices({{0, 1}});
  for (int delay : {0, 2}) {
    int value = 1;
    devices.run({[&] {
                   EXPECT_EQ(devices.awaitRelease(0), TFC_OK); // nothing is sent
                   EXPECT_EQ(devices.send(0, &value), TFC_OK);
                   EXPECT_EQ(devices.awaitRelease(0), TFC_OK);
                   value = 2;
                 },
                 [&] {
                   Received received(devices, 0);
                   sleepMilliseconds(delay);
                   EXPECT_EQ(received.number(), 1);
                   devices.release(0);
                 }});
  }
}

TEST(Rendezvous, ForgetsMessagesOfTheCallBefore) {
  Devices devices({{0, 1}, {0, 1}});
  int value = 1;
  auto sendOften = [&] {
    for (int i = 0; i < 2; ++i)
      EXPECT_EQ(devices.send(0, &value), TFC_OK);
  };
  std::atomic<bool> isSent;
  for (int call = 0; call < 100; ++call) {
    devices.run({sendOften, [] {}});
    isSent = false;
    devices.run({[&] {
                   isSent = true;
                   EXPECT_EQ(devices.send(0, &value), TFC_OK);
                 },
                 [&] {
                   EXPECT_EQ(Received(devices, 0).result, TFC_OK);
                   EXPECT_TRUE(isSent);
                 }});
  }
}

TEST(Rendezvous, SurvivesTheOverflowOfTheNumberOfCalls) {
  Devices devices({{0, 1}, {1, 0}});
  for (uint32_t number : {UINT32_MAX - 3, (1u << 30) - 3, (1u << 31) - 3}) {
    devices.renumber(number);
    for (int call = 0; call < 7; ++call) {
      devices.run({[&] {
                     for (int i = 0; i < 5; ++i)
                       EXPECT_EQ(devices.send(0, &call), TFC_OK);
                   },
                   [&] {
                     for (int i = 0; i < 5; ++i) {
                       EXPECT_EQ(Received(devices, 0).number(), call);
                       devices.release(0);
                     }
                   }});
      EXPECT_EQ(devices.run({[&] { EXPECT_EQ(Received(devices, 1).result, TFC_RT_ABORTED); },
                             [&] { devices.abort(TFC_CLOSED); }}),
                TFC_CLOSED);
    }
  }
}

TEST(Rendezvous, GrowsBetweenCalls) {
  Devices devices({{0, 1}});
  int value = 3;
  for (int slots : {1, 10, 100}) {
    devices.slots.resize(slots, {0, 1});
    ASSERT_TRUE(devices.reserve(defaultAllocator(), slots));
    devices.run({[&] { EXPECT_EQ(devices.send(slots - 1, &value), TFC_OK); },
                 [&] { EXPECT_EQ(Received(devices, slots - 1).number(), 3); }});
  }
}

//===- Waits --------------------------------------------------------------===//

static double threadSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

TEST(Rendezvous, SleepsInALongWait) {
  Devices devices({{0, 1}});
  int value = 0;
  for (bool busy : {false, true}) {
    std::vector<BusyThread> others(busy ? 1000 : 0); // then no wait spins
    double seconds = 0;
    devices.run({[&] {
                   sleepMilliseconds(100);
                   EXPECT_EQ(devices.send(0, &value), TFC_OK);
                 },
                 [&] {
                   double start = threadSeconds();
                   EXPECT_EQ(Received(devices, 0).result, TFC_OK);
                   seconds = threadSeconds() - start;
                 }});
    EXPECT_LT(seconds, 0.02);
  }
}

/// The processor time of 200 waits of a millisecond.
static double secondsOfShortWaits(Devices &devices) {
  int value = 0;
  double seconds = 0;
  devices.run({[&] {
                 for (int i = 0; i < 200; ++i) {
                   sleepMilliseconds(1);
                   EXPECT_EQ(devices.send(0, &value), TFC_OK);
                 }
               },
               [&] {
                 double start = threadSeconds();
                 for (int i = 0; i < 200; ++i) {
                   EXPECT_EQ(Received(devices, 0).result, TFC_OK);
                   devices.release(0);
                 }
                 seconds = threadSeconds() - start;
               }});
  return seconds;
}

TEST(Rendezvous, SpinsOnlyWhileAProcessorIsIdle) {
  Devices devices({{0, 1}});
  std::vector<BusyThread> others(1000);
  constexpr double kLimit = 200 * 40e-6; // each spin is 50 us
  double seconds = 1;
  for (int i = 0; i < 5 && seconds > kLimit; ++i) // other processes may disturb a measurement
    seconds = secondsOfShortWaits(devices);
  EXPECT_LT(seconds, kLimit);
}

TEST(Rendezvous, WakesSleepers) {
  for (bool busy : {false, true}) {
    std::vector<BusyThread> others(busy ? 1000 : 0);
    Devices devices({{0, 1}, {1, 0}});
    Delays first(1), second(2);
    int ping = 0, pong = 0;
    devices.run({[&] {
                   for (int i = 0; i < 1000; ++i) {
                     first.wait();
                     ping = i;
                     EXPECT_EQ(devices.send(0, &ping), TFC_OK);
                     EXPECT_EQ(Received(devices, 1).number(), i + 1);
                     devices.release(1);
                   }
                 },
                 [&] {
                   for (int i = 0; i < 1000; ++i) {
                     EXPECT_EQ(Received(devices, 0).number(), i);
                     devices.release(0);
                     second.wait();
                     pong = i + 1;
                     EXPECT_EQ(devices.send(1, &pong), TFC_OK);
                   }
                 }});
  }
}

//===- Aborts -------------------------------------------------------------===//

/// Partitions 1 to 5 wait in all ways there are, until partition 0 aborts.
static void abortWaits(Devices &devices, int delay) {
  int value = 0;
  auto sendTwice = [&](int32_t slot) {
    EXPECT_EQ(devices.send(slot, &value), TFC_OK);
    EXPECT_EQ(devices.send(slot, &value), TFC_OK);
  };
  std::atomic<int> waiting = 0;
  int32_t status = devices.run({[&] {
                                  while (waiting < 5)
                                    std::this_thread::yield();
                                  sleepMilliseconds(delay);
                                  EXPECT_TRUE(devices.abort(TFC_CLOSED));
                                },
                                [&] {
                                  ++waiting;
                                  EXPECT_EQ(Received(devices, 0).result, TFC_RT_ABORTED);
                                },
                                [&] {
                                  sendTwice(1);
                                  ++waiting;
                                  EXPECT_EQ(devices.send(1, &value), TFC_RT_ABORTED);
                                },
                                [&] {
                                  sendTwice(2);
                                  ++waiting;
                                  EXPECT_EQ(devices.nextBuffer(2), TFC_RT_ABORTED);
                                },
                                [&] {
                                  EXPECT_EQ(devices.send(3, &value), TFC_OK);
                                  ++waiting;
                                  EXPECT_EQ(devices.awaitRelease(3), TFC_RT_ABORTED);
                                },
                                [&] {
                                  ++waiting;
                                  int32_t lowest;
                                  EXPECT_EQ(devices.commit(0, lowest), TFC_RT_ABORTED);
                                }});
  EXPECT_EQ(status, TFC_CLOSED);
}

TEST(Rendezvous, AbortsEveryWait) {
  Devices devices({{0, 1}, {2, 0}, {3, 0}, {4, 0}});
  for (int call = 0; call < 50; ++call)
    abortWaits(devices, call % 3);
}

TEST(Rendezvous, ReturnsAtOnceAfterAnAbort) {
  Devices devices({{0, 1}, {0, 1}, {1, 0}});
  int value = 0;
  EXPECT_EQ(devices.run({[&] {
                           EXPECT_EQ(devices.send(0, &value), TFC_OK);
                           devices.abort(TFC_CANCELLED);
                           int32_t lowest;
                           EXPECT_EQ(devices.send(0, &value), TFC_RT_ABORTED);
                           EXPECT_EQ(devices.sendPoison(1), TFC_RT_ABORTED);
                           EXPECT_EQ(devices.awaitRelease(0), TFC_RT_ABORTED);
                           EXPECT_EQ(Received(devices, 2).result, TFC_RT_ABORTED);
                           EXPECT_EQ(devices.commit(1, lowest), TFC_RT_ABORTED);
                           devices.release(2);
                           devices.leave(0);
                         },
                         [] {}}),
            TFC_CANCELLED);
  EXPECT_EQ(devices.run({[&] { EXPECT_EQ(devices.send(0, &value), TFC_OK); },
                         [&] { EXPECT_EQ(Received(devices, 0).result, TFC_OK); }}),
            TFC_OK);
}

TEST(Rendezvous, KeepsTheStatusOfTheFirstAbort) {
  Devices devices({});
  std::atomic<int> wins = 0, winner = 0;
  auto abort = [&](int32_t status) {
    if (devices.abort(status)) {
      ++wins;
      winner = status;
    }
  };
  for (int call = 0; call < 1000; ++call) {
    wins = 0;
    int32_t status = devices.run({[&] { abort(5); }, [&] { abort(-1); }, [&] { abort(7); }});
    EXPECT_EQ(wins, 1);
    EXPECT_EQ(status, winner);
  }
}

TEST(Rendezvous, CanBeAbortedByAnyThreadWithoutEffectOnLaterCalls) {
  Devices devices({{0, 1}, {1, 0}});
  std::atomic<bool> isDone = false;
  std::thread other([&] {
    for (Delays delays(1); !isDone; delays.wait())
      devices.abort(TFC_CANCELLED);
  });
  int calls[2] = {}, value = 0;
  auto echo = [&](int32_t from, int32_t to) {
    for (int i = 0; i < 20; ++i) {
      if (Received(devices, from).result == TFC_RT_ABORTED)
        break;
      devices.release(from);
      if (devices.send(to, &value) == TFC_RT_ABORTED)
        break;
    }
  };
  for (int call = 0; call < 2000; ++call) {
    int32_t status = devices.run({[&] {
                                    if (devices.send(0, &value) == TFC_OK)
                                      echo(1, 0);
                                  },
                                  [&] { echo(0, 1); }});
    ASSERT_TRUE(status == TFC_OK || status == TFC_CANCELLED);
    ++calls[status == TFC_OK];
  }
  isDone = true;
  other.join();
  EXPECT_EQ(calls[0] + calls[1], 2000);
}

//===- Poison -------------------------------------------------------------===//

TEST(Rendezvous, PassesPoison) {
  Devices devices({{0, 1}});
  int value = 5;
  devices.run({[&] {
                 EXPECT_EQ(devices.send(0, &value), TFC_OK);
                 EXPECT_EQ(devices.sendPoison(0), TFC_OK);
                 EXPECT_EQ(devices.send(0, &value), TFC_OK);
               },
               [&] {
                 for (int32_t expected : {int32_t(TFC_OK), TFC_RT_POISON, int32_t(TFC_OK)}) {
                   EXPECT_EQ(Received(devices, 0).result, expected);
                   devices.release(0);
                 }
               }});
}

TEST(Rendezvous, DeliversWhatAPartitionSentBeforeItLeft) {
  Devices devices({{0, 1}, {0, 1}});
  for (int delay : {0, 0, 2}) {
    int value = 5;
    devices.run({[&] {
                   EXPECT_EQ(devices.send(0, &value), TFC_OK);
                   EXPECT_EQ(devices.send(0, &value), TFC_OK);
                   sleepMilliseconds(delay);
                   devices.leave(0);
                 },
                 [&] {
                   EXPECT_EQ(Received(devices, 0).number(), 5);
                   EXPECT_EQ(Received(devices, 0).number(), 5);
                   EXPECT_EQ(Received(devices, 0).result, TFC_RT_POISON);
                   EXPECT_EQ(Received(devices, 1).result, TFC_RT_POISON);
                 }});
  }
}

TEST(Rendezvous, EndsTheLoopOfASenderWhoseReceiverLeft) {
  Devices devices({{0, 1}});
  for (int delay : {0, 0, 2}) {
    int sent = 0, buffers[2];
    devices.run({[&] {
                   int32_t buffer;
                   for (; (buffer = devices.nextBuffer(0)) >= 0; ++sent) {
                     buffers[buffer] = sent;
                     EXPECT_EQ(devices.send(0, &buffers[buffer]), TFC_OK);
                   }
                   EXPECT_EQ(buffer, TFC_RT_POISON);
                   EXPECT_EQ(devices.send(0, &buffers[0]), TFC_RT_POISON);
                   EXPECT_EQ(devices.awaitRelease(0), TFC_OK);
                 },
                 [&] {
                   EXPECT_EQ(Received(devices, 0).number(), 0);
                   sleepMilliseconds(delay);
                   devices.leave(1);
                 }});
    EXPECT_EQ(sent, 2); // there are two buffers, and the receiver has released none
  }
}

//===- Commits ------------------------------------------------------------===//

/// A function per number, which brings it to a commit and expects `expected`.
static Functions commits(Devices &devices, const std::vector<int32_t> &numbers, int32_t expected) {
  Functions functions;
  for (int32_t number : numbers)
    functions.push_back([&devices, number, expected] {
      int32_t lowest = -1;
      EXPECT_EQ(devices.commit(number, lowest), TFC_OK);
      EXPECT_EQ(lowest, expected);
    });
  return functions;
}

TEST(Rendezvous, TellsAllTheSmallestNumberOfAFailedCheck) {
  Devices devices({});
  for (int call = 0; call < 200; ++call) {
    devices.run(commits(devices, {0, 0, 0, 0}, 0));
    devices.run(commits(devices, {0, 7, 3, 9}, 3));
    devices.run(commits(devices, {INT32_MAX, 0, 0}, INT32_MAX));
    devices.run(commits(devices, {2, 1, 2}, 1));
    devices.run(commits(devices, {4}, 4));
  }
}

TEST(Rendezvous, CommitsSeveralTimesInACall) {
  Devices devices({});
  auto commitOften = [&](int32_t partition) {
    return [&devices, partition] {
      for (int32_t i = 0; i < 1000; ++i) {
        int32_t lowest, number = i == 999 ? partition + 1 : 0;
        EXPECT_EQ(devices.commit(number, lowest), TFC_OK);
        EXPECT_EQ(lowest, i == 999 ? 1 : 0);
      }
    };
  };
  devices.run({commitOften(0), commitOften(1), commitOften(2)});
}

TEST(Rendezvous, MakesWritesBeforeACommitVisible) {
  Devices devices({});
  int values[3];
  auto exchange = [&](int i) {
    return [&, i] {
      int32_t lowest;
      values[i] = i + 1;
      devices.commit(0, lowest);
      EXPECT_EQ(values[0] + values[1] + values[2], 6);
      devices.commit(0, lowest);
      values[i] = 0;
    };
  };
  for (int call = 0; call < 200; ++call)
    devices.run({exchange(0), exchange(1), exchange(2)});
}

TEST(Rendezvous, CommitsOnAllDevicesOrNone) {
  Devices devices({});
  int32_t results[4];
  int commits = 0;
  for (int call = 0; call < 2000; ++call) {
    auto commit = [&](int i) {
      return [&, i] {
        int32_t lowest;
        results[i] = devices.commit(0, lowest);
        if (i == call % 4)
          devices.abort(TFC_CANCELLED);
      };
    };
    devices.run({commit(0), commit(1), commit(2), [&] {
                   if (call % 2)
                     devices.abort(TFC_CLOSED);
                   commit(3)();
                 }});
    for (int32_t result : results)
      EXPECT_EQ(result, results[0]);
    commits += results[0] == TFC_OK;
  }
  EXPECT_GE(commits, 1000);
}

//===- Everything ---------------------------------------------------------===//

namespace {
/// A random entry: messages in one order, of which each partition has its part.
struct RandomEntry {
  RandomEntry(int partitions, int messages, int seed);
  /// Runs the steps of one partition. If it `fails`, it leaves before the first.
  void run(Devices &devices, int partition, int call, bool fails) const;

  struct Step {
    int slot;
    bool sends;
  };
  std::vector<tfc_slot_info> slots;
  std::vector<std::vector<Step>> steps;
};
} // namespace

RandomEntry::RandomEntry(int partitions, int messages, int seed) : steps(partitions) {
  Delays random(seed);
  for (int slot = 0; slot < messages; ++slot) {
    int sender = random.below(partitions);
    int receiver = (sender + 1 + random.below(partitions - 1)) % partitions;
    slots.push_back({sender, receiver});
    steps[sender].push_back({slot, true});
    steps[receiver].push_back({slot, false});
    std::vector<Step> &others = steps[receiver];
    // Receives may be in any order as long as no send is between them.
    if (others.size() > 1 && !others.rbegin()[1].sends && random.below(2))
      std::swap(others.rbegin()[0], others.rbegin()[1]);
  }
}

void RandomEntry::run(Devices &devices, int partition, int call, bool fails) const {
  Delays delays(call * 8 + partition);
  std::vector<int> values(slots.size());
  bool isPoisoned = fails;
  int32_t number = fails ? partition + 1 : 0, lowest;
  if (fails)
    devices.leave(partition);
  for (Step step : steps[partition]) {
    if (isPoisoned)
      break;
    if (delays.below(200) == 0)
      delays.wait();
    if (step.sends) {
      values[step.slot] = call + step.slot;
      EXPECT_EQ(devices.send(step.slot, &values[step.slot]), TFC_OK);
      continue;
    }
    Received received(devices, step.slot);
    isPoisoned = received.result != TFC_OK;
    if (isPoisoned)
      devices.leave(partition);
    else
      EXPECT_EQ(received.number(), call + step.slot);
    devices.release(step.slot);
  }
  EXPECT_EQ(devices.commit(number, lowest), TFC_OK); // `values` may be read until here
  int32_t failing = call % 3 == 0 ? 2 : 0;
  EXPECT_EQ(lowest, failing);
}

static void runRandomEntries(int seed, int calls) {
  for (int partitions : {2, 3, 5}) {
    RandomEntry entry(partitions, 60, seed + partitions);
    Devices devices(entry.slots);
    for (int call = 0; call < calls; ++call) {
      Functions functions;
      for (int i = 0; i < partitions; ++i)
        functions.push_back([&, i] {
          // Partition 1 fails in every third call, and others after it.
          entry.run(devices, i, call, call % 3 == 0 && i > 0 && i < 4);
        });
      devices.run(functions);
    }
  }
}

TEST(Rendezvous, RunsRandomEntries) {
  for (int seed = 0; seed < 5; ++seed)
    runRandomEntries(seed, 100);
}

TEST(Rendezvous, ServesSeveralHandlesAtOnce) {
  std::vector<std::thread> handles;
  for (int i = 0; i < 4; ++i)
    handles.emplace_back([i] { runRandomEntries(100 + i, 60); });
  for (std::thread &handle : handles)
    handle.join();
}
