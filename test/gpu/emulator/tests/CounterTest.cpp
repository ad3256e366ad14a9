//===- CounterTest.cpp - How much work a launch was -----------------------===//
//
// Counts instructions, sectors and bank conflicts of accesses whose patterns are known.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/tests/Kernel.h"

using namespace tfc::gpu;
using namespace tfc::gpu::test;

/// The counters of a body that one warp executes, less those of the frame.
static Counters countersOf(const std::string &body, const std::string &before = "") {
  Device device;
  device.loadBody(body, before);
  EXPECT_EQ(device.error, "");
  device.shape.block.x = 32;
  std::vector<uint32_t> in(4096, 1);
  device.launchWith(device.upload(nullptr, 16384, false), device.upload(in.data(), 16384, true));
  EXPECT_EQ(device.error, "");
  return device.counters;
}

/// Loads a word from `step` words apart.
static std::string loadWithStep(unsigned step) {
  return "\n\tmul.wide.u32 %rd4, %r0, " + std::to_string(4 * step) +
         ";\n\tadd.u64 %rd4, %rd1, %rd4;\n\tld.global.u32 %r1, [%rd4];";
}

TEST(Counters, CountSectors) {
  struct Case {
    unsigned step, sectors;
  };
  for (Case c : {Case{0, 1}, {1, 4}, {2, 8}, {8, 32}, {100, 32}}) {
    Counters counters = countersOf(loadWithStep(c.step));
    EXPECT_EQ(counters.globalSectors, c.sectors) << c.step;
    EXPECT_EQ(counters.globalRequests, 1u);
    EXPECT_EQ(counters.globalBytesRead, 128u);
    EXPECT_EQ(counters.of(Class::Global), 32u);
  }
}

/// Stores `bytes` to shared memory, `step` bytes apart.
static uint64_t conflictsOf(unsigned step, unsigned bytes) {
  std::string value = bytes == 4   ? ".u32 [%r1], %r0;"
                      : bytes == 8 ? ".v2.u32 [%r1], {%r0, %r0};"
                                   : ".v4.u32 [%r1], {%r0, %r0, %r0, %r0};";
  return countersOf("\n\tmov.u32 %r1, sm;\n\tmad.lo.u32 %r1, %r0, " + std::to_string(step) +
                        ", %r1;\n\tst.shared" + value,
                    ".shared .align 16 .b8 sm[16384];\n")
      .sharedConflicts;
}

TEST(Counters, CountBankConflicts) {
  EXPECT_EQ(conflictsOf(4, 4), 0u);
  EXPECT_EQ(conflictsOf(8, 4), 1u);
  EXPECT_EQ(conflictsOf(128, 4), 31u);
  EXPECT_EQ(conflictsOf(132, 4), 0u);
  EXPECT_EQ(conflictsOf(8, 8), 0u);
  EXPECT_EQ(conflictsOf(16, 16), 0u);
  EXPECT_EQ(conflictsOf(128, 16), 28u); // seven more passes for each quarter
}

TEST(Counters, CountInstructions) {
  Counters before = countersOf("");
  Counters after = countersOf("\n\tsetp.lt.u32 %p1, %r0, 5;\n\t@%p1 mad.lo.u32 %r1, %r0, 2, 3;\n"
                              "\tcvt.rn.f32.u32 %f1, %r0;\n\tfma.rn.f32 %f1, %f1, %f1, %f1;\n"
                              "\tex2.approx.f32 %f2, %f1;\n\tbar.sync 0;");
  EXPECT_EQ(after.total() - before.total(), 5u * 32 + 5);
  EXPECT_EQ(after.multiplyAdds, 5u + 32);
  EXPECT_EQ(after.of(Class::Conversion), 32u);
  EXPECT_EQ(after.of(Class::Special), 32u);
  EXPECT_EQ(after.of(Class::Float), 32u);
  EXPECT_EQ(after.of(Class::Barrier), 32u);
  EXPECT_EQ(after.barriers, 1u);
  EXPECT_EQ(after.warpInstructions - before.warpInstructions, 6u);
}
