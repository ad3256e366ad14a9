//===- CommitTest.cpp - Agreement of partitions on failed checks ----------===//
//
// Tests which failed check a call reports, and that all partitions learn of it.
//
//===----------------------------------------------------------------------===//

#include "RendezvousDevices.h"

using namespace tfc::runtime;

//===- Commits ------------------------------------------------------------===//

using Position = std::vector<int64_t>;

/// Commits, with the position of a failed check if it is not empty. Returns the result, and in
/// `isFirst` whether it is the first one, or whether there is none.
static int32_t commit(Devices &devices, const Position &position, bool &isFirst) {
  CheckPosition own = {position.data(), static_cast<int32_t>(position.size())};
  const CheckPosition *failed = position.empty() ? nullptr : &own, *first;
  int32_t result = devices.commit(failed, first);
  isFirst = first == failed;
  return result;
}

/// A function per position, which commits and expects that of partition `expected` to be the first.
static Functions commits(Devices &devices, const std::vector<Position> &positions,
                         size_t expected) {
  Functions functions;
  for (const Position &position : positions)
    functions.push_back([&devices, position, isExpected = functions.size() == expected] {
      bool isFirst;
      EXPECT_EQ(commit(devices, position, isFirst), TFC_OK);
      EXPECT_EQ(isFirst, isExpected);
    });
  return functions;
}

TEST(Commit, TellsAllTheFirstFailedCheck) {
  Devices devices({});
  for (int call = 0; call < 200; ++call) {
    devices.run(commits(devices, {{9}, {7}, {}, {3}}, 3));
    devices.run(commits(devices, {{INT64_MAX}, {}, {}}, 0));
    devices.run(commits(devices, {{4}}, 0));
    // Of checks in a loop, that of the earlier iteration, and then the earlier one.
    devices.run(commits(devices, {{2, 5, 3}, {2, 4, 6}, {2, 4, 7}, {8}}, 1));
    devices.run(commits(devices, {{2, 5, 3, 0, 4}, {2, 5, 5}, {2, 5, 3, 1, 4}}, 0));
    devices.run(commits(devices, {{1}, {2, 0, 3}}, 0));
  }
}

TEST(Commit, CommitsSeveralTimesInACall) {
  Devices devices({});
  auto commitOften = [&](int64_t partition) {
    return [&devices, partition] {
      bool isFirst;
      for (int32_t i = 0; i < 999; ++i) {
        EXPECT_EQ(commit(devices, {}, isFirst), TFC_OK);
        EXPECT_TRUE(isFirst); // there is none
      }
      EXPECT_EQ(commit(devices, {partition}, isFirst), TFC_OK);
      EXPECT_EQ(isFirst, partition == 0);
    };
  };
  devices.run({commitOften(0), commitOften(1), commitOften(2)});
}

/// Under AddressSanitizer and ThreadSanitizer: nobody compares a position whose partition has
/// returned because of an abort.
TEST(Commit, ForgetsThePositionsOfAbortedPartitions) {
  Devices devices({});
  for (int call = 0; call < 2000; ++call) {
    auto fail = [&](int64_t partition) {
      return [&devices, partition] {
        bool isFirst;
        EXPECT_EQ(commit(devices, {partition, 0, 0}, isFirst), TFC_RT_ABORTED);
      };
    };
    int32_t status =
        devices.run({fail(2), [&] { devices.abort(TFC_CANCELLED); }, fail(1), fail(0)});
    EXPECT_EQ(status, TFC_CANCELLED);
  }
}

TEST(Commit, MakesWritesBeforeACommitVisible) {
  Devices devices({});
  int values[3];
  auto exchange = [&](int i) {
    return [&, i] {
      values[i] = i + 1;
      commit(devices);
      EXPECT_EQ(values[0] + values[1] + values[2], 6);
      commit(devices);
      values[i] = 0;
    };
  };
  for (int call = 0; call < 200; ++call)
    devices.run({exchange(0), exchange(1), exchange(2)});
}

TEST(Commit, CommitsOnAllDevicesOrNone) {
  Devices devices({});
  int32_t results[4];
  int commits = 0;
  for (int call = 0; call < 2000; ++call) {
    auto commitOrAbort = [&](int i) {
      return [&, i] {
        results[i] = commit(devices);
        if (i == call % 4)
          devices.abort(TFC_CANCELLED);
      };
    };
    devices.run({commitOrAbort(0), commitOrAbort(1), commitOrAbort(2), [&] {
                   if (call % 2)
                     devices.abort(TFC_CLOSED);
                   commitOrAbort(3)();
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
  Position position;
  if (fails) {
    position = {partition};
    devices.leave(partition);
  }
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
  bool isFirst;
  EXPECT_EQ(commit(devices, position, isFirst), TFC_OK); // `values` may be read until here
  EXPECT_EQ(isFirst, call % 3 != 0 || partition == 1);
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

TEST(Commit, RunsRandomEntries) {
  for (int seed = 0; seed < 5; ++seed)
    runRandomEntries(seed, 100);
}

TEST(Commit, ServesSeveralHandlesAtOnce) {
  std::vector<std::thread> handles;
  for (int i = 0; i < 4; ++i)
    handles.emplace_back([i] { runRandomEntries(100 + i, 60); });
  for (std::thread &handle : handles)
    handle.join();
}
