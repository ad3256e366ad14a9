//===- Program.h - A PTX module, ready to be launched ---------------------===//
//
// The interface for a driver: loads the kernels of a module, checked and
// decoded, with its variables in the memory of the device, and launches them.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "test/gpu/emulator/Counters.h"
#include "test/gpu/emulator/Memory.h"
#include "test/gpu/emulator/Races.h"
#include <memory>

namespace tfc::gpu {

struct Parameter {
  uint64_t offset, bytes;
};

/// A kernel, or a function that kernels call.
struct Code {
  std::string name;
  bool isKernel = false;
  uint32_t begin = 0, end = 0; // of its instructions in those of the program
  /// Rows of its registers in the register file of a warp.
  Row firstRow = kFirstRegisterRow;
  std::vector<std::string> registers;
  /// The parameters of a kernel, and the bytes of all of them.
  std::vector<Parameter> parameters;
  uint64_t parameterBytes = 0;
  /// Where its local variables lie in the memory of a thread.
  uint64_t localBegin = 0, localEnd = 0;
  uint64_t staticSharedBytes = 0;
  int64_t maxThreads[3] = {}, requiredThreads[3] = {}; // 0 if there is no limit
};

/// A call copies arguments to the callee's parameters, and its results back.
struct Call {
  struct Copy {
    uint64_t from, to, bytes; // in the memory of a thread
  };
  uint32_t function = 0;
  std::vector<Copy> arguments, results;
};

/// A global or constant variable in the memory of the device.
struct GlobalVariable {
  std::string name;
  uint64_t address = 0, bytes = 0;
};

class Program {
public:
  /// Parses, checks and decodes PTX. Returns null and an error with its line if the text is no PTX
  /// or uses what is not known here. Variables are allocated in `memory`, which must live longer.
  static std::unique_ptr<Program> load(const std::string &text, Memory &memory, std::string &error);
  /// The same for a module that has been parsed.
  static std::unique_ptr<Program> load(ptx::Module module, Memory &memory, std::string &error);
  ~Program();
  Program(const Program &) = delete;

  /// Returns null if there is no such kernel.
  const Code *findKernel(const std::string &name) const;
  const GlobalVariable *findVariable(const std::string &name) const;
  const std::vector<Code> &getFunctions() const { return functions; }

private:
  friend class Loader;
  friend class Block;
  friend class Warp;
  explicit Program(Memory &memory) : memory(memory) {}

  Memory &memory;
  std::vector<Code> functions;
  std::vector<Instruction> instructions; // of all functions
  std::vector<uint32_t> order;           // lanes at the least of these numbers run first
  std::vector<GlobalVariable> variables;
  std::vector<uint64_t> constants;            // rows of cells
  std::vector<std::vector<uint32_t>> targets; // of brx.idx
  std::vector<Call> calls;
  uint32_t rows = 0;        // of a warp
  uint64_t localBytes = 0;  // of a thread
  uint64_t threadBytes = 0; // of a thread, with the parameters of calls
  uint64_t dynamicSharedBegin = 0;
};

struct Dimensions {
  uint32_t x = 1, y = 1, z = 1;

  uint64_t count() const { return uint64_t(x) * y * z; }
};

struct Launch {
  std::string kernel;
  Dimensions grid, block;
  uint32_t dynamicSharedBytes = 0;
  std::vector<uint8_t> parameters; // as the kernel declares them, with its alignment
  /// The launch fails after so many instructions of warps: a loop without an end.
  uint64_t budget = uint64_t(1) << 30;
  /// Chooses the order of warps, and the errors of approximate instructions.
  uint64_t seed = 0;
};

/// Executes a launch to its end. Returns an error, empty if there is none, that names the kernel,
/// the thread and the line: "k, thread 3 of block 0, line 12: ...". The same launch has the same
/// results each time.
std::string launch(const Program &program, const Launch &launch, Memory &memory,
                   Counters &counters);

} // namespace tfc::gpu
