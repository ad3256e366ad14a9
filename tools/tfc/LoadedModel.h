// A shared library written by tfc, whose entries are called by name.
#pragma once

#include "runtime/tfc.h"
#include "tools/tfc/CallableModel.h"
#include "tools/tfc/Profile.h"
#include "llvm/TargetParser/Triple.h"
#include <atomic>
#include <chrono>
#include <map>
#include <memory>

namespace tfc {

/// The path of the runtime that is linked into shared libraries for a target. Its folder is next to
/// the program's, in the build tree and in an installation; runtimes for other architectures than
/// this machine's are in folders of their own in it.
std::string findRuntimeLibrary(const llvm::Triple &triple);

class LoadedModel : public CallableModel {
public:
  /// Loads the library and creates an instance with `threads` threads (0: all processors).
  static llvm::Expected<LoadedModel> load(llvm::StringRef path, int32_t threads);
  LoadedModel(LoadedModel &&other);
  LoadedModel(const LoadedModel &) = delete;
  ~LoadedModel() override;

  llvm::Expected<std::vector<Array>> run(const Entry &entry, std::vector<Array> &feeds) override;

  /// Allocates arrays of the fetches for these feeds, given in the order of the entry, with room
  /// for the upper bounds of data-dependent sizes.
  llvm::Expected<std::vector<Array>> makeFetches(const Entry &entry, std::vector<Array> &feeds);
  /// Runs the entry; writes into `fetches`.
  llvm::Error call(const Entry &entry, std::vector<Array> &feeds, std::vector<Array> &fetches);

  /// Shrinks the fetches of the last `call` to their actual sizes.
  llvm::Error cutToFound(std::vector<Array> &fetches);

  /// Names of the variables, and the value of one.
  std::vector<std::string> getVariables() const;
  llvm::Expected<Array> getVariable(llvm::StringRef name);
  llvm::Error setVariable(const std::string &name, Array value);
  /// Replaces the instance by a new one, whose variables have their initial values.
  llvm::Error restart();

  /// Shapes of all feeds of the entry for these sizes.
  llvm::Expected<std::vector<std::vector<int64_t>>> feedShapes(const Entry &entry,
                                                               llvm::ArrayRef<int64_t> symbols);
  /// How long it took to compile the model; zero for a library.
  std::chrono::duration<double> getCompileTime() const { return compileTime; }
  void setCompileTime(std::chrono::duration<double> time) { compileTime = time; }
  /// The peak memory of the model: the library's code, constants and initial values, and the
  /// runtime's allocations for variables, the arena and itself.
  int64_t peakBytes() const;
  /// The fraction of `samples` in each function, the largest first; "" stands for everything else.
  /// Fails if the library has no symbols.
  llvm::Expected<std::vector<std::pair<llvm::StringRef, double>>>
  shareByFunction(llvm::ArrayRef<uintptr_t> samples) const;

  /// The names of the devices that entries use, such as cpu:1, the caller's first.
  std::vector<std::string> getDevices() const;
  /// The address of a function of the runtime in the library, which must have symbols; null if it
  /// has no such function.
  void *findFunction(llvm::StringRef name) const;

private:
  /// Counts the memory that the runtime allocates.
  struct Memory {
    std::atomic<int64_t> bytes = 0, peak = 0;

    static void *take(void *memory, size_t bytes, size_t alignment);
    static void give(void *memory, void *block, size_t bytes);
  };

  LoadedModel() : memory(std::make_unique<Memory>()) {}
  void describe();
  SizeFacts describeSizeFacts(int32_t entry) const;
  llvm::Error check(tfc_status status) const;

  void *handle = nullptr;
  const tfc_library *library = nullptr;
  tfc_instance *instance = nullptr;
  int32_t threads = 0;
  std::unique_ptr<Memory> memory; // the instance points to it
  FunctionTable functions;
  std::chrono::duration<double> compileTime{0};
};

} // namespace tfc
