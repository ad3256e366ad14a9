//===- CheckTest.cpp - Errors that a GPU would not notice -----------------===//
//
// Each strict check, both ways: code that violates it, with the error, and code that only looks as
// if it did.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/tests/Kernel.h"

using namespace tfc::gpu;
using namespace tfc::gpu::test;

static const std::string kShared = ".shared .align 16 .b8 sm[256];\n";

/// Shared memory begins at 1024, so `sm` is there.
static std::string failureInShared(const std::string &body, unsigned threads = 1) {
  return failureOf(body, threads, kShared);
}

//===- Memory -------------------------------------------------------------===//

TEST(Checks, GlobalAccessesLieInAllocations) {
  // The results are the first allocation, of 4096 bytes.
  EXPECT_EQ(failureOf("\n\tst.global.u32 [%rd0+4096], %r0;"),
            "k, thread 0 of block 0, line 20: 4 bytes at 0x1000001000 reach beyond the end of the "
            "allocation of 4096 bytes at 0x1000000000");
  EXPECT_EQ(failureOf("\n\tst.global.u32 [%rd0+4092], %r0;"), "");
  EXPECT_EQ(failureOf("\n\tld.global.u32 %r1, [16];"),
            "k, thread 0 of block 0, line 20: 4 bytes at 0x10 are in no allocation");
  EXPECT_EQ(failureOf("\n\tst.global.u32 [%rd0+2], %r0;"),
            "k, thread 0 of block 0, line 20: 4 bytes at 0x1000000002 are not aligned");
  EXPECT_EQ(failureOf("\n\tst.global.u16 [%rd0+2], 7;"), "");
  EXPECT_EQ(failureOf("\n\tst.global.v2.u32 [%rd0+4], {%r0, %r0};"),
            "k, thread 0 of block 0, line 20: 8 bytes at 0x1000000004 are not aligned");
}

TEST(Checks, ReleasedMemoryIsNotAccessed) {
  Device device;
  device.loadBody("\n\tld.global.u32 %r1, [%rd1];");
  uint32_t value = 3;
  uint64_t in = device.upload(&value, 4, true);
  device.launchWith(in, in);
  EXPECT_EQ(device.error, "");
  device.memory.release(in);
  device.launchWith(in, in);
  EXPECT_EQ(device.error, "k, thread 0 of block 0, line 20: 4 bytes at 0x1000000000 are in the "
                          "allocation of 4 bytes at 0x1000000000, which was released");
}

TEST(Checks, SharedAccessesLieInTheMemoryOfTheBlock) {
  EXPECT_EQ(failureInShared("\n\tst.shared.u32 [sm+252], %r0;"), "");
  EXPECT_EQ(failureInShared("\n\tst.shared.u32 [sm+256], %r0;"),
            "k, thread 0 of block 0, line 21: 4 bytes at 0x500 are not in the shared memory of the "
            "block");
  EXPECT_EQ(failureInShared("\n\tst.shared.u32 [sm+2], %r0;"),
            "k, thread 0 of block 0, line 21: 4 bytes at 0x402 of shared memory are not aligned");
  EXPECT_EQ(failureInShared("\n\tst.shared.u32 [0], %r0;"),
            "k, thread 0 of block 0, line 21: 4 bytes at 0x0 are not in the shared memory of the "
            "block");
  // The generic address of shared memory, with and without the right space.
  const std::string generic = "\n\tmov.u64 %rd4, sm;\n\tcvta.shared.u64 %rd5, %rd4;\n";
  EXPECT_EQ(failureInShared(generic + "\tst.u32 [%rd5], %r0;"), "");
  EXPECT_EQ(failureInShared(generic + "\tst.global.u32 [%rd5], %r0;"),
            "k, thread 0 of block 0, line 23: 4 bytes at 0x1000000000400 are in no allocation");
}

