//===- MatrixTest.cpp - Products of tensor cores --------------------------===//
//
// Products of small integers, which are exact in each format, against a plain product. The
// fragments are built from the tables of the ISA, one formula for each shape.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/FloatFormats.h"
#include "test/gpu/emulator/tests/Kernel.h"
#include <functional>
#include <random>

using namespace tfc::gpu;
using namespace tfc::gpu::test;

namespace {
struct Position {
  int row, column;
};

/// A shape with its types, and the positions of the i-th element of a lane in A and B.
struct Shape {
  std::string name;
  int depth, bits; // of an element
  std::function<Position(int lane, int i)> a, b;
  std::function<uint32_t(int)> encode;
};
} // namespace

static uint32_t encodeHalf(int value) {
  return static_cast<uint32_t>(encode(value, kHalf, Rounding::Nearest));
}
static uint32_t encodeBrain(int value) { return bitsOf(static_cast<float>(value)) >> 16; }
static uint32_t encodeSingle(int value) { return bitsOf(static_cast<float>(value)); }
static uint32_t encodeByte(int value) { return static_cast<uint8_t>(value); }

/// The tables of 9.7.14.5.
static std::vector<Shape> shapes() {
  auto aHalf = [](int lane, int i) { // .f16 and .bf16: pairs of columns
    return Position{lane / 4 + (i / 2 % 2 ? 8 : 0), lane % 4 * 2 + i % 2 + (i >= 4 ? 8 : 0)};
  };
  auto bHalf = [](int lane, int i) {
    return Position{lane % 4 * 2 + i % 2 + (i >= 2 ? 8 : 0), lane / 4};
  };
  auto aSingle = [](int lane, int i) {
    return Position{lane / 4 + (i % 2 ? 8 : 0), lane % 4 + (i >= 2 ? 4 : 0)};
  };
  auto bSingle = [](int lane, int i) { return Position{lane % 4 + 4 * i, lane / 4}; };
  auto aByte = [](int lane, int i) {
    return Position{lane / 4 + (i / 4 % 2 ? 8 : 0), lane % 4 * 4 + i % 4 + (i >= 8 ? 16 : 0)};
  };
  auto bByte = [](int lane, int i) {
    return Position{lane % 4 * 4 + i % 4 + (i >= 4 ? 16 : 0), lane / 4};
  };
  return {{"m16n8k16.row.col.f32.f16.f16.f32", 16, 16, aHalf, bHalf, encodeHalf},
          {"m16n8k8.row.col.f32.f16.f16.f32", 8, 16, aHalf, bHalf, encodeHalf},
          {"m16n8k16.row.col.f16.f16.f16.f16", 16, 16, aHalf, bHalf, encodeHalf},
          {"m16n8k16.row.col.f32.bf16.bf16.f32", 16, 16, aHalf, bHalf, encodeBrain},
          {"m16n8k8.row.col.f32.bf16.bf16.f32", 8, 16, aHalf, bHalf, encodeBrain},
          {"m16n8k8.row.col.f32.tf32.tf32.f32", 8, 32, aSingle, bSingle, encodeSingle},
          {"m16n8k4.row.col.f32.tf32.tf32.f32", 4, 32, aSingle, bSingle, encodeSingle},
          {"m16n8k32.row.col.s32.s8.s8.s32", 32, 8, aByte, bByte, encodeByte},
          {"m16n8k16.row.col.s32.s8.s8.s32", 16, 8, aByte, bByte, encodeByte}};
}

static std::string registers(int first, int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += (i ? ", %r" : "{%r") + std::to_string(first + i);
  return text + "}";
}

/// Loads registers of a lane from `in`, of which it has 16, multiplies, and stores D.
static std::string kernelFor(const Shape &shape, int aCount, int bCount, int cCount) {
  std::string body = "\n\tmul.wide.u32 %rd3, %r0, 64;\n\tadd.u64 %rd3, %rd1, %rd3;\n"
                     "\tmul.wide.u32 %rd4, %r0, 16;\n\tadd.u64 %rd4, %rd0, %rd4;\n";
  for (int i = 0; i < 12; ++i)
    body +=
        "\tld.global.b32 %r" + std::to_string(10 + i) + ", [%rd3+" + std::to_string(4 * i) + "];\n";
  bool isFloat = shape.name.find(".f32.") != std::string::npos;
  std::string c = registers(16, cCount), d = registers(30, cCount);
  if (isFloat) { // C and D are registers of f32
    c = "{%f16, %f17, %f18, %f19}";
    d = "{%f20, %f21, %f22, %f23}";
    for (int i = 0; i < 4; ++i)
      body += "\tmov.b32 %f" + std::to_string(16 + i) + ", %r" + std::to_string(16 + i) + ";\n";
  }
  body += "\tmma.sync.aligned." + shape.name + " " + d + ", " + registers(10, aCount) + ", " +
          registers(14, bCount) + ", " + c + ";\n";
  for (int i = 0; i < cCount; ++i) {
    std::string result = (isFloat ? "%f" : "%r") + std::to_string((isFloat ? 20 : 30) + i);
    body += "\tst.global.b32 [%rd4+" + std::to_string(4 * i) + "], " + result + ";\n";
  }
  return body;
}

