//===- Kernel.h - Runs short kernels for tests ----------------------------===//

#pragma once

#include "test/gpu/emulator/Program.h"

#include <gtest/gtest.h>

namespace tfc::gpu::test {

/// A device with the buffers of a kernel.
struct Device {
  Memory memory;
  Counters counters;
  std::unique_ptr<Program> program;
  std::string error; // of loading or launching
  Launch shape;

  Device();

  /// Loads a module of which `text` follows the header, from line 4 on.
  void load(const std::string &text);
  /// Loads a kernel `k` with the parameters `out` and `in`, and registers %p0-7, %h0-31 (b16),
  /// %r0-63 (b32), %rd0-31 (b64), %f0-31, %fd0-15. %rd0 is `out`, %rd1 `in`, %r0 %tid.x. The first
  /// instruction of `body`, which begins with a line break, is on line 20.
  void loadBody(const std::string &body, const std::string &before = "");
  /// Launches with pointers to `out` and to a copy of `in`. Returns the error.
  template <typename Out, typename In>
  const std::string &run(std::vector<Out> &out, const std::vector<In> &in) {
    uint64_t outAddress = upload(out.data(), out.size() * sizeof(Out), false);
    uint64_t inAddress = upload(in.data(), in.size() * sizeof(In), true);
    launchWith(outAddress, inAddress);
    if (error.empty())
      error = memory.read(outAddress, out.size() * sizeof(Out), out.data(), false);
    return error;
  }
  void launchWith(uint64_t out, uint64_t in);
  /// Returns the address of new memory.
  uint64_t upload(const void *data, size_t bytes, bool isWritten);
};

/// Runs a body, whose threads each store one number, or returns none after an error, which is
/// reported to the test.
template <typename Out, typename In = uint32_t>
std::vector<Out> run(const std::string &body, const std::vector<In> &in = {}, unsigned threads = 1,
                     size_t count = 0) {
  Device device;
  device.loadBody(body);
  device.shape.block.x = threads;
  std::vector<Out> out(count ? count : threads);
  EXPECT_EQ(device.error, "") << body;
  if (device.error.empty()) {
    EXPECT_EQ(device.run(out, in), "") << body;
  }
  return out;
}

/// Bits of the operands of an instruction, one number for each thread.
using Numbers = std::vector<uint64_t>;

/// Runs an instruction for all numbers: d, a, b and c stand for registers whose sizes are given in
/// bits, `resultBits` for d and `bits` for the others. The code may use the registers %p0-7,
/// %r16-31.
Numbers apply(const std::string &code, int resultBits, int bits,
              const std::vector<Numbers> &operands);

/// Runs a body and returns its error.
std::string failureOf(const std::string &body, unsigned threads = 1,
                      const std::string &before = "");
/// Returns the error of loading a body.
std::string refusalOf(const std::string &body);

} // namespace tfc::gpu::test
