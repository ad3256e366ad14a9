// Locations and limits of a file that is being read.
#include "frontend/flatbuffer/FileContext.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/ConvertUTF.h"

using namespace mlir;
using namespace llvm;

namespace tfc::flatbuffer {

Location FileContext::locate() const {
  return FileLineColLoc::get(StringAttr::get(context, file.path), 0, 0);
}

Location FileContext::locate(const Twine &node) const {
  return NameLoc::get(StringAttr::get(context, node), locate());
}

bool FileContext::spend(uint64_t bytes) {
  if (!isExhausted && bytes <= budget) {
    budget -= bytes;
    return true;
  }
  if (!isExhausted)
    emitError(locate()) << "the file refers to the same strings and numbers too often [too-large]";
  isExhausted = true;
  return false;
}

/// Returns true if the text is UTF-8, without zeros, which would end it elsewhere.
static bool isText(StringRef text) {
  const auto *begin = reinterpret_cast<const UTF8 *>(text.begin());
  return isLegalUTF8String(&begin, reinterpret_cast<const UTF8 *>(text.end())) &&
         !text.contains('\0');
}

StringRef FileContext::text(const flatbuffers::String *string) {
  if (!string || !spend(string->size()))
    return {};
  StringRef text(string->c_str(), string->size());
  if (isText(text))
    return text;
  emitError(locate()) << "expected strings in UTF-8, without zeros [graph-file]";
  return {};
}

StringRef FileContext::name(const flatbuffers::String *string, Location location) {
  StringRef name = text(string);
  if (name.empty() && !isExhausted)
    emitError(location) << "expected a name [graph-file]";
  return name;
}

void FileContext::checkDevice(const flatbuffers::String *device, Location location) {
  if (!text(device).empty())
    emitError(location) << "devices are not supported yet [not-yet]";
}

} // namespace tfc::flatbuffer
