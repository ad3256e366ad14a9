// Replaces output files atomically, and checks that no input or foreign file is overwritten.
#include "compiler/emission/OutputFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

using namespace tfc::emission;
using namespace llvm;

//===----------------------------------------------------------------------===//
// Pending files
//===----------------------------------------------------------------------===//

bool tfc::emission::isSpecialFile(StringRef path) {
  sys::fs::file_status status;
  return !sys::fs::status(path, status) && sys::fs::exists(status) &&
         !sys::fs::is_regular_file(status) && !sys::fs::is_directory(status);
}

/// Follows symbolic links in the last component, even to a file that does not exist yet.
static std::string followLinks(StringRef path) {
  std::string target = path.str();
  constexpr int kMaxLinks = 40; // as the kernel's
  for (int i = 0; i < kMaxLinks; ++i) {
    char link[4096];
    ssize_t length = readlink(target.c_str(), link, sizeof(link));
    if (length < 0 || length == sizeof(link))
      break;
    SmallString<128> next(sys::path::parent_path(target));
    if (link[0] == '/')
      next.clear();
    sys::path::append(next, StringRef(link, length));
    target = next.str().str();
  }
  return target;
}

Expected<PendingFile> PendingFile::create(StringRef path) {
  if (sys::fs::is_directory(path))
    return createFileError(path, std::make_error_code(std::errc::is_a_directory));
  SmallString<128> name;
  int descriptor;
  std::string target = isSpecialFile(path) ? path.str() : followLinks(path);
  std::error_code error = isSpecialFile(path)
                              ? sys::fs::createTemporaryFile("tfc", "", descriptor, name)
                              : sys::fs::createUniqueFile(target + ".%%%%%%", descriptor, name);
  if (StringRef folder = sys::path::parent_path(target);
      error == std::errc::no_such_file_or_directory && !sys::fs::exists(folder))
    return createStringError("cannot write '" + path + "': there is no folder '" + folder + "'");
  if (error)
    return createFileError(path, error);
  sys::fs::file_t file = sys::fs::convertFDToNativeFile(descriptor);
  sys::fs::closeFile(file);
  sys::RemoveFileOnSignal(name);
  return PendingFile(path.str(), target, name.str().str());
}

PendingFile::PendingFile(PendingFile &&other)
    : path(std::move(other.path)), target(std::move(other.target)), name(std::move(other.name)) {
  other.name.clear();
}

PendingFile::~PendingFile() {
  if (name.empty())
    return;
  sys::fs::remove(name);
  sys::DontRemoveFileOnSignal(name);
}

Error tfc::emission::close(raw_fd_ostream &os, StringRef path) {
  os.close();
  std::error_code error = os.error();
  os.clear_error();
  return error ? createFileError(path, error) : Error::success();
}

Error PendingFile::write(StringRef text) {
  return write([&](raw_ostream &os) { os << text; });
}

Error PendingFile::write(function_ref<void(raw_ostream &)> content) {
  std::error_code error;
  raw_fd_ostream os(name, error);
  if (error)
    return createFileError(path, error);
  content(os);
  return close(os, path);
}

static std::error_code lastError() { return {errno, std::generic_category()}; }

/// Sets the mode and owner of `name` to those of the file that it is about to replace, if there is
/// one. If the process may not set the group, the group gets no more rights than others.
static std::error_code keepMode(const std::string &name, const std::string &target) {
  struct stat old, created;
  if (stat(target.c_str(), &old) != 0)
    return {};
  if (stat(name.c_str(), &created) != 0)
    return lastError();
  mode_t mode = old.st_mode & 0777;
  bool isSame = old.st_uid == created.st_uid && old.st_gid == created.st_gid;
  if (!isSame && chown(name.c_str(), old.st_uid, old.st_gid) != 0 &&
      chown(name.c_str(), uid_t(-1), old.st_gid) != 0)
    mode &= ~mode_t(070) | (mode & 07) << 3;
  return chmod(name.c_str(), mode) == 0 ? std::error_code() : lastError();
}

Error PendingFile::keep() {
  if (isSpecialFile(path)) {
    std::error_code error = sys::fs::copy_file(name, path);
    return error ? createFileError(path, error) : Error::success();
  }
  std::error_code error = keepMode(name, target);
  if (!error)
    error = sys::fs::rename(name, target);
  if (error)
    return createFileError(path, error);
  sys::DontRemoveFileOnSignal(name);
  name.clear();
  return Error::success();
}

Error tfc::emission::writeFile(StringRef path, function_ref<void(raw_ostream &)> content) {
  Expected<PendingFile> file = PendingFile::create(path);
  if (!file)
    return file.takeError();
  if (Error error = file->write(content))
    return error;
  return file->keep();
}

Error tfc::emission::writeOutput(StringRef path, StringRef text) {
  if (path == "-") {
    outs() << text;
    outs().flush();
    return Error::success();
  }
  return writeFile(path, [&](raw_ostream &os) { os << text; });
}

//===----------------------------------------------------------------------===//
// Protection against overwriting
//===----------------------------------------------------------------------===//

static std::string folderOf(StringRef path) {
  StringRef folder = sys::path::parent_path(path);
  return folder.empty() ? "." : folder.str();
}

/// Returns true if both paths lead to the same file, which may not exist yet.
static bool isSameFile(StringRef a, StringRef b) {
  sys::fs::UniqueID first, second;
  std::error_code firstError = sys::fs::getUniqueID(a, first);
  std::error_code secondError = sys::fs::getUniqueID(b, second);
  if (!firstError && !secondError)
    return first == second;
  if (!firstError || !secondError)
    return false;
  std::string targets[] = {followLinks(a), followLinks(b)};
  return sys::path::filename(targets[0]) == sys::path::filename(targets[1]) &&
         isSameFile(folderOf(targets[0]), folderOf(targets[1]));
}

/// Returns true if a non-empty file exists that does not begin with `mark`, after an optional
/// length.
static bool isForeign(StringRef path, StringRef mark) {
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return sys::fs::exists(path);
  StringRef content = (*file)->getBuffer();
  return !content.empty() && !content.take_front(mark.size() + sizeof(uint64_t)).contains(mark);
}

Error tfc::emission::checkOutputs(ArrayRef<Output> outputs, ArrayRef<std::string> inputs) {
  for (auto [i, output] : enumerate(outputs)) {
    if (isSpecialFile(output.path) || output.path == "-")
      continue;
    for (const std::string &input : inputs)
      if (isSameFile(output.path, input))
        return createStringError("cannot write '" + output.path + "': it is the input '" + input +
                                 "'");
    for (const Output &other : outputs.take_front(i))
      if (isSameFile(output.path, other.path))
        return createStringError("cannot write '" + output.path + "': it is also the output '" +
                                 other.path + "'");
    if (!output.mark.empty() && isForeign(output.path, output.mark))
      return createStringError("cannot write '" + output.path +
                               "': it exists, and tfc did not write it; remove it, or choose "
                               "another name with -o");
  }
  return Error::success();
}
