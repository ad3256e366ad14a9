//===- InstanceTest.cpp - Creating, describing, forking -------------------===//
//
// Tests how instances are created, described and forked, also where memory runs out.
//
//===----------------------------------------------------------------------===//

#include "ToyModel.h"

#include "runtime/Cpu.h"

#include <cstdlib>
#include <cstring>

using namespace toy;

static std::string createMessage() { return tfc_instance_message(nullptr); }

TEST(Instance, StartsWithTheInitialValues) {
  Instance instance;
  Values values = read(instance);
  EXPECT_EQ(values.w[5], 5);
  EXPECT_EQ(values.steps, 0);
  EXPECT_EQ(values.mask[1], 1);
}

extern "C" int createFromC(const tfc_model *model);

TEST(Instance, IsUsableFromC) { EXPECT_TRUE(createFromC(&kModel)); }

TEST(Instance, RefusesANullModelOrPlace) {
  tfc_instance *out = nullptr;
  EXPECT_EQ(tfc_instance_create(nullptr, nullptr, &out), TFC_INVALID_ARGUMENT);
  EXPECT_EQ(createMessage(), "the model is null");
  EXPECT_EQ(tfc_instance_create(&kModel, nullptr, nullptr), TFC_INVALID_ARGUMENT);
}

TEST(Instance, RefusesAnotherAbi) {
  tfc_model model = kModel;
  model.abi_version = 77;
  tfc_instance *out = nullptr;
  EXPECT_EQ(tfc_instance_create(&model, nullptr, &out), TFC_ABI_MISMATCH);
  EXPECT_EQ(out, nullptr);
  EXPECT_EQ(createMessage(), "toy has ABI version 77, but this runtime has 1");
}

TEST(Instance, RefusesAProcessorThatLacksAFeature) {
  tfc_model model = kModel;
  model.cpu = "bdver4";
  model.features = "+sse2,-avx,+fma4,+xop";
  tfc_instance *out = nullptr;
  if (tfc::runtime::hasFeature("fma4"))
    GTEST_SKIP() << "this processor has FMA4";
  EXPECT_EQ(tfc_instance_create(&model, nullptr, &out), TFC_UNSUPPORTED_CPU);
  EXPECT_EQ(createMessage(),
            "toy was compiled for bdver4 and needs 'fma4', which this processor lacks");
}

TEST(Instance, TakesFeaturesThatTheTableDoesNotKnowAsPresent) {
  tfc_model model = kModel;
  model.features = "+prefer-256-bit,+x87,";
  Instance instance(model);
}

TEST(Instance, ChecksItsOptions) {
  tfc_instance *out = nullptr;
  tfc_options options = {};
  EXPECT_EQ(tfc_instance_create(&kModel, &options, &out), TFC_ABI_MISMATCH);
  EXPECT_EQ(createMessage(), "tfc_options.size is 0, but expected sizeof(tfc_options)");
  options.size = sizeof(options);
  options.threads = -1;
  EXPECT_EQ(tfc_instance_create(&kModel, &options, &out), TFC_INVALID_ARGUMENT);
  options.threads = 1;
  options.reader_threads = 65;
  EXPECT_EQ(tfc_instance_create(&kModel, &options, &out), TFC_INVALID_ARGUMENT);
  EXPECT_EQ(createMessage(), "tfc_options.reader_threads is 65, but expected 0 to 64");
  options.reader_threads = 0;
  options.release = [](void *, void *memory, size_t) { free(memory); };
  EXPECT_EQ(tfc_instance_create(&kModel, &options, &out), TFC_INVALID_ARGUMENT);
}

static constexpr tfc_device_info kDevices[] = {{"/job:local/task:0/device:cpu:0", "cpu", 0, -1},
                                               {"/job:local/task:0/device:cpu:11", "cpu", 11, -1}};

