//===- OutputFile.h - Replacing a file atomically -------------------------===//

#pragma once

#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

namespace tfc::runtime {

/// Closes a file descriptor at the end of its scope.
class Descriptor {
public:
  explicit Descriptor(int value = -1) : value(value) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;

  bool isOpen() const { return value >= 0; }
  int get() const { return value; }
  void reset(int other) {
    close();
    value = other;
  }
  bool close();

private:
  int value;
};

/// Returns the length of the target's name with which the name of a temporary file begins; 0 for
/// other files.
size_t temporaryPrefix(const char *file);

/// Removes a temporary file in a directory if the process that wrote it has been killed.
void removeIfStale(int directory, const char *file);

/// A file that is written under a temporary name in the directory of its target, and then replaces
/// the target. Symbolic links are followed: their target is replaced, or created if the link
/// dangles. The target keeps its permission bits, and its owner and group if the process may set
/// them; a new file has those of `open` with 0666.
///
/// Temporary files are called `<name>.tfc-<pid>-<number>.tmp` and locked by `flock` until they are
/// renamed. The kernel drops the lock when a process dies, so `begin` can remove files of killed
/// processes without touching those of other threads, processes and containers. (With `O_TMPFILE`
/// nothing would need removal, but `rename` takes a name, so a file without one would need a
/// temporary name in any case.)
///
/// Functions return false with `errno` set if they fail.
class OutputFile {
public:
  OutputFile() = default;
  ~OutputFile() { discard(); }
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;

  /// Finds the target and creates the temporary file. Refuses, and does not change, a target that
  /// exists and is not a regular file.
  bool begin(const char *path);

  /// Why the last `begin` failed.
  const char *reason() const;

  /// Appends to the file.
  bool write(const void *data, uint64_t bytes);

  /// Syncs the contents and replaces the target. If this fails, the target is unchanged.
  bool replace();

  /// Syncs the directory of the target, after `replace`.
  bool syncDirectory();

private:
  bool findTarget(const char *path);
  bool openDirectory();
  bool inspectTarget();
  bool acceptsType(mode_t mode);
  bool create();
  bool lock();
  bool keepMode();
  void removeStale();
  void discard();

  Descriptor directory, file;
  bool canSync = false;
  bool isNew = true;
  bool isSpecial = false;
  struct stat old = {};              // of the target, unless it is new
  const char *name = "";             // of the target in its directory, a part of `target`
  char target[PATH_MAX];             // its directory, followed by `name`
  char temporary[NAME_MAX + 1] = ""; // in the directory; "" while there is none
};

} // namespace tfc::runtime
