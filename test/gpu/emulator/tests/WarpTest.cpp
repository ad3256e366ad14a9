//===- WarpTest.cpp - Shuffles, votes and barriers ------------------------===//
//
// Tests what lanes get from each other, and reductions over a block.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/tests/Kernel.h"
#include <functional>

using namespace tfc::gpu::test;

/// Each lane stores %r1; lane i has the value 100 + i in %r2.
static std::vector<uint32_t> inWarp(const std::string &code, unsigned threads = 32) {
  return run<uint32_t>("\n\tadd.u32 %r2, %r0, 100;\n\t" + code + "\n\tst.global.u32 [%rd2], %r1;",
                       {}, threads);
}

static void expect(const std::string &code, const std::function<uint32_t(uint32_t)> &definition,
                   unsigned threads = 32) {
  std::vector<uint32_t> results = inWarp(code, threads);
  for (uint32_t lane = 0; lane < threads; ++lane)
    EXPECT_EQ(results[lane], definition(lane)) << code << " in lane " << lane;
}

TEST(Shuffles, MoveValues) {
  expect("shfl.sync.idx.b32 %r1, %r2, 5, 31, -1;", [](uint32_t) { return 105u; });
  expect("shfl.sync.down.b32 %r1, %r2, 4, 31, -1;",
         [](uint32_t i) { return 100 + (i + 4 < 32 ? i + 4 : i); });
  expect("shfl.sync.up.b32 %r1, %r2, 4, 0, -1;",
         [](uint32_t i) { return 100 + (i >= 4 ? i - 4 : i); });
  expect("shfl.sync.bfly.b32 %r1, %r2, 3, 31, -1;", [](uint32_t i) { return 100 + (i ^ 3); });
}

TEST(Shuffles, StayInTheirSegment) {
  // Segments of 8 lanes: c is (32 - 8) << 8 | 31, or without the clamp for up.
  expect("shfl.sync.down.b32 %r1|%p1, %r2, 3, 0x181f, -1;\n\t@!%p1 add.u32 %r1, %r1, 1000;",
         [](uint32_t i) { return i % 8 + 3 < 8 ? 103 + i : 1100 + i; });
  expect("shfl.sync.up.b32 %r1|%p1, %r2, 3, 0x1800, -1;\n\t@!%p1 add.u32 %r1, %r1, 1000;",
         [](uint32_t i) { return i % 8 >= 3 ? 97 + i : 1100 + i; });
  expect("shfl.sync.idx.b32 %r1, %r2, 2, 0x181f, -1;",
         [](uint32_t i) { return 100 + i / 8 * 8 + 2; });
  // The two halves of a warp have masks of their own.
  expect("setp.lt.u32 %p1, %r0, 16;\n\tselp.b32 %r3, 0xffff, 0xffff0000, %p1;\n\t"
         "shfl.sync.bfly.b32 %r1, %r2, 8, 31, %r3;",
         [](uint32_t i) { return 100 + (i ^ 8); });
}

TEST(Votes, CountPredicates) {
  const std::string few = "setp.lt.u32 %p1, %r0, 3;\n\t", select = "\n\tselp.u32 %r1, 1, 0, %p2;";
  expect(few + "vote.sync.ballot.b32 %r1, %p1, -1;", [](uint32_t) { return 7u; });
  expect(few + "vote.sync.ballot.b32 %r1, !%p1, -1;", [](uint32_t) { return ~7u; });
  expect(few + "vote.sync.any.pred %p2, %p1, -1;" + select, [](uint32_t) { return 1u; });
  expect(few + "vote.sync.all.pred %p2, %p1, -1;" + select, [](uint32_t) { return 0u; });
  expect(few + "vote.sync.uni.pred %p2, %p1, -1;" + select, [](uint32_t) { return 0u; });
  expect("setp.lt.u32 %p1, %r0, 99;\n\tvote.sync.uni.pred %p2, %p1, -1;" + select,
         [](uint32_t) { return 1u; });
  expect(few + "mov.u32 %r1, 0;\n\t@%p1 activemask.b32 %r1;",
         [](uint32_t i) { return i < 3 ? 7u : 0u; });
}

