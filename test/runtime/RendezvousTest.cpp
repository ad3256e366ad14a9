//===- RendezvousTest.cpp - Messages between the devices of a call --------===//
//
// Tests messages, aborts and poison with partitions that are functions of the test.
//
//===----------------------------------------------------------------------===//

#include "RendezvousDevices.h"

#include <ctime>

using namespace tfc::runtime;

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

/// Sends a message the third time that it is done.
struct SendingWork {
  explicit SendingWork(Devices &devices) : devices(devices) {}

  static void run(void *context, bool) {
    auto &work = *static_cast<SendingWork *>(context);
    if (++work.count == 3) {
      EXPECT_EQ(work.devices.send(0, &work.value), TFC_OK);
    }
  }

  Devices &devices;
  SpinWork work = {this, run};
  int value = 42, count = 0;
};

TEST(Rendezvous, LetsAWaitDoTheWorkThatEndsIt) {
  Devices devices({{0, 0}});
  SendingWork work(devices);
  devices.run({[&] {
    devices.share(work.work);
    EXPECT_EQ(Received(devices, 0).number(), 42);
  }});
  EXPECT_EQ(work.count, 3);
  // The next call has no work.
  int value = 7;
  devices.run({[&] {
    EXPECT_EQ(devices.send(0, &value), TFC_OK);
    EXPECT_EQ(Received(devices, 0).number(), 7);
  }});
  EXPECT_EQ(work.count, 3);
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
                                  EXPECT_EQ(commit(devices), TFC_RT_ABORTED);
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
                           EXPECT_EQ(devices.send(0, &value), TFC_RT_ABORTED);
                           EXPECT_EQ(devices.send(1, &value), TFC_RT_ABORTED);
                           EXPECT_EQ(devices.awaitRelease(0), TFC_RT_ABORTED);
                           EXPECT_EQ(Received(devices, 2).result, TFC_RT_ABORTED);
                           EXPECT_EQ(commit(devices), TFC_RT_ABORTED);
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

//===- Leaving ------------------------------------------------------------===//

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
