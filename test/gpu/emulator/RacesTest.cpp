//===- RacesTest.cpp - Accesses that nothing orders -----------------------===//
//
// Tests each pair of accesses with and without barriers, and compares random accesses with a
// definition that keeps all of them.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/Races.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace tfc::gpu;

static bool races(Races &races, Access access, Moment moment, uint64_t address = 0x100,
                  uint64_t size = 4) {
  return races.add(address, size, access, moment).has_value();
}

TEST(Races, AllowsOneThreadEverything) {
  Races all;
  for (Access access : {Access::Write, Access::Read, Access::Atomic, Access::Write, Access::Read})
    EXPECT_FALSE(races(all, access, {2, 7}));
}

TEST(Races, FindsAWriteBesideAnotherAccess) {
  for (Access first : {Access::Read, Access::Write, Access::Atomic})
    for (Access second : {Access::Read, Access::Write, Access::Atomic}) {
      Races all;
      EXPECT_FALSE(races(all, first, {0, 1}));
      EXPECT_EQ(races(all, second, {0, 2}), first != second || first == Access::Write);
    }
}

TEST(Races, SaysWithWhomAndWhere) {
  Races all;
  EXPECT_FALSE(races(all, Access::Write, {1, 33}, 0x104, 4));
  std::optional<Race> race = all.add(0x100, 8, Access::Read, {1, 34});
  ASSERT_TRUE(race);
  EXPECT_EQ(race->str(), "races with a write of byte 0x104 by thread 33 of block 1");
}

TEST(Races, AcceptsABarrierOfTheBlock) {
  Races all;
  EXPECT_FALSE(races(all, Access::Write, {0, 1, 0}));
  EXPECT_FALSE(races(all, Access::Read, {0, 200, 1}));
  EXPECT_FALSE(races(all, Access::Read, {0, 201, 1}));
  EXPECT_TRUE(races(all, Access::Write, {0, 200, 1})); // thread 201 may read later
  EXPECT_FALSE(races(all, Access::Write, {0, 200, 2}));
  EXPECT_TRUE(races(all, Access::Read, {1, 0, 5})); // of another block
}

TEST(Races, AcceptsABarrierOfTheWarpWithinItAlone) {
  Races all;
  EXPECT_FALSE(races(all, Access::Write, {0, 1, 0, 0}));
  EXPECT_FALSE(races(all, Access::Read, {0, 31, 0, 1}));
  EXPECT_FALSE(races(all, Access::Read, {0, 30, 0, 1}));
  EXPECT_FALSE(races(all, Access::Write, {0, 2, 0, 2}));
  EXPECT_TRUE(races(all, Access::Read, {0, 32, 0, 9}));
}

TEST(Races, FindsReadersOfSeveralBlocks) {
  Races all;
  EXPECT_FALSE(races(all, Access::Read, {0, 0}));
  EXPECT_FALSE(races(all, Access::Read, {1, 0}));
  EXPECT_TRUE(races(all, Access::Write, {1, 0, 3}));
  all.clear();
  EXPECT_FALSE(races(all, Access::Write, {1, 0, 3}));
}

TEST(Races, KnowsBytesApart) {
  Races all;
  for (uint64_t i = 0; i < 3000; ++i)
    EXPECT_FALSE(races(all, Access::Write, {0, uint32_t(i)}, 0x3f0 + i, 1));
  EXPECT_TRUE(races(all, Access::Read, {0, 0}, 0x3f0 + 1023, 2));
}

namespace {
struct Past {
  Access access;
  Moment moment;
};
} // namespace

static bool isRace(const Past &a, const Past &b) {
  bool isHarmless = a.access == b.access && a.access != Access::Write;
  return !isHarmless && !a.moment.isSameThread(b.moment) && !a.moment.isBarrierBefore(b.moment);
}

static bool isRaceWithAny(const std::vector<Past> &past, const Past &next) {
  return std::any_of(past.begin(), past.end(),
                     [&](const Past &earlier) { return isRace(earlier, next); });
}

