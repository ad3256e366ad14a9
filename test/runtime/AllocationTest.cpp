//===- AllocationTest.cpp - A steady call allocates nothing ---------------===//
//
// This program's own allocation functions count while `counting` is set. Of several processes, only
// what their instances allocate counts, since the transport of these tests allocates for itself.
//
//===----------------------------------------------------------------------===//

#include "ClusterModel.h"
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

/// Counts allocations of an instance.
static void countIn(std::atomic<int> &count, tfc_options &options) {
  options.allocate = [](void *counter, size_t bytes, size_t alignment) {
    ++*static_cast<std::atomic<int> *>(counter);
    return aligned_alloc(alignment, (bytes + alignment - 1) & -alignment);
  };
  options.release = [](void *, void *memory, size_t) { free(memory); };
  options.allocator_context = &count;
}

/// Runs steps until the memory for messages has grown as much as the most that are kept at a time,
/// which depends on the threads: then a round of steps allocates nothing.
static void expectSteady(const std::atomic<int> &count, const std::function<void()> &step) {
  int before, round = 0;
  do {
    before = count;
    for (int i = 0; i < 20; ++i)
      step();
  } while (count != before && ++round < 20);
  EXPECT_LT(round, 20) << count << " allocations";
}

TEST(Allocation, ASteadyCallOfSeveralProcessesAllocatesNothing) {
  namespace cluster = tfc::runtime::test;
  std::atomic<int> count = 0;
  cluster::Cluster processes(/*timeout=*/0,
                             [&](int32_t, tfc_options &options) { countIn(count, options); });
  std::vector<float> x(1000, 9), y;
  expectSteady(count, [&] {
    EXPECT_EQ(processes.ring({9}, y), cluster::kAllPass);
    EXPECT_EQ(processes.ring(x, y), cluster::kAllPass);
  });
  EXPECT_GT(count, 0);
}

TEST(Allocation, ASteadyCallOfOneProcessAloneAllocatesNothing) {
  namespace cluster = tfc::runtime::test;
  std::atomic<int> count = 0;
  cluster::Cluster processes(/*timeout=*/0, [&](int32_t, tfc_options &options) {
    options.call_mode = TFC_CALL_ALONE;
    countIn(count, options);
  });
  std::vector<float> x(1000, 9);
  expectSteady(count, [&] {
    processes.each([&](int32_t task, tfc_instance *instance) {
      int64_t n = task == 0 ? 1 : 1000;
      const void *feeds[] = {x.data()};
      std::vector<float> own(1000);
      void *fetches[] = {own.data()};
      EXPECT_EQ(tfc_instance_call(instance, cluster::kRing, &n, feeds, fetches), TFC_OK);
    });
  });
}
