//===- CallTest.cpp - Calls, typed and by name ----------------------------===//
//
// Tests calls of entries, typed and by name: the checks of arguments, and the sizes that follow
// from feeds.
//
//===----------------------------------------------------------------------===//

#include "ToyModel.h"

using namespace toy;

namespace {
/// The arguments of one call of 'step'.
struct Step {
  explicit Step(int64_t n) : n(n), x(n * 4, 1.0f), y(n * 4), label(n) {}

  tfc_status call(tfc_instance *instance) {
    const void *feeds[] = {x.data(), label.data()};
    void *fetches[] = {&total, y.data()};
    return tfc_instance_call(instance, kStep, &n, feeds, fetches);
  }

  int64_t n;
  std::vector<float> x, y;
  std::vector<int32_t> label;
  float total = -1;
};

/// Calls by name, for tensors that live in one statement.
tfc_status callByName(tfc_instance *instance, const char *entry, std::vector<Tensor> feeds,
                      std::vector<Tensor> fetches) {
  std::vector<tfc_tensor> in(feeds.begin(), feeds.end()), out(fetches.begin(), fetches.end());
  return tfc_instance_call_by_name(instance, entry, in.data(), in.size(), out.data(), out.size());
}
} // namespace

TEST(Call, RunsAnEntry) {
  Instance instance;
  Step step(3);
  ASSERT_EQ(step.call(instance), TFC_OK) << instance.message();
  EXPECT_EQ(step.total, 12);
  EXPECT_EQ(step.y, step.x);
  EXPECT_EQ(read(instance).w[0], 12);
  EXPECT_EQ(read(instance).steps, 1);
}

TEST(Call, ChecksBounds) {
  Instance instance;
  EXPECT_EQ(Step(300).call(instance), TFC_OUT_OF_RANGE);
  EXPECT_EQ(instance.message(), "step: n = 300 exceeds its bound 256");
  EXPECT_EQ(Step(0).call(instance), TFC_OUT_OF_RANGE);
  EXPECT_EQ(instance.message(), "step: n = 0 is below its bound 1");
  EXPECT_EQ(Step(256).call(instance), TFC_OK);
  EXPECT_EQ(instance.message(), "");
  EXPECT_EQ(read(instance).steps, 1);
}

TEST(Call, ChecksTheNumberOfTheEntry) {
  Instance instance;
  EXPECT_EQ(tfc_instance_call(instance, 5, nullptr, nullptr, nullptr), TFC_NOT_FOUND);
  EXPECT_EQ(tfc_instance_call(instance, -1, nullptr, nullptr, nullptr), TFC_NOT_FOUND);
}

TEST(Call, ChecksNulls) {
  Instance instance;
  int64_t n = 2;
  float data[8] = {};
  int32_t label[2] = {};
  const void *feeds[] = {data, nullptr};
  void *fetches[] = {data, data};
  EXPECT_EQ(tfc_instance_call(instance, kStep, &n, feeds, fetches), TFC_INVALID_ARGUMENT);
  EXPECT_EQ(instance.message(), "step: feed 'label' is null");
  feeds[1] = label;
  fetches[1] = nullptr;
  EXPECT_EQ(tfc_instance_call(instance, kStep, &n, feeds, fetches), TFC_INVALID_ARGUMENT);
  EXPECT_EQ(instance.message(), "step: fetch 'y' is null");
  EXPECT_EQ(read(instance).steps, 0);
}

TEST(Call, AcceptsNullForNoElements) {
  Instance instance;
  int64_t m = 0;
  float total = -1;
  const void *feeds[] = {nullptr};
  void *fetches[] = {&total};
  ASSERT_EQ(tfc_instance_call(instance, kTotal, &m, feeds, fetches), TFC_OK);
  EXPECT_EQ(total, 0);
}

TEST(Call, GrowsTheArenaForUnboundedSizes) {
  Instance instance;
  for (int64_t m : {10, 100000, 7}) {
    std::vector<float> x(m, 1);
    float total = 0;
    const void *feeds[] = {x.data()};
    void *fetches[] = {&total};
    ASSERT_EQ(tfc_instance_call(instance, kTotal, &m, feeds, fetches), TFC_OK);
    EXPECT_EQ(total, m);
  }
}

TEST(Call, ReportsFailuresOfTheEntry) {
  Instance instance;
  int64_t index = 6;
  float value = 0;
  const void *feeds[] = {&index};
  void *fetches[] = {&value};
  EXPECT_EQ(tfc_instance_call(instance, kPick, nullptr, feeds, fetches), TFC_OUT_OF_RANGE);
  EXPECT_EQ(instance.message(), "pick: index 6 is out of range [0, 6)");
  index = 5;
  EXPECT_EQ(tfc_instance_call(instance, kPick, nullptr, feeds, fetches), TFC_OK);
  EXPECT_EQ(value, 5);
  EXPECT_EQ(instance.message(), "");
}

TEST(Call, AlignsArenaAndVariables) {
  Instance instance;
  custom = [](tfc_call_frame *frame) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(frame->arena) % 64, 0u);
    for (int32_t i = 0; i < kModel.variable_count; ++i)
      EXPECT_EQ(reinterpret_cast<uintptr_t>(frame->variables[i]) % 64, 0u);
    return 0;
  };
  EXPECT_EQ(tfc_instance_call(instance, kCustom, nullptr, nullptr, nullptr), TFC_OK);
}

TEST(CallByName, SolvesSizesFromTheFeeds) {
  Instance instance;
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8], total;
  int32_t label[2] = {};
  ASSERT_EQ(callByName(instance, "step", {{TFC_F32, {2, 4}, x}, {TFC_I32, {2}, label}},
                       {{TFC_F32, {}, &total}, {TFC_F32, {2, 4}, y}}),
            TFC_OK)
      << instance.message();
  EXPECT_EQ(total, 36);
  EXPECT_EQ(y[7], 8);
}