TEST(Checks, DynamicSharedMemoryHasTheSizeOfTheLaunch) {
  Device device;
  device.loadBody("\n\tst.shared.u32 [pool+60], %r0;", ".extern .shared .align 16 .b8 pool[];\n");
  device.shape.dynamicSharedBytes = 64;
  device.launchWith(0, 0);
  EXPECT_EQ(device.error, "");
  device.shape.dynamicSharedBytes = 60;
  device.launchWith(0, 0);
  EXPECT_EQ(device.error, "k, thread 0 of block 0, line 21: 4 bytes at 0x44c are not in the shared "
                          "memory of the block");
}

TEST(Checks, LocalAccessesLieInTheMemoryOfTheThread) {
  const std::string local = "\n\t.local .align 8 .b8 buffer[16];\n";
  EXPECT_EQ(failureOf(local + "\tst.local.u32 [buffer+12], %r0;\n"
                              "\tld.local.u32 %r1, [buffer+12];"),
            "");
  EXPECT_EQ(failureOf(local + "\tst.local.u32 [buffer+16], %r0;"),
            "k, thread 0 of block 0, line 21: 4 bytes at 0x20 are not in the local memory of the "
            "thread");
  EXPECT_EQ(failureOf(local + "\tld.local.u32 %r1, [buffer];"),
            "k, thread 0 of block 0, line 21: byte 0x10 of 4 bytes at 0x10 of local memory was "
            "never written");
}

TEST(Checks, ConstantsAreNotWritten) {
  const std::string constant = ".const .u32 c = 5;\n";
  EXPECT_EQ(failureOf("\n\tld.const.u32 %r1, [c];", 1, constant), "");
  EXPECT_EQ(failureOf("\n\tmov.u64 %rd4, c;\n\tcvta.const.u64 %rd4, %rd4;\n\tst.u32 [%rd4], %r0;",
                      1, constant),
            "k, thread 0 of block 0, line 23: 4 bytes at 0x1000000000 are constant");
  EXPECT_EQ(failureOf("\n\tld.const.u32 %r1, [%rd1];"),
            "k, thread 0 of block 0, line 20: 4 bytes at 0x1000001200 are not constant");
  EXPECT_EQ(refusalOf("\n\tst.param.u32 [k_0], %r0;"),
            "line 20: the parameters of a kernel are constant");
  EXPECT_EQ(refusalOf("\n\tst.const.u32 [%rd1], %r0;"),
            "line 20: unknown instruction 'st.const.u32'");
  EXPECT_EQ(failureOf("\n\tld.param.u64 %rd4, [k_1+8];"),
            "k, thread 0 of block 0, line 20: 8 bytes at 0x10 are not in the parameters");
}

//===- Unwritten bytes and registers --------------------------------------===//

TEST(Checks, BytesAreReadAfterTheyWereWritten) {
  EXPECT_EQ(
      failureOf("\n\tld.global.u32 %r1, [%rd0];"),
      "k, thread 0 of block 0, line 20: byte 0x1000000000 of 4 bytes at 0x1000000000 was never "
      "written");
  EXPECT_EQ(failureOf("\n\tst.global.u32 [%rd0], %r0;\n\tld.global.u16 %h1, [%rd0+2];"), "");
  EXPECT_EQ(failureInShared("\n\tld.shared.u32 %r1, [sm];"),
            "k, thread 0 of block 0, line 21: byte 0x400 of 4 bytes at 0x400 of shared memory was "
            "never written");
}

TEST(Checks, SharedMemoryIsUnwrittenInEachBlock) {
  Device device;
  device.loadBody("\n\tmov.u32 %r1, %ctaid.x;\n\tsetp.ne.u32 %p1, %r1, 0;\n"
                  "\t@!%p1 st.shared.u32 [sm], %r0;\n\tld.shared.u32 %r2, [sm];",
                  kShared);
  device.shape.grid.x = 2;
  device.launchWith(0, 0);
  EXPECT_EQ(device.error, "k, thread 0 of block 1, line 24: byte 0x400 of 4 bytes at 0x400 of "
                          "shared memory was never written");
}

