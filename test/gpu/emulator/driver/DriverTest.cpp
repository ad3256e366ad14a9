//===- DriverTest.cpp - The emulated driver through the runtime's loader --===//
//
// Calls the functions as the runtime does, by the library that TFC_CUDA_DRIVER names.
//
//===----------------------------------------------------------------------===//

#include "runtime/CudaDriver.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <numeric>
#include <thread>
#include <vector>

using namespace tfc::runtime::cuda;

/// Adds `by` to each of the n elements.
static const char kModule[] = R"(.version 7.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 table[4] = {1, 2, 3, 4};
.extern .shared .align 4 .b8 pool[];
.visible .entry add(.param .u64 array, .param .u32 by, .param .u32 n) {
.reg .pred %p; .reg .b32 %r<8>; .reg .b64 %a<3>;
ld.param.u64 %a0, [array]; ld.param.u32 %r0, [by]; ld.param.u32 %r1, [n];
mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r2, %r3, %r4;
setp.ge.u32 %p, %r5, %r1; @%p ret;
mul.wide.u32 %a1, %r5, 4; add.u64 %a1, %a1, %a0;
ld.global.u32 %r6, [%a1]; add.u32 %r6, %r6, %r0; st.global.u32 [%a1], %r6;
ret;
}
)";

namespace {
class Emulated : public testing::Test {
protected:
  void SetUp() override {
    setenv("TFC_CUDA_DRIVER", TFC_EMULATED_CUDA, 1);
    char message[200];
    ASSERT_TRUE(driver.load(message, sizeof message)) << message;
    ASSERT_EQ(driver.init(0), kSuccess);
    ASSERT_EQ(driver.retainContext(&context, 0), kSuccess);
    ASSERT_EQ(driver.setContext(context), kSuccess);
    ASSERT_EQ(driver.loadModule(&module, kModule, 0, nullptr, nullptr), kSuccess);
    ASSERT_EQ(driver.getFunction(&add, module, "add"), kSuccess);
    ASSERT_EQ(driver.createStream(&stream, kNonBlockingStream), kSuccess);
    ASSERT_EQ(driver.allocate(&array, kCount * 4), kSuccess);
    void *memory;
    ASSERT_EQ(driver.allocateHost(&memory, kCount * 4, 0), kSuccess);
    host = static_cast<uint32_t *>(memory);
    std::iota(host, host + kCount, 0);
  }

  void TearDown() override {
    EXPECT_EQ(driver.releaseHost(host), kSuccess);
    EXPECT_EQ(driver.release(array), kSuccess);
    EXPECT_EQ(driver.destroyStream(stream), kSuccess);
    EXPECT_EQ(driver.unloadModule(module), kSuccess);
    testing::internal::CaptureStderr();
    EXPECT_EQ(driver.releaseContext(0), kSuccess);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  }

  Result launch(uint32_t by, Stream on, uint32_t sharedBytes = 0) {
    uint32_t count = kCount;
    void *parameters[] = {&array, &by, &count};
    return driver.launch(add, 4, 1, 1, 64, 1, 1, sharedBytes, on, parameters, nullptr);
  }

  static constexpr uint32_t kCount = 200;
  Driver driver;
  Context context;
  Module module;
  Function add;
  Stream stream;
  Pointer array;
  uint32_t *host;
};
} // namespace

TEST_F(Emulated, DescribesItsDevice) {
  int32_t value = 0;
  EXPECT_EQ(driver.countDevices(&value), kSuccess);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(driver.getDeviceAttribute(&value, kCapabilityMajor, 0), kSuccess);
  EXPECT_EQ(value, 8);
  EXPECT_EQ(driver.getDeviceAttribute(&value, kCapabilityMajor, 1), kInvalidDevice);
  const char *text;
  EXPECT_EQ(driver.getErrorName(kOutOfMemory, &text), kSuccess);
  EXPECT_STREQ(text, "CUDA_ERROR_OUT_OF_MEMORY");
}

/// Nothing has happened before somebody waits.
TEST_F(Emulated, StreamsRunWhenSomebodyWaits) {
  EXPECT_EQ(driver.copyToDevice(array, host, kCount * 4, stream), kSuccess);
  EXPECT_EQ(launch(10, stream), kSuccess);
  host[0] = 5; // pinned memory is read when the copy runs
  EXPECT_EQ(driver.copyToHost(host, array, kCount * 4, stream), kSuccess);
  EXPECT_EQ(host[1], 1u);
  EXPECT_EQ(driver.synchronize(stream), kSuccess);
  EXPECT_EQ(host[0], 15u);
  EXPECT_EQ(host[199], 209u);
}

