//===- SlicesTest.cpp - Checkpoints of programs with other shards ---------===//
//
// Tests that variables are put together from the slices of a checkpoint.
//
//===----------------------------------------------------------------------===//

#include "ToyModel.h"

#include <filesystem>
#include <fstream>
#include <numeric>

using namespace toy;
namespace fs = std::filesystem;

namespace {

struct Spec {
  std::string name;
  std::vector<int64_t> dims;
  tfc_slice_info slice; // `whole` may be null
};

/// A model of variables of f32.
struct Shards {
  explicit Shards(std::vector<Spec> specs) : specs(std::move(specs)) {
    for (const Spec &spec : this->specs)
      infos.push_back({spec.name.c_str(), nullptr, TFC_F32, static_cast<int32_t>(spec.dims.size()),
                       spec.dims.data(), static_cast<uint64_t>(count(spec)) * 4, 0,
                       spec.slice.whole ? &spec.slice : nullptr});
    model.abi_version = TFC_ABI_VERSION;
    model.variable_count = static_cast<int32_t>(infos.size());
    model.name = "shards";
    model.cpu = model.features = "";
    model.variables = infos.data();
  }
  Shards(const Shards &) = delete;

  static int64_t count(const Spec &spec) {
    return std::accumulate(spec.dims.begin(), spec.dims.end(), int64_t(1), std::multiplies<>());
  }
  tfc_tensor tensor(size_t i, std::vector<float> &values) const {
    values.resize(count(specs[i]) + 1); // never null
    return {TFC_F32, infos[i].rank, infos[i].dims, values.data()};
  }

  std::vector<Spec> specs;
  std::vector<tfc_variable_info> infos;
  tfc_model model = {};
};

class Slices : public testing::Test {
protected:
  void SetUp() override {
    const char *name = testing::UnitTest::GetInstance()->current_test_info()->name();
    path = fs::path(testing::TempDir()) / ("tfc-slices-" + std::to_string(getpid()) + "-" + name);
  }
  void TearDown() override { fs::remove(path); }

  /// Saves variables with these values, in the order of their elements.
  void save(const Shards &shards, std::vector<std::vector<float>> values) {
    Instance instance(shards.model);
    for (size_t i = 0; i < values.size(); ++i) {
      tfc_tensor tensor = shards.tensor(i, values[i]);
      ASSERT_EQ(tfc_instance_set(instance, shards.infos[i].name, &tensor), TFC_OK)
          << instance.message();
    }
    ASSERT_EQ(tfc_instance_save(instance, path.c_str()), TFC_OK) << instance.message();
  }

  std::vector<std::vector<float>> load(const Shards &shards) {
    Instance instance(shards.model);
    EXPECT_EQ(tfc_instance_load(instance, path.c_str()), TFC_OK) << instance.message();
    std::vector<std::vector<float>> values(shards.infos.size());
    for (size_t i = 0; i < values.size(); ++i) {
      tfc_tensor tensor = shards.tensor(i, values[i]);
      EXPECT_EQ(tfc_instance_get(instance, shards.infos[i].name, &tensor), TFC_OK);
      values[i].pop_back();
    }
    return values;
  }

  /// The message, without the path.
  std::string refuse(const Shards &shards, tfc_status expected = TFC_FAILED_PRECONDITION) {
    Instance instance(shards.model);
    EXPECT_EQ(tfc_instance_load(instance, path.c_str()), expected);
    return std::string(instance.message()).substr(path.string().size());
  }

  fs::path path;
};

/// Rows first, first + step, ... of a table with `size` rows of two elements.
Spec rows(int k, int64_t count, int64_t first, int64_t step, int64_t size) {
  return {"t." + std::to_string(k), {count, 2}, {"t", 0, first, step, size}};
}

/// The table has 0, 1 in row 0, 2, 3 in row 1, ...
std::vector<float> valuesOf(const Spec &spec) {
  std::vector<float> values;
  for (int64_t i = 0; i < spec.dims[0]; ++i)
    for (int64_t j : {0, 1})
      values.push_back(static_cast<float>(2 * (spec.slice.first + i * spec.slice.step) + j));
  return values;
}

std::vector<std::vector<float>> valuesOf(const Shards &shards) {
  std::vector<std::vector<float>> values;
  for (const Spec &spec : shards.specs)
    values.push_back(valuesOf(spec));
  return values;
}

/// The rows by turns, or in blocks.
Shards turns(int64_t size, int64_t count) {
  std::vector<Spec> specs;
  for (int64_t k = 0; k < count; ++k)
    specs.push_back(rows(k, (size - k + count - 1) / count, k, count, size));
  return Shards(specs);
}
Shards blocks(int64_t size, int64_t count) {
  std::vector<Spec> specs;
  for (int64_t k = 0; k < count; ++k)
    specs.push_back(rows(k, size * (k + 1) / count - size * k / count, size * k / count, 1, size));
  return Shards(specs);
}

} // namespace

TEST_F(Slices, AreDividedAnew) {
  for (int64_t before : {1, 2, 3, 7})
    for (int64_t after : {1, 2, 3, 5, 7, 11}) {
      for (auto *divide : {turns, blocks}) {
        Shards from = divide(11, before);
        save(from, valuesOf(from));
        for (auto *divideAgain : {turns, blocks}) {
          Shards to = divideAgain(11, after);
          EXPECT_EQ(load(to), valuesOf(to)) << before << " to " << after;
        }
      }
    }
}

