//===- OutputFile.cpp - Replacing a file atomically -----------------------===//
//
// Replaces a file in one step, so that a crash leaves either the old or the new contents. It knows
// links, permissions and temporary files, and nothing about the contents.
//
//===----------------------------------------------------------------------===//

#include "runtime/OutputFile.h"

#include <atomic>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

using namespace tfc::runtime;

/// Bytes of one write: Linux transfers at most 2 GiB.
static constexpr uint64_t kMaxTransfer = uint64_t(1) << 20;

/// Separates the name of the target from the process id in the name of a temporary file.
static constexpr char kMark[] = ".tfc-";
static constexpr char kSuffix[] = ".tmp";

/// The number of characters of a target's name that its temporary files use: long names are
/// truncated to leave room for the rest.
static constexpr size_t kMaxKeptName = NAME_MAX - 48;

static bool failWith(int error) {
  errno = error;
  return false;
}

bool Descriptor::close() {
  int closing = value;
  value = -1;
  return closing < 0 || ::close(closing) == 0;
}

//===----------------------------------------------------------------------===//
// Target
//===----------------------------------------------------------------------===//

/// Follows a link at `path`, a buffer of PATH_MAX bytes, by one step. Returns false with `errno` 0
/// if it is not a link.
static bool followLink(char *path) {
  char link[PATH_MAX];
  ssize_t length = readlink(path, link, sizeof(link));
  if (length < 0) // EINVAL: something else; ENOENT: a new file
    return failWith(errno == EINVAL || errno == ENOENT ? 0 : errno);
  // A link is relative to its own directory.
  const char *slash = strrchr(path, '/');
  size_t kept = link[0] == '/' || !slash ? 0 : slash + 1 - path;
  if (kept + length >= PATH_MAX)
    return failWith(ENAMETOOLONG);
  memcpy(path + kept, link, length);
  path[kept + length] = 0;
  return true;
}

/// Sets `target` to `path` without links in its last component.
bool OutputFile::findTarget(const char *path) {
  size_t length = strlen(path);
  if (length >= sizeof(target))
    return failWith(ENAMETOOLONG);
  memcpy(target, path, length + 1);
  constexpr int kMaxLinks = 40; // as the kernel's
  for (int links = 0; followLink(target); ++links)
    if (links == kMaxLinks)
      return failWith(ELOOP);
  if (errno)
    return false;
  char *slash = strrchr(target, '/');
  name = slash ? slash + 1 : target;
  return *name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 ? true : failWith(EISDIR);
}

