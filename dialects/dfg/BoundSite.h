//===- BoundSite.h - Where the bound of a size is declared ----------------===//

#pragma once

#include "dialects/dfg/Dfg.h"
#include "llvm/ADT/StringMap.h"

namespace tfc::dfg {

/// The lines that declare the bounds of names, as `siteOf` returns them: for each name, the first
/// feed whose type has it, or else the entry.
class BoundSites {
public:
  explicit BoundSites(EntryOp entry);

  std::string of(llvm::StringRef name) const;

private:
  llvm::StringMap<std::string> sites;
  std::string siteOfEntry;
};

} // namespace tfc::dfg
