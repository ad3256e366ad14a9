#include "frontend/TensorFile.h"
#include "frontend/text/ElaborateImpl.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace tfc::text {

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
  SmallString<128> full(path);
  if (!sys::path::is_absolute(full)) {
    full = sys::path::parent_path(sources.name(call.range.file));
    sys::path::append(full, path);
  }
  if (!StringRef(path).ends_with(".npy") && !StringRef(path).ends_with(".safetensors"))
    return fail(args.front().range, "unknown-file",
                "'load' reads .npy and .safetensors files, not '" + path + "'");
  sources.addInput(full);
  std::string reason;
  mlir::ElementsAttr value = loadTensor(context, full, key, reason);
  if (!value)
    return fail(args.front().range, "unknown-file", "cannot load '" + path + "': " + reason);
  return Entity(Constant{value});
}

} // namespace tfc::text