TEST(Instance, NeedsTheDevicesOfItsModel) {
  tfc_model model = kModel;
  model.devices = kDevices;
  model.device_count = 2;
  tfc_instance *out = nullptr;
  tfc_options options = {};
  options.size = sizeof(options);
  for (const char *there : {"cpu:11", "/device:cpu:11", "/task:0/cpu:11", "/job:localhost/CPU:11",
                            "/job:local/task:0/device:cpu:11"}) {
    const tfc_device_options devices[] = {{"cpu:0", 1, 0}, {there, 1, 0}};
    options.devices = devices;
    options.device_count = 2;
    Instance instance(model, &options);
  }
  for (const char *other : {"cpu:1", "gpu:11", "/job:worker/cpu:11", "/task:1/device:cpu:11"}) {
    const tfc_device_options devices[] = {{other, 1, 0}};
    options.devices = devices;
    options.device_count = 1;
    EXPECT_EQ(tfc_instance_create(&model, &options, &out), TFC_NO_DEVICE);
    EXPECT_EQ(createMessage(),
              "toy needs the device /job:local/task:0/device:cpu:11, which is not there");
  }
  constexpr tfc_device_info kOtherKind[] = {kDevices[0],
                                            {"/job:local/task:0/device:tpu:0", "tpu", 0, -1}};
  model.devices = kOtherKind;
  EXPECT_EQ(tfc_instance_create(&model, nullptr, &out), TFC_NO_DEVICE);
}

TEST(Instance, ChecksTheStreamsOfOptions) {
  tfc_instance *out = nullptr;
  tfc_options options = {};
  options.size = sizeof(options);
  options.gpu_stream_count = 1;
  EXPECT_EQ(tfc_instance_create(&kModel, &options, &out), TFC_INVALID_ARGUMENT);
  EXPECT_EQ(createMessage(),
            "tfc_options.gpu_stream_count is 1, but expected the length of gpu_streams");
  options.gpu_stream_count = -1;
  EXPECT_EQ(tfc_instance_create(&kModel, &options, &out), TFC_INVALID_ARGUMENT);
  // A model without GPUs needs none.
  void *const streams[] = {nullptr};
  options.gpu_streams = streams;
  options.gpu_stream_count = 1;
  ASSERT_EQ(tfc_instance_create(&kModel, &options, &out), TFC_OK);
  tfc_instance_destroy(out);
}

TEST(Instance, ChecksTheOptionsOfDevices) {
  tfc_instance *out = nullptr;
  tfc_options options = {};
  options.size = sizeof(options);
  options.device_count = 1;
  EXPECT_EQ(tfc_instance_create(&kModel, &options, &out), TFC_INVALID_ARGUMENT);
  EXPECT_EQ(createMessage(), "tfc_options.device_count is 1, but expected the length of devices");
  tfc_device_options device = {};
  options.devices = &device;
  EXPECT_EQ(tfc_instance_create(&kModel, &options, &out), TFC_INVALID_ARGUMENT);
  EXPECT_EQ(createMessage(), "the name of device 0 in tfc_options is null");
  device = {"cpu:1", -2, 0};
  EXPECT_EQ(tfc_instance_create(&kModel, &options, &out), TFC_INVALID_ARGUMENT);
  EXPECT_EQ(createMessage(),
            "device 'cpu:1' in tfc_options has -2 threads, but expected 0 or more");
  device = {"cpu:1", 1, 1};
  EXPECT_EQ(tfc_instance_create(&kModel, &options, &out), TFC_INVALID_ARGUMENT);
  EXPECT_EQ(createMessage(), "device 'cpu:1' in tfc_options has 1 as 'reserved', but expected 0");
  for (const char *name :
       {"", "cpu", "cpu:", "cpu:x", "1", "cpu:99999999999", "cpu:1/", "cpu:1 ", "/job:a/task:0",
        "/job:/cpu:0", "cpu:0/cpu:1", "//cpu:1", "/host:cpu:1"}) {
    device = {name, 1, 0};
    EXPECT_EQ(tfc_instance_create(&kModel, &options, &out), TFC_INVALID_ARGUMENT);
    EXPECT_EQ(createMessage(), "device 0 in tfc_options is '" + std::string(name) +
                                   "', but expected a name such as 'cpu:1'");
  }
  const tfc_device_options twice[] = {{"cpu:1", 1, 0}, {"cpu:2", 1, 0}, {"/task:0/cpu:1", 1, 0}};
  options.devices = twice;
  options.device_count = 3;
  EXPECT_EQ(tfc_instance_create(&kModel, &options, &out), TFC_INVALID_ARGUMENT);
  EXPECT_EQ(createMessage(), "device '/task:0/cpu:1' is twice in tfc_options");
}

TEST(Instance, DescribesTheDevicesOfItsModel) {
  tfc_model model = kModel;
  model.devices = kDevices;
  model.device_count = 2;
  tfc_device device;
  EXPECT_EQ(tfc_runtime_api.device(&model, 1, &device), TFC_OK);
  EXPECT_STREQ(device.name, "/job:local/task:0/device:cpu:11");
  EXPECT_STREQ(device.kind, "cpu");
  EXPECT_EQ(device.index, 11);
  EXPECT_EQ(tfc_runtime_api.device(&model, 2, &device), TFC_NOT_FOUND);
  EXPECT_EQ(tfc_runtime_api.device(&kModel, 0, &device), TFC_NOT_FOUND);
}

