//===- WarpTest.cpp - Lanes that part and meet ----------------------------===//
//
// Runs kernels with divergent branches, loops, barriers and exchanges.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/execute/Machine.h"

#include <gtest/gtest.h>
#include <numeric>

using namespace tfc::gpu;

/// The values of %r1 that the threads of a block store, after instructions that begin with %r0 as
/// their number.
static std::vector<uint32_t> run(const std::string &body, uint32_t threads = 32) {
  Machine machine;
  std::string error = machine.load(R"(.entry k(.param .u64 p) {
.shared .align 4 .b32 tile[1024];
.reg .pred %p<4>; .reg .b32 %r<10>; .reg .b64 %a<4>;
ld.param.u64 %a0, [p]; mov.u32 %r0, %tid.x; mul.wide.u32 %a1, %r0, 4; add.u64 %a1, %a1, %a0;
)" + body + "\nst.global.u32 [%a1], %r1;\nret;\n}\n");
  EXPECT_EQ(error, "");
  if (!machine.program)
    return {};
  uint64_t array = machine.allocate<uint32_t>(threads);
  EXPECT_EQ(machine.run({array}, {}, {threads}), "");
  return machine.read<uint32_t>(array, threads);
}

template <typename F> static std::vector<uint32_t> expected(F f, uint32_t threads = 32) {
  std::vector<uint32_t> values(threads);
  for (uint32_t i = 0; i < threads; ++i)
    values[i] = f(i);
  return values;
}

TEST(Warp, LanesTakeTheirBranches) {
  EXPECT_EQ(run("setp.lt.u32 %p0, %r0, 10; @%p0 bra less; mov.u32 %r1, 2; bra done;\n"
                "less: mov.u32 %r1, 1; done:"),
            expected([](uint32_t i) { return i < 10 ? 1 : 2; }));
}

TEST(Warp, BranchesByIndex) {
  EXPECT_EQ(
      run("list: .branchtargets two, zero, one, zero; and.b32 %r2, %r0, 3; brx.idx %r2, list;\n"
          "zero: mov.u32 %r1, 0; bra done; one: mov.u32 %r1, 1; bra done; two: mov.u32 %r1, 2; "
          "done:"),
      expected([](uint32_t i) { return i % 4 == 0   ? 2
                                       : i % 4 == 2 ? 1
                                                    : 0; }));
}

TEST(Warp, LoopsHaveTripsOfTheirOwn) {
  EXPECT_EQ(run("mov.u32 %r1, 0; mov.u32 %r2, 0; again: setp.ge.u32 %p0, %r2, %r0; @%p0 bra done;\n"
                "add.u32 %r1, %r1, %r2; add.u32 %r2, %r2, 1; bra again; done:",
                96),
            expected([](uint32_t i) { return i * (i - 1) / 2; }, 96));
}

/// After a divergent branch all lanes execute the shuffle together.
TEST(Warp, LanesMeetAfterBranches) {
  EXPECT_EQ(
      run("and.b32 %r2, %r0, 1; setp.eq.u32 %p0, %r2, 0; @%p0 bra even; mul.lo.u32 %r3, %r0, 10;\n"
          "bra met; even: mov.u32 %r3, %r0; met: shfl.sync.bfly.b32 %r1, %r3, 1, 31, -1;"),
      expected([](uint32_t i) { return i % 2 ? i - 1 : 10 * (i + 1); }));
}

TEST(Warp, ShufflesStayInTheirSegments) {
  EXPECT_EQ(run("shfl.sync.up.b32 %r1, %r0, 1, 0, -1;"),
            expected([](uint32_t i) { return i ? i - 1 : 0; }));
  EXPECT_EQ(run("shfl.sync.down.b32 %r1|%p0, %r0, 4, 31, -1; @!%p0 mov.u32 %r1, 99;"),
            expected([](uint32_t i) { return i < 28 ? i + 4 : 99; }));
  // Segments of 8 lanes: bits 8 to 12 are 24.
  EXPECT_EQ(run("shfl.sync.idx.b32 %r1, %r0, 2, 0x181f, -1;"),
            expected([](uint32_t i) { return i / 8 * 8 + 2; }));
}

