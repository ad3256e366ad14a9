// Locations and limits of a file that is being read.
#include "frontend/flatbuffer/FileContext.h"

#include "dialects/dfg/Devices.h"
#include "frontend/flatbuffer/Wire.h"

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

SmallVector<NamedAttribute> FileContext::placement(
    const flatbuffers::String *device,
    const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>> *colocate,
    Location location) {
  std::string reason;
  StringRef name = text(device);
  std::optional<dfg::DeviceName> parsed = dfg::DeviceName::parse(name, reason);
  if (!parsed)
    emitError(location) << "'" << name << "' is not the name of a device: " << reason
                        << " [bad-device]";
  std::vector<std::string> symbols;
  for (const flatbuffers::String *symbol : elementsOf(colocate))
    symbols.push_back(this->name(symbol, location).str());
  return dfg::placementAttrs(context, parsed.value_or(dfg::DeviceName()), symbols);
}

} // namespace tfc::flatbuffer
