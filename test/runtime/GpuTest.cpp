//===- GpuTest.cpp - Entries on a GPU, by the emulated driver -------------===//
//
// Runs a model whose kernels are PTX and whose host functions are written as the compiler generates
// them. The driver executes the PTX on the CPU, and reports what nobody has released. A test that
// ends the device runs in a process of its own.
//
//===----------------------------------------------------------------------===//

#include "ToyModel.h"

#include "runtime/Instance.h"

#include <cstdlib>
#include <numeric>

using toy::Instance, toy::Tensor;

//===- Code ---------------------------------------------------------------===//

/// add: out[i] = x[i] + w[i % 4]; fail: writes far outside of all memory.
static const char kCode[] = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 n, .param .u64 x, .param .u64 w, .param .u64 out) {
.reg .pred %p; .reg .b32 %r<4>; .reg .b64 %a<9>; .reg .f32 %f<3>;
ld.param.u64 %a0, [n]; ld.param.u64 %a1, [x]; ld.param.u64 %a2, [w]; ld.param.u64 %a3, [out];
mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r0, %r1, %r2;
cvt.u64.u32 %a4, %r3; setp.ge.s64 %p, %a4, %a0; @%p ret;
and.b64 %a5, %a4, 3; shl.b64 %a4, %a4, 2; shl.b64 %a5, %a5, 2;
add.s64 %a6, %a1, %a4; add.s64 %a7, %a2, %a5; add.s64 %a8, %a3, %a4;
ld.global.f32 %f0, [%a6]; ld.global.f32 %f1, [%a7]; add.rn.f32 %f2, %f0, %f1;
st.global.f32 [%a8], %f2;
ret;
}
.visible .entry fail(.param .u64 p) {
.reg .b64 %a<3>; .reg .f32 %f;
ld.param.u64 %a0, [p]; mov.u64 %a2, 1099511627776; add.s64 %a1, %a0, %a2; mov.f32 %f, 0f00000000;
st.global.f32 [%a1], %f;
ret;
}
)";
static const tfc_grid_info kGrids[] = {{"add", 128}, {"fail", 32}};
enum Grid { kAdd, kFail };

//===- Host functions -----------------------------------------------------===//

enum Variable { kW, kSteps }; // w: f32[4] = 0.5 on the GPU, steps: i64 = 7 on the host
static const float kHalves[] = {0.5f, 0.5f, 0.5f, 0.5f}, kOne[] = {1};
static const tfc_constant_info kConstants[] = {{kOne, 4, 1}, {kHalves, 16, 1}};

static int64_t noArena(const int64_t *) { return 0; }
static void noShapes(const int64_t *, int64_t *) {}
static int64_t asArgument(const void *address) { return reinterpret_cast<int64_t>(address); }

static int32_t add(tfc_call_frame *frame, int64_t n, const void *x, const void *w, void *out) {
  const int64_t arguments[] = {n, asArgument(x), asArgument(w), asArgument(out)};
  return tfc_rt_device_launch(frame, kAdd, n, arguments, 4);
}

/// Runs steps until one fails.
#define STEP(call)                                                                                 \
  if (int32_t status = call)                                                                       \
  return status

// The initial values.
static int32_t initHost(tfc_call_frame *frame) {
  *static_cast<int64_t *>(frame->variables[kSteps]) = 7;
  return TFC_OK;
}
static int32_t initGpu(tfc_call_frame *frame) {
  const void *halves = tfc_rt_device_constant(frame, 1);
  return tfc_rt_device_copy(frame, frame->variables[kW], halves, sizeof kHalves);
}

// shift(x: f32[n]) -> (y: f32[n]): y = x + w, on the GPU.
static int32_t shiftHost(tfc_call_frame *frame) {
  const void *y;
  STEP(tfc_rt_send(frame, 0, frame->feeds[0]));
  STEP(tfc_rt_receive(frame, 1, &y));
  if (frame->symbols[0])
    memcpy(frame->fetches[0], y, frame->symbols[0] * sizeof(float));
  tfc_rt_release(frame, 1);
  return TFC_OK;
}
static int64_t shiftBytes(const int64_t *symbols) { return symbols[0] * 8; }
static int32_t shiftGpu(tfc_call_frame *frame) {
  int64_t n = frame->symbols[0], bytes = n * 4;
  const void *x;
  char *copy = frame->arena, *y = frame->arena + bytes;
  STEP(tfc_rt_receive(frame, 0, &x));
  STEP(tfc_rt_device_upload(frame, copy, x, bytes));
  tfc_rt_release(frame, 0);
  STEP(add(frame, n, copy, frame->variables[kW], y));
  return tfc_rt_device_send(frame, 1, y, bytes);
}
static void shiftShapes(const int64_t *symbols, int64_t *dims) { dims[0] = dims[1] = symbols[0]; }

