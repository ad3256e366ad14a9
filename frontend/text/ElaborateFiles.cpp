#include "frontend/TensorFile.h"
#include "frontend/text/ElaborateImpl.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace tfc::text {

/// The path without links; of a file that is not there, as far as its folders are.
static std::string realPath(StringRef path) {
  SmallString<256> real;
  if (!sys::fs::real_path(path, real))
    return real.str().str();
  SmallString<256> absolute(path);
  sys::fs::make_absolute(absolute);
  StringRef folder = sys::path::parent_path(absolute);
  if (folder.empty() || folder == absolute)
    return absolute.str().str();
  // What follows a folder that is not there leads nowhere, '..' included.
  SmallString<256> result(realPath(folder));
  sys::path::append(result, sys::path::filename(absolute));
  return result.str().str();
}

/// Whether a path is below a folder; both are real.
static bool isBelow(StringRef path, StringRef folder) {
  folder = folder.rtrim('/');
  return path.starts_with(folder) && path.drop_front(folder.size()).starts_with("/");
}

/// Adds the folder of the main graph to those that the options allow, and resolves the links in
/// all.
void Elaborator::allowFolderOf(FileId main) {
  StringRef folder = sys::path::parent_path(sources.name(main));
  options.allowedPaths.push_back(folder.empty() ? "." : folder.str());
  for (std::string &path : options.allowedPaths)
    path = realPath(path);
}

/// The path of a file that `from` names relative to its own folder; nothing, after an error, where
/// it leads outside of the folders that a graph may read.
std::optional<std::string> Elaborator::findFile(StringRef path, FileId from, SourceRange at) {
  SmallString<128> full(path);
  if (!sys::path::is_absolute(full)) {
    full = sys::path::parent_path(sources.name(from));
    sys::path::append(full, path);
  }
  sys::path::remove_dots(full, /*remove_dot_dot=*/true);
  std::string real = realPath(full);
  if (any_of(options.allowedPaths, [&](StringRef folder) { return isBelow(real, folder); }))
    return full.str().str();
  error(at, "outside-folder", "'" + path + "' is outside of the folder of the main graph")
      .help("--allow-path DIR lets graphs read the files below another folder");
  return std::nullopt;
}

/// `load("weights.npy")`, `load("weights.safetensors", key: "w")`: a constant from a file, named
/// relative to the file that says so. A variable's path is its key unless another is given.
Entity Elaborator::callLoad(ArrayRef<Argument> args, const ast::CallExpr &call) {
  std::string path, key = initializing ? initializing->path : "";
  for (const Argument &arg : args) {
    bool isKey = arg.label && arg.label.text == "key";
    if (arg.label && !isKey) {
      Diagnostic &diagnostic = error(arg.label.range, "unknown-argument",
                                     "'load' has no parameter '" + arg.label.text + "'");
      suggestAmong(diagnostic, arg.label.text, {"key"});
      return Poison();
    }
    const std::string *text = arg.value.get<std::string>();
    if (!text)
      return fail(arg.range, "static-type", "expected a string, but got " + arg.value.describe());
    (isKey ? key : path) = *text;
  }
  if (path.empty())
    return fail(call.range, "missing-argument", "'load' needs the name of a file");
  if (!StringRef(path).ends_with(".npy") && !StringRef(path).ends_with(".safetensors"))
    return fail(args.front().range, "unknown-file",
                "'load' reads .npy and .safetensors files, not '" + path + "'");
  std::optional<std::string> full = findFile(path, call.range.file, args.front().range);
  if (!full)
    return Poison();
  sources.addInput(*full);
  std::string reason;
  mlir::ElementsAttr value = tensorFiles.load(context, *full, key, reason);
  if (!value)
    return fail(args.front().range, "unknown-file", "cannot load '" + path + "': " + reason);
  if (!spend(value.getNumElements() / kElementsOfStep, call.range))
    return Poison();
  return Entity(Constant{value});
}

} // namespace tfc::text
