//===- OutputFile.h - Replacing a file atomically -------------------------===//

#pragma once

#include <fcntl.h>
#include <limits.h>
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

/// A file that is written under a temporary name in the directory of its target, and then replaces
/// the target. Symbolic links are followed: the file that they lead to is replaced, or created
/// where a link dangles. The target keeps its permission bits, and its owner and group where the
/// process may set them; a new file gets those of `open` with 0666.
///
/// Temporary files are called `<name>.tfc-<pid>-<number>.tmp` and locked by `flock` until they are
/// renamed. The kernel drops the lock when a process dies, so `begin` can remove those of processes
/// that were killed, and leaves those of other threads, processes and containers. (`O_TMPFILE`
/// leaves no file, but a file without a name cannot replace another one: it would need a temporary
/// name for the rename all the same.)
///
/// Functions return false with `errno` set where they fail.
class OutputFile {
public:
  OutputFile() = default;
  ~OutputFile() { discard(); }
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;

  /// Finds the target and creates the temporary file. Refuses a target that exists and is no
  /// regular file, which stays as it is.
  bool begin(const char *path);

  /// Why the last `begin` failed.
  const char *reason() const;

  /// Appends to the file.
  bool write(const void *data, uint64_t bytes);

  /// Makes the content durable and replaces the target by it. The target is as it was if this
  /// fails.
  bool replace();

  /// Makes the name of the target durable, after `replace`.
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
  void removeIfStale(const char *name);
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
