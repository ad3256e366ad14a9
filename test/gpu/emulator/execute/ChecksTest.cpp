//===- ChecksTest.cpp - Executions that the ISA leaves undefined ----------===//
//
// Each check both ways: code that violates it, with the whole error, and code that only looks as
// if.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/execute/Machine.h"

#include <gtest/gtest.h>

using namespace tfc::gpu;

/// Declarations that the bodies below use; instructions begin on line 12.
static const std::string kBegin = R"(.extern .shared .align 16 .b8 pool[];
.global .u32 counter;
.const .u32 fixed = 5;
.entry k(.param .u64 p) {
.shared .align 4 .b32 tile[64];
.local .align 8 .b64 own[2];
.reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %a<8>;
ld.param.u64 %a0, [p]; mov.u32 %r0, %tid.x; mul.wide.u32 %a1, %r0, 4; add.u64 %a1, %a1, %a0;
)";

static std::string run(const std::string &body, Extent block = {32}, Extent grid = {},
                       uint32_t sharedBytes = 0) {
  Machine machine;
  std::string error = machine.load(kBegin + body + "\n}\n");
  EXPECT_EQ(error, "");
  if (!machine.program)
    return error;
  uint64_t array = machine.copy(std::vector<uint32_t>(2048, 7));
  EXPECT_EQ(array, 0x1000000400u); // as messages say
  machine.limit = 10'000'000;
  return machine.run({array}, grid, block, sharedBytes);
}

static std::string at(int thread, const std::string &message, int line = 12) {
  return "kernel 'k', line " + std::to_string(line) + ", thread (" + std::to_string(thread) +
         ", 0, 0) of block (0, 0, 0): " + message;
}

TEST(Checks, RegistersHaveValues) {
  EXPECT_EQ(run("add.u32 %r1, %r2, 1;"), at(0, "reads '%r2', which has no value"));
  EXPECT_EQ(run("setp.lt.u32 %p0, %r0, 3; @%p0 mov.u32 %r2, 1; mov.u32 %r1, %r2;"),
            at(3, "reads '%r2', which has no value"));
  EXPECT_EQ(run("@%p1 mov.u32 %r2, 1;"), at(0, "reads '%p1', which has no value"));
  EXPECT_EQ(run("setp.lt.u32 %p0, %r0, 3; @%p0 mov.u32 %r2, 1; @%p0 mov.u32 %r1, %r2;"), "");
}

TEST(Checks, GlobalAccessesAreInTheirAllocation) {
  EXPECT_EQ(run("ld.global.u32 %r1, [%a0+8192];"),
            at(0, "4 bytes at 0x1000002400 reach beyond the end of the allocation of 8192 bytes at "
                  "0x1000000400"));
  EXPECT_NE(run("ld.global.u32 %r1, [%a0+2];").find("are not aligned"), std::string::npos);
  EXPECT_NE(run("ld.global.v2.u32 {%r1, %r2}, [%a0+4];").find("are not aligned"),
            std::string::npos);
  EXPECT_EQ(run("ld.global.v2.u32 {%r1, %r2}, [%a0+8];"), "");
  EXPECT_EQ(run("mov.u64 %a2, 0; ld.global.u32 %r1, [%a2];"),
            at(0, "4 bytes at 0x0 are in no allocation"));
}

TEST(Checks, SharedAccessesAreInTheBlock) {
  EXPECT_EQ(run("st.shared.u32 [tile+256], %r0;"),
            at(0, "4 bytes at 0x100 are outside of the 256 bytes of shared memory"));
  EXPECT_EQ(run("setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.u32 [pool+12], %r0;", {32}, {}, 16), "");
  EXPECT_EQ(run("mov.u32 %r1, pool; ld.shared.u32 %r2, [%r1];", {32}, {}, 16),
            at(0, "byte 0x100 of shared memory was never written"));
  EXPECT_EQ(run("st.shared.u16 [tile+1], 5;"),
            at(0, "2 bytes at 0x1 of shared memory are not aligned"));
}

TEST(Checks, LocalMemoryIsTheThreadsOwn) {
  EXPECT_EQ(run("st.local.u64 [own+8], %a0; ld.local.u64 %a2, [own+8];"), "");
  EXPECT_EQ(run("ld.local.u64 %a2, [own];"), at(0, "byte 0x0 of local memory was never written"));
  EXPECT_EQ(run("st.local.u64 [own+16], %a0;"),
            at(0, "8 bytes at 0x10 are outside of the 16 bytes of local memory"));
}

TEST(Checks, GenericAddressesFindTheirSpace) {
  EXPECT_EQ(run("mov.u64 %a2, tile; cvta.shared.u64 %a3, %a2; add.u64 %a3, %a3, 4;\n"
                "setp.eq.u32 %p0, %r0, 0; @%p0 st.u32 [%a3], 9; @%p0 ld.shared.u32 %r1, [tile+4];\n"
                "cvta.to.global.u64 %a4, %a0; ld.global.u32 %r2, [%a4]; ld.u32 %r2, [%a0];"),
            "");
  EXPECT_NE(run("cvta.to.shared.u64 %a2, %a0;").find("to a state space where it is not"),
            std::string::npos);
}

TEST(Checks, ConstantsStay) {
  EXPECT_EQ(run("ld.const.u32 %r1, [fixed]; mov.u64 %a2, fixed; ld.const.u32 %r1, [%a2];"), "");
  EXPECT_NE(run("mov.u64 %a2, fixed; st.u32 [%a2], 1;").find("are constant"), std::string::npos);
  EXPECT_NE(run("ld.const.u32 %r1, [%a0];").find("is not the address of a constant"),
            std::string::npos);
}