TEST(Instance, AcceptsOptionsOfANewerProgramUnlessItUsesThem) {
  struct {
    tfc_options options;
    uint64_t later;
  } newer = {};
  newer.options.size = sizeof(newer);
  {
    Instance instance(kModel, &newer.options);
  }
  newer.later = 1;
  tfc_instance *out = nullptr;
  EXPECT_EQ(tfc_instance_create(&kModel, &newer.options, &out), TFC_ABI_MISMATCH);
}

TEST(Instance, ReportsWhyTheInitialValuesFailed) {
  static const auto fail = [](tfc_call_frame *frame) {
    return tfc_rt_fail(frame, TFC_FAILED_PRECONDITION, "no luck", nullptr, 0);
  };
  tfc_entry_info init = *kModel.init;
  init.run = fail;
  tfc_model model = kModel;
  model.init = &init;
  tfc_instance *out = nullptr;
  EXPECT_EQ(tfc_instance_create(&model, nullptr, &out), TFC_FAILED_PRECONDITION);
  EXPECT_EQ(createMessage(), "init: no luck");
}

namespace {
/// Memory that is counted and may run out.
struct CountedMemory {
  int64_t live = 0;
  int64_t allowed = 1 << 30;

  tfc_options options() {
    tfc_options options = {};
    options.size = sizeof(options);
    options.threads = 1;
    options.allocator_context = this;
    options.allocate = [](void *self, size_t bytes, size_t alignment) -> void * {
      auto &memory = *static_cast<CountedMemory *>(self);
      if (--memory.allowed < 0)
        return nullptr;
      memory.live += bytes;
      size_t room = (bytes + alignment - 1) / alignment * alignment;
      return memset(aligned_alloc(alignment, room), 0xa5, room);
    };
    options.release = [](void *self, void *pointer, size_t bytes) {
      static_cast<CountedMemory *>(self)->live -= bytes;
      free(pointer);
    };
    return options;
  }
};
} // namespace

TEST(Instance, TakesAllMemoryFromTheCallersAllocator) {
  CountedMemory memory;
  tfc_options options = memory.options();
  {
    Instance instance(kModel, &options);
    EXPECT_GT(memory.live, 0);
    tfc_instance *other = nullptr;
    EXPECT_EQ(tfc_instance_fork(instance, &other), TFC_OK);
    tfc_instance_destroy(other);
  }
  EXPECT_EQ(memory.live, 0);
}

TEST(Instance, StartsWithZerosWithoutInitialValues) {
  CountedMemory memory;
  tfc_options options = memory.options();
  tfc_model model = kModel;
  model.init = nullptr;
  Instance instance(model, &options);
  Values values = read(instance);
  EXPECT_EQ(values.w[5], 0);
  EXPECT_EQ(values.steps, 0);
  EXPECT_EQ(values.mask[1], 0);
}

TEST(Instance, FailsCleanlyWhereverMemoryRunsOut) {
  for (int64_t allowed = 0; allowed < 100; ++allowed) {
    CountedMemory memory;
    memory.allowed = allowed;
    tfc_options options = memory.options();
    tfc_instance *instance = nullptr;
    tfc_status status = tfc_instance_create(&kModel, &options, &instance);
    tfc_instance *other = nullptr;
    if (status == TFC_OK)
      status = tfc_instance_fork(instance, &other);
    tfc_instance_destroy(other);
    tfc_instance_destroy(instance);
    EXPECT_EQ(memory.live, 0);
    if (status == TFC_OK)
      return;
    EXPECT_EQ(status, TFC_OUT_OF_MEMORY);
  }
  FAIL() << "creating an instance takes absurdly many allocations";
}

TEST(Instance, KeepsItsArenaWhenItCannotGrow) {
  CountedMemory memory;
  tfc_options options = memory.options();
  Instance instance(kModel, &options);
  std::vector<float> x(1000, 1);
  float total = 0;
  int64_t m = 3;
  const void *feeds[] = {x.data()};
  void *fetches[] = {&total};
  ASSERT_EQ(tfc_instance_call(instance, kTotal, &m, feeds, fetches), TFC_OK);
  memory.allowed = 0;
  m = 1000;
  EXPECT_EQ(tfc_instance_call(instance, kTotal, &m, feeds, fetches), TFC_OUT_OF_MEMORY);
  EXPECT_EQ(instance.message(), "total: not enough memory for the 4000 bytes of the arena");
  m = 3;
  EXPECT_EQ(tfc_instance_call(instance, kTotal, &m, feeds, fetches), TFC_OK);
  EXPECT_EQ(total, 3);
}

