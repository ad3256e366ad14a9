//===- MemoryAccessTest.cpp - Loads, stores and atomic operations ---------===//
//
// Tests the sizes, signs and spaces of accesses, and each atomic operation.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/FloatFormats.h"
#include "test/gpu/emulator/tests/Kernel.h"

using namespace tfc::gpu;
using namespace tfc::gpu::test;

TEST(Accesses, ExtendWhatTheyLoad) {
  const std::vector<uint32_t> in = {0x8091a2f4};
  auto load = [&](const std::string &code) {
    return run<uint64_t>(code + "\n\tst.global.u64 [%rd0], %rd4;", in)[0];
  };
  EXPECT_EQ(load("\n\tld.global.u8 %rd4, [%rd1];"), 0xf4u);
  EXPECT_EQ(load("\n\tld.global.s8 %rd4, [%rd1];"), 0xfffffffffffffff4);
  EXPECT_EQ(load("\n\tld.global.b16 %rd4, [%rd1+2];"), 0x8091u);
  EXPECT_EQ(load("\n\tld.global.s32 %rd4, [%rd1];"), 0xffffffff8091a2f4);
  EXPECT_EQ(load("\n\tld.global.s8 %r4, [%rd1];\n\tcvt.u64.u32 %rd4, %r4;"), 0xfffffff4u);
  EXPECT_EQ(load("\n\tld.global.s8 %h4, [%rd1];\n\tcvt.u64.u16 %rd4, %h4;"), 0xfff4u);
}

TEST(Accesses, LoadAndStoreVectors) {
  std::vector<uint32_t> out = run<uint32_t>(R"(
	ld.global.v4.u32 {%r1, %r2, _, %r4}, [%rd1];
	ld.global.nc.v2.b64 {%rd4, %rd5}, [%rd1];
	cvt.u32.u64 %r3, %rd5;
	st.global.v2.u32 [%rd0], {%r4, %r3};
	mov.b32 {%h1, %h2}, %r2;
	st.global.v2.u16 [%rd0+8], {%h2, %h1};
	mov.b64 {%r6, %r7}, %rd4;
	mov.b32 %r8, {%h1, %h1};
	xor.b32 %r7, %r7, %r8;
	st.global.u32 [%rd0+12], %r7;)",
                                            std::vector<uint32_t>{1, 0x20003, 5, 4}, 1, 4);
  EXPECT_EQ(out, (std::vector<uint32_t>{4, 5, 0x30002, 0x10000}));
}

TEST(Accesses, ReachEachSpaceByItsGenericAddress) {
  Device device;
  device.loadBody(R"(
	.local .align 4 .b8 mine[8];
	mov.u64 %rd4, sm;
	cvta.shared.u64 %rd4, %rd4;
	st.u32 [%rd4+4], 11;
	ld.shared.u32 %r1, [sm+4];
	mov.u64 %rd5, mine;
	cvta.local.u64 %rd5, %rd5;
	st.u32 [%rd5], 22;
	ld.local.u32 %r2, [mine];
	mov.u64 %rd6, table;
	cvta.global.u64 %rd6, %rd6;
	ld.u32 %r3, [%rd6+4];
	mov.u64 %rd7, fixed;
	cvta.const.u64 %rd7, %rd7;
	ld.u32 %r4, [%rd7];
	isspacep.shared %p1, %rd4;
	isspacep.local %p2, %rd4;
	isspacep.global %p3, %rd6;
	selp.u32 %r5, 1, 0, %p1;
	selp.u32 %r6, 1, 0, %p2;
	selp.u32 %r7, 1, 0, %p3;
	cvta.to.shared.u64 %rd8, %rd4;
	ld.shared.u32 %r8, [%rd8+4];
	st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r4};
	st.global.v4.u32 [%rd0+16], {%r5, %r6, %r7, %r8};)",
                  ".shared .align 8 .b8 sm[64];\n.global .u32 table[2] = {7, 33};\n"
                  ".const .u32 fixed = 44;\n");
  std::vector<uint32_t> out(8), in(1);
  EXPECT_EQ(device.run(out, in), "");
  EXPECT_EQ(out, (std::vector<uint32_t>{11, 22, 33, 44, 1, 0, 1, 11}));
}

