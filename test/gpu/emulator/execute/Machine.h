//===- Machine.h - Runs kernels in tests ----------------------------------===//

#pragma once

#include "test/gpu/emulator/execute/Launch.h"
#include <cstring>

namespace tfc::gpu {

/// A device with one module, whose kernel is `k`.
class Machine {
public:
  static std::string header() { return ".version 7.0\n.target sm_80\n.address_size 64\n"; }

  /// Loads a module of which `text` follows the header, from line 4 on. Returns the error.
  std::string load(const std::string &text) {
    ptx::Error error;
    program = Program::load(header() + text, memory, error);
    return program ? "" : error.str();
  }

  /// Allocates an array and copies it to the device.
  template <typename T> uint64_t copy(const std::vector<T> &values) {
    uint64_t address = memory.allocate(values.size() * sizeof(T));
    memory.write(address, values.size() * sizeof(T), values.data(), false);
    return address;
  }
  /// An array that nobody has written.
  template <typename T> uint64_t allocate(size_t count) {
    return memory.allocate(count * sizeof(T));
  }
  template <typename T> std::vector<T> read(uint64_t address, size_t count) {
    std::vector<T> values(count);
    readError = memory.read(address, count * sizeof(T), values.data(), false);
    return values;
  }

  /// Runs the kernel with parameters of 64 bits. Returns the error.
  std::string run(const std::vector<uint64_t> &parameters, Extent grid, Extent block,
                  uint32_t sharedBytes = 0) {
    std::vector<uint8_t> bytes(parameters.size() * 8);
    if (!bytes.empty())
      memcpy(bytes.data(), parameters.data(), bytes.size());
    counters = {};
    return gpu::run({*program->find("k"), grid, block, sharedBytes, bytes, limit, seed}, memory,
                    counters);
  }

  Memory memory;
  std::unique_ptr<Program> program;
  Counters counters;
  std::string readError;
  uint64_t limit = 1'000'000'000, seed = 0;
};

} // namespace tfc::gpu
