//===- GpuTest.cpp - Entries on a GPU, by the emulated driver -------------===//
//
// Runs the model of GpuModel.h. The driver executes its PTX on the CPU, and reports what nobody has
// released. A test that ends the device runs in a process of its own.
//
//===----------------------------------------------------------------------===//

#include "GpuModel.h"

#include <cstdlib>
#include <numeric>

using toy::Instance, toy::Tensor;

namespace {
class LostGpu : public testing::Test {
protected:
  void SetUp() override { setenv("TFC_CUDA_DRIVER", TFC_EMULATED_CUDA, 1); }

  GpuModel gpu;
};

class Gpu : public LostGpu {
protected:
  void SetUp() override {
    LostGpu::SetUp();
    testing::internal::CaptureStderr();
  }

  /// The driver prints what is left when the last instance has released it.
  void TearDown() override { EXPECT_EQ(testing::internal::GetCapturedStderr(), ""); }
};
} // namespace

static tfc_status shift(tfc_instance *instance, const std::vector<float> &x,
                        std::vector<float> &y) {
  int64_t n = x.size();
  y.resize(n);
  const void *feeds[] = {x.data()};
  void *fetches[] = {y.data()};
  return tfc_instance_call(instance, kShift, &n, feeds, fetches);
}

static tfc_status step(tfc_instance *instance, int64_t fail = 0) {
  const void *feeds[] = {&fail};
  return tfc_instance_call(instance, kStep, nullptr, feeds, nullptr);
}

static int64_t count(tfc_instance *instance) {
  int64_t steps = -1;
  void *fetches[] = {&steps};
  EXPECT_EQ(tfc_instance_call(instance, kCount, nullptr, nullptr, fetches), TFC_OK)
      << tfc_instance_message(instance);
  return steps;
}

static tfc_status access(tfc_instance *instance, std::vector<float> &w,
                         decltype(tfc_instance_get) *function) {
  w.resize(4);
  tfc_tensor tensor = Tensor(TFC_F32, {}, w.data());
  const int64_t dims[] = {4};
  tensor.rank = 1;
  tensor.dims = dims;
  return function(instance, "w", &tensor);
}

static std::vector<float> getW(tfc_instance *instance) {
  std::vector<float> w;
  EXPECT_EQ(access(instance, w, tfc_instance_get), TFC_OK) << tfc_instance_message(instance);
  return w;
}

//===- Calls --------------------------------------------------------------===//

TEST_F(Gpu, RunsKernels) {
  Instance instance(gpu.model);
  std::vector<float> x, y;
  for (int64_t n : {5, 1000, 0, 300}) {
    x.resize(n);
    std::iota(x.begin(), x.end(), 1.0f);
    ASSERT_EQ(shift(instance, x, y), TFC_OK) << instance.message();
    for (int64_t i = 0; i < n; ++i)
      ASSERT_EQ(y[i], x[i] + 0.5f);
  }
}

TEST_F(Gpu, KeepsVariablesOnTheDevice) {
  Instance instance(gpu.model);
  EXPECT_EQ(getW(instance), std::vector<float>(4, 0.5f));
  EXPECT_EQ(step(instance), TFC_OK) << instance.message();
  EXPECT_EQ(getW(instance), std::vector<float>(4, 1));
  std::vector<float> w = {1, 2, 3, 4}, y;
  EXPECT_EQ(access(instance, w, tfc_instance_set), TFC_OK);
  EXPECT_EQ(shift(instance, {0, 0, 0, 0, 5}, y), TFC_OK);
  EXPECT_EQ(y, (std::vector<float>{1, 2, 3, 4, 6}));
  EXPECT_EQ(count(instance), 8);
}