TEST(Checks, RacesAreFound) {
  EXPECT_EQ(run("st.global.u32 [%a0], %r0;"),
            at(1, "the write of 4 bytes at 0x1000000400 races with a write of byte 0x1000000400 by "
                  "thread 0 of block 0"));
  EXPECT_EQ(run("st.global.u32 [%a1], %r0;", {64}, {1}), "");
  EXPECT_NE(run("st.global.u32 [%a1], %r0;", {32}, {2}).find("races"), std::string::npos);
  // Neighbours, with and without a barrier.
  const std::string begin =
      "mov.u32 %r1, tile; mad.lo.u32 %r2, %r0, 4, %r1; st.shared.u32 [%r2], %r0;\n";
  const std::string end =
      "xor.b32 %r3, %r0, 1; mad.lo.u32 %r2, %r3, 4, %r1; ld.shared.u32 %r4, [%r2];";
  EXPECT_NE(run(begin + end, {64}).find("races"), std::string::npos);
  EXPECT_EQ(run(begin + "bar.sync 0;\n" + end, {64}), "");
  EXPECT_EQ(run(begin + "bar.warp.sync 0xffffffff;\n" + end, {32}), "");
  EXPECT_EQ(run("mov.u64 %a2, counter; red.global.add.u32 [%a2], 1;", {64}, {4}), "");
  EXPECT_NE(run("mov.u64 %a2, counter; red.global.add.u32 [%a2], 1; ld.global.u32 %r1, [%a2];")
                .find("races"),
            std::string::npos);
}

TEST(Checks, ReadOnlyLoadsAreOfUnchangedMemory) {
  EXPECT_EQ(run("ld.global.nc.u32 %r1, [%a1]; ld.global.nc.u32 %r1, [%a0];"), "");
  EXPECT_NE(run("ld.global.nc.u32 %r1, [%a1]; st.global.u32 [%a1], 1;").find("races"),
            std::string::npos);
  EXPECT_EQ(run("ld.global.u32 %r1, [%a1]; st.global.u32 [%a1], 1;"), "");
  EXPECT_NE(run("st.global.u32 [%a1], 1; ld.global.nc.u32 %r1, [%a1];").find("races"),
            std::string::npos);
}

TEST(Checks, BarriersMeetAllThreads) {
  EXPECT_EQ(run("setp.lt.u32 %p0, %r0, 40; @%p0 bar.sync 0;", {64}),
            at(0, "waits at a barrier that only 40 of 64 threads reach"));
  EXPECT_EQ(run("setp.lt.u32 %p0, %r0, 40; @%p0 bra on; ret; on: bar.sync 0;", {64}),
            at(0, "waits at a barrier that only 40 of 64 threads reach"));
  // Lanes that took different ways meet before the barrier.
  EXPECT_EQ(run("setp.lt.u32 %p0, %r0, 40; @%p0 bra on; mov.u32 %r1, 1; on: bar.sync 0;", {64}),
            "");
  const std::string two =
      "setp.lt.u32 %p0, %r0, 16; @%p0 bra on; barrier.sync 0; ret; on: barrier.sync 0;";
  EXPECT_EQ(run(two, {32}), "");
  EXPECT_EQ(run("setp.lt.u32 %p0, %r0, 16; @%p0 bra on; bar.sync 0; ret; on: bar.sync 0;"),
            at(0,
               "waits at a barrier that lanes of its warp reach by different instructions, which "
               ".aligned forbids"));
  EXPECT_EQ(run("setp.lt.u32 %p0, %r0, 32; @%p0 bra on; bar.sync 1; ret; on: bar.sync 0;", {64}),
            at(32, "waits at another barrier than the first warp"));
}

TEST(Checks, MasksNameTheLanesThatCome) {
  const std::string half = "setp.lt.u32 %p0, %r0, 16;\n";
  EXPECT_EQ(run(half + "@%p0 shfl.sync.idx.b32 %r1, %r0, 0, 31, 0xffffffff; bar.warp.sync -1;"),
            at(0, "waits for lanes that never come", 13));
  EXPECT_EQ(run(half + "@%p0 shfl.sync.idx.b32 %r1, %r0, 0, 31, 0xffff; bar.warp.sync -1;"), "");
  EXPECT_EQ(run(half + "vote.sync.ballot.b32 %r1, %p0, 0xfffe;"),
            at(0, "is not in the mask of the lanes that it waits for", 13));
  // A value of a lane that does not take part is undefined, and must not be read.
  const std::string other = half + "@%p0 shfl.sync.idx.b32 %r1, %r0, 20, 31, 0xffff;\n";
  EXPECT_EQ(run(other), "");
  EXPECT_EQ(run(other + "@%p0 add.u32 %r2, %r1, 1;"), at(0, "reads '%r1', which has no value", 14));
}

TEST(Checks, DivisorsAreNotZero) {
  EXPECT_EQ(run("div.u32 %r1, 5, %r0;"), at(0, "divides an integer by zero"));
  EXPECT_EQ(run("setp.ne.u32 %p0, %r0, 0; @%p0 rem.u32 %r1, 5, %r0;"), "");
}

TEST(Checks, BranchesHaveTargets) {
  const std::string body = "list: .branchtargets zero, one; min.u32 %r1, %r0, ";
  const std::string rest = "; brx.idx %r1, list; zero: mov.u32 %r2, 1; one: ret;";
  EXPECT_EQ(run(body + "1" + rest), "");
  EXPECT_EQ(run(body + "2" + rest), at(2, "branches to target 2 of 2"));
}

TEST(Checks, EndlessLoopsEnd) {
  EXPECT_EQ(run("on: bra on;"), at(0, "executes more instructions than the limit"));
}

TEST(Checks, TrapsAreErrors) {
  EXPECT_EQ(run("setp.eq.u32 %p0, %r0, 9; @%p0 trap;"), at(9, "traps"));
}