TEST(Instance, ForksShareTheirVariables) {
  Instance first;
  tfc_instance *second = nullptr;
  ASSERT_EQ(tfc_instance_fork(first, &second), TFC_OK);
  write(second, someValues());
  EXPECT_EQ(read(first), someValues());
  tfc_instance_destroy(second);
  EXPECT_EQ(read(first), someValues());
}

TEST(Instance, InstancesShareNothing) {
  Instance first, second;
  write(second, someValues());
  EXPECT_EQ(read(first).steps, 0);
}

TEST(Instance, GetAndSetNameWhatIsWrong) {
  Instance instance;
  float data[6] = {};
  tfc_tensor tensor = Tensor(TFC_F32, {2, 3}, data);
  EXPECT_EQ(tfc_instance_get(instance, "v", &tensor), TFC_NOT_FOUND);
  EXPECT_EQ(instance.message(), "toy has no variable 'v'");
  Tensor transposed(TFC_F32, {3, 2}, data);
  tensor = transposed;
  EXPECT_EQ(tfc_instance_set(instance, "w", &tensor), TFC_INVALID_ARGUMENT);
  EXPECT_EQ(instance.message(), "variable 'w' is f32[2, 3], but got f32[3, 2]");
  Tensor null(TFC_F32, {2, 3}, nullptr);
  tensor = null;
  EXPECT_EQ(tfc_instance_get(instance, "w", &tensor), TFC_INVALID_ARGUMENT);
  uint8_t mask[5] = {0, 1, 2, 0, 0};
  Tensor bad(TFC_BOOL, {5}, mask);
  tensor = bad;
  EXPECT_EQ(tfc_instance_set(instance, "mask", &tensor), TFC_INVALID_ARGUMENT);
  EXPECT_EQ(instance.message(), "variable 'mask' is bool, but a byte is neither 0 nor 1");
}

TEST(Instance, NullInstancesAreRefused) {
  EXPECT_EQ(tfc_instance_call(nullptr, 0, nullptr, nullptr, nullptr), TFC_INVALID_ARGUMENT);
  EXPECT_EQ(tfc_instance_save(nullptr, "x"), TFC_INVALID_ARGUMENT);
  EXPECT_EQ(tfc_instance_fork(nullptr, nullptr), TFC_INVALID_ARGUMENT);
  tfc_instance_destroy(nullptr);
}

TEST(Describe, ListsEntriesAndVariables) {
  const tfc_api &api = tfc_runtime_api;
  tfc_entry entry;
  ASSERT_EQ(api.entry(&kModel, kStep, &entry), TFC_OK);
  EXPECT_STREQ(entry.name, "step");
  EXPECT_EQ(entry.feed_count, 2);
  EXPECT_EQ(api.entry(&kModel, 5, &entry), TFC_NOT_FOUND);
  tfc_value value;
  ASSERT_EQ(api.fetch(&kModel, kStep, 1, &value), TFC_OK);
  EXPECT_STREQ(value.type, "f32[n, 4]");
  EXPECT_EQ(api.feed(&kModel, kStep, 2, &value), TFC_NOT_FOUND);
  ASSERT_EQ(api.variable(&kModel, kHalf, &value), TFC_OK);
  EXPECT_STREQ(value.name, "net.half");
  EXPECT_EQ(value.dims[0], 3);
  tfc_symbol symbol;
  ASSERT_EQ(api.symbol(&kModel, kStep, 0, &symbol), TFC_OK);
  EXPECT_EQ(symbol.upper, 256);
}

TEST(Describe, WritesShapesForSizes) {
  int64_t n = 3, dims[5];
  ASSERT_EQ(tfc_runtime_api.shapes(&kModel, kStep, &n, dims), TFC_OK);
  EXPECT_EQ(dims[2], 3);
  n = 257;
  EXPECT_EQ(tfc_runtime_api.shapes(&kModel, kStep, &n, dims), TFC_OUT_OF_RANGE);
}

TEST(Describe, NamesEveryStatus) {
  EXPECT_STREQ(tfc_status_name(TFC_OK), "ok");
  EXPECT_STREQ(tfc_status_name(TFC_INTERNAL), "internal");
  EXPECT_STREQ(tfc_status_name(99), "unknown status");
}