TEST(Accesses, KeepAddressesInInitialisers) {
  Device device;
  device.loadBody("\n\tld.global.u64 %rd4, [pointers+8];\n\tld.global.u32 %r1, [%rd4];\n"
                  "\tmov.u64 %rd5, table+8;\n\tld.global.u32 %r2, [%rd5];\n"
                  "\tst.global.v2.u32 [%rd0], {%r1, %r2};",
                  ".global .u32 table[3] = {7, 33, 55};\n"
                  ".global .u64 pointers[2] = {0, generic(table)+4};\n");
  std::vector<uint32_t> out(2), in(1);
  EXPECT_EQ(device.run(out, in), "");
  EXPECT_EQ(out, (std::vector<uint32_t>{33, 55}));
  const GlobalVariable *table = device.program->findVariable("table");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->bytes, 12u);
  device.program.reset();
  EXPECT_EQ(device.memory.getLeaks().size(), 2u); // the buffers of the launch
}

/// The old and the new value of an atomic operation on a number.
static std::pair<uint64_t, uint64_t> atomic(const std::string &code, int bits, uint64_t old) {
  std::string size = std::to_string(bits), d = bits == 64 ? "%rd8" : bits == 32 ? "%r8" : "%h8";
  std::string body = "\n\tst.global.u64 [%rd0], 0;\n\tst.global.u64 [%rd0+8], 0;\n"
                     "\tld.global.b" +
                     size + " " + d + ", [%rd1];\n\tst.global.b" + size + " [%rd0+8], " + d +
                     ";\n\tadd.u64 %rd9, %rd0, 8;\n\t" + code + "\n\tst.global.b" + size +
                     " [%rd0], " + d + ";";
  std::vector<uint64_t> out = run<uint64_t>(body, std::vector<uint64_t>{old}, 1, 2);
  return {out[0], out[1]};
}

TEST(Atomics, UpdateIntegers) {
  using Pair = std::pair<uint64_t, uint64_t>;
  EXPECT_EQ(atomic("atom.global.add.u32 %r8, [%rd9], 3;", 32, 0xffffffff), Pair(0xffffffff, 2));
  EXPECT_EQ(atomic("atom.add.u64 %rd8, [%rd9], 3;", 64, 5), Pair(5, 8));
  EXPECT_EQ(atomic("atom.global.min.s32 %r8, [%rd9], -3;", 32, 5), Pair(5, 0xfffffffd));
  EXPECT_EQ(atomic("atom.global.min.u32 %r8, [%rd9], -3;", 32, 5), Pair(5, 5));
  EXPECT_EQ(atomic("atom.global.max.s64 %rd8, [%rd9], -3;", 64, 5), Pair(5, 5));
  EXPECT_EQ(atomic("atom.global.max.u64 %rd8, [%rd9], 9;", 64, 5), Pair(5, 9));
  EXPECT_EQ(atomic("atom.global.and.b32 %r8, [%rd9], 6;", 32, 5), Pair(5, 4));
  EXPECT_EQ(atomic("atom.global.or.b64 %rd8, [%rd9], 6;", 64, 5), Pair(5, 7));
  EXPECT_EQ(atomic("atom.global.xor.b32 %r8, [%rd9], 6;", 32, 5), Pair(5, 3));
  EXPECT_EQ(atomic("atom.global.inc.u32 %r8, [%rd9], 6;", 32, 5), Pair(5, 6));
  EXPECT_EQ(atomic("atom.global.inc.u32 %r8, [%rd9], 5;", 32, 5), Pair(5, 0));
  EXPECT_EQ(atomic("atom.global.dec.u32 %r8, [%rd9], 6;", 32, 5), Pair(5, 4));
  EXPECT_EQ(atomic("atom.global.dec.u32 %r8, [%rd9], 6;", 32, 0), Pair(0, 6));
  EXPECT_EQ(atomic("atom.global.dec.u32 %r8, [%rd9], 6;", 32, 7), Pair(7, 6));
  EXPECT_EQ(atomic("atom.acq_rel.gpu.global.exch.b32 %r8, [%rd9], 6;", 32, 5), Pair(5, 6));
  EXPECT_EQ(atomic("atom.relaxed.sys.global.cas.b32 %r8, [%rd9], 5, 6;", 32, 5), Pair(5, 6));
  EXPECT_EQ(atomic("atom.cas.b64 %rd8, [%rd9], 4, 6;", 64, 5), Pair(5, 5));
  EXPECT_EQ(atomic("atom.global.cas.b16 %h8, [%rd9], 5, 6;", 16, 5), Pair(5, 6));
}

