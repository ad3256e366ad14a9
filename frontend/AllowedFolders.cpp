// Decides which files a graph may read, after links and '..' are resolved.
#include "frontend/AllowedFolders.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace tfc {

/// No system opens longer paths.
static constexpr size_t kMaxPath = 4096;

/// The path without links; for a file that does not exist, as far as its folders do.
static std::string realPath(StringRef path) {
  SmallString<256> real;
  if (!sys::fs::real_path(path, real))
    return real.str().str();
  SmallString<256> absolute(path);
  sys::fs::make_absolute(absolute);
  StringRef folder = sys::path::parent_path(absolute);
  if (folder.empty() || folder == absolute)
    return absolute.str().str();
  // After a folder that does not exist, nothing can be resolved, not even '..'.
  SmallString<256> result(realPath(folder));
  sys::path::append(result, sys::path::filename(absolute));
  return result.str().str();
}

/// Returns true if a path is below a folder; both are real.
static bool isBelow(StringRef path, StringRef folder) {
  folder = folder.rtrim('/');
  return path.starts_with(folder) && path.drop_front(folder.size()).starts_with("/");
}

void allowFolderOf(StringRef graph, std::vector<std::string> &folders) {
  StringRef folder = sys::path::parent_path(graph);
  folders.push_back(folder.empty() ? "." : folder.str());
  for (std::string &path : folders)
    path = realPath(path);
}

std::optional<std::string> findAllowedFile(StringRef path, StringRef from,
                                           ArrayRef<std::string> folders) {
  // Links are resolved folder by folder.
  if (path.size() > kMaxPath)
    return std::nullopt;
  SmallString<128> full(path);
  if (!sys::path::is_absolute(full)) {
    full = sys::path::parent_path(from);
    sys::path::append(full, path);
  }
  sys::path::remove_dots(full, /*remove_dot_dot=*/true);
  std::string real = realPath(full);
  if (any_of(folders, [&](StringRef folder) { return isBelow(real, folder); }))
    return full.str().str();
  return std::nullopt;
}

} // namespace tfc
