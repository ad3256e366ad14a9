// Turns objects into files: the linker and archives.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/TargetParser/Triple.h"
#include <string>
#include <vector>

namespace tfc::emission {

/// A folder for intermediate files, removed at the end.
class WorkFolder {
public:
  static llvm::Expected<WorkFolder> create();
  WorkFolder(WorkFolder &&other) : path(std::move(other.path)) { other.path.clear(); }
  WorkFolder(const WorkFolder &) = delete;
  ~WorkFolder();
  std::string file(const llvm::Twine &name) const;

private:
  explicit WorkFolder(std::string path) : path(std::move(path)) {}
  std::string path;
};

struct LinkJob {
  llvm::Triple triple;
  std::vector<std::string> objects;
  std::string runtimeLibrary;
  std::string sysroot; // of the target's C library; empty: where its packages install it
  std::string weights; // an object whose sections follow those of others, or none
  std::string output;
  std::string soname;
  std::string prefix; // of the functions that the library exports
  bool keepSymbols;   // of functions that it does not export
};

/// Links a shared library that depends only on the C library and libm.
llvm::Error linkLibrary(const LinkJob &job, const WorkFolder &folder);

/// Combines objects into one.
llvm::Error linkObject(const llvm::Triple &triple, llvm::ArrayRef<std::string> objects,
                       llvm::StringRef output, const WorkFolder &folder);

llvm::Error writeArchive(llvm::ArrayRef<std::string> objects, llvm::StringRef output);

} // namespace tfc::emission
