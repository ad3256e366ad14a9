//===- MatrixTest.cpp - Products by warps ---------------------------------===//
//
// Products of whole matrices, whose parts lanes load as the figures of the PTX ISA show, or by
// ldmatrix.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/execute/Machine.h"
#include "test/gpu/emulator/instructions/Half.h"

#include <gtest/gtest.h>

using namespace tfc::gpu;

static const std::string kBegin = R"(.entry k(.param .u64 a, .param .u64 b, .param .u64 d) {
.shared .align 16 .b16 as[256]; .shared .align 16 .b16 bs[128];
.reg .pred %p; .reg .b32 %r<40>; .reg .b64 %a<8>; .reg .f32 %d<4>; .reg .b16 %h<2>;
ld.param.u64 %a0, [a]; ld.param.u64 %a1, [b]; ld.param.u64 %a2, [d];
mov.u32 %r0, %laneid; shr.u32 %r1, %r0, 2; and.b32 %r2, %r0, 3;
mov.f32 %d0, 0f3F800000; mov.f32 %d1, %d0; mov.f32 %d2, %d0; mov.f32 %d3, %d0;
)";

/// Stores the result: rows g and g + 8, columns 2 t and 2 t + 1 of 8.
static const std::string kEnd = R"(
mad.lo.u32 %r30, %r1, 8, %r2; add.u32 %r30, %r30, %r2; mul.wide.u32 %a3, %r30, 4;
add.u64 %a3, %a3, %a2;
st.global.v2.f32 [%a3], {%d0, %d1}; st.global.v2.f32 [%a3+256], {%d2, %d3};
ret;
})";

/// Checks d = 1 + a b for a 16 x k and b k x 8, of elements that are multiples of 1/8.
template <typename T> static void check(const std::string &body, int depth, T (*encode)(float)) {
  std::vector<float> a(16 * depth), b(depth * 8);
  std::vector<T> storedA, storedB;
  for (int i = 0; i < 16 * depth; ++i)
    storedA.push_back(encode(a[i] = ((i * 7) % 31 - 15) / 8.0f));
  for (int i = 0; i < depth * 8; ++i)
    storedB.push_back(encode(b[i] = ((i * 5) % 23 - 11) / 8.0f));
  Machine machine;
  ASSERT_EQ(machine.load(kBegin + body + kEnd), "");
  uint64_t pa = machine.copy(storedA), pb = machine.copy(storedB);
  uint64_t pd = machine.allocate<float>(128);
  ASSERT_EQ(machine.run({pa, pb, pd}, {}, {32}), "");
  std::vector<float> d = machine.read<float>(pd, 128);
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j) {
      float sum = 1;
      for (int k = 0; k < depth; ++k)
        sum += a[i * depth + k] * b[k * 8 + j];
      EXPECT_EQ(d[i * 8 + j], sum) << i << ", " << j;
    }
  EXPECT_EQ(machine.counters.multiplyAdds, uint64_t(16 * 8 * depth));
}

static uint16_t toF16(float value) { return toHalf(value, kF16); }
static uint16_t toBF16(float value) { return toHalf(value, kBF16); }
static float same(float value) { return value; }

/// a(g, t), a(g + 8, t), a(g, t + 4), a(g + 8, t + 4); b(t, g), b(t + 4, g).
TEST(Matrix, ProductsOfTF32) {
  check<float>(R"(
mad.lo.u32 %r3, %r1, 8, %r2; mul.wide.u32 %a3, %r3, 4; add.u64 %a3, %a3, %a0;
ld.global.b32 %r10, [%a3]; ld.global.b32 %r11, [%a3+256];
ld.global.b32 %r12, [%a3+16]; ld.global.b32 %r13, [%a3+272];
mad.lo.u32 %r3, %r2, 8, %r1; mul.wide.u32 %a3, %r3, 4; add.u64 %a3, %a3, %a1;
ld.global.b32 %r14, [%a3]; ld.global.b32 %r15, [%a3+128];
mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%d0, %d1, %d2, %d3},
  {%r10, %r11, %r12, %r13}, {%r14, %r15}, {%d0, %d1, %d2, %d3};)",
               8, same);
}

