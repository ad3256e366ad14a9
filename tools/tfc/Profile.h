// A sampling profiler for the functions of a loaded library.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tfc {

/// The functions of a shared library, by their addresses in the file.
class FunctionTable {
public:
  /// Reads the symbols; empty if the library has none.
  static FunctionTable read(llvm::StringRef path);

  bool isEmpty() const { return functions.empty(); }
  /// The function that holds the instruction at `offset`; empty if none does.
  llvm::StringRef find(uint64_t offset) const;
  /// The address in the file of the function of that name; std::nullopt if there is none.
  std::optional<uint64_t> addressOf(llvm::StringRef name) const;

private:
  struct Function {
    uint64_t end;
    std::string name;
  };
  std::map<uint64_t, Function> functions; // by start address
};

/// Samples the program counter after each tick of processor time, from construction to `stop`. Only
/// one may exist at a time.
class Sampler {
public:
  Sampler();
  ~Sampler() { stop(); }
  Sampler(const Sampler &) = delete;

  void stop();
  /// The addresses of the instructions; valid after `stop`.
  llvm::ArrayRef<uintptr_t> getSamples() const;

private:
  std::vector<uintptr_t> buffer;
};

} // namespace tfc