TEST(Checks, RegistersAreReadAfterTheyWereWritten) {
  EXPECT_EQ(failureOf("\n\tadd.u32 %r1, %r2, 1;"),
            "k, thread 0 of block 0, line 20: register '%r2' was never written");
  EXPECT_EQ(failureOf("\n\t@%p3 add.u32 %r1, %r0, 1;"),
            "k, thread 0 of block 0, line 20: register '%p3' was never written");
  // Written by other lanes alone.
  EXPECT_EQ(
      failureOf("\n\tsetp.lt.u32 %p1, %r0, 5;\n\t@%p1 mov.u32 %r1, 1;\n\tmov.u32 %r2, %r1;", 32),
      "k, thread 5 of block 0, line 22: register '%r1' was never written");
  EXPECT_EQ(failureOf("\n\tsetp.lt.u32 %p1, %r0, 5;\n\t@%p1 mov.u32 %r1, 1;\n"
                      "\t@%p1 mov.u32 %r2, %r1;",
                      32),
            "");
}

//===- Races --------------------------------------------------------------===//

TEST(Checks, SharedAccessesDoNotRace) {
  const std::string write = "\n\tmov.u32 %r1, sm;\n\tshl.b32 %r2, %r0, 2;\n"
                            "\tadd.u32 %r1, %r1, %r2;\n\tst.shared.u32 [%r1], %r0;\n";
  const std::string read = "\txor.b32 %r1, %r1, 4;\n\tld.shared.u32 %r3, [%r1];";
  EXPECT_EQ(failureInShared(write + "\tbar.sync 0;\n" + read, 64), "");
  EXPECT_EQ(failureInShared(write + "\tbar.warp.sync -1;\n" + read, 64), "");
  EXPECT_EQ(
      failureInShared(write + "\tmembar.cta;\n" + read, 64),
      "k, thread 0 of block 0, line 27: a read of 4 bytes at 0x404 races with a write of byte "
      "0x404 by thread 1 of block 0");
  // A shuffle is no barrier of memory.
  EXPECT_EQ(
      failureInShared(write + "\tshfl.sync.idx.b32 %r9, %r0, 0, 31, -1;\n" + read, 64),
      "k, thread 0 of block 0, line 27: a read of 4 bytes at 0x404 races with a write of byte "
      "0x404 by thread 1 of block 0");
}

TEST(Checks, WarpBarriersOrderTheirWarpAlone) {
  EXPECT_EQ(failureInShared("\n\tsetp.eq.u32 %p1, %r0, 0;\n\t@%p1 st.shared.u32 [sm], %r0;\n"
                            "\tbar.warp.sync -1;\n\tld.shared.u32 %r1, [sm];",
                            64),
            "k, thread 32 of block 0, line 24: a read of 4 bytes at 0x400 races with a write of "
            "byte 0x400 by thread 0 of block 0");
}

TEST(Checks, GlobalAccessesDoNotRace) {
  // Two blocks write one word, as two threads do.
  Device device;
  device.loadBody("\n\tst.global.u32 [%rd0], 7;");
  device.shape.grid.x = 2;
  uint64_t out = device.upload(nullptr, 4, false);
  device.launchWith(out, out);
  EXPECT_EQ(device.error,
            "k, thread 0 of block 1, line 20: a write of 4 bytes at 0x1000000000 races "
            "with a write of byte 0x1000000000 by thread 0 of block 0");
  EXPECT_EQ(failureOf("\n\tst.global.u32 [%rd2], 7;", 64), "");
  EXPECT_EQ(failureOf("\n\tst.global.u32 [%rd0], 0;\n\tred.global.add.u32 [%rd0], 1;"), "");
  EXPECT_EQ(failureOf("\n\tsetp.eq.u32 %p1, %r0, 0;\n\t@%p1 st.global.u32 [%rd0], 0;\n"
                      "\tred.global.add.u32 [%rd0], 1;",
                      2),
            "k, thread 1 of block 0, line 22: an atomic operation on 4 bytes at 0x1000000000 races "
            "with a write of byte 0x1000000000 by thread 0 of block 0");
  // A launch is ordered after the one before.
  device.shape.grid.x = 1;
  device.launchWith(out, out);
  EXPECT_EQ(device.error, "");
  device.launchWith(out, out);
  EXPECT_EQ(device.error, "");
}