TEST(Warp, ReducesByShuffles) {
  std::string body = "mov.u32 %r1, %r0;\n";
  for (int by : {16, 8, 4, 2, 1})
    body +=
        "shfl.sync.bfly.b32 %r2, %r1, " + std::to_string(by) + ", 31, -1; add.u32 %r1, %r1, %r2;\n";
  EXPECT_EQ(run(body), expected([](uint32_t) { return 31 * 32 / 2; }));
}

TEST(Warp, VotesAndMatches) {
  EXPECT_EQ(run("setp.lt.u32 %p0, %r0, 5; vote.sync.ballot.b32 %r1, %p0, -1;"),
            expected([](uint32_t) { return 31; }));
  EXPECT_EQ(
      run("setp.lt.u32 %p0, %r0, 32; vote.sync.all.pred %p1, %p0, -1; selp.u32 %r1, 1, 0, %p1;"),
      expected([](uint32_t) { return 1; }));
  EXPECT_EQ(
      run("setp.lt.u32 %p0, %r0, 5; vote.sync.any.pred %p1, !%p0, -1; selp.u32 %r1, 1, 0, %p1;"),
      expected([](uint32_t) { return 1; }));
  EXPECT_EQ(run("and.b32 %r2, %r0, 1; match.any.sync.b32 %r1, %r2, -1;"),
            expected([](uint32_t i) { return i % 2 ? 0xaaaaaaaa : 0x55555555; }));
  EXPECT_EQ(run("redux.sync.max.u32 %r1, %r0, -1;"), expected([](uint32_t) { return 31; }));
  EXPECT_EQ(run("setp.lt.u32 %p0, %r0, 3; mov.u32 %r1, 0; @%p0 bra in; bra out; in: activemask.b32 "
                "%r1; out:"),
            expected([](uint32_t i) { return i < 3 ? 7 : 0; }));
}

/// Two halves of a warp exchange under masks of their own, at one instruction.
TEST(Warp, GroupsOfAMaskAreIndependent) {
  EXPECT_EQ(run("setp.lt.u32 %p0, %r0, 16; selp.b32 %r2, 0xffff, 0xffff0000, %p0;\n"
                "redux.sync.add.u32 %r1, %r0, %r2;"),
            expected([](uint32_t i) { return i < 16 ? 120 : 376; }));
}

TEST(Warp, BarriersOrderWarps) {
  EXPECT_EQ(run("mov.u32 %r2, tile; mad.lo.u32 %r3, %r0, 4, %r2; st.shared.u32 [%r3], %r0;\n"
                "bar.sync 0; sub.u32 %r4, 255, %r0; mad.lo.u32 %r3, %r4, 4, %r2;\n"
                "ld.shared.u32 %r1, [%r3];",
                256),
            expected([](uint32_t i) { return 255 - i; }, 256));
}

/// One lane waits for another one of its warp, which a lowest program counter alone never runs.
TEST(Warp, SpinningLanesLetOthersRun) {
  EXPECT_EQ(run("mov.u32 %r1, 1; setp.eq.u32 %p0, %r0, 0; mov.u32 %r2, tile; @%p0 "
                "st.volatile.shared.u32 [%r2], 0;\n"
                "bar.warp.sync -1; @%p0 bra set;\n"
                "spin: ld.volatile.shared.u32 %r3, [%r2]; setp.eq.u32 %p1, %r3, 0; @%p1 bra spin;\n"
                "bra done; set: atom.shared.exch.b32 %r4, [%r2], 1; done:"),
            expected([](uint32_t) { return 1; }));
}

TEST(Warp, PartsOfAWarpRun) {
  EXPECT_EQ(run("mov.u32 %r1, %ntid.x;", 37), expected([](uint32_t) { return 37; }, 37));
}

