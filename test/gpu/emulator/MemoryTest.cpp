//===- MemoryTest.cpp - The memory of an emulated device ------------------===//
//
// Tests each kind of access that is refused, and that refused ones change nothing.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/Memory.h"

#include <gtest/gtest.h>

using namespace tfc::gpu;

namespace {
/// Memory whose first allocation has 24 bytes.
struct Fixture : Memory {
  uint64_t base = allocate(24);

  std::string store(uint64_t offset, uint64_t bytes, bool isAligned = true) {
    const uint8_t from[64] = {1, 2, 3, 4, 5, 6, 7, 8};
    return write(base + offset, bytes, from, isAligned);
  }
  std::string load(uint64_t offset, uint64_t bytes, bool isAligned = true) {
    return read(base + offset, bytes, loaded, isAligned);
  }
  uint8_t loaded[64] = {};
};
} // namespace

TEST(Memory, ReadsWhatWasWritten) {
  Fixture memory;
  EXPECT_EQ(memory.base, 0x1000000000u);
  EXPECT_EQ(memory.store(8, 8), "");
  EXPECT_EQ(memory.load(8, 8), "");
  EXPECT_EQ(memory.loaded[7], 8);
  EXPECT_EQ(memory.load(12, 4), "");
  EXPECT_EQ(memory.loaded[0], 5);
  EXPECT_EQ(memory.store(0, 24, false), "");
  EXPECT_EQ(memory.load(3, 19, false), "");
  EXPECT_EQ(memory.load(24, 0), "");
}

TEST(Memory, RefusesBytesThatNobodyWrote) {
  Fixture memory;
  EXPECT_EQ(memory.store(0, 2), "");
  EXPECT_EQ(memory.load(0, 2), "");
  EXPECT_EQ(memory.load(0, 4), "byte 0x1000000002 of 4 bytes at 0x1000000000 was never written");
}

TEST(Memory, RefusesAccessesThatAreNotAligned) {
  Fixture memory;
  EXPECT_EQ(memory.store(4, 8), "8 bytes at 0x1000000004 are not aligned");
  EXPECT_EQ(memory.store(4, 8, false), "");
}

TEST(Memory, RefusesAccessesOutsideOfAllocations) {
  Fixture memory;
  EXPECT_EQ(memory.store(16, 16), "16 bytes at 0x1000000010 reach beyond the end of the allocation "
                                  "of 24 bytes at 0x1000000000");
  EXPECT_EQ(memory.store(24, 1), "1 bytes at 0x1000000018 reach beyond the end of the allocation "
                                 "of 24 bytes at 0x1000000000");
  EXPECT_EQ(memory.store(uint64_t(-8), 8), "8 bytes at 0xffffffff8 are in no allocation");
  EXPECT_EQ(memory.store(4096, 8), "8 bytes at 0x1000001000 are in no allocation");
  uint8_t byte = 0;
  EXPECT_EQ(memory.write(0, 1, &byte, true), "1 bytes at 0x0 are in no allocation");
  EXPECT_EQ(memory.write(UINT64_MAX, 1, &byte, true),
            "1 bytes at 0xffffffffffffffff are in no allocation");
  EXPECT_EQ(memory.write(memory.base + 8, UINT64_MAX, &byte, false),
            "18446744073709551615 bytes at 0x1000000008 reach beyond the end of the allocation of "
            "24 bytes at 0x1000000000");
}

TEST(Memory, RefusesReleasedMemory) {
  Fixture memory;
  uint64_t other = memory.allocate(1);
  EXPECT_EQ(memory.release(memory.base), "");
  EXPECT_EQ(memory.store(0, 4), "4 bytes at 0x1000000000 are in the allocation of 24 bytes at "
                                "0x1000000000, which was released");
  EXPECT_EQ(memory.release(memory.base), "24 bytes at 0x1000000000 were released before");
  EXPECT_EQ(memory.release(other + 1), "0x1000000201 is not the address of an allocation");
  EXPECT_NE(memory.allocate(24), memory.base);
}

TEST(Memory, CountsItsBytes) {
  Fixture memory;
  memory.setLimit(100);
  EXPECT_EQ(memory.allocate(77), 0u);
  uint64_t rest = memory.allocate(76);
  EXPECT_NE(rest, 0u);
  EXPECT_EQ(rest % Memory::kAlignment, 0u);
  EXPECT_EQ(memory.allocate(1), 0u);
  EXPECT_EQ(memory.getUsed(), 100u);
  EXPECT_EQ(memory.getLeaks(),
            (std::vector<std::string>{"24 bytes at 0x1000000000", "76 bytes at 0x1000000200"}));
  EXPECT_EQ(memory.release(memory.base), "");
  EXPECT_EQ(memory.getUsed(), 76u);
  EXPECT_EQ(memory.getLeaks().size(), 1u);
  EXPECT_EQ(memory.allocate(0), 0u);
}

TEST(Memory, GivesThreadsTheirBytes) {
  Fixture memory;
  uint8_t *to = memory.toWrite(memory.base + 8, 8);
  ASSERT_TRUE(to);
  to[3] = 9;
  const uint8_t *from = memory.toRead(memory.base + 8, 4);
  ASSERT_TRUE(from);
  EXPECT_EQ(from[3], 9);
  EXPECT_FALSE(memory.toRead(memory.base + 16, 4));
  EXPECT_EQ(memory.refusal(memory.base + 16, 4, false),
            "byte 0x1000000010 of 4 bytes at 0x1000000010 was never written");
  EXPECT_FALSE(memory.toWrite(memory.base + 16, 16));
  EXPECT_FALSE(memory.toWrite(memory.base + 2, 4));
  EXPECT_EQ(memory.refusal(memory.base + 2, 4, true), "4 bytes at 0x1000000002 are not aligned");
  EXPECT_EQ(memory.release(memory.base), "");
  EXPECT_FALSE(memory.toRead(memory.base + 8, 4));
}

TEST(Memory, KeepsConstantsFromThreads) {
  Memory memory;
  uint64_t constant = memory.allocate(4, true);
  uint32_t value = 5;
  EXPECT_EQ(memory.write(constant, 4, &value, false), "");
  EXPECT_TRUE(memory.toRead(constant, 4));
  EXPECT_FALSE(memory.toWrite(constant, 4));
  EXPECT_EQ(memory.refusal(constant, 4, true), "4 bytes at 0x1000000000 are constant");
  EXPECT_TRUE(memory.isConstant(constant + 3));
}