TEST(Atomics, AddFloats) {
  using Pair = std::pair<uint64_t, uint64_t>;
  EXPECT_EQ(atomic("atom.global.add.f32 %r8, [%rd9], 0f3F800000;", 32, 0x40000000),
            Pair(0x40000000, 0x40400000));
  EXPECT_EQ(atomic("atom.global.add.f32 %r8, [%rd9], 0f00000001;", 32, 1), Pair(1, 0));
  EXPECT_EQ(atomic("atom.global.add.f64 %rd8, [%rd9], 0d3FF0000000000000;", 64, bitsOf(2.0)),
            Pair(bitsOf(2.0), bitsOf(3.0)));
  EXPECT_EQ(
      atomic("mov.b16 %h7, 0x3c00;\n\tatom.global.add.noftz.f16 %h8, [%rd9], %h7;", 16, 0x3c00),
      Pair(0x3c00, 0x4000));
  EXPECT_EQ(atomic("mov.b32 %r7, 0x3c000001;\n\tatom.global.add.noftz.f16x2 %r8, [%rd9], %r7;", 32,
                   0x3c000001),
            Pair(0x3c000001, 0x40000002));
}

TEST(Atomics, CountAllThreads) {
  Device device;
  device.loadBody("\n\tsetp.eq.u32 %p1, %r0, 0;\n\t@%p1 st.shared.u32 [sm], 0;\n\tbar.sync 0;\n"
                  "\tatom.shared.add.u32 %r1, [sm], 1;\n\tred.global.add.u32 [%rd1], %r1;\n"
                  "\tbar.sync 0;\n\tld.shared.u32 %r2, [sm];\n\t@%p1 st.global.u32 [%rd0], %r2;",
                  ".shared .u32 sm;\n");
  device.shape.block.x = 96;
  std::vector<uint32_t> out(1), in(1);
  EXPECT_EQ(device.run(out, in), "");
  EXPECT_EQ(out[0], 96u);
}

TEST(Accesses, RefuseOtherForms) {
  auto refusal = [](const std::string &name, const std::string &operands) {
    EXPECT_EQ(refusalOf("\n\t" + name + operands), "line 20: unknown instruction '" + name + "'");
  };
  refusal("ld.global.v4.b64", " {%rd1, %rd2, %rd3, %rd4}, [%rd1];");
  refusal("ld.global.f16", " %h1, [%rd1];");
  refusal("ld.shared.nc.u32", " %r1, [%rd1];");
  refusal("ld.relaxed.global.u32", " %r1, [%rd1];");
  refusal("ld.volatile.local.u32", " %r1, [%rd1];");
  refusal("atom.global.add.s64", " %rd1, [%rd1], %rd2;");
  refusal("red.global.exch.b32", " [%rd1], %r2;");
  refusal("atom.global.add.noftz.bf16", " %h1, [%rd1], %h2;");
  EXPECT_EQ(refusalOf("\n\tld.global.u32 %r1, [%r2];"),
            "line 20: expected a register for an address, but got '%r2'");
  EXPECT_EQ(refusalOf("\n\tld.global.u64 %r1, [%rd2];"),
            "line 20: expected a register for a result of type u64, but got '%r1'");
  EXPECT_EQ(refusalOf("\n\tld.global.v2.u32 %r1, [%rd2];"),
            "line 20: expected a vector of 2 registers, but got '%r1'");
  EXPECT_EQ(refusalOf("\n\t.local .u32 x;\n\tld.shared.u32 %r1, [x];"),
            "line 21: 'x' is not in the space of 'ld.shared.u32'");
}
