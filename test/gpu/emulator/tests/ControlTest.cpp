//===- ControlTest.cpp - Branches, calls and the order of lanes -----------===//
//
// Tests that branches diverge and meet again, that calls keep the memory of threads apart, and that
// spinning lanes let others run.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/tests/Kernel.h"
#include <bit>

using namespace tfc::gpu;
using namespace tfc::gpu::test;

TEST(Control, RunsBothSidesOfABranch) {
  std::vector<uint32_t> out = run<uint32_t>(R"(
	setp.lt.u32 %p1, %r0, 7;
	@%p1 bra $small;
	mov.u32 %r1, 100;
	bra.uni $end;
$small:
	add.u32 %r1, %r0, 1;
$end:
	st.global.u32 [%rd2], %r1;)",
                                            {}, 40);
  for (unsigned i = 0; i < 40; ++i)
    EXPECT_EQ(out[i], i < 7 ? i + 1 : 100);
}

TEST(Control, LoopsAsOftenAsEachLaneWants) {
  std::vector<uint32_t> out = run<uint32_t>(R"(
	mov.u32 %r1, 0;
	mov.u32 %r2, 0;
$loop:
	add.u32 %r1, %r1, 1;
	add.u32 %r2, %r2, %r1;
	setp.le.u32 %p1, %r1, %r0;
	@%p1 bra $loop;
	st.global.u32 [%rd2], %r2;)",
                                            {}, 32);
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], (i + 1) * (i + 2) / 2);
}

TEST(Control, LetsOtherLanesRunWhenOneSpins) {
  // Lane 0 waits for lane 1, whose code comes later.
  std::vector<uint32_t> out = run<uint32_t>(R"(
	setp.ne.u32 %p1, %r0, 0;
	@%p1 bra $other;
$wait:
	ld.volatile.global.u32 %r1, [%rd1];
	setp.eq.u32 %p2, %r1, 0;
	@%p2 bra $wait;
	bra $end;
$other:
	mov.u32 %r1, 9;
	st.volatile.global.u32 [%rd1], %r1;
$end:
	st.global.u32 [%rd2], %r1;)",
                                            std::vector<uint32_t>{0}, 2);
  EXPECT_EQ(out, (std::vector<uint32_t>{9, 9}));
}

TEST(Control, MeetsWhereverTheTextHasTheCode) {
  // The end of a loop's body is before its begin, and what follows the loop before both.
  Device device;
  device.loadBody(R"(
	mov.u32 %r1, 0;
	and.b32 %r3, %r0, 3;
	bra $loop;
$after:
	st.global.u32 [%rd2], %r2;
	bra $end;
$next:
	ld.global.u32 %r4, [%rd1];
	add.u32 %r2, %r2, %r4;
	add.u32 %r1, %r1, 1;
	setp.lt.u32 %p1, %r1, %r3;
	@!%p1 bra $after;
$loop:
	mov.u32 %r2, %r1;
	setp.eq.u32 %p2, %r1, %r0;
	@%p2 bra $next;
	add.u32 %r2, %r2, 5;
	bra $next;
$end:)");
  device.shape.block.x = 32;
  std::vector<uint32_t> out(32);
  ASSERT_EQ(device.run(out, std::vector<uint32_t>{7}), "");
  // Three rounds that load, and one store.
  EXPECT_EQ(device.counters.globalRequests, 4);
}

TEST(Control, EndsLoopsThatDoNot) {
  Device device;
  device.loadBody("\n$loop:\n\tbra $loop;");
  device.shape.budget = 10000;
  std::vector<uint32_t> out(1);
  EXPECT_EQ(device.run(out, out), "k, block 0: no end after 10000 instructions");
}

TEST(Control, BranchesByIndex) {
  std::vector<uint32_t> out = run<uint32_t>(R"(
	rem.u32 %r1, %r0, 3;
list: .branchtargets $zero, $one, $two;
	brx.idx %r1, list;
$zero:
	mov.u32 %r2, 10;
	bra $end;
$one:
	mov.u32 %r2, 11;
	bra $end;
$two:
	mov.u32 %r2, 12;
$end:
	st.global.u32 [%rd2], %r2;)",
                                            {}, 32);
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], 10 + i % 3);
  EXPECT_EQ(failureOf("\nlist: .branchtargets $end;\n\tbrx.idx %r0, list;\n$end:", 2),
            "k, thread 1 of block 0, line 21: index 1 of a branch, but 1 targets");
  EXPECT_EQ(refusalOf("\nlist: .branchtargets $nowhere;\n\tbrx.idx %r0, list;"),
            "line 20: '$nowhere' is not declared");
}

