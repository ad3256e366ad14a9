//===- Program.h - A module that can be executed --------------------------===//

#pragma once

#include "test/gpu/emulator/Memory.h"
#include "test/gpu/emulator/execute/Instruction.h"
#include <memory>

namespace tfc::gpu {

/// A kernel, decoded.
struct Kernel {
  std::string name;
  std::vector<Instruction> instructions;
  std::vector<std::string> names;             // of the registers, which follow the constants
  std::vector<uint64_t> constants;            // by row, from kSpecialRows on
  std::vector<std::vector<uint32_t>> targets; // of indexed branches
  std::vector<uint64_t> parameterOffsets, parameterSizes;
  uint64_t parameterBytes = 0, sharedBytes = 0, localBytes = 0;
  bool hasDynamicShared = false; // it follows the rest of the shared memory
  int64_t maxThreads[3] = {}, requiredThreads[3] = {};

  unsigned rows() const { return kSpecialRows + constants.size() + names.size(); }
};

/// The kernels of a module, with its variables in the memory of a device.
class Program {
public:
  /// Decodes a module and allocates its variables. Returns none, and the first error, if something
  /// in it is not known here, or if there is not enough memory.
  static std::unique_ptr<Program> load(const std::string &text, Memory &memory, ptx::Error &error);
  /// Releases the variables.
  ~Program();

  const Kernel *find(std::string_view name) const;
  /// The address of a variable in global or constant memory, 0 if there is none, and its size.
  uint64_t addressOf(std::string_view name, uint64_t &bytes) const;

private:
  explicit Program(Memory &memory) : memory(memory) {}
  bool allocate(const ptx::Module &module, ptx::Error &error);
  bool initialize(const ptx::Variable &variable, ptx::Error &error);

  struct Global {
    uint64_t address, bytes;
  };
  Memory &memory;
  std::vector<Kernel> kernels;
  std::map<std::string, Global, std::less<>> globals;
};

} // namespace tfc::gpu