// step(fail: i64): w += w and steps += 1, unless it fails: 1 on the host, 2 in a kernel, 3 by a
// check, 4 by a launch that has too many threads.
static int32_t stepHost(tfc_call_frame *frame) {
  auto fail = *static_cast<const int64_t *>(frame->feeds[0]);
  STEP(tfc_rt_send(frame, 0, reinterpret_cast<const void *>(fail)));
  if (fail == 1)
    return tfc_rt_fail(frame, TFC_OUT_OF_RANGE, "always", nullptr, 0);
  const int64_t position[] = {0};
  if (fail == 3)
    return tfc_rt_fail_check(frame, position, 1, TFC_FAILED_PRECONDITION, "check", nullptr, 0);
  STEP(tfc_rt_commit(frame));
  ++*static_cast<int64_t *>(frame->variables[kSteps]);
  return TFC_OK;
}
static int64_t stepBytes(const int64_t *) { return 64; }
static int32_t stepGpu(tfc_call_frame *frame) {
  const void *fail;
  STEP(tfc_rt_receive(frame, 0, &fail));
  tfc_rt_release(frame, 0);
  void *w = frame->variables[kW];
  const int64_t address = asArgument(w);
  if (asArgument(fail) == 2)
    STEP(tfc_rt_device_launch(frame, kFail, 1, &address, 1));
  if (asArgument(fail) == 4)
    STEP(tfc_rt_device_launch(frame, kFail, int64_t(1) << 40, &address, 1));
  STEP(add(frame, 4, w, w, frame->arena));
  STEP(tfc_rt_commit(frame));
  return tfc_rt_device_copy(frame, w, frame->arena, 16);
}

// grow(n: i64) -> (last: f32): n elements in a chunk that grows, each the sum of w and the one
// before.
static int32_t growHost(tfc_call_frame *frame) {
  const void *value;
  STEP(tfc_rt_send(frame, 0,
                   reinterpret_cast<const void *>(*static_cast<const int64_t *>(frame->feeds[0]))));
  STEP(tfc_rt_receive(frame, 1, &value));
  auto bits = static_cast<uint32_t>(asArgument(value));
  memcpy(frame->fetches[0], &bits, 4);
  return TFC_OK;
}
static int32_t growGpu(tfc_call_frame *frame) {
  const void *count;
  STEP(tfc_rt_receive(frame, 0, &count));
  tfc_chunk &chunk = frame->chunks[0];
  STEP(tfc_rt_grow(frame, 0, 16));
  STEP(tfc_rt_device_fill(frame, chunk.data, -1, 16));
  uint32_t last = 0;
  for (int i = 0; i < 4; ++i)
    STEP(tfc_rt_device_upload(frame, chunk.data + 4 * i, &last, 4));
  for (int64_t i = 1; i <= asArgument(count); ++i) {
    STEP(tfc_rt_grow(frame, 0, 16 * (i + 1)));
    STEP(add(frame, 4, chunk.data + 16 * (i - 1), frame->variables[kW], chunk.data + 16 * i));
  }
  STEP(tfc_rt_device_read(frame, &last, chunk.data + 16 * asArgument(count) + 12, 4));
  return tfc_rt_send(frame, 1, reinterpret_cast<const void *>(uint64_t(last)));
}

// count() -> (steps: i64), on the host alone.
static int32_t runCount(tfc_call_frame *frame) {
  memcpy(frame->fetches[0], frame->variables[kSteps], 8);
  return TFC_OK;
}

//===- The model ----------------------------------------------------------===//

enum Entry { kShift, kStep, kGrow, kCount };

static const tfc_slot_info kThere[] = {{0, 1}}, kThereAndBack[] = {{0, 1}, {1, 0}};
static const tfc_partition_info kInitParts[] = {{initHost, noArena, 0}, {initGpu, noArena, 1}};
static const tfc_partition_info kShiftParts[] = {{shiftHost, noArena, 0},
                                                 {shiftGpu, shiftBytes, 1}};