TEST(Votes, MatchAndReduce) {
  expect("and.b32 %r3, %r0, 3;\n\tmatch.any.sync.b32 %r1, %r3, -1;",
         [](uint32_t i) { return 0x11111111u << i % 4; });
  expect("match.all.sync.b32 %r1|%p1, %r0, -1;\n\t@%p1 mov.u32 %r1, 5;",
         [](uint32_t) { return 0u; });
  expect("mov.u64 %rd4, 8;\n\tmatch.all.sync.b64 %r1|%p1, %rd4, -1;\n\t@%p1 add.u32 %r1, %r1, 1;",
         [](uint32_t) { return 0u; }); // all ones, and one
  expect("redux.sync.add.u32 %r1, %r2, -1;", [](uint32_t) { return 3200u + 496; });
  expect("sub.s32 %r3, %r0, 5;\n\tredux.sync.min.s32 %r1, %r3, -1;",
         [](uint32_t) { return uint32_t(-5); });
  expect("sub.s32 %r3, %r0, 5;\n\tredux.sync.max.u32 %r1, %r3, -1;", [](uint32_t) { return ~0u; });
  expect("redux.sync.or.b32 %r1, %r0, -1;", [](uint32_t) { return 31u; });
}

TEST(Barriers, ReduceOverTheBlock) {
  expect(
      "setp.lt.u32 %p1, %r0, 40;\n\tbar.red.popc.u32 %r1, 0, %p1;", [](uint32_t) { return 40u; },
      100);
  expect(
      "setp.lt.u32 %p1, %r0, 40;\n\tbarrier.red.and.pred %p2, 3, %p1;\n\tselp.u32 %r1, 1, 0, %p2;",
      [](uint32_t) { return 0u; }, 100);
  expect(
      "setp.lt.u32 %p1, %r0, 40;\n\tbar.red.or.pred %p2, 3, 96, !%p1;\n\t"
      "selp.u32 %r1, 1, 0, %p2;",
      [](uint32_t) { return 1u; }, 96);
}

TEST(Barriers, ForSomeWarps) {
  // Warp 0 waits for what warp 1 has announced; warp 2 is not concerned.
  EXPECT_EQ(failureOf("\n\tshr.u32 %r1, %r0, 5;\n\tsetp.eq.u32 %p1, %r1, 0;\n"
                      "\tsetp.eq.u32 %p2, %r1, 1;\n\t@%p2 st.global.u32 [%rd2+128], %r0;\n"
                      "\t@%p2 bar.arrive 1, 64;\n\t@%p1 bar.sync 1, 64;\n"
                      "\t@%p1 ld.global.u32 %r2, [%rd2+256];",
                      96),
            "");
  EXPECT_EQ(
      failureOf("\n\tbar.sync 0, 40;", 64),
      "k, thread 0 of block 0, line 20: a barrier for 40 threads, which is no multiple of 32");
  EXPECT_EQ(failureOf("\n\tbar.sync 0, 96;", 64),
            "k, thread 0 of block 0, line 20: a barrier for 96 threads in a block of 64");
  EXPECT_EQ(failureOf("\n\tbar.sync 16;", 64),
            "k, thread 0 of block 0, line 20: barrier 16, but there are 16");
}

TEST(Specials, TellThreadsWhereTheyAre) {
  Device device;
  device.loadBody(R"(
	mov.u32 %r1, %tid.y;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %ctaid.y;
	mov.u32 %r4, %nctaid.x;
	mad.lo.u32 %r5, %r1, %r2, %r0;
	mad.lo.u32 %r6, %r3, 40, %r5;
	mul.wide.u32 %rd2, %r6, 16;
	add.u64 %rd2, %rd0, %rd2;
	mov.u32 %r7, %laneid;
	mov.u32 %r8, %warpid;
	mov.u32 %r9, %lanemask_lt;
	st.global.v4.u32 [%rd2], {%r5, %r7, %r8, %r9};
	mov.u64 %rd4, %clock64;
	mov.u64 %rd5, %clock64;
	setp.lt.u64 %p1, %rd4, %rd5;
	@!%p1 trap;)");
  device.shape.block = {20, 2, 1};
  device.shape.grid = {1, 2, 1};
  std::vector<uint32_t> out(320), in(1);
  EXPECT_EQ(device.run(out, in), "");
  for (uint32_t i = 0; i < 80; ++i) {
    uint32_t thread = i % 40;
    EXPECT_EQ(out[4 * i], thread);
    EXPECT_EQ(out[4 * i + 1], thread % 32);
    EXPECT_EQ(out[4 * i + 2], thread / 32);
    EXPECT_EQ(out[4 * i + 3], (1u << thread % 32) - 1);
  }
}
