//===- BoundSite.cpp - Where the bound of a size is declared --------------===//
//
// Finds the line that messages about a bound name. Apart from DataChecks.cpp, which knows locations
// but no entries; libraries and the oracle report bounds with the same line.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/BoundSite.h"

using namespace mlir;

namespace tfc::dfg {

static bool hasName(Type type, StringRef name) {
  SmallVector<std::string> names;
  for (const DimExpr &size : shapeOf(type))
    size.collectSymbols(names);
  return llvm::is_contained(names, name);
}

std::string siteOfBound(EntryOp entry, StringRef name) {
  for (BlockArgument feed : entry.getBody().getArguments())
    if (hasName(feed.getType(), name))
      if (std::string site = siteOf(feed.getLoc()); !site.empty())
        return site;
  return siteOf(entry.getLoc());
}

} // namespace tfc::dfg