TEST_F(Gpu, SavesAndLoadsVariables) {
  std::string path = testing::TempDir() + "gpu.safetensors";
  std::vector<float> w = {1, 2, 3, 4};
  {
    Instance instance(gpu.model);
    EXPECT_EQ(access(instance, w, tfc_instance_set), TFC_OK);
    EXPECT_EQ(tfc_instance_save(instance, path.c_str()), TFC_OK) << instance.message();
  }
  Instance instance(gpu.model);
  EXPECT_EQ(tfc_instance_load(instance, path.c_str()), TFC_OK) << instance.message();
  EXPECT_EQ(getW(instance), w);
  EXPECT_EQ(step(instance), TFC_OK) << instance.message();
  EXPECT_EQ(getW(instance), (std::vector<float>{2, 4, 6, 8}));
  // A failed load changes nothing.
  ASSERT_EQ(truncate(path.c_str(), 100), 0);
  EXPECT_NE(tfc_instance_load(instance, path.c_str()), TFC_OK);
  EXPECT_EQ(getW(instance), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_EQ(count(instance), 8);
}

TEST_F(Gpu, ForksShareVariables) {
  Instance instance(gpu.model);
  tfc_instance *fork;
  ASSERT_EQ(tfc_instance_fork(instance, &fork), TFC_OK) << instance.message();
  EXPECT_EQ(step(fork), TFC_OK);
  EXPECT_EQ(step(instance), TFC_OK);
  std::vector<float> y;
  EXPECT_EQ(shift(fork, {1}, y), TFC_OK) << tfc_instance_message(fork);
  EXPECT_EQ(y, std::vector<float>{3});
  EXPECT_NE(fork->streams[1].get(), instance.handle->streams[1].get());
  tfc_instance_destroy(fork);
  EXPECT_EQ(getW(instance), std::vector<float>(4, 2));
}

TEST_F(Gpu, ChunksGrowAndKeepTheirContents) {
  Instance instance(gpu.model);
  for (int64_t n : {3, 100, 50}) {
    float last = 0;
    const void *feeds[] = {&n};
    void *fetches[] = {&last};
    EXPECT_EQ(tfc_instance_call(instance, kGrow, nullptr, feeds, fetches), TFC_OK)
        << instance.message();
    EXPECT_EQ(last, n * 0.5f);
  }
}

TEST_F(Gpu, ASteadyCallAllocatesNothing) {
  static int allocations;
  tfc_options options = {};
  options.size = sizeof options;
  options.allocate = [](void *, size_t bytes, size_t alignment) {
    ++allocations;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  };
  options.release = [](void *, void *memory, size_t) { free(memory); };
  Instance instance(gpu.model, &options);
  std::vector<float> x(100, 1), y;
  const char *arena = nullptr;
  for (int round = 0; round < 5; ++round) {
    EXPECT_EQ(shift(instance, x, y), TFC_OK);
    EXPECT_EQ(step(instance), TFC_OK);
    // The first round has grown the arena and the memory of messages.
    if (round == 0) {
      arena = instance.handle->streams[1].arena.data();
      allocations = 0;
    }
  }
  EXPECT_EQ(allocations, 0);
  EXPECT_EQ(instance.handle->streams[1].arena.data(), arena);
}

//===- Code ---------------------------------------------------------------===//

TEST(FindBinary, ChoosesByCapability) {
  const tfc_binary_info binaries[] = {{"", 80}, {"", 90}, {"", 86}, {"", 100}, {"", 103}};
  tfc_image_info image = {"gpu", "", nullptr, 0, binaries, 5};
  auto chosen = [&](int64_t capability) -> int64_t {
    const tfc_binary_info *binary = tfc::runtime::findBinary(image, capability);
    return binary ? binary->capability : 0;
  };
  EXPECT_EQ(chosen(70), 0);
  EXPECT_EQ(chosen(80), 80);
  EXPECT_EQ(chosen(86), 86);
  EXPECT_EQ(chosen(89), 86);
  EXPECT_EQ(chosen(90), 90);
  EXPECT_EQ(chosen(101), 100);
  EXPECT_EQ(chosen(103), 103);
  EXPECT_EQ(chosen(120), 0);
  image.binary_count = 0;
  EXPECT_EQ(chosen(80), 0);
}

/// Adds w, 0.5, to 1 by a model that has binaries besides PTX.
template <size_t count>
static std::vector<float> shiftOne(GpuModel &gpu, const tfc_binary_info (&binaries)[count]) {
  gpu.image.binaries = binaries;
  gpu.image.binary_count = count;
  Instance instance(gpu.model);
  std::vector<float> y;
  EXPECT_EQ(shift(instance, {1}, y), TFC_OK) << instance.message();
  return y;
}

TEST_F(Gpu, RunsTheBinaryOfItsCapability) {
  // Code that subtracts, in the place of code that adds.
  std::string other = kCode;
  size_t found = other.find("add.rn.f32");
  ASSERT_NE(found, std::string::npos);
  other.replace(found, 3, "sub");
  EXPECT_EQ(shiftOne(gpu, {{"", 90}, {other.c_str(), 80}}), std::vector<float>{0.5f});
}

TEST_F(Gpu, CompilesPtxIfTheDriverDoesNotTakeABinary) {
  EXPECT_EQ(shiftOne(gpu, {{"\177ELF", 80}}), std::vector<float>{1.5f});
}

//===- Graphs -------------------------------------------------------------===//

TEST_F(Gpu, WorkThatComesAgainIsAGraph) {
  Instance instance(gpu.model);
  using Work = tfc::runtime::GpuWork;
  Work &work = instance.handle->streams[1].getWork();
  const void *constant = instance.handle->state->gpus[1].constant(1);
  float *memory = static_cast<float *>(instance.handle->state->gpus[1].allocate(64));
  auto run = [&](int32_t bytes) {
    EXPECT_EQ(work.move(Work::kFill, memory, 0, 64), tfc::runtime::cuda::kSuccess);
    EXPECT_EQ(work.move(Work::kCopyOnDevice, memory, asArgument(constant), bytes),
              tfc::runtime::cuda::kSuccess);
    EXPECT_EQ(work.move(Work::kCopyOnDevice, memory + 4, asArgument(memory), bytes),
              tfc::runtime::cuda::kSuccess);
    EXPECT_EQ(work.submit(), tfc::runtime::cuda::kSuccess);
    tfc::runtime::Message message;
    std::vector<float> values(8);
    EXPECT_EQ(instance.handle->streams[1].read(values.data(), memory, 32, message), TFC_OK);
    return values;
  };
  tfc::runtime::Gpu::Scope scope(instance.handle->state->gpus[1]);
  std::vector<float> first = run(16);
  EXPECT_EQ(first[0], first[4]);
  EXPECT_EQ(work.countGraphs(), 0);
  EXPECT_EQ(run(16), first);
  EXPECT_EQ(work.countGraphs(), 1);
  EXPECT_EQ(run(16), first);
  // Other work is done as it is.
  EXPECT_NE(run(8), first);
  EXPECT_EQ(work.countGraphs(), 1);
  EXPECT_EQ(run(16), first);
  // Only the last works are remembered.
  for (int i = 0; i < 200; ++i) {
    work.move(Work::kFill, memory, i % 256, 64);
    work.move(Work::kFill, memory, i % 256, 32);
    work.move(Work::kFill, memory, i % 256, 16);
    EXPECT_EQ(work.submit(), tfc::runtime::cuda::kSuccess);
  }
  EXPECT_EQ(work.countGraphs(), 0);
  EXPECT_EQ(run(16), first);
  instance.handle->state->gpus[1].release(memory);
}

/// Such a model only copies on the device.
TEST_F(Gpu, MayHaveNoKernels) {
  gpu.model.image = nullptr;
  Instance instance(gpu.model);
  EXPECT_EQ(getW(instance), std::vector<float>(4, 0.5f));
}

TEST_F(Gpu, LeavesTheContextOfTheCallerAlone) {
  tfc::runtime::cuda::Driver driver;
  char message[200];
  ASSERT_TRUE(driver.load(message, sizeof message)) << message;
  Instance instance(gpu.model);
  tfc_instance *fork;
  std::vector<float> y;
  ASSERT_EQ(tfc_instance_fork(instance, &fork), TFC_OK);
  EXPECT_EQ(shift(instance, std::vector<float>(1000), y), TFC_OK);
  getW(instance);
  tfc_instance_destroy(fork);
  tfc::runtime::cuda::Context current;
  ASSERT_EQ(driver.getContext(&current), tfc::runtime::cuda::kSuccess);
  EXPECT_EQ(current, nullptr);
}

//===- Failing calls ------------------------------------------------------===//

TEST_F(Gpu, AFailingCallChangesNothing) {
  Instance instance(gpu.model);
  EXPECT_EQ(step(instance, 1), TFC_OUT_OF_RANGE);
  EXPECT_EQ(instance.message(), "step: always");
  EXPECT_EQ(step(instance, 3), TFC_FAILED_PRECONDITION);
  EXPECT_EQ(instance.message(), "step: check");
  EXPECT_EQ(step(instance, 4), TFC_INVALID_ARGUMENT);
  EXPECT_EQ(instance.message(), "step: fail: 1099511627776 threads are more than a GPU can have");
  EXPECT_EQ(getW(instance), std::vector<float>(4, 0.5f));
  EXPECT_EQ(count(instance), 7);
  EXPECT_EQ(step(instance), TFC_OK) << instance.message();
  EXPECT_EQ(getW(instance), std::vector<float>(4, 1));
}

TEST_F(Gpu, LosesNothingWhenMemoryEnds) {
  Instance instance(gpu.model);
  int64_t n = int64_t(1) << 33; // 64 GiB of arena
  float x, y;
  const void *feeds[] = {&x};
  void *fetches[] = {&y};
  EXPECT_EQ(tfc_instance_call(instance, kShift, &n, feeds, fetches), TFC_OUT_OF_MEMORY);
  EXPECT_EQ(instance.message(), "shift: not enough memory for the 68719476736 bytes of the arena");
  EXPECT_EQ(step(instance), TFC_OK) << instance.message();
  std::vector<float> result;
  EXPECT_EQ(shift(instance, {1, 2}, result), TFC_OK) << instance.message();
  EXPECT_EQ(result, (std::vector<float>{2, 3}));
}

TEST_F(Gpu, NeedsMemoryForVariables) {
  gpu.variables[kW].bytes = uint64_t(1) << 40;
  tfc_instance *instance;
  EXPECT_EQ(tfc_instance_create(&gpu.model, nullptr, &instance), TFC_OUT_OF_MEMORY);
  EXPECT_STREQ(tfc_instance_message(nullptr),
               "not enough memory for the variables and queues of model");
}

//===- Missing devices ----------------------------------------------------===//

/// Entries that need no GPU run; everything else says which device is missing, and why.
static void expectMissing(const GpuModel &gpu, const std::string &reason) {
  Instance instance(gpu.model);
  std::vector<float> w, y;
  EXPECT_EQ(count(instance), 7);
  EXPECT_EQ(shift(instance, {1}, y), TFC_NO_DEVICE);
  EXPECT_EQ(instance.message().substr(0, 7 + reason.size()), "shift: " + reason);
  EXPECT_EQ(access(instance, w, tfc_instance_get), TFC_NO_DEVICE);
  EXPECT_EQ(access(instance, w, tfc_instance_set), TFC_NO_DEVICE);
  std::string path = testing::TempDir() + "missing.safetensors";
  EXPECT_EQ(tfc_instance_save(instance, path.c_str()), TFC_NO_DEVICE);
  int64_t steps = 0;
  tfc_tensor tensor = {TFC_I64, 0, nullptr, &steps};
  EXPECT_EQ(tfc_instance_get(instance, "steps", &tensor), TFC_OK) << instance.message();
  EXPECT_EQ(steps, 7);
  tfc_instance *fork;
  ASSERT_EQ(tfc_instance_fork(instance, &fork), TFC_OK);
  EXPECT_EQ(count(fork), 7);
  EXPECT_EQ(step(fork), TFC_NO_DEVICE);
  tfc_instance_destroy(fork);
}

TEST_F(Gpu, MayBeMissingWithItsDriver) {
  setenv("TFC_CUDA_DRIVER", "/nowhere/libcuda.so", 1);
  expectMissing(gpu, "the CUDA driver cannot be loaded: /nowhere/libcuda.so");
}

TEST_F(Gpu, MayBeMissingAlone) {
  gpu.devices[1] = {"/job:local/task:0/device:gpu:1", "gpu", 1, -1};
  expectMissing(gpu, "there is no GPU with the number 1: the driver has 1");
}

TEST_F(Gpu, RefusesDamagedCode) {
  gpu.image.code = ".version 7.0\n.target sm_80\nrubbish";
  expectMissing(gpu, "the code of the model: a PTX JIT compilation failed (218): ");
}

TEST_F(Gpu, RefusesCodeWithoutItsFunctions) {
  static const tfc_grid_info kOther[] = {{"add", 128}, {"other", 32}};
  gpu.image.grids = kOther;
  expectMissing(gpu, "other: named symbol not found (500)");
}

static int32_t waitForGpu(tfc_call_frame *frame) {
  const void *value;
  STEP(tfc_rt_receive(frame, 0, &value));
  tfc_rt_release(frame, 0);
  return initHost(frame);
}

/// Initial values on the host that come from the GPU are missing, too.
TEST_F(Gpu, MayBeMissingForInitialValuesOfTheHost) {
  static const tfc_slot_info kBack[] = {{1, 0}};
  static const tfc_partition_info kParts[] = {{waitForGpu, noArena, 0}, {initGpu, noArena, 1}};
  static const tfc_partitioning kDivided = {kParts, kBack, 2, 1, 0};
  gpu.init.partitioning = &kDivided;
  gpu.devices[1].index = 1;
  Instance instance(gpu.model);
  int64_t steps;
  void *fetches[] = {&steps};
  EXPECT_EQ(tfc_instance_call(instance, kCount, nullptr, nullptr, fetches), TFC_NO_DEVICE);
  EXPECT_EQ(instance.message(), "count: variables have no initial values, because a device that "
                                "these need is not there");
  tfc_tensor tensor = {TFC_I64, 0, nullptr, &steps};
  EXPECT_EQ(tfc_instance_get(instance, "steps", &tensor), TFC_NO_DEVICE);
}

//===- Lost devices -------------------------------------------------------===//

/// Loses the device, in a process of its own.
static void loseDevice(const GpuModel &gpu) {
  Instance instance(gpu.model);
  std::vector<float> w, y;
  EXPECT_EQ(shift(instance, {1}, y), TFC_OK);
  EXPECT_EQ(step(instance, 2), TFC_DEVICE_LOST);
  EXPECT_EQ(instance.message(), "step: the GPU has failed in a kernel between 'fail' and 'add': "
                                "unspecified launch failure (719)");
  EXPECT_EQ(count(instance), 7);
  std::string lost = "the GPU has failed before, and nothing can run on it any more";
  EXPECT_EQ(step(instance), TFC_DEVICE_LOST);
  EXPECT_EQ(instance.message(), "step: " + lost);
  EXPECT_EQ(access(instance, w, tfc_instance_get), TFC_DEVICE_LOST);
  EXPECT_EQ(access(instance, w, tfc_instance_set), TFC_DEVICE_LOST);
  std::string path = testing::TempDir() + "lost.safetensors";
  EXPECT_EQ(tfc_instance_save(instance, path.c_str()), TFC_DEVICE_LOST);
  EXPECT_EQ(instance.message(), "cannot save '" + path + "': " + lost);
  tfc_instance *fork;
  EXPECT_EQ(tfc_instance_fork(instance, &fork), TFC_OK);
  EXPECT_EQ(count(fork), 7);
  EXPECT_EQ(step(fork), TFC_DEVICE_LOST);
  tfc_instance_destroy(fork);
}

TEST_F(LostGpu, FailsAllThatNeedsIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        loseDevice(gpu);
        exit(testing::Test::HasFailure());
      },
      testing::ExitedWithCode(0), "emulated device: .*fail");
}
