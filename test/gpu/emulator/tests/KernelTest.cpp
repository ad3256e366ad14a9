//===- KernelTest.cpp - Kernels as LLVM compiles them ---------------------===//
//
// Runs the kernels of Inputs/kernels.ptx and compares their results with plain computations.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/tests/Kernel.h"
#include "test/gpu/emulator/FloatFormats.h"
#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <sstream>

using namespace tfc::gpu;
using namespace tfc::gpu::test;

namespace {
/// Adds arguments with their alignment.
class Arguments {
public:
  template <typename T> Arguments &add(T value) {
    bytes.resize((bytes.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T) + sizeof(T));
    memcpy(&bytes[bytes.size() - sizeof(T)], &value, sizeof(T));
    return *this;
  }
  std::vector<uint8_t> bytes;
};

class Kernels : public testing::Test, public Device {
protected:
  void SetUp() override {
    std::ifstream file(TFC_EMULATOR_INPUTS "/kernels.ptx");
    std::stringstream text;
    text << file.rdbuf();
    program = Program::load(text.str(), memory, error);
    ASSERT_EQ(error, "");
  }
  template <typename T> uint64_t upload(const std::vector<T> &values) {
    return Device::upload(values.data(), values.size() * sizeof(T), true);
  }
  template <typename T> std::vector<T> download(uint64_t address, size_t count) {
    std::vector<T> values(count);
    EXPECT_EQ(memory.read(address, count * sizeof(T), values.data(), false), "");
    return values;
  }
  std::string run(const std::string &kernel, Dimensions grid, Dimensions block,
                  const Arguments &arguments, uint32_t dynamicSharedBytes = 0) {
    Launch shape{kernel, grid, block, dynamicSharedBytes, arguments.bytes};
    shape.seed = seed;
    return launch(*program, shape, memory, counters);
  }
  int below(int n) { return static_cast<int>(engine() % static_cast<unsigned>(n)); }

  std::minstd_rand engine{1};
  uint64_t seed = 0;
};
} // namespace

TEST_F(Kernels, Sum) {
  int n = 10000;
  std::vector<float> in(n);
  float expected = 0;
  for (float &value : in)
    expected += value = static_cast<float>(below(9) - 4);
  uint64_t out = upload(std::vector<float>(4)), from = upload(in);
  for (seed = 0; seed < 3; ++seed) { // warps in several orders
    EXPECT_EQ(run("sum", {4}, {96}, Arguments().add(out).add(from).add(n)), "");
    std::vector<float> sums = download<float>(out, 4);
    EXPECT_EQ(sums[0] + sums[1] + sums[2] + sums[3], expected);
  }
  // Warps read consecutive words: four sectors each.
  EXPECT_EQ(counters.globalBytesRead, 3u * 40000);
  EXPECT_EQ(counters.sharedConflicts, 0u);
}

TEST_F(Kernels, Product) {
  int m = 37, n = 29, k = 41;
  std::vector<float> a(m * k), b(k * n);
  for (std::vector<float> *matrix : {&a, &b})
    for (float &value : *matrix)
      value = static_cast<float>(below(9) - 4);
  uint64_t c = upload(std::vector<float>(m * n));
  Arguments arguments;
  arguments.add(c).add(upload(a)).add(upload(b)).add(m).add(n).add(k);
  EXPECT_EQ(run("product", {2, 3}, {16, 16}, arguments), "");
  std::vector<float> results = download<float>(c, m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float expected = 0;
      for (int l = 0; l < k; ++l)
        expected += a[i * k + l] * b[l * n + j];
      EXPECT_EQ(results[i * n + j], expected);
    }
  EXPECT_GE(counters.multiplyAdds, uint64_t(48 * 32 * 48));
}

TEST_F(Kernels, Sort) {
  int n = 200;
  std::vector<int> data(n);
  for (int &value : data)
    value = below(1000) - 500;
  uint64_t address = upload(data);
  EXPECT_EQ(run("sort", {1}, {256}, Arguments().add(address).add(n), 1024), "");
  std::sort(data.begin(), data.end());
  EXPECT_EQ(download<int>(address, n), data);
}

TEST_F(Kernels, SortNeedsItsSharedMemory) {
  uint64_t address = upload(std::vector<int>(256));
  std::string error = run("sort", {1}, {256}, Arguments().add(address).add(256), 1020);
  EXPECT_NE(error.find("are not in the shared memory of the block"), std::string::npos) << error;
}

TEST_F(Kernels, Histogram) {
  int n = 3000;
  std::vector<uint8_t> in(n);
  std::vector<uint32_t> expected(256);
  for (uint8_t &value : in)
    ++expected[value = static_cast<uint8_t>(below(50))];
  uint64_t out = upload(std::vector<uint32_t>(256));
  EXPECT_EQ(run("histogram", {3}, {128}, Arguments().add(out).add(upload(in)).add(n)), "");
  EXPECT_EQ(download<uint32_t>(out, 256), expected);
}

/// A call, local memory, and a branch with eight targets.
TEST_F(Kernels, Evaluate) {
  int n = 300;
  std::vector<float> in(n);
  for (float &value : in)
    value = static_cast<float>(below(1000)) / 500;
  uint64_t out = upload(std::vector<float>(n));
  EXPECT_EQ(run("evaluate", {3}, {128}, Arguments().add(out).add(upload(in)).add(n)), "");
  std::vector<float> results = download<float>(out, n);
  for (int i = 0; i < n; ++i) {
    float x = in[i];
    const float arguments[] = {std::sqrt(x),
                               std::exp2(x),
                               -x,
                               std::floor(x),
                               static_cast<float>(static_cast<long>(x * 1000)),
                               x / 3,
                               static_cast<float>(static_cast<_Float16>(x)),
                               x};
    double expected = 0, magnitude = 0, argument = arguments[i % 8];
    for (int degree = i % 7; degree >= 0; --degree) {
      expected = expected * argument + 1.0 / (degree + 1);
      magnitude = magnitude * std::fabs(argument) + 1.0 / (degree + 1);
    }
    EXPECT_NEAR(results[i], expected, magnitude * 1e-5) << i;
  }
}

TEST_F(Kernels, Tensor) {
  std::vector<int> a(16 * 64), b(8 * 64);
  auto encoded = [&](std::vector<int> &values) {
    std::vector<uint16_t> halves;
    for (int &value : values) {
      value = below(9) - 4;
      halves.push_back(static_cast<uint16_t>(encode(value, kHalf, Rounding::Nearest)));
    }
    return upload(halves);
  };
  uint64_t c = upload(std::vector<float>(128));
  EXPECT_EQ(run("tensor", {1}, {32}, Arguments().add(c).add(encoded(a)).add(encoded(b))), "");
  std::vector<float> results = download<float>(c, 128);
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j) {
      int expected = 0;
      for (int k = 0; k < 64; ++k)
        expected += a[i * 64 + k] * b[j * 64 + k];
      EXPECT_EQ(results[i * 8 + j], static_cast<float>(expected));
    }
  EXPECT_EQ(counters.tensorMultiplyAdds, 4u * 16 * 8 * 16);
  EXPECT_EQ(counters.of(Class::Tensor), 4u * 32);
}
