// Output files that appear whole or not at all, and checks of what they may overwrite.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace tfc::emission {

/// Returns true if `path` is neither a regular file nor a directory, such as /dev/null or a FIFO.
bool isSpecialFile(llvm::StringRef path);

/// A file that has a temporary name in the folder of its target until `keep`, and is removed
/// without it. Symbolic links are followed, and an existing target keeps its permissions, and its
/// owner if the process may set it. A special file is not replaced: the bytes are written to it.
class PendingFile {
public:
  static llvm::Expected<PendingFile> create(llvm::StringRef path);
  PendingFile(PendingFile &&other);
  PendingFile(const PendingFile &) = delete;
  ~PendingFile();
  const std::string &temporary() const { return name; }
  llvm::Error write(llvm::StringRef text);
  /// The same for content that is written piece by piece.
  llvm::Error write(llvm::function_ref<void(llvm::raw_ostream &)> content);
  llvm::Error keep();

private:
  PendingFile(std::string path, std::string target, std::string name)
      : path(std::move(path)), target(std::move(target)), name(std::move(name)) {}
  std::string path, target, name;
};

/// Closes a file, and returns the error of what was written to it.
llvm::Error close(llvm::raw_fd_ostream &os, llvm::StringRef path);

/// Creates, writes and keeps a file.
llvm::Error writeFile(llvm::StringRef path, llvm::function_ref<void(llvm::raw_ostream &)> content);

/// The same for text; with "-" prints to standard output.
llvm::Error writeOutput(llvm::StringRef path, llvm::StringRef text);

/// A file that a command is about to write.
struct Output {
  std::string path;
  /// The beginning of a file that tfc wrote here: other files are not overwritten. Empty if the
  /// user named the file, which may then have any contents.
  std::string mark;
};

/// Fails, naming both files, if an output is also an input, under whatever name or link, if two
/// outputs are the same file, or if an output would replace a file without its mark.
llvm::Error checkOutputs(llvm::ArrayRef<Output> outputs, llvm::ArrayRef<std::string> inputs);

} // namespace tfc::emission
