//===- ToyModel.h - A model whose entries are written in C++ --------------===//

#pragma once

#include "runtime/Model.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace toy {

/// The entries of the model, in order.
enum Entry : int32_t {
  kStep,  // step(x: f32[n <= 256, 4], label: i32[n]) -> (total: f32, y: f32[n, 4]), n >= 1;
          // adds 1 to 'steps' and total to w[0, 0]
  kTotal, // total(x: f32[m]) -> (total: f32), uses 4 * m bytes of the arena
  kPick,  // pick(index: i64) -> (value: f32), w at a flat index; out of range fails
  kOdd,   // odd(x: f32[2 * k + 1]) -> (k: i64)
  kCustom // custom(), runs `custom`
};

/// The variables, in order.
enum Variable : int32_t { kW, kSteps, kMask, kHalf, kEmpty };

/// Variables: w f32[2, 3], steps i64[], mask bool[5], net.half bf16[3] (once old.half),
/// empty f32[0, 7]. `w` starts as 0, 1, 2, ..., all others at zero, mask[1] is true.
extern const tfc_model kModel;

/// The body of entry `custom`; it may fail.
extern std::function<int32_t(tfc_call_frame *)> custom;

/// Ends an instance with its scope.
struct Instance {
  explicit Instance(const tfc_model &model = kModel, const tfc_options *options = nullptr) {
    EXPECT_EQ(tfc_instance_create(&model, options, &handle), TFC_OK)
        << tfc_instance_message(nullptr);
  }
  ~Instance() { tfc_instance_destroy(handle); }
  Instance(const Instance &) = delete;
  operator tfc_instance *() const { return handle; }

  std::string message() const { return tfc_instance_message(handle); }

  tfc_instance *handle = nullptr;
};

/// A tensor that owns its dims.
struct Tensor {
  Tensor(tfc_dtype dtype, std::vector<int64_t> dims, void *data)
      : dims(std::move(dims)), dtype(dtype), data(data) {}
  operator tfc_tensor() const {
    return {dtype, static_cast<int32_t>(dims.size()), dims.data(), data};
  }
  std::vector<int64_t> dims;
  tfc_dtype dtype;
  void *data;
};

/// The values of all variables, as a program reads them.
struct Values {
  float w[6];
  int64_t steps;
  uint8_t mask[5];
  uint16_t half[3];

  bool operator==(const Values &) const = default;
};

Values read(tfc_instance *instance);
void write(tfc_instance *instance, const Values &values);

/// Values that differ from the initial ones.
Values someValues();

} // namespace toy