TEST_F(Emulated, OtherMemoryIsCopiedAtOnce) {
  std::vector<uint32_t> values(kCount, 3);
  EXPECT_EQ(driver.copyToDevice(array, values.data(), kCount * 4, stream), kSuccess);
  values.assign(kCount, 0);
  EXPECT_EQ(launch(1, stream), kSuccess);
  EXPECT_EQ(driver.copyToHost(values.data(), array, kCount * 4, stream), kSuccess);
  EXPECT_EQ(values, std::vector<uint32_t>(kCount, 4));
}

TEST_F(Emulated, EventsOrderStreams) {
  Stream other;
  Event event;
  ASSERT_EQ(driver.createStream(&other, kNonBlockingStream), kSuccess);
  ASSERT_EQ(driver.createEvent(&event, kUntimedEvent), kSuccess);
  EXPECT_EQ(driver.fillWords(array, 7, kCount, stream), kSuccess);
  EXPECT_EQ(driver.recordEvent(event, stream), kSuccess);
  EXPECT_EQ(driver.queryEvent(event), kNotReady);
  EXPECT_EQ(driver.waitForEvent(other, event, 0), kSuccess);
  EXPECT_EQ(launch(1, other), kSuccess);
  EXPECT_EQ(driver.copyToHost(host, array, kCount * 4, other), kSuccess);
  EXPECT_EQ(driver.synchronize(other), kSuccess);
  EXPECT_EQ(driver.queryEvent(event), kSuccess);
  EXPECT_EQ(host[150], 8u);
  EXPECT_EQ(driver.destroyEvent(event), kSuccess);
  EXPECT_EQ(driver.destroyStream(other), kSuccess);
  EXPECT_EQ(driver.synchronize(other), kInvalidHandle);
}

TEST_F(Emulated, GraphsAreReplayed) {
  EXPECT_EQ(driver.fillWords(array, 0, kCount, stream), kSuccess);
  Graph graph;
  GraphExec exec;
  EXPECT_EQ(driver.beginCapture(stream, kThreadLocalCapture), kSuccess);
  EXPECT_EQ(launch(1, stream), kSuccess);
  EXPECT_EQ(launch(10, stream), kSuccess);
  EXPECT_EQ(driver.endCapture(stream, &graph), kSuccess);
  EXPECT_EQ(driver.instantiateGraph(&exec, graph, 0), kSuccess);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(driver.launchGraph(exec, stream), kSuccess);
  EXPECT_EQ(driver.copyToHost(host, array, kCount * 4, stream), kSuccess);
  EXPECT_EQ(driver.synchronize(stream), kSuccess);
  EXPECT_EQ(host[3], 33u);
  EXPECT_EQ(driver.destroyGraph(graph), kSuccess);
  EXPECT_EQ(driver.destroyGraphExec(exec), kSuccess);
}

TEST_F(Emulated, CapturesAllowNoAllocation) {
  Graph graph;
  Pointer other;
  EXPECT_EQ(driver.beginCapture(stream, kThreadLocalCapture), kSuccess);
  EXPECT_EQ(driver.allocate(&other, 4), kCaptureUnsupported);
  EXPECT_EQ(driver.endCapture(stream, &graph), kCaptureInvalidated);
}

TEST_F(Emulated, CapturesConcernTheirThreadAlone) {
  Graph graph = nullptr;
  GraphExec exec;
  Stream other;
  EXPECT_EQ(driver.createStream(&other, kNonBlockingStream), kSuccess);
  EXPECT_EQ(driver.beginCapture(stream, kThreadLocalCapture), kSuccess);
  EXPECT_EQ(launch(1, stream), kSuccess);
  std::thread([&] {
    Pointer memory = 0;
    EXPECT_EQ(driver.setContext(context), kSuccess);
    EXPECT_EQ(driver.allocate(&memory, 4), kSuccess);
    EXPECT_EQ(driver.synchronize(other), kSuccess);
    EXPECT_EQ(driver.release(memory), kSuccess);
  }).join();
  EXPECT_EQ(driver.endCapture(stream, &graph), kSuccess);
  EXPECT_EQ(driver.instantiateGraph(&exec, graph, 0), kSuccess);
  EXPECT_EQ(driver.destroyGraph(graph), kSuccess);
  EXPECT_EQ(driver.destroyGraphExec(exec), kSuccess);

  EXPECT_EQ(driver.beginCapture(stream, kThreadLocalCapture), kSuccess);
  std::thread([&] {
    EXPECT_EQ(driver.setContext(context), kSuccess);
    EXPECT_EQ(driver.synchronize(stream), kCaptureUnsupported);
  }).join();
  EXPECT_EQ(driver.endCapture(stream, &graph), kCaptureInvalidated);
  EXPECT_EQ(driver.destroyStream(other), kSuccess);
}

