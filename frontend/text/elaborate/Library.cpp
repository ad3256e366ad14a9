// Finds shipped graph files in the program, where the build embeds them.
#include "frontend/text/elaborate/Library.h"

using namespace llvm;

namespace tfc::text {

namespace {
struct LibraryFile {
  StringLiteral name;
  bool isForImporters;
  StringLiteral text;
};
} // namespace

static constexpr LibraryFile kFiles[] = {
#include "frontend/library/Library.inc"
};

std::optional<StringRef> librarySource(StringRef name) {
  for (const LibraryFile &file : kFiles)
    if (file.name == name)
      return file.text;
  return std::nullopt;
}

SmallVector<StringRef> libraryNames() {
  SmallVector<StringRef> names;
  for (const LibraryFile &file : kFiles)
    if (file.name != "prelude" && !file.isForImporters)
      names.push_back(file.name);
  return names;
}

} // namespace tfc::text