namespace {
/// Random matrices in the registers of 32 lanes, 16 for each: A, B from the fifth, C from the
/// seventh.
struct Example {
  Example(const Shape &shape, std::minstd_rand &engine) : shape(shape) {
    auto fill = [&](auto &matrix) {
      for (auto &row : matrix)
        for (int &value : row)
          value = static_cast<int>(engine() % 15) - 7;
    };
    fill(a);
    fill(b);
    fill(c);
    isHalfSum = shape.name.find("f16.f16.f16.f16") != std::string::npos;
    for (int lane = 0; lane < 32; ++lane)
      fillLane(lane);
  }

  int perRegister() const { return 32 / shape.bits; }
  int registersOfA() const { return 16 * shape.depth / 32 / perRegister(); }
  int registersOfB() const { return 8 * shape.depth / 32 / perRegister(); }
  static Position sumAt(int lane, int i) {
    return {lane / 4 + (i >= 2 ? 8 : 0), lane % 4 * 2 + i % 2};
  }
  uint32_t encodeSum(int value) const {
    return shape.bits == 8 ? static_cast<uint32_t>(value)
           : isHalfSum     ? encodeHalf(value)
                           : encodeSingle(value);
  }
  void fillLane(int lane) {
    uint32_t *mine = &in[16 * lane];
    auto add = [&](int first, int i, int value) {
      mine[first + i / perRegister()] |= shape.encode(value) << i % perRegister() * shape.bits;
    };
    for (int i = 0; i < registersOfA() * perRegister(); ++i)
      add(0, i, a[shape.a(lane, i).row][shape.a(lane, i).column]);
    for (int i = 0; i < registersOfB() * perRegister(); ++i)
      add(4, i, b[shape.b(lane, i).row][shape.b(lane, i).column]);
    for (int i = 0; i < 4; ++i)
      mine[6 + (isHalfSum ? i / 2 : i)] |= encodeSum(c[sumAt(lane, i).row][sumAt(lane, i).column])
                                           << (isHalfSum ? i % 2 * 16 : 0);
  }
  /// The sum of a position.
  int expectedAt(Position at) const {
    int sum = c[at.row][at.column];
    for (int k = 0; k < shape.depth; ++k)
      sum += a[at.row][k] * b[k][at.column];
    return sum;
  }

  const Shape &shape;
  bool isHalfSum;
  int a[16][32] = {}, b[32][8] = {}, c[16][8] = {};
  std::vector<uint32_t> in = std::vector<uint32_t>(32 * 16);
};
} // namespace

TEST(Matrices, MultiplyInEachShape) {
  std::minstd_rand engine(1);
  for (const Shape &shape : shapes()) {
    Example example(shape, engine);
    Device device;
    device.loadBody(kernelFor(shape, example.registersOfA(), example.registersOfB(),
                              example.isHalfSum ? 2 : 4));
    ASSERT_EQ(device.error, "") << shape.name;
    device.shape.block.x = 32;
    std::vector<uint32_t> out(128);
    uint64_t outAddress = device.upload(out.data(), 512, true);
    device.launchWith(outAddress, device.upload(example.in.data(), example.in.size() * 4, true));
    ASSERT_EQ(device.error, "") << shape.name;
    device.memory.read(outAddress, 512, out.data(), false);
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 4; ++i) {
        uint32_t got = out[4 * lane + (example.isHalfSum ? i / 2 : i)];
        got = example.isHalfSum ? got >> (i % 2 * 16) & 0xffff : got;
        ASSERT_EQ(got, example.encodeSum(example.expectedAt(Example::sumAt(lane, i))))
            << shape.name << " lane " << lane << " element " << i;
      }
    EXPECT_EQ(device.counters.tensorMultiplyAdds, uint64_t(16 * 8 * shape.depth));
  }
}

