// Machine code of earlier compilations, in a folder that several compilers may share.
#pragma once

#include "compiler/emission/Emission.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

namespace tfc::emission {

/// Finds objects by what they were made from: LLVM IR before optimisation, the target, the level of
/// optimisation and the compiler. Objects that have not been read for a week are removed, as by
/// `llvm::pruneCache`.
class ObjectCache {
public:
  /// Creates the folder if there is none.
  static llvm::Expected<ObjectCache> open(const EmissionOptions &options);

  /// Identifies the object that `unit` becomes.
  std::string keyOf(const llvm::Module &unit) const;
  /// Returns the object, or null if there is none or the file is damaged.
  std::unique_ptr<llvm::MemoryBuffer> find(llvm::StringRef key) const;
  /// Adds an object. A folder that cannot be written is no error: the next compilation compiles
  /// again.
  void add(llvm::StringRef key, llvm::StringRef object) const;
  /// Removes objects that have not been used for long.
  void prune() const;

private:
  ObjectCache(std::string folder, std::string origin)
      : folder(std::move(folder)), origin(std::move(origin)) {}
  std::string pathOf(llvm::StringRef key) const;

  std::string folder;
  /// The compiler and its options.
  std::string origin;
};

} // namespace tfc::emission