/// Threads of two blocks of two warps access a byte at random and pass barriers.
TEST(Races, AgreesWithTheDefinition) {
  std::minstd_rand engine(1);
  auto below = [&](int n) { return std::uniform_int_distribution(0, n - 1)(engine); };
  int found = 0;
  for (int run = 0; run < 4000; ++run) {
    Races all;
    std::vector<Past> past;
    uint32_t barriers[2] = {}, warpBarriers[2][2] = {};
    for (int step = 0; step < 40; ++step) {
      uint32_t block = below(30) == 0, thread = below(4) + 32 * (below(3) == 0), warp = thread / 32;
      barriers[block] += below(2);
      warpBarriers[block][warp] += below(2);
      Past next = {below(8) ? Access::Read : static_cast<Access>(below(3)),
                   {block, thread, barriers[block], warpBarriers[block][warp]}};
      bool isExpected = isRaceWithAny(past, next);
      ASSERT_EQ(races(all, next.access, next.moment), isExpected) << run << " " << step;
      if (isExpected) {
        ++found;
        break;
      }
      past.push_back(next);
    }
  }
  EXPECT_GT(found, 1000);
  EXPECT_LT(found, 4000);
}

/// The same for one block, by the checks for common cases and with barriers that all threads pass.
TEST(Races, FindsTheSameInCommonCases) {
  std::minstd_rand engine(2);
  auto below = [&](int n) { return std::uniform_int_distribution(0, n - 1)(engine); };
  int found = 0, common = 0;
  for (int run = 0; run < 4000; ++run) {
    Races all;
    all.add(0x100, 4, Access::Read, {0, 0}); // so that the page is there
    std::vector<Past> past = {{Access::Read, {0, 0}}};
    all.beginBlock();
    uint32_t barriers = 0, warpBarriers[2] = {};
    for (int step = 0; step < 40; ++step) {
      if (below(6) == 0) {
        ++barriers;
        all.passBarrier();
      }
      uint32_t thread = below(3) + 32 * below(2), warp = thread / 32;
      warpBarriers[warp] += below(2);
      Past next = {below(8) ? Access::Read : static_cast<Access>(below(3)),
                   {0, thread, barriers, warpBarriers[warp]}};
      bool isExpected = isRaceWithAny(past, next);
      all.enter(next.moment);
      bool isCommon = all.tryAdd(0x100, 4, next.access, thread % 32);
      common += isCommon;
      ASSERT_FALSE(isCommon && isExpected) << run << " " << step;
      ASSERT_EQ(races(all, next.access, next.moment), isExpected) << run << " " << step;
      if (isExpected) {
        ++found;
        break;
      }
      past.push_back(next);
    }
  }
  EXPECT_GT(found, 1000);
  EXPECT_GT(common, 10000);
}

TEST(Races, RefusesWritesOfWhatIsReadAsConstant) {
  Races all;
  EXPECT_FALSE(races(all, Access::ConstantRead, {0, 1}));
  EXPECT_FALSE(races(all, Access::Read, {0, 2}));
  std::optional<Race> race = all.add(0x102, 2, Access::Write, {0, 1, 7});
  ASSERT_TRUE(race);
  EXPECT_EQ(race->str(), "races with a read as constant of byte 0x102 by thread 1 of block 0");
  EXPECT_FALSE(races(all, Access::Write, {0, 1}, 0x200));
  EXPECT_TRUE(races(all, Access::ConstantRead, {0, 1, 3}, 0x200)); // by the same thread
  all.clear();
  EXPECT_FALSE(races(all, Access::ConstantRead, {0, 1}, 0x200));
}

TEST(Races, SplitsPagesForSmallerAccesses) {
  Races all;
  EXPECT_FALSE(races(all, Access::Write, {0, 1}, 0x400, 16));
  EXPECT_FALSE(races(all, Access::Write, {0, 1}, 0x40e, 1));
  EXPECT_FALSE(races(all, Access::Write, {0, 2, 1}, 0x40f, 1));
  EXPECT_TRUE(races(all, Access::Read, {0, 2}, 0x40c, 2));
  EXPECT_TRUE(races(all, Access::Read, {0, 1, 1}, 0x400, 16));
}
