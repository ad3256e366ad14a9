//===- LlvmTest.cpp - Code of LLVM's backend ------------------------------===//
//
// Executes kernels that LLVM has compiled, and compares each result with that of the same source on
// the host.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/execute/Machine.h"

#include <bit>
#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

static int thread;
#define KERNEL static
#define THREAD thread
#include "test/gpu/emulator/Inputs/kernels.h"

using namespace tfc::gpu;

namespace {
constexpr int kThreads = 64;

/// An array on the host and the device.
template <typename T> struct Shared {
  std::vector<T> host;
  uint64_t device = 0;
};

class Llvm : public testing::Test {
protected:
  void SetUp() override {
    std::ifstream file(TFC_EMULATOR_INPUTS "/kernels.ptx");
    std::stringstream text;
    text << file.rdbuf();
    ptx::Error error;
    program = Program::load(text.str(), memory, error);
    ASSERT_TRUE(program) << error.str();
  }

  template <typename T, typename F> Shared<T> share(size_t count, F value) {
    Shared<T> shared;
    for (size_t i = 0; i < count; ++i)
      shared.host.push_back(static_cast<T>(value(static_cast<int>(i))));
    shared.device = memory.allocate(count * sizeof(T));
    memory.write(shared.device, count * sizeof(T), shared.host.data(), false);
    return shared;
  }

  std::string run(const char *kernel, std::vector<uint64_t> parameters) {
    std::vector<uint8_t> bytes(parameters.size() * 8);
    memcpy(bytes.data(), parameters.data(), bytes.size());
    Counters counters;
    return tfc::gpu::run({*program->find(kernel), {}, {kThreads}, 0, bytes}, memory, counters);
  }

  template <typename T> void expectSame(const Shared<T> &shared) {
    std::vector<T> got(shared.host.size());
    EXPECT_EQ(memory.read(shared.device, got.size() * sizeof(T), got.data(), false), "");
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_EQ(memcmp(&got[i], &shared.host[i], sizeof(T)), 0)
          << "element " << i << ": " << double(got[i]) << ", not " << double(shared.host[i]);
  }

  Memory memory;
  std::unique_ptr<Program> program;
};
} // namespace

/// Executes a kernel on the host.
#define ON_HOST(call)                                                                              \
  for (thread = 0; thread < kThreads; ++thread)                                                    \
  call

TEST_F(Llvm, Branches) {
  auto a = share<float>(kThreads, [](int i) { return std::sin(i); });
  auto c = share<float>(kThreads, [](int) { return 0; });
  EXPECT_EQ(run("branches", {a.device, c.device}), "");
  ON_HOST(branches(a.host.data(), c.host.data()));
  expectSame(c);
}

TEST_F(Llvm, Integers) {
  auto a = share<long>(kThreads + 1, [](int i) {
    return static_cast<long>(0x9e3779b97f4a7c15u * static_cast<unsigned long>(i * i + 1)) >>
           (i % 40);
  });
  auto c = share<long>(kThreads, [](int) { return 0; });
  auto b = share<signed char>(kThreads, [](int i) { return i * 5; });
  auto s = share<short>(kThreads, [](int i) { return i * 991 - 30000; });
  EXPECT_EQ(run("integers", {a.device, c.device, b.device, s.device}), "");
  ON_HOST(integers(a.host.data(), c.host.data(), b.host.data(), s.host.data()));
  expectSame(b);
  expectSame(s);
  expectSame(c);
}

TEST_F(Llvm, Floats) {
  auto a = share<float>(kThreads, [](int i) { return (i - 20) * 0.37; });
  auto c = share<float>(kThreads, [](int) { return 0; });
  auto d = share<double>(kThreads, [](int i) { return std::exp(i % 50 - 30); });
  auto e = share<double>(kThreads, [](int) { return 0; });
  EXPECT_EQ(run("floats", {a.device, c.device, d.device, e.device}), "");
  ON_HOST(floats(a.host.data(), c.host.data(), d.host.data(), e.host.data()));
  expectSame(c);
  expectSame(e);
}

TEST_F(Llvm, Halves) {
  auto a = share<_Float16>(kThreads + 2, [](int i) { return std::sin(i) * 50; });
  auto c = share<_Float16>(2 * kThreads, [](int) { return 0; });
  EXPECT_EQ(run("halves", {a.device, c.device}), "");
  ON_HOST(halves(a.host.data(), c.host.data()));
  expectSame(c);
}

/// The compilers of some hosts cannot round to bf16.
TEST_F(Llvm, BrainFloats) {
  auto f = share<uint16_t>(kThreads, [](int i) { return 0x3f80 + 77 * i; });
  auto g = share<uint16_t>(kThreads, [](int) { return 0; });
  EXPECT_EQ(run("brainFloats", {f.device, g.device}), "");
  for (int i = 0; i < kThreads; ++i) {
    uint32_t bits = std::bit_cast<uint32_t>(std::bit_cast<float>(uint32_t(f.host[i]) << 16) * 3);
    g.host[i] = static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
  expectSame(g);
}