static const std::string kFunctions = R"(
.func (.param .b32 r) half(.param .b32 a)
{
	.reg .b32 %r<2>;
	ld.param.b32 %r0, [a];
	shr.u32 %r1, %r0, 1;
	st.param.b32 [r], %r1;
	ret;
}
.func (.param .b32 r) steps(.param .b32 a)
{
	.reg .b32 %r<4>;
	.reg .pred %p;
	.param .b32 x, y;
	ld.param.b32 %r0, [a];
	mov.u32 %r1, 0;
$next:
	setp.eq.u32 %p, %r0, 0;
	@%p bra $end;
	st.param.b32 [x], %r0;
	call (y), half, (x);
	ld.param.b32 %r0, [y];
	add.u32 %r1, %r1, 1;
	bra $next;
$end:
	st.param.b32 [r], %r1;
	ret;
}
)";

TEST(Control, CallsFunctionsThatCall) {
  Device device;
  std::string functions = kFunctions;
  functions.replace(functions.find("x, y;"), 5, "x;\n\t.param .b32 y;");
  device.loadBody("\n\t.param .b32 in;\n\t.param .b32 out;\n\tst.param.b32 [in], %r0;\n"
                  "\tcall.uni (out), steps, (in);\n\tld.param.b32 %r1, [out];\n"
                  "\tst.global.u32 [%rd2], %r1;",
                  functions);
  ASSERT_EQ(device.error, "");
  device.shape.block.x = 64;
  std::vector<uint32_t> out(64), in(1);
  EXPECT_EQ(device.run(out, in), "");
  for (uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], static_cast<uint32_t>(std::bit_width(i)));
}

static std::string refusedCall(const std::string &function, const std::string &call) {
  Device device;
  device.loadBody("\n\t.param .b32 in;\n\t.param .b64 wide;\n\t" + call, function);
  return device.error;
}

TEST(Control, ChecksCalls) {
  const std::string function = ".func f(.param .b32 a) { ret; }\n";
  EXPECT_EQ(refusedCall(function, "call f, (in);"), "");
  EXPECT_EQ(refusedCall(function, "call f, (wide);"),
            "line 23: expected a parameter of 4 bytes, but got 8");
  EXPECT_EQ(refusedCall(function, "call f;"), "line 23: expected 1 arguments of 'f'");
  EXPECT_EQ(refusedCall(function, "call (in), f, (in);"), "line 23: expected 0 results of 'f'");
  EXPECT_EQ(refusedCall(function, "call f, (%r1);"),
            "line 23: expected a parameter, but got '%r1'");
  EXPECT_EQ(refusedCall(".extern .func f();\n", "call f;"),
            "line 23: expected a function with a body, but got 'f'");
  EXPECT_EQ(refusedCall(".func f() { call f; }\n", "ret;"), "line 4: function 'f' is recursive");
  EXPECT_EQ(refusedCall(function, "st.param.b32 [wide+6], %r0;"),
            "line 23: 4 bytes at offset 6 reach beyond 'wide'");
}

TEST(Control, FunctionsBeginWithUnwrittenRegisters) {
  Device device;
  // The second call must not see what the first one left.
  device.loadBody("\n\tcall f;\n\tcall f;",
                  ".func f()\n{\n\t.reg .b32 %x;\n\t.reg .pred %p;\n\t.local .b32 mine;\n"
                  "\t.reg .b32 %y;\n\tmov.u32 %y, %clock;\n\tmov.u32 %x, 1;\n"
                  "\tst.local.b32 [mine], %x;\n\tld.local.b32 %x, [mine];\n\tret;\n}\n");
  device.launchWith(0, 0);
  EXPECT_EQ(device.error, "");
  Device other;
  other.loadBody("\n\tmov.u32 %r1, 0;\n$again:\n\tst.global.u32 [%rd0], %r1;\n\tcall f;\n"
                 "\tadd.u32 %r1, %r1, 1;\n\tsetp.lt.u32 %p1, %r1, 2;\n\t@%p1 bra $again;",
                 ".global .b32 calls = 0;\n.func f()\n{\n\t.reg .b32 %x, %n;\n\t.reg .pred %p;\n"
                 "\t.local .b32 mine;\n\tld.global.b32 %n, [calls];\n\tsetp.eq.u32 %p, %n, 0;\n"
                 "\t@%p st.local.b32 [mine], %n;\n\tadd.u32 %n, %n, 1;\n"
                 "\tst.global.b32 [calls], %n;\n\tld.local.b32 %x, [mine];\n\tret;\n}\n");
  uint64_t out = other.upload(nullptr, 4, false);
  other.launchWith(out, out);
  EXPECT_EQ(other.error, "k, thread 0 of block 0, line 15: byte 0x10 of 4 bytes at 0x10 of local "
                         "memory was never written");
}