TEST(Checks, ReadOnlyLoadsReadWhatTheKernelDoesNotWrite) {
  EXPECT_EQ(failureOf("\n\tld.global.nc.u32 %r1, [%rd1];\n\tst.global.u32 [%rd2], %r1;", 32), "");
  EXPECT_EQ(failureOf("\n\tst.global.u32 [%rd0], %r0;\n\tld.global.nc.u32 %r1, [%rd0];"),
            "k, thread 0 of block 0, line 21: a read as constant of 4 bytes at 0x1000000000 races "
            "with a write of byte 0x1000000000 by thread 0 of block 0");
  EXPECT_EQ(failureOf("\n\tld.global.nc.u32 %r1, [%rd1];\n\tbar.sync 0;\n"
                      "\tst.global.u32 [%rd1], %r1;"),
            "k, thread 0 of block 0, line 22: a write of 4 bytes at 0x1000001200 races with a read "
            "as constant of byte 0x1000001200 by thread 0 of block 0");
}

//===- Barriers and groups ------------------------------------------------===//

TEST(Checks, AllThreadsReachABarrier) {
  EXPECT_EQ(failureOf("\n\tbar.sync 0;", 100), "");
  EXPECT_EQ(failureOf("\n\tsetp.ge.u32 %p1, %r0, 90;\n\t@%p1 exit;\n\tbar.sync 0;", 100),
            "k, thread 0 of block 0, line 22: barrier 0 waits for 100 threads, but only 90 arrive");
  EXPECT_EQ(
      failureOf("\n\tsetp.ge.u32 %p1, %r0, 90;\n\t@%p1 bar.sync 0;", 100),
      "k, thread 90 of block 0, line 21: barrier 0 waits for 100 threads, but only 10 arrive");
  // Both sides arrive, one after the other.
  EXPECT_EQ(failureOf("\n\tsetp.ge.u32 %p1, %r0, 90;\n\t@!%p1 bra $go;\n\tadd.u32 %r1, %r0, 1;\n"
                      "$go:\n\tbar.sync 0;",
                      100),
            "");
}

TEST(Checks, LanesOfAWarpReachTheSameAlignedBarrier) {
  const std::string diverged = "\n\tsetp.lt.u32 %p1, %r0, 16;\n\t@%p1 bra $low;\n"
                               "\tBARRIER 0;\n\tbra $end;\n$low:\n\tBARRIER 0;\n$end:";
  auto with = [&](const std::string &barrier) {
    std::string text = diverged;
    for (size_t at; (at = text.find("BARRIER")) != std::string::npos;)
      text.replace(at, 7, barrier);
    return failureOf(text, 32);
  };
  EXPECT_EQ(with("barrier.sync"), "");
  EXPECT_EQ(with("bar.sync"), "k, thread 0 of block 0, line 25: thread 16 of the warp waits at "
                              "another aligned barrier, in line 22");
}