/// Each register has two neighbours of a row of a, or of a column of b.
static std::string productOfHalves(const std::string &type) {
  return R"(
mad.lo.u32 %r3, %r1, 16, %r2; add.u32 %r3, %r3, %r2; mul.wide.u32 %a3, %r3, 2; add.u64 %a3, %a3, %a0;
ld.global.b32 %r10, [%a3]; ld.global.b32 %r11, [%a3+256];
ld.global.b32 %r12, [%a3+16]; ld.global.b32 %r13, [%a3+272];
mad.lo.u32 %r3, %r2, 16, %r1; mul.wide.u32 %a3, %r3, 2; add.u64 %a3, %a3, %a1;
ld.global.b16 %h0, [%a3]; ld.global.b16 %h1, [%a3+16]; mov.b32 %r14, {%h0, %h1};
ld.global.b16 %h0, [%a3+128]; ld.global.b16 %h1, [%a3+144]; mov.b32 %r15, {%h0, %h1};
mma.sync.aligned.m16n8k16.row.col.f32.)" +
         type + "." + type + R"(.f32 {%d0, %d1, %d2, %d3},
  {%r10, %r11, %r12, %r13}, {%r14, %r15}, {%d0, %d1, %d2, %d3};)";
}

TEST(Matrix, ProductsOfHalves) {
  check<uint16_t>(productOfHalves("f16"), 16, toF16);
  check<uint16_t>(productOfHalves("bf16"), 16, toBF16);
}

/// The usual way to load both factors: lane l names row l % 16 of a, in the half l / 16 of its
/// columns, and row l % 16 of b, of which columns are wanted.
TEST(Matrix, LoadsMatricesFromSharedMemory) {
  check<uint16_t>(R"(
mul.wide.u32 %a3, %r0, 16; add.u64 %a4, %a3, %a0; ld.global.v4.b32 {%r20, %r21, %r22, %r23}, [%a4];
mov.u32 %r4, as; mad.lo.u32 %r4, %r0, 16, %r4; st.shared.v4.b32 [%r4], {%r20, %r21, %r22, %r23};
setp.lt.u32 %p, %r0, 16; add.u64 %a4, %a3, %a1;
mov.u32 %r5, bs; mad.lo.u32 %r5, %r0, 16, %r5;
@%p ld.global.v4.b32 {%r20, %r21, %r22, %r23}, [%a4];
@%p st.shared.v4.b32 [%r5], {%r20, %r21, %r22, %r23};
bar.warp.sync -1;
and.b32 %r6, %r0, 15; shr.u32 %r7, %r0, 4; mov.u32 %r4, as; mad.lo.u32 %r4, %r6, 32, %r4;
mad.lo.u32 %r4, %r7, 16, %r4;
ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r4];
mov.u32 %r5, bs; mad.lo.u32 %r5, %r6, 16, %r5;
ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r14, %r15}, [%r5];
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3},
  {%r10, %r11, %r12, %r13}, {%r14, %r15}, {%d0, %d1, %d2, %d3};)",
                  16, toF16);
}

TEST(Matrix, NeedsTheWholeWarp) {
  Machine machine;
  ASSERT_EQ(machine.load(kBegin + R"(
mov.u32 %r10, 0; setp.lt.u32 %p, %r0, 31;
@%p mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3}, {%r10, %r10}, {%r10},
  {%d0, %d1, %d2, %d3};
bar.warp.sync -1;)" + kEnd),
            "");
  uint64_t d = machine.allocate<float>(128);
  EXPECT_EQ(machine.run({d, d, d}, {}, {32}),
            "kernel 'k', line 12, thread (0, 0, 0) of block (0, 0, 0): waits for lanes that never "
            "come");
}

TEST(Matrix, RefusesOtherShapes) {
  auto refused = [](const std::string &text) { return Machine().load(kBegin + text + kEnd); };
  EXPECT_EQ(
      refused("mma.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 {%d0}, {%d0}, {%d0}, {%d0};"),
      "line 10: unknown instruction 'mma.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32'");
  EXPECT_EQ(refused("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%d0}, {%r0}, {%r0}, {%d0};"),
            "line 10: expected 4 registers in braces");
}