TEST(CallByName, SolvesScaledSizes) {
  Instance instance;
  float x[9];
  int64_t k = -1;
  ASSERT_EQ(callByName(instance, "odd", {{TFC_F32, {9}, x}}, {{TFC_I64, {}, &k}}), TFC_OK);
  EXPECT_EQ(k, 4);
  EXPECT_EQ(callByName(instance, "odd", {{TFC_F32, {8}, x}}, {{TFC_I64, {}, &k}}),
            TFC_INVALID_ARGUMENT);
  EXPECT_EQ(instance.message(), "odd: feed 'x' has shape [8], but expected f32[2 * k + 1]");
}

TEST(CallByName, NamesWhatDoesNotFit) {
  Instance instance;
  float x[16] = {}, total;
  int32_t label[4] = {};
  std::vector<Tensor> fetches = {{TFC_F32, {}, &total}, {TFC_F32, {3, 4}, x}};
  auto call = [&](std::vector<Tensor> feeds) {
    EXPECT_EQ(callByName(instance, "step", feeds, fetches), TFC_INVALID_ARGUMENT);
    EXPECT_EQ(read(instance).steps, 0);
    callByName(instance, "step", feeds, fetches);
    return instance.message();
  };
  EXPECT_EQ(call({{TFC_F32, {3, 5}, x}, {TFC_I32, {3}, label}}),
            "step: feed 'x' has shape [3, 5], but expected f32[n, 4]");
  EXPECT_EQ(call({{TFC_F32, {3, 4}, x}, {TFC_I32, {4}, label}}),
            "step: feed 'label' has shape [4], but expected i32[n] with n = 3");
  EXPECT_EQ(call({{TFC_F32, {12}, x}, {TFC_I32, {3}, label}}),
            "step: feed 'x' has shape [12], but expected f32[n, 4]");
  EXPECT_EQ(call({{TFC_F64, {3, 4}, x}, {TFC_I32, {3}, label}}),
            "step: feed 'x' has dtype f64, but expected f32[n, 4]");
  EXPECT_EQ(call({{TFC_F32, {3, 4}, nullptr}, {TFC_I32, {3}, label}}), "step: feed 'x' is null");
  EXPECT_EQ(call({{TFC_F32, {3, 4}, x}}), "step: got 1 feeds, but expected 2");
  fetches[1] = Tensor(TFC_F32, {4, 4}, x);
  EXPECT_EQ(call({{TFC_F32, {3, 4}, x}, {TFC_I32, {3}, label}}),
            "step: fetch 'y' has shape [4, 4], but expected f32[n, 4] with n = 3");
}

TEST(CallByName, ChecksBounds) {
  Instance instance;
  std::vector<float> x(300 * 4);
  std::vector<int32_t> label(300);
  EXPECT_EQ(callByName(instance, "step",
                       {{TFC_F32, {300, 4}, x.data()}, {TFC_I32, {300}, label.data()}}, {}),
            TFC_OUT_OF_RANGE);
  EXPECT_EQ(instance.message(), "step: n = 300 exceeds its bound 256");
  EXPECT_EQ(callByName(instance, "total", {{TFC_F32, {-1}, x.data()}}, {}), TFC_INVALID_ARGUMENT);
  EXPECT_EQ(instance.message(), "total: feed 'x' has shape [-1], but expected f32[m]");
}

TEST(CallByName, ReadsNoSizesOfAnImpossibleRank) {
  Instance instance;
  float x = 0;
  int64_t one = 1;
  for (int32_t rank : {1 << 30, INT32_MAX, 65, -1, INT32_MIN}) {
    tfc_tensor feed = {TFC_F32, rank, &one, &x};
    EXPECT_EQ(tfc_instance_call_by_name(instance, "total", &feed, 1, nullptr, 0),
              TFC_INVALID_ARGUMENT);
    EXPECT_EQ(instance.message(),
              "total: feed 'x' has shape [rank " + std::to_string(rank) + "], but expected f32[m]");
    EXPECT_EQ(tfc_instance_set(instance, "w", &feed), TFC_INVALID_ARGUMENT);
    EXPECT_EQ(instance.message(),
              "variable 'w' is f32[2, 3], but got f32[rank " + std::to_string(rank) + "]");
    EXPECT_EQ(tfc_instance_get(instance, "w", &feed), TFC_INVALID_ARGUMENT);
  }
}

TEST(CallByName, ListsTheEntriesWhenNoneFits) {
  Instance instance;
  EXPECT_EQ(callByName(instance, "stop", {}, {}), TFC_NOT_FOUND);
  EXPECT_EQ(instance.message(), "toy has no entry 'stop'; it has 'step', 'total', 'pick', 'odd', "
                                "'custom'");
  EXPECT_EQ(callByName(instance, nullptr, {}, {}), TFC_NOT_FOUND);
}

TEST(CallByName, InfersTheFetches) {
  Instance instance;
  Tensor x(TFC_F32, {3, 4}, nullptr), label(TFC_I32, {3}, nullptr);
  tfc_tensor feeds[] = {x, label}, fetches[2] = {};
  ASSERT_EQ(tfc_instance_infer(instance, "step", feeds, 2, fetches, 2), TFC_OK);
  EXPECT_EQ(fetches[1].dtype, TFC_F32);
  ASSERT_EQ(fetches[1].rank, 2);
  EXPECT_EQ(fetches[1].dims[0], 3);
  EXPECT_EQ(fetches[1].dims[1], 4);
}