TEST(Checks, MasksContainTheLanesThatConverge) {
  EXPECT_EQ(failureOf("\n\tshfl.sync.idx.b32 %r1, %r0, 0, 31, -1;", 32), "");
  EXPECT_EQ(failureOf("\n\tshfl.sync.idx.b32 %r1, %r0, 0, 31, 0xffff;", 32),
            "k, thread 16 of block 0, line 20: the mask 0xffff does not contain the lane 16 that "
            "executes the instruction");
  EXPECT_EQ(failureOf("\n\tshfl.sync.idx.b32 %r1, %r0, 0, 31, -1;", 16),
            "k, thread 0 of block 0, line 20: the mask 0xffffffff contains the lane 16, which has "
            "exited");
  EXPECT_EQ(failureOf("\n\tsetp.lt.u32 %p1, %r0, 16;\n\t@%p1 shfl.sync.idx.b32 %r1, %r0, 0, 31, -1;"
                      "\n\tbar.sync 0;",
                      32),
            "k, thread 0 of block 0, line 21: waits for thread 16, which waits elsewhere");
  EXPECT_EQ(failureOf("\n\tsetp.lt.u32 %p1, %r0, 16;\n"
                      "\t@%p1 shfl.sync.idx.b32 %r1, %r0, 0, 31, 0xffff;\n\tbar.sync 0;",
                      32),
            "");
  EXPECT_EQ(failureOf("\n\tsetp.lt.u32 %p1, %r0, 16;\n"
                      "\t@%p1 shfl.sync.idx.b32 %r1, %r0, 20, 31, 0xffff;",
                      32),
            "k, thread 0 of block 0, line 21: shuffles the value of lane 20, which is not in the "
            "mask");
}

TEST(Checks, LanesOfAGroupExecuteTheSameInstruction) {
  auto diverged = [](const std::string &first, const std::string &second) {
    return failureOf("\n\tsetp.lt.u32 %p1, %r0, 16;\n\t@%p1 bra $low;\n\t" + first +
                         "\n\tbra $end;\n$low:\n\t" + second + "\n$end:",
                     32);
  };
  const std::string shuffle = "shfl.sync.idx.b32 %r1, %r0, 0, 31, -1;";
  EXPECT_EQ(diverged("bar.warp.sync -1;", "bar.warp.sync -1;"), "");
  EXPECT_EQ(diverged("bar.warp.sync -1;", shuffle),
            "k, thread 0 of block 0, line 25: waits for thread 16, which waits elsewhere");
  EXPECT_EQ(diverged(shuffle, shuffle),
            "k, thread 0 of block 0, line 25: waits for thread 16, which waits elsewhere");
}

TEST(Checks, LanesWaitForTheOthersOfTheirMask) {
  // The lanes arrive in two groups, and each sees the values of both.
  std::vector<uint32_t> out = run<uint32_t>(R"(
	setp.lt.u32 %p1, %r0, 16;
	mov.u32 %r3, 100;
	@%p1 bra $go;
	add.u32 %r3, %r0, 1000;
$go:
	shfl.sync.bfly.b32 %r4, %r3, 16, 31, -1;
	st.global.u32 [%rd2], %r4;)",
                                            {}, 32);
  EXPECT_EQ(out[1], 1017u);
  EXPECT_EQ(out[17], 100u);
}

//===- Arithmetic ---------------------------------------------------------===//

TEST(Checks, NothingIsDividedByZero) {
  EXPECT_EQ(failureOf("\n\trem.u32 %r1, 5, %r0;", 2),
            "k, thread 0 of block 0, line 20: division by zero");
  EXPECT_EQ(failureOf("\n\tadd.u32 %r0, %r0, 1;\n\tdiv.s32 %r1, 5, %r0;", 2), "");
}

TEST(Checks, ATrapEndsTheLaunch) {
  EXPECT_EQ(failureOf("\n\tsetp.eq.u32 %p1, %r0, 3;\n\t@%p1 trap;", 32),
            "k, thread 3 of block 0, line 21: trap");
}

//===- Copies -------------------------------------------------------------===//

