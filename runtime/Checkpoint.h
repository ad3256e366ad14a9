//===- Checkpoint.h - Saving and loading all variables --------------------===//

#pragma once

#include "runtime/Instance.h"
#include "runtime/OutputFile.h"

#include <errno.h>

namespace tfc::runtime {

/// Fails with `errno`.
tfc_status failWithErrno(tfc_instance &instance, const char *what, const char *path);

/// Clears the message and checks the path of a checkpoint.
tfc_status checkPath(tfc_instance *instance, const char *path);

/// Begins an operation of all processes, after the check of its path. Returns false if there are no
/// others, or if they need not know that it has failed.
bool beginsTogether(tfc_instance *instance, Tasks::Operation operation, const char *path,
                    tfc_status status);
/// Holds the files of checkpoints in its lifetime, and the state as a call does, in an operation
/// that all processes do. If one of them has begun it alone, they hold these one after the other,
/// so that two operations do not use the same files.
class OperationLock {
public:
  OperationLock(tfc_instance &instance, StateLock::Hold hold);
  ~OperationLock();
  OperationLock(const OperationLock &) = delete;
  OperationLock &operator=(const OperationLock &) = delete;

  /// A status, with the message set, if the turn of this process has not come in time.
  tfc_status status() const { return turn; }

private:
  tfc_status turn;
  SharedLock *files; // or null
  StateLock lock;
};

/// Lets the operation fail in all processes before it has done anything here; the message is set.
tfc_status failTogether(tfc_instance &instance, tfc_status status);

/// Replaces a file by what `write` writes to an OutputFile; it returns false, with `errno`, if it
/// fails.
template <typename F> tfc_status writeFile(tfc_instance &instance, const char *path, F write) {
  OutputFile file;
  if (!file.begin(path))
    return instance.fail(errno == ENOENT ? TFC_NOT_FOUND : TFC_IO_ERROR, "cannot write '%s': %s",
                         path, file.reason());
  if (!write(file) || !file.replace())
    return failWithErrno(instance, "write", path);
  return file.syncDirectory() ? TFC_OK : failWithErrno(instance, "sync the directory of", path);
}

} // namespace tfc::runtime
