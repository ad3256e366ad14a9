//===- AllocationTest.cpp - A steady call allocates nothing ---------------===//
//
// This program's own allocation functions count while `counting` is set.
//
//===----------------------------------------------------------------------===//

#include "ToyModel.h"

#include "runtime/Instance.h"

#include <atomic>
#include <cerrno>

using namespace toy;

static std::atomic<bool> counting;
static std::atomic<int> allocations;

extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

void *malloc(size_t bytes) {
  allocations += counting;
  return __libc_malloc(bytes);
}
void *calloc(size_t count, size_t bytes) {
  allocations += counting;
  return __libc_calloc(count, bytes);
}
void *realloc(void *memory, size_t bytes) {
  allocations += counting;
  return __libc_realloc(memory, bytes);
}
int posix_memalign(void **out, size_t alignment, size_t bytes) {
  allocations += counting;
  *out = __libc_memalign(alignment, bytes);
  return *out ? 0 : ENOMEM;
}
}

static void body(void *context, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    static_cast<int *>(context)[i] += 1;
}

TEST(Allocation, ASteadyCallAllocatesNothing) {
  tfc_options options = {};
  options.size = sizeof(options);
  options.threads = 4;
  Instance instance(kModel, &options);
  static int counts[1000];
  custom = [](tfc_call_frame *frame) {
    tfc_rt_parallel_for(frame, body, counts, 1000, 10);
    return 0;
  };
  int64_t n = 4, m = 100, index = 99;
  float x[100] = {}, y[16], total;
  int32_t label[4] = {};
  const void *feeds[] = {x, label}, *bad[] = {&index};
  void *fetches[] = {&total, y};
  tfc_tensor tensors[] = {Tensor(TFC_F32, {}, &total)};
  const int64_t dims[] = {100};
  tfc_tensor feed = {TFC_F32, 1, dims, x};
  for (int round = 0; round < 20; ++round) {
    EXPECT_EQ(tfc_instance_call(instance, kStep, &n, feeds, fetches), TFC_OK);
    EXPECT_EQ(tfc_instance_call(instance, kTotal, &m, feeds, fetches), TFC_OK);
    EXPECT_EQ(tfc_instance_call(instance, kPick, nullptr, bad, fetches), TFC_OUT_OF_RANGE);
    EXPECT_EQ(tfc_instance_call(instance, kCustom, nullptr, nullptr, nullptr), TFC_OK);
    EXPECT_EQ(tfc_instance_call_by_name(instance, "total", &feed, 1, tensors, 1), TFC_OK);
    // The first round started the threads and grew the arena.
    counting = true;
  }
  counting = false;
  EXPECT_EQ(allocations, 0);
  EXPECT_EQ(counts[999], 20);
}

static int64_t noArena(const int64_t *) { return 0; }

static constexpr tfc_partition_info kPingPong[] = {
    {[](tfc_call_frame *frame) -> int32_t {
       const void *value;
       return tfc_rt_send(frame, 0, frame, 0) || tfc_rt_receive(frame, 1, &value);
     },
     noArena, 0},
    {[](tfc_call_frame *frame) -> int32_t {
       const void *value;
       return tfc_rt_receive(frame, 0, &value) || tfc_rt_send(frame, 1, frame, 0);
     },
     noArena, 0},
    {[](tfc_call_frame *frame) -> int32_t {
       return tfc_rt_fail(frame, TFC_OUT_OF_RANGE, "always", nullptr, 0);
     },
     noArena, 0}};
static constexpr tfc_slot_info kSlots[] = {{0, 1}, {1, 0}};

TEST(Allocation, ASteadyCallOnSeveralDevicesAllocatesNothing) {
  Instance instance;
  static const tfc_partitioning *partitioning;
  custom = [](tfc_call_frame *frame) { return tfc::runtime::runPartitions(*frame, *partitioning); };
  static constexpr tfc_partitioning kTwo = {kPingPong, kSlots, 2, 2, 0};
  static constexpr tfc_partitioning kThree = {kPingPong, kSlots, 3, 2, 0};
  allocations = 0;
  for (int round = 0; round < 20; ++round) {
    partitioning = &kTwo;
    EXPECT_EQ(tfc_instance_call(instance, kCustom, nullptr, nullptr, nullptr), TFC_OK);
    partitioning = &kThree;
    EXPECT_EQ(tfc_instance_call(instance, kCustom, nullptr, nullptr, nullptr), TFC_OUT_OF_RANGE);
    counting = true;
  }
  counting = false;
  EXPECT_EQ(allocations, 0);
}