TEST(Checks, CopiesAreWaitedFor) {
  const std::string copy = "\n\tmov.u32 %r1, sm;\n\tcp.async.ca.shared.global [%r1], [%rd1], 16;\n";
  const std::string read = "\tld.shared.u32 %r2, [sm];";
  EXPECT_EQ(failureInShared(copy + "\tcp.async.wait_all;\n" + read), "");
  EXPECT_EQ(failureInShared(copy + read),
            "k, thread 0 of block 0, line 23: byte 0x400 of 4 bytes at "
            "0x400 of shared memory was never written");
  EXPECT_EQ(failureInShared(copy + "\tcp.async.commit_group;\n\tcp.async.wait_group 1;\n" + read),
            "k, thread 0 of block 0, line 25: byte 0x400 of 4 bytes at 0x400 of shared memory was "
            "never written");
  EXPECT_EQ(failureInShared(copy + "\tcp.async.commit_group;\n\tcp.async.wait_group 0;\n" + read),
            "");
  // A group that was not committed is not waited for.
  EXPECT_EQ(failureInShared(copy + "\tcp.async.wait_group 0;\n" + read),
            "k, thread 0 of block 0, line 24: byte 0x400 of 4 bytes at 0x400 of shared memory was "
            "never written");
  EXPECT_EQ(
      failureInShared(copy + "\tst.shared.u32 [sm], %r0;\n\tcp.async.wait_all;"),
      "k, thread 0 of block 0, line 24: 16 bytes at 0x400 of shared memory were written before "
      "the copy to them, in line 22, was complete");
}

TEST(Checks, CopiesOfOthersNeedABarrierAfterTheWait) {
  const std::string copy = "\n\tsetp.eq.u32 %p1, %r0, 0;\n\tmov.u32 %r1, sm;\n"
                           "\t@%p1 cp.async.ca.shared.global [%r1], [%rd1], 16;\n";
  const std::string read = "\tld.shared.u32 %r2, [sm];";
  EXPECT_EQ(failureInShared(copy + "\tcp.async.wait_all;\n\tbar.sync 0;\n" + read, 32), "");
  EXPECT_EQ(
      failureInShared(copy + "\tcp.async.wait_all;\n" + read, 32),
      "k, thread 1 of block 0, line 25: a read of 4 bytes at 0x400 races with a write of byte "
      "0x400 by thread 0 of block 0");
  EXPECT_EQ(
      failureInShared(copy + "\tbar.sync 0;\n\tcp.async.wait_all;\n" + read, 32),
      "k, thread 1 of block 0, line 26: a read of 4 bytes at 0x400 races with a write of byte "
      "0x400 by thread 0 of block 0");
}

//===- The launch ---------------------------------------------------------===//

TEST(Checks, LaunchesHaveAShapeThatTheKernelAllows) {
  Device device;
  device.load(
      ".entry k(.param .u32 k_0) .maxntid 64 { ret; }\n.entry two() .reqntid 8, 2 { ret; }");
  device.shape.parameters.resize(4);
  auto failure = [&](const char *kernel, Dimensions block) {
    device.shape.kernel = kernel;
    device.shape.block = block;
    return launch(*device.program, device.shape, device.memory, device.counters);
  };
  EXPECT_EQ(failure("k", {64}), "");
  EXPECT_EQ(failure("k", {65}), "k: a block of 65 x 1 x 1 threads, but .maxntid allows 64");
  EXPECT_EQ(failure("k", {2000}), "k: a block of 2000 x 1 x 1 threads is too large");
  EXPECT_EQ(failure("k", {0}), "k: a grid of 1 x 1 x 1 blocks of 0 x 1 x 1 threads");
  EXPECT_EQ(failure("none", {1}), "there is no kernel 'none'");
  EXPECT_EQ(failure("two", {8, 2}), "two: expected 0 bytes of parameters, but got 4");
  device.shape.parameters.clear();
  EXPECT_EQ(failure("two", {8, 2}), "");
  EXPECT_EQ(failure("two", {16}), "two: a block of 16 x 1 x 1 threads is not that of .reqntid");
  device.shape.dynamicSharedBytes = 200000;
  EXPECT_EQ(failure("two", {8, 2}), "two: more shared memory than 166912 bytes");
}