TEST(Launch, GridsAndCounts) {
  Machine machine;
  ASSERT_EQ(machine.load(R"(.entry k(.param .u64 p) {
.reg .b32 %r<8>; .reg .b64 %a<4>; .reg .f32 %f<4>;
ld.param.u64 %a0, [p]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x;
mad.lo.u32 %r3, %r1, %r2, %r0; mul.wide.u32 %a1, %r3, 16; add.u64 %a1, %a1, %a0;
ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%a1];
fma.rn.f32 %f0, %f0, %f1, %f2;
st.global.v4.f32 [%a1], {%f0, %f1, %f2, %f3};
ret;
})"),
            "");
  uint64_t array = machine.copy(std::vector<float>(4 * 1024, 1.0f));
  ASSERT_EQ(machine.run({array}, {8}, {128}), "");
  EXPECT_EQ(machine.read<float>(array, 2), (std::vector<float>{2, 1}));
  EXPECT_EQ(machine.counters.multiplyAdds, 1024u);
  EXPECT_EQ(machine.counters.globalBytes, 2u * 16 * 1024);
  EXPECT_EQ(machine.counters.globalRequests, 2u * 32);
  EXPECT_EQ(machine.counters.globalSectors, 2u * 512);
  EXPECT_EQ(machine.run({array}, {1, 70000}, {128}),
            "kernel 'k': a grid has at most 2147483647 blocks in x, and 65535 in y and z");
  EXPECT_EQ(machine.run({}, {1}, {1}),
            "kernel 'k': the parameters have 0 bytes, but the kernel takes 8");
  EXPECT_EQ(machine.run({array}, {1}, {2048}),
            "kernel 'k': a block has at most 1024 threads, of which 64 in z");
}

TEST(Launch, BankConflictsAreCounted) {
  auto passes = [](int stride) {
    Machine machine;
    EXPECT_EQ(machine.load(R"(.entry k() {
.shared .align 4 .b32 tile[1024];
.reg .b32 %r<4>;
mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mad.lo.u32 %r1, %r0, )" +
                           std::to_string(4 * stride) + ", %r1; st.shared.u32 [%r1], %r0;\n}\n"),
              "");
    EXPECT_EQ(machine.run({}, {}, {32}), "");
    return machine.counters.sharedPasses;
  };
  EXPECT_EQ(passes(1), 1u);
  EXPECT_EQ(passes(2), 2u);
  EXPECT_EQ(passes(32), 32u);
  EXPECT_EQ(passes(31), 1u);
}

TEST(Program, RefusesWhatItDoesNotKnow) {
  auto refused = [](const std::string &instruction) {
    return Machine().load(
        ".entry k() {\n.reg .b32 %r<4>; .reg .b64 %a<4>; .reg .pred %p<4>; .reg .f32 %f<2>;\n" +
        instruction + "\n}\n");
  };
  EXPECT_EQ(refused("foo.u32 %r1, %r2;"), "line 6: unknown instruction 'foo.u32'");
  EXPECT_EQ(refused("add.u8 %r1, %r2, %r3;"), "line 6: unknown instruction 'add.u8'");
  EXPECT_EQ(refused("add.ftz.u32 %r1, %r2, %r3;"), "line 6: unknown instruction 'add.ftz.u32'");
  EXPECT_EQ(refused("fma.f32 %f1, %f1, %f1, %f1;"), "line 6: unknown instruction 'fma.f32'");
  EXPECT_EQ(refused("add.u32 %r1, %r2;"), "line 6: 'add.u32' has 3 operands, but got 2");
  EXPECT_EQ(refused("add.u32 %a1, %r2, %r3;"),
            "line 6: register '%a1' cannot be an operand of type .u32");
  EXPECT_EQ(refused("add.f32 %f1, %r2, %f1;"), "");
  EXPECT_EQ(refused("add.u32 %f1, %r2, %r3;"),
            "line 6: register '%f1' cannot be an operand of type .u32");
  EXPECT_EQ(refused("mov.u32 %r1, %nosuch;"), "line 6: unknown special register '%nosuch'");
  EXPECT_EQ(refused("call none;").substr(0, 7), "line 6:");
}