TEST_F(Slices, OfInnerAxesAreDividedAnew) {
  // Columns of [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]].
  Shards two({{"a", {2, 2}, {"m", 1, 0, 1, 5}}, {"b", {2, 3}, {"m", 1, 2, 1, 5}}});
  save(two, {{0, 1, 5, 6}, {2, 3, 4, 7, 8, 9}});
  Shards odd({{"a", {2, 2}, {"m", 1, 1, 2, 5}}, {"c", {2, 0}, {"m", 1, 5, 1, 5}}});
  EXPECT_EQ(load(odd), (std::vector<std::vector<float>>{{1, 3, 6, 8}, {}}));
}

TEST_F(Slices, OfOneTensorAreCopies) {
  auto copies = [](int count) {
    std::vector<Spec> specs;
    for (int k = 0; k < count; ++k) {
      specs.push_back({"n." + std::to_string(k) + ".s", {}, {"n.s", 0, 0, 1, 1}});
      specs.push_back({"n." + std::to_string(k) + ".v", {2}, {"n.v", 0, 0, 1, 2}});
    }
    return Shards(specs);
  };
  save(copies(2), {{1}, {2, 3}, {4}, {5, 6}});
  // Each has its own value as long as there is one.
  EXPECT_EQ(load(copies(2)), (std::vector<std::vector<float>>{{1}, {2, 3}, {4}, {5, 6}}));
  EXPECT_EQ(load(copies(1)), (std::vector<std::vector<float>>{{1}, {2, 3}}));
  EXPECT_EQ(load(copies(3)),
            (std::vector<std::vector<float>>{{1}, {2, 3}, {4}, {5, 6}, {1}, {2, 3}}));
}

TEST_F(Slices, ComeFromATensorOfTheWholesName) {
  Shards whole({{"t", {11, 2}, {}}});
  save(whole, {valuesOf(rows(0, 11, 0, 1, 11))});
  Shards two = turns(11, 2);
  EXPECT_EQ(load(two), valuesOf(two));
}

TEST_F(Slices, WithoutNotesInTheFileAreVariables) {
  Shards plain({{"t.0", {6, 2}, {}}, {"t.1", {5, 2}, {}}});
  Shards two = turns(11, 2);
  save(plain, valuesOf(two));
  EXPECT_EQ(load(two), valuesOf(two));
  save(two, valuesOf(two));
  EXPECT_EQ(load(plain), valuesOf(two));
}

TEST_F(Slices, ThatLackElementsAreRefused) {
  Shards one({rows(0, 6, 0, 2, 11)}), two = turns(11, 3);
  save(one, valuesOf(one));
  EXPECT_EQ(refuse(two), ": the variable 't.0' is f32[4, 2], but no slice of 't' with its type has "
                         "element 3 of 11 along axis 0; nothing was loaded");
  EXPECT_EQ(refuse(Shards({{"u", {4, 2}, {"u", 0, 0, 1, 4}}})),
            ": no tensor 'u' for the variable f32[4, 2]; nothing was loaded; it holds 't.0' f32[6, "
            "2], which matches no variable");
  // Of another size, or with other rows.
  EXPECT_EQ(refuse(turns(12, 2)), ": the variable 't.0' is f32[6, 2], but no slice of 't' with its "
                                  "type has element 0 of 12 along axis 0; nothing was loaded");
  EXPECT_EQ(refuse(Shards({{"t.1", {6, 3}, {"t", 0, 0, 2, 11}}})),
            ": the variable 't.1' is f32[6, 3], but no slice of 't' with its type has element 0 of "
            "11 along axis 0; nothing was loaded");
}

TEST_F(Slices, WhoseNotesAreDamagedAreRefused) {
  Shards two = turns(11, 2);
  save(two, valuesOf(two));
  std::ifstream in(path, std::ios::binary);
  std::string all{std::istreambuf_iterator<char>(in), {}};
  std::string note = R"("slice/t.1":"0 1 2 11 t")";
  size_t at = all.find(note);
  ASSERT_NE(at, std::string::npos) << all;
  for (const char *other :
       {"0 1 0 11 t", "0 3 2 11 t", "0 1 2 11xt", "-1 1 2 11t", "9 1 2 11 t", "         t"}) {
    std::string damaged = all;
    damaged.replace(at + 13, strlen(other), other);
    std::ofstream(path, std::ios::binary) << damaged;
    std::string message = refuse(turns(11, 3), TFC_DATA_LOSS);
    bool isRefused = message.find("damaged header: ") != std::string::npos;
    EXPECT_TRUE(isRefused) << other << ": " << message;
  }
}

TEST_F(Slices, AreCheckedWhenTheyAreRead) {
  Shards two = turns(11, 2);
  save(two, valuesOf(two));
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(-1, std::ios::end);
  file.put('x');
  file.close();
  std::string message = refuse(turns(11, 3), TFC_DATA_LOSS);
  EXPECT_EQ(message.substr(0, 40), ": tensor 't.1' is damaged: its checksum ");
}