static const tfc_partition_info kStepParts[] = {{stepHost, noArena, 0}, {stepGpu, stepBytes, 1}};
static const tfc_partition_info kGrowParts[] = {{growHost, noArena, 0}, {growGpu, noArena, 1}};
static const tfc_partitioning kInitDivided = {kInitParts, nullptr, 2, 0, 0};
static const tfc_partitioning kShiftDivided = {kShiftParts, kThereAndBack, 2, 2, 0};
static const tfc_partitioning kStepDivided = {kStepParts, kThere, 2, 1, 1};
static const tfc_partitioning kGrowDivided = {kGrowParts, kThereAndBack, 2, 2, 0};

static const tfc_value_info kVector[] = {{"x", "f32[n]", TFC_F32, 1}};
static const tfc_value_info kNumber[] = {{"number", "i64", TFC_I64, 0}};
static const tfc_value_info kFloat[] = {{"last", "f32", TFC_F32, 0}};
static const tfc_symbol_info kSymbols[] = {{"n", 0, -1, 0, 0, 1, 0}};

static tfc_entry_info makeEntry(const char *name, const tfc_partitioning *partitioning) {
  tfc_entry_info entry = {};
  entry.name = name;
  entry.shapes = noShapes;
  entry.arena_bytes = noArena;
  entry.run = tfc_rt_run_partitions;
  entry.partitioning = partitioning;
  return entry;
}

namespace {
/// A model on cpu:0 and a GPU, gpu:0 unless the test says otherwise.
struct GpuModel {
  GpuModel() {
    entries[kShift].feed_count = entries[kShift].fetch_count = entries[kShift].symbol_count = 1;
    entries[kShift].feeds = entries[kShift].fetches = kVector;
    entries[kShift].symbols = kSymbols;
    entries[kShift].shapes = shiftShapes;
    entries[kStep].feed_count = entries[kStep].writes = 1;
    entries[kStep].feeds = kNumber;
    entries[kGrow].feed_count = entries[kGrow].fetch_count = 1;
    entries[kGrow].feeds = kNumber;
    entries[kGrow].fetches = kFloat;
    entries[kCount].fetch_count = 1;
    entries[kCount].fetches = kNumber;
    entries[kCount].run = runCount;
    init.writes = 1;
    model = {TFC_ABI_VERSION, 2,         4,       1,          "model", "x86-64",
             "+sse2",         variables, entries, &init,      nullptr, 0,
             devices,         2,         &image,  kConstants, 2};
  }
  GpuModel(const GpuModel &) = delete;

  int64_t dims[1] = {4};
  tfc_variable_info variables[2] = {{"w", nullptr, TFC_F32, 1, dims, 16, 1},
                                    {"steps", nullptr, TFC_I64, 0, nullptr, 8, 0}};
  tfc_entry_info entries[4] = {makeEntry("shift", &kShiftDivided), makeEntry("step", &kStepDivided),
                               makeEntry("grow", &kGrowDivided), makeEntry("count", nullptr)};
  tfc_entry_info init = makeEntry("init", &kInitDivided);
  tfc_device_info devices[2] = {{"/job:local/task:0/device:cpu:0", "cpu", 0},
                                {"/job:local/task:0/device:gpu:0", "gpu", 0}};
  tfc_image_info image = {"gpu", kCode, kGrids, 2, nullptr, 0};
  tfc_model model;
};

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

TEST_F(Gpu, RunsTheBinaryOfItsCapability) {
  // Code that subtracts, in the place of code that adds.
  std::string other = kCode;
  size_t found = other.find("add.rn.f32");
  ASSERT_NE(found, std::string::npos);
  other.replace(found, 3, "sub");
  const tfc_binary_info binaries[] = {{"", 90}, {other.c_str(), 80}};
  gpu.image.binaries = binaries;
  gpu.image.binary_count = 2;
  Instance instance(gpu.model);
  std::vector<float> y;
  EXPECT_EQ(shift(instance, {1}, y), TFC_OK) << instance.message();
  EXPECT_EQ(y, std::vector<float>{0.5f});
}

TEST_F(Gpu, CompilesPtxIfTheDriverDoesNotTakeABinary) {
  const tfc_binary_info binaries[] = {{"\177ELF", 80}};
  gpu.image.binaries = binaries;
  gpu.image.binary_count = 1;
  Instance instance(gpu.model);
  std::vector<float> y;
  EXPECT_EQ(shift(instance, {1}, y), TFC_OK) << instance.message();
  EXPECT_EQ(y, std::vector<float>{1.5f});
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
  gpu.devices[1] = {"/job:local/task:0/device:gpu:1", "gpu", 1};
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
