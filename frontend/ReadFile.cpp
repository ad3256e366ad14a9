// Opens files such that devices and pipes are refused or read to their end.
#include "frontend/ReadFile.h"
#include "frontend/Fmt.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace tfc {

static std::unique_ptr<MemoryBuffer> failWithErrno(std::string &error) {
  error = std::error_code(errno, std::generic_category()).message();
  return nullptr;
}

static std::unique_ptr<MemoryBuffer> failTooLarge(std::string &error, uint64_t maxBytes) {
  error = fmt::format("the file is larger than {} MiB", maxBytes >> 20);
  return nullptr;
}

static std::unique_ptr<MemoryBuffer> failKind(std::string &error, mode_t mode) {
  error = S_ISDIR(mode) ? "expected a file, but got a folder" : "expected a regular file";
  if (S_ISFIFO(mode))
    error += ", but got a pipe";
  else if (S_ISCHR(mode) || S_ISBLK(mode))
    error += ", but got a device";
  else if (S_ISSOCK(mode))
    error += ", but got a socket";
  return nullptr;
}

std::unique_ptr<MemoryBuffer> readRegularFile(StringRef path, std::string &error, uint64_t maxBytes,
                                              bool isNullTerminated) {
  std::string name = path.str();
  struct stat info;
  // Opening a device may have an effect, so check its kind first.
  if (stat(name.c_str(), &info) != 0)
    return failWithErrno(error);
  if (!S_ISREG(info.st_mode))
    return failKind(error, info.st_mode);
  int file = open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return failWithErrno(error);
  scope_exit close([&] { ::close(file); });
  if (fstat(file, &info) != 0)
    return failWithErrno(error);
  if (!S_ISREG(info.st_mode))
    return failKind(error, info.st_mode);
  if (uint64_t(info.st_size) > maxBytes)
    return failTooLarge(error, maxBytes);
  auto buffer = MemoryBuffer::getOpenFile(file, path, info.st_size, isNullTerminated);
  if (buffer)
    return std::move(*buffer);
  error = buffer.getError().message();
  return nullptr;
}

/// The descriptor denoted by a path such as /dev/fd/3; negative for other paths.
static int descriptorOf(StringRef path) {
  if (path == "-" || path == "/dev/stdin")
    return STDIN_FILENO;
  int number;
  if ((path.consume_front("/dev/fd/") || path.consume_front("/proc/self/fd/")) &&
      !path.getAsInteger(10, number))
    return number;
  return -1;
}

std::unique_ptr<MemoryBuffer> readText(StringRef path, std::string &error, uint64_t maxBytes) {
  int descriptor = descriptorOf(path);
  if (descriptor < 0)
    return readRegularFile(path, error, maxBytes, /*isNullTerminated=*/true);
  std::string text;
  constexpr size_t kChunk = 1 << 16;
  while (true) {
    size_t size = text.size();
    text.resize(size + kChunk);
    ssize_t got = read(descriptor, text.data() + size, kChunk);
    if (got < 0 && errno != EINTR)
      return failWithErrno(error);
    text.resize(size + std::max<ssize_t>(got, 0));
    if (got == 0)
      return MemoryBuffer::getMemBufferCopy(text, path == "-" ? "<stdin>" : path);
    if (text.size() > maxBytes)
      return failTooLarge(error, maxBytes);
  }
}

} // namespace tfc