TEST(Matrices, LoadRowsAndColumns) {
  // Element (m, r, c) of four matrices is 1000 * m + 8 * r + c; the rows are 16 bytes.
  const std::string store =
      "\n\tshl.b32 %r1, %r0, 4;\n\tmov.u32 %r2, sm;\n\tadd.u32 %r2, %r2, %r1;\n"
      "\tshr.u32 %r3, %r0, 3;\n\tmul.lo.u32 %r3, %r3, 1000;\n"
      "\tand.b32 %r4, %r0, 7;\n\tshl.b32 %r4, %r4, 3;\n\tadd.u32 %r3, %r3, %r4;\n"
      "\tmul.lo.u32 %r3, %r3, 0x10001;\n\tadd.u32 %r3, %r3, 0x10000;\n"
      "\tadd.u32 %r4, %r3, 0x20002;\n\tadd.u32 %r5, %r3, 0x40004;\n"
      "\tadd.u32 %r6, %r3, 0x60006;\n"
      "\tst.shared.v4.b32 [%r2], {%r3, %r4, %r5, %r6};\n\tbar.sync 0;\n";
  for (bool isTransposed : {false, true}) {
    Device device;
    device.loadBody(store + "\tldmatrix.sync.aligned.m8n8.x4." + (isTransposed ? "trans." : "") +
                        "shared.b16 {%r10, %r11, %r12, %r13}, [%r2];\n"
                        "\tmul.wide.u32 %rd3, %r0, 16;\n\tadd.u64 %rd3, %rd0, %rd3;\n"
                        "\tst.global.v4.b32 [%rd3], {%r10, %r11, %r12, %r13};",
                    ".shared .align 16 .b8 sm[512];\n");
    device.shape.block.x = 32;
    std::vector<uint32_t> out(128), in(1);
    ASSERT_EQ(device.run(out, in), "");
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t m = 0; m < 4; ++m) {
        uint32_t row = lane / 4, column = lane % 4 * 2;
        uint32_t low = isTransposed ? 8 * column + row : 8 * row + column;
        uint32_t high = isTransposed ? 8 * (column + 1) + row : 8 * row + column + 1;
        EXPECT_EQ(out[4 * lane + m], 1000 * m + low + ((1000 * m + high) << 16));
      }
    EXPECT_EQ(device.counters.sharedConflicts, 0u);
  }
}

TEST(Matrices, NeedTheWholeWarp) {
  EXPECT_EQ(
      failureOf("\n\tmov.u32 %r1, 0;\n\tsetp.ne.u32 %p1, %r0, 7;\n"
                "\t@%p1 mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%r2, %r3, %r4, %r5}, "
                "{%r1, %r1}, {%r1}, {%r1, %r1, %r1, %r1};",
                32),
      "k, thread 0 of block 0, line 22: lane 7 of the warp does not take part");
  EXPECT_EQ(refusalOf("\n\tmma.sync.aligned.m16n8k4.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, "
                      "{%r1, %r1}, {%r1}, {%f1, %f2, %f3, %f4};"),
            "line 20: unknown instruction 'mma.sync.aligned.m16n8k4.row.col.f32.f16.f16.f32'");
  EXPECT_EQ(refusalOf("\n\tmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, "
                      "{%r1, %r1}, {%r1, %r2}, {%f1, %f2, %f3, %f4};"),
            "line 20: expected a vector of 4 operands, but got a vector");
}

TEST(Matrices, CopiesFillWithZeros) {
  Device device;
  device.loadBody("\n\tmov.u32 %r1, sm;\n\tmov.u32 %r2, 5;\n"
                  "\tcp.async.ca.shared.global [%r1], [%rd1], 8, %r2;\n"
                  "\tcp.async.ca.shared.global [%r1+8], [%rd1+4], 4, 0;\n\tcp.async.wait_all;\n"
                  "\tld.shared.v2.b32 {%r3, %r4}, [sm];\n\tld.shared.b32 %r5, [sm+8];\n"
                  "\tst.global.v2.b32 [%rd0], {%r3, %r4};\n\tst.global.b32 [%rd0+8], %r5;",
                  ".shared .align 16 .b8 sm[64];\n");
  std::vector<uint32_t> out(3), in = {0x11223344, 0x55667788};
  EXPECT_EQ(device.run(out, in), "");
  EXPECT_EQ(out, (std::vector<uint32_t>{0x11223344, 0x88, 0}));
}
