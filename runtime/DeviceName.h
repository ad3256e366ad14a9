//===- DeviceName.h - Names of devices ------------------------------------===//

#pragma once

#include <stdint.h>
#include <string_view>

namespace tfc::runtime {

/// The parts of a name such as "/job:worker/task:3/device:cpu:1", of which "cpu:1" is the short
/// form for the only process, "/job:local/task:0". They refer to the text.
struct DeviceName {
  std::string_view job = "local";
  int32_t task = 0;
  std::string_view kind;
  int32_t index = 0;

  /// Returns false if the text is not the name of a device.
  bool parse(const char *text);

  /// Kinds are the same in upper and lower case.
  bool operator==(const DeviceName &other) const;

private:
  bool parsePart(const char *&at);
};

} // namespace tfc::runtime
