//===- TraceTest.cpp - Times of the steps of calls ------------------------===//
//
// Tests that steps are recorded by device, and that memory for them is never exceeded.
//
//===----------------------------------------------------------------------===//

#include "ToyModel.h"

#include "runtime/Trace.h"

#include <thread>

using namespace tfc::runtime;

extern "C" void tfc_rt_trace_into(TraceBuffer *buffers);

static void record(int32_t device, const char *name) {
  tfc_call_frame frame = {};
  frame.device = device;
  int64_t begin = tfc_rt_trace_begin();
  tfc_rt_trace_end(&frame, begin, TFC_TRACE_KERNEL, -1, name, 30, 20, 10);
}

TEST(Trace, EachDeviceHasItsStepsInOrder) {
  std::vector<TraceEvent> events[2] = {std::vector<TraceEvent>(100), std::vector<TraceEvent>(100)};
  TraceBuffer buffers[] = {{events[0].data(), 100}, {events[1].data(), 100}};
  tfc_rt_trace_into(buffers);
  std::thread other([] {
    for (int i = 0; i < 100; ++i)
      record(1, "there");
  });
  for (int i = 0; i < 50; ++i)
    record(0, "here");
  other.join();
  tfc_rt_trace_into(nullptr);
  EXPECT_EQ(buffers[0].count, 50);
  EXPECT_EQ(buffers[1].count, 100);
  int64_t last = 0;
  for (const TraceEvent &event : events[1]) {
    EXPECT_STREQ(event.name, "there");
    EXPECT_LE(last, event.begin);
    EXPECT_LE(event.begin, event.end);
    EXPECT_EQ(event.flops, 30);
    EXPECT_EQ(event.bytes, 20);
    EXPECT_EQ(event.held, 10);
    last = event.end;
  }
}

TEST(Trace, StepsWithoutMemoryAreOnlyCounted) {
  TraceEvent events[3] = {};
  TraceBuffer buffer = {events, 2};
  tfc_rt_trace_into(&buffer);
  for (int i = 0; i < 5; ++i)
    record(0, "step");
  tfc_rt_trace_into(nullptr);
  EXPECT_EQ(buffer.count, 5);
  EXPECT_STREQ(events[1].name, "step");
  EXPECT_EQ(events[2].name, nullptr);
  record(0, "nobody traces");
  EXPECT_EQ(buffer.count, 5);
}
