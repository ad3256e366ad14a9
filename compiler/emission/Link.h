// From objects to files: linker, archive, and files that appear whole or not at all.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
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

/// Whether something that is no plain file, such as /dev/null, stands at `path`.
bool isSpecialFile(llvm::StringRef path);

/// A file under another name in the folder of its path, until `keep`; removed without it. What is
/// special is not replaced: its bytes are copied to it.
class PendingFile {
public:
  static llvm::Expected<PendingFile> create(llvm::StringRef path);
  PendingFile(PendingFile &&other);
  PendingFile(const PendingFile &) = delete;
  ~PendingFile();
  const std::string &temporary() const { return name; }
  llvm::Error write(llvm::StringRef text);
  llvm::Error keep();

private:
  PendingFile(std::string path, std::string name) : path(std::move(path)), name(std::move(name)) {}
  std::string path, name;
};

struct LinkJob {
  std::vector<std::string> objects;
  std::string runtimeLibrary;
  std::string output;
  std::string soname;
  std::string prefix; // of the functions that the library exports
  bool keepSymbols;   // of functions that it does not export
};

/// Links a shared library that needs the C library, libm and nothing else.
llvm::Error linkLibrary(const LinkJob &job, const WorkFolder &folder);

/// Joins objects into one.
llvm::Error linkObject(llvm::ArrayRef<std::string> objects, llvm::StringRef output,
                       const WorkFolder &folder);

llvm::Error writeArchive(llvm::ArrayRef<std::string> objects, llvm::StringRef output);

} // namespace tfc::emission
