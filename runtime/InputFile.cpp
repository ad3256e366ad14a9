//===- InputFile.cpp - Reading files --------------------------------------===//
//
// Opens files and reads parts of them, for checkpoints and datasets. It knows nothing about the
// contents.
//
//===----------------------------------------------------------------------===//

#include "runtime/InputFile.h"

#include <errno.h>
#include <unistd.h>

using namespace tfc::runtime;

/// Bytes of one read: Linux transfers at most 2 GiB.
static constexpr uint64_t kMaxTransfer = uint64_t(1) << 30;

bool tfc::runtime::openInput(const char *path, Descriptor &file, int folder) {
  file.reset(openat(folder, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  return file.isOpen();
}

bool tfc::runtime::openFolder(Descriptor &folder) {
  folder.reset(open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return folder.isOpen();
}

bool tfc::runtime::readAt(const Descriptor &file, uint64_t offset, void *data, uint64_t bytes) {
  char *next = static_cast<char *>(data);
  while (bytes > 0) {
    errno = 0;
    ssize_t got = pread(file.get(), next, bytes < kMaxTransfer ? bytes : kMaxTransfer,
                        static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    next += got;
    offset += got;
    bytes -= got;
  }
  return true;
}
