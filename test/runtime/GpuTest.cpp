//===- GpuTest.cpp - Calls on GPUs that fail ------------------------------===//
//
// A model written by hand runs on the emulated driver: its kernels do what those of the compiler
// never do.
//
//===----------------------------------------------------------------------===//

#include "runtime/Instance.h"
#include <gtest/gtest.h>
#include <string>

using namespace tfc::runtime;

static constexpr char kCode[] = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 to, .param .u64 by)
{
  .reg .b64 %rd<5>;
  .reg .b32 %r1;
  .reg .pred %p1;
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 ret;
  ld.param.u64 %rd1, [to];
  cvta.to.global.u64 %rd2, %rd1;
  ld.param.u64 %rd3, [by];
  ld.global.u64 %rd4, [%rd2];
  add.s64 %rd4, %rd4, %rd3;
  st.global.u64 [%rd2], %rd4;
  ret;
}
)";

/// The offset from the variable at which the entry adds 1.
static int64_t offset = 0;

static int32_t runOnHost(tfc_call_frame *) { return TFC_OK; }

static int32_t runOnGpu(tfc_call_frame *frame) {
  const void *one;
  static const int64_t kConstant = 1;
  if (int32_t status = tfc_rt_device_constant(frame, &kConstant, 8, &one))
    return status;
  int64_t read = 0;
  if (int32_t status = tfc_rt_device_read(frame, &read, one, 8))
    return status;
  int64_t arguments[] = {reinterpret_cast<int64_t>(frame->variables[0]) + offset, read};
  return tfc_rt_device_launch(frame, 0, 1, arguments, 2);
}

static int32_t initialise(tfc_call_frame *frame) {
  return tfc_rt_device_fill(frame, frame->variables[0], 0, 8);
}

static int64_t noArena(const int64_t *) { return 0; }
static void noShapes(const int64_t *, int64_t *) {}

static constexpr tfc_variable_info kVariables[] = {{"count", nullptr, TFC_I64, 0, nullptr, 8, 1}};
static constexpr tfc_device_info kDevices[] = {{"/job:local/task:0/device:cpu:0", "cpu", 0},
                                               {"/job:local/task:0/device:gpu:0", "gpu", 0}};
static constexpr tfc_partition_info kParts[] = {{runOnHost, noArena, 0}, {runOnGpu, noArena, 1}},
                                    kInitParts[] = {{runOnHost, noArena, 0},
                                                    {initialise, noArena, 1}};
static constexpr tfc_partitioning kPartitioning = {kParts, nullptr, 2, 0, 0},
                                  kInitPartitioning = {kInitParts, nullptr, 2, 0, 0};

static tfc_entry_info entryOf(const char *name, const tfc_partitioning &partitioning) {
  tfc_entry_info entry = {};
  entry.name = name;
  entry.writes = 1;
  entry.shapes = noShapes;
  entry.arena_bytes = noArena;
  entry.run = tfc_rt_run_partitions;
  entry.partitioning = &partitioning;
  return entry;
}

static const tfc_entry_info kEntry = entryOf("step", kPartitioning),
                            kInit = entryOf("init", kInitPartitioning);
static constexpr tfc_grid_info kGrids[] = {{"add", 32}};

static tfc_model modelWith(const tfc_image_info &image) {
  tfc_model model = {};
  model.abi_version = TFC_ABI_VERSION;
  model.variable_count = 1;
  model.entry_count = 1;
  model.name = "counter";
  model.variables = kVariables;
  model.entries = &kEntry;
  model.init = &kInit;
  model.devices = kDevices;
  model.device_count = 2;
  model.image = &image;
  return model;
}

namespace {

class Gpus : public testing::Test {
protected:
  void SetUp() override {
    setenv("TFC_CUDA_DRIVER", TFC_EMULATED_CUDA, 1);
    offset = 0;
  }

  tfc_status create() { return tfc_instance_create(&model, nullptr, &instance); }
  void TearDown() override { tfc_instance_destroy(instance); }

  tfc_status step() { return tfc_instance_call(instance, 0, nullptr, nullptr, nullptr); }
  std::string message() { return tfc_instance_message(instance); }
  int64_t count() {
    int64_t value = -1;
    tfc_tensor tensor = {TFC_I64, 0, nullptr, &value};
    EXPECT_EQ(tfc_instance_get(instance, "count", &tensor), TFC_OK) << message();
    return value;
  }

  tfc_image_info image = {"gpu", kCode, kGrids, 1};
  tfc_model model = modelWith(image);
  tfc_instance *instance = nullptr;
};

} // namespace

TEST_F(Gpus, KeepVariables) {
  ASSERT_EQ(create(), TFC_OK);
  EXPECT_EQ(count(), 0);
  EXPECT_EQ(step(), TFC_OK) << message();
  EXPECT_EQ(step(), TFC_OK) << message();
  EXPECT_EQ(count(), 2);
  std::string path = testing::TempDir() + "/gpu.safetensors";
  EXPECT_EQ(tfc_instance_save(instance, path.c_str()), TFC_OK) << message();
  int64_t ten = 10;
  tfc_tensor tensor = {TFC_I64, 0, nullptr, &ten};
  EXPECT_EQ(tfc_instance_set(instance, "count", &tensor), TFC_OK) << message();
  EXPECT_EQ(count(), 10);
  EXPECT_EQ(tfc_instance_load(instance, path.c_str()), TFC_OK) << message();
  EXPECT_EQ(count(), 2);
}

TEST_F(Gpus, RunForksOnStreamsOfTheirOwn) {
  ASSERT_EQ(create(), TFC_OK);
  tfc_instance *fork = nullptr;
  ASSERT_EQ(tfc_instance_fork(instance, &fork), TFC_OK);
  EXPECT_EQ(tfc_instance_call(fork, 0, nullptr, nullptr, nullptr), TFC_OK);
  EXPECT_EQ(step(), TFC_OK) << message();
  tfc_instance_destroy(fork);
  EXPECT_EQ(count(), 2);
}

TEST_F(Gpus, SayWhyTheirCodeCannotBeLoaded) {
  image.code = ".version 7.0\n.target sm_80\n.address_size 64\n";
  ASSERT_EQ(create(), TFC_OK);
  EXPECT_EQ(step(), TFC_NO_DEVICE);
  EXPECT_NE(message().find("step: add: the GPU has failed"), std::string::npos) << message();
}

TEST_F(Gpus, SayWhatIsWrongWithTheirCode) {
  image.code = "nonsense";
  ASSERT_EQ(create(), TFC_OK);
  EXPECT_EQ(step(), TFC_NO_DEVICE);
  EXPECT_NE(message().find("step: the code of the model: the GPU has failed"), std::string::npos)
      << message();
}

/// The emulated device stays lost, so that this runs in a process of its own.
TEST_F(Gpus, AreLostAfterAnInvalidAccess) {
  auto fails = [&] {
    if (create() != TFC_OK)
      _exit(1);
    offset = 1 << 20;
    bool isLost = step() == TFC_DEVICE_LOST;
    fprintf(stderr, "%s\n", message().c_str());
    offset = 0;
    isLost &= step() == TFC_DEVICE_LOST;
    fprintf(stderr, "%s\n", message().c_str());
    std::string path = testing::TempDir() + "/lost.safetensors";
    isLost &= tfc_instance_save(instance, path.c_str()) == TFC_DEVICE_LOST;
    _exit(isLost ? 0 : 2);
  };
  EXPECT_EXIT(fails(), testing::ExitedWithCode(0),
              "step: the work on the device: the GPU has failed: .*\n"
              "step: the GPU has failed before, and nothing can run on it any more");
}
