//===- DeviceName.h - Names of devices ------------------------------------===//
//
// A device is named by the task that owns it, its kind and its number, as in the TensorFlow paper
// (Abadi et al., OSDI 2016, section 3.3). Each part may be left open: such a name is a constraint
// that several devices satisfy.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace tfc::dfg {

struct DeviceName {
  std::string job; // empty if open
  std::optional<int64_t> task;
  std::string kind; // in lower case, empty if open
  std::optional<int64_t> index;

  /// Reads `/job:worker/task:3/device:cpu:1`, parts of it, or short forms: `cpu:1`, `/gpu:0`,
  /// `/job:ps/cpu`. A `*` leaves a part open; `replica:0` is read and dropped, for there are no
  /// other replicas. Returns std::nullopt, and says in `reason` what was expected, for other text.
  static std::optional<DeviceName> parse(llvm::StringRef text, std::string &reason);

  /// The name with all parts in order; empty if all are open.
  std::string str() const;

  bool isOpen() const { return job.empty() && !task && kind.empty() && !index; }
  bool isWhole() const { return !job.empty() && task && !kind.empty() && index; }

  /// Returns the devices that satisfy both names; std::nullopt if no device does.
  static std::optional<DeviceName> both(const DeviceName &a, const DeviceName &b);

  /// Returns this name with its open parts as in `outer`, as inner annotations are completed by
  /// outer ones. Another kind does not take over the number, nor another job that of the task.
  DeviceName within(const DeviceName &outer) const;

  bool operator==(const DeviceName &other) const = default;
};

} // namespace tfc::dfg