TEST_F(Emulated, ModulesHaveGlobals) {
  Pointer table;
  size_t bytes;
  EXPECT_EQ(driver.getGlobal(&table, &bytes, module, "table"), kSuccess);
  EXPECT_EQ(bytes, 16u);
  std::vector<uint32_t> values(4);
  EXPECT_EQ(driver.copyToHost(values.data(), table, 16, stream), kSuccess);
  EXPECT_EQ(values, (std::vector<uint32_t>{1, 2, 3, 4}));
  EXPECT_EQ(driver.getGlobal(&table, &bytes, module, "none"), kNotFound);
  Function function;
  EXPECT_EQ(driver.getFunction(&function, module, "none"), kNotFound);
}

TEST_F(Emulated, ModulesAreRefusedWithALog) {
  Module other;
  char log[100];
  JitOption options[] = {kErrorLog, kErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  auto load = [&](const std::string &text) {
    return driver.loadModule(&other, text.c_str(), 2, options, values);
  };
  EXPECT_EQ(load(".version 7.0\n.target sm_80\n.address_size 64\n.entry k() {\nfoo.u32;\n}\n"),
            kInvalidPtx);
  EXPECT_STREQ(log, "line 5: unknown instruction 'foo.u32'");
  EXPECT_EQ(load(".version 8.3\n.target sm_80\n.address_size 64\n"), kUnsupportedPtxVersion);
  EXPECT_EQ(load(".version 8.0\n.target sm_90a\n.address_size 64\n"), kNoBinaryForGpu);
  EXPECT_EQ(load("\177ELF"), kNoBinaryForGpu);
  EXPECT_EQ(load("no module"), kInvalidPtx);
}

TEST_F(Emulated, LaunchesAreChecked) {
  EXPECT_EQ(launch(1, stream, 49153), kInvalidValue);
  EXPECT_EQ(driver.setFunctionAttribute(add, kFunctionDynamicSharedBytes, 60000), kSuccess);
  EXPECT_EQ(driver.setFunctionAttribute(add, kFunctionDynamicSharedBytes, 1 << 20), kInvalidValue);
  EXPECT_EQ(driver.fillWords(array, 0, kCount, stream), kSuccess);
  EXPECT_EQ(launch(1, stream, 49153), kSuccess);
  EXPECT_EQ(driver.synchronize(stream), kSuccess);
  void *parameters[] = {&array, &array, &array};
  EXPECT_EQ(driver.launch(add, 0, 1, 1, 64, 1, 1, 0, stream, parameters, nullptr), kInvalidValue);
  EXPECT_EQ(driver.launch(add, 1, 1, 1, 2048, 1, 1, 0, stream, parameters, nullptr), kInvalidValue);
  EXPECT_EQ(driver.launch(nullptr, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr),
            kInvalidHandle);
}

TEST_F(Emulated, MemoryIsLimited) {
  Pointer large;
  EXPECT_EQ(driver.allocate(&large, size_t(1) << 40), kOutOfMemory);
  EXPECT_EQ(driver.allocate(&large, 0), kInvalidValue);
  EXPECT_EQ(driver.release(array + 4), kInvalidValue);
}

TEST_F(Emulated, FunctionsNeedAContext) {
  EXPECT_EQ(driver.setContext(nullptr), kSuccess);
  EXPECT_EQ(driver.synchronize(stream), kInvalidContext);
  EXPECT_EQ(driver.setContext(context), kSuccess);
}

/// A fault stays: every later call fails.
TEST_F(Emulated, FaultsStay) {
  auto fault = [&] {
    array -= 4;
    bool isLaunched = launch(1, stream) == kSuccess;
    bool isFault = driver.synchronize(stream) == kLaunchFailed;
    Pointer other;
    bool stays = driver.allocate(&other, 4) == kLaunchFailed;
    std::exit(isLaunched && isFault && stays ? 0 : 1);
  };
  EXPECT_EXIT(fault(), testing::ExitedWithCode(0),
              "emulated device: add, thread 0 of block 0, line 12: 4 bytes at 0x[0-9a-f]+ are in "
              "no allocation");
}

TEST(CudaDriver, SaysThatThereIsNone) {
  setenv("TFC_CUDA_DRIVER", "/nowhere/libcuda.so", 1);
  Driver driver;
  char message[200];
  EXPECT_FALSE(driver.load(message, sizeof message));
  EXPECT_EQ(std::string(message).substr(0, 34), "the CUDA driver cannot be loaded: ");
  setenv("TFC_CUDA_DRIVER", "libm.so.6", 1);
  EXPECT_FALSE(driver.load(message, sizeof message));
  EXPECT_STREQ(message, "the CUDA driver has no function cuInit");
}