bool OutputFile::openDirectory() {
  char last = *name;
  bool hasDirectory = name != target;
  char *end = target + (name - target);
  *end = 0; // for now, `target` is the directory's path
  const char *path = hasDirectory ? target : ".";
  directory.reset(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  canSync = directory.isOpen();
  if (!canSync && errno == EACCES) // a directory that may be searched but not listed
    directory.reset(open(path, O_PATH | O_DIRECTORY | O_CLOEXEC));
  *end = last;
  return directory.isOpen();
}

bool OutputFile::acceptsType(mode_t mode) {
  if (S_ISDIR(mode))
    return failWith(EISDIR);
  isSpecial = !S_ISREG(mode);
  return isSpecial ? failWith(EINVAL) : true;
}

bool OutputFile::inspectTarget() {
  isNew = fstatat(directory.get(), name, &old, AT_SYMLINK_NOFOLLOW) != 0;
  return isNew ? errno == ENOENT : acceptsType(old.st_mode);
}

const char *OutputFile::reason() const {
  return isSpecial ? "it exists and is not a regular file" : strerror(errno);
}

bool OutputFile::begin(const char *path) {
  // Asks the kernel first, which can also follow the links of /proc, whose targets may have no
  // other name.
  struct stat seen;
  bool exists = stat(path, &seen) == 0;
  if (!exists && errno != ENOENT)
    return false;
  if (exists && !acceptsType(seen.st_mode))
    return false;
  if (!findTarget(path) || !openDirectory() || !inspectTarget())
    return false;
  if (exists && isNew && stat(path, &seen) == 0)
    return failWith(ENOENT); // an open file whose name has been removed
  removeStale();
  return create();
}

//===----------------------------------------------------------------------===//
// Temporary files
//===----------------------------------------------------------------------===//

bool OutputFile::create() {
  static std::atomic<uint32_t> counter;
  // A file that replaces another must not be readable by others before it has
  // the old mode.
  mode_t mode = isNew ? 0666 : 0600;
  for (int attempt = 0; attempt < 1000; ++attempt) {
    snprintf(temporary, sizeof(temporary), "%.*s%s%ld-%u%s", static_cast<int>(kMaxKeptName), name,
             kMark, static_cast<long>(getpid()), counter.fetch_add(1), kSuffix);
    file.reset(openat(directory.get(), temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (file.isOpen()) {
      if (lock())
        return true;
    } else if (errno != EEXIST) {
      break;
    }
  }
  temporary[0] = 0;
  return false;
}

/// Locks the new file; returns false if another process has removed it as stale in the meantime.
bool OutputFile::lock() {
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0)
    return errno != EWOULDBLOCK; // a file system without locks: no other process removes it
  struct stat info;
  return fstat(file.get(), &info) == 0 && info.st_nlink > 0;
}

static bool skipDigits(const char *&text) {
  const char *begin = text;
  while (*text >= '0' && *text <= '9')
    ++text;
  return text != begin;
}

size_t tfc::runtime::temporaryPrefix(const char *file) {
  for (const char *mark = strstr(file, kMark); mark; mark = strstr(mark + 1, kMark)) {
    const char *rest = mark + strlen(kMark);
    if (skipDigits(rest) && *rest++ == '-' && skipDigits(rest) && strcmp(rest, kSuffix) == 0)
      return mark - file;
  }
  return 0;
}

/// Returns true if a file has the name of a temporary file of `target`.
static bool isTemporaryOf(const char *file, const char *target) {
  size_t length = strnlen(target, kMaxKeptName);
  return temporaryPrefix(file) == length && strncmp(file, target, length) == 0;
}

void tfc::runtime::removeIfStale(int directory, const char *found) {
  // Some file systems lock files exclusively only if they are open for writing, which the mode may
  // not allow.
  constexpr int kFlags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  Descriptor stale(openat(directory, found, O_WRONLY | kFlags));
  if (!stale.isOpen())
    stale.reset(openat(directory, found, O_RDONLY | kFlags));
  struct stat held, named;
  // Check that the name still refers to the file: its owner may have renamed it before releasing
  // the lock.
  if (stale.isOpen() && flock(stale.get(), LOCK_EX | LOCK_NB) == 0 &&
      fstat(stale.get(), &held) == 0 && S_ISREG(held.st_mode) &&
      fstatat(directory, found, &named, AT_SYMLINK_NOFOLLOW) == 0 && held.st_dev == named.st_dev &&
      held.st_ino == named.st_ino)
    unlinkat(directory, found, 0);
}

void OutputFile::removeStale() {
  if (!canSync)
    return;
  int descriptor = openat(directory.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *entries = descriptor < 0 ? nullptr : fdopendir(descriptor);
  if (!entries) {
    Descriptor(descriptor).close();
    return;
  }
  while (dirent *entry = readdir(entries))
    if (isTemporaryOf(entry->d_name, name))
      removeIfStale(directory.get(), entry->d_name);
  closedir(entries);
}

void OutputFile::discard() {
  if (temporary[0])
    unlinkat(directory.get(), temporary, 0);
  temporary[0] = 0;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

bool OutputFile::write(const void *data, uint64_t bytes) {
  const char *next = static_cast<const char *>(data);
  while (bytes > 0) {
    ssize_t written = ::write(file.get(), next, bytes < kMaxTransfer ? bytes : kMaxTransfer);
    if (written < 0 && errno != EINTR)
      return false;
    if (written > 0) {
      next += written;
      bytes -= written;
    }
  }
  return true;
}

/// Copies mode and owner of the old file. If the process may not set the group, the group gets no
/// rights that it did not have before.
bool OutputFile::keepMode() {
  if (isNew)
    return true;
  struct stat info;
  if (fstat(file.get(), &info) != 0)
    return false;
  mode_t mode = old.st_mode & 0777;
  bool sameOwner = info.st_uid == old.st_uid, sameGroup = info.st_gid == old.st_gid;
  if (!sameOwner || !sameGroup) {
    sameGroup = fchown(file.get(), old.st_uid, old.st_gid) == 0 ||
                fchown(file.get(), uid_t(-1), old.st_gid) == 0 || sameGroup;
    if (!sameGroup)
      mode &= ~mode_t(070) | (mode & 07) << 3;
  }
  return fchmod(file.get(), mode) == 0;
}

bool OutputFile::replace() {
  // Closing the file releases the lock, so keep it open until the temporary name is gone.
  if (!keepMode() || fsync(file.get()) != 0 ||
      renameat(directory.get(), temporary, directory.get(), name) != 0)
    return false;
  temporary[0] = 0;
  file.close(); // `fsync` has reported any error
  return true;
}

bool OutputFile::syncDirectory() {
  // Some file systems cannot sync directories; nothing better is possible there.
  return !canSync || fsync(directory.get()) == 0 || errno == EINVAL;
}
