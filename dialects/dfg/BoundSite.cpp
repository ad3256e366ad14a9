//===- BoundSite.cpp - Where the bound of a size is declared --------------===//
//
// Finds the line that messages about a bound name. Apart from DataChecks.cpp, which knows locations
// but no entries; libraries and the oracle report bounds with the same line.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/BoundSite.h"

using namespace mlir;

namespace tfc::dfg {

BoundSites::BoundSites(EntryOp entry) : siteOfEntry(siteOf(entry.getLoc())) {
  for (BlockArgument feed : entry.getBody().getArguments()) {
    std::string site = siteOf(feed.getLoc());
    if (site.empty())
      continue;
    for (const DimExpr &size : shapeOf(feed.getType()))
      size.forEachSymbol([&](StringRef name) { sites.try_emplace(name, site); });
  }
}

std::string BoundSites::of(StringRef name) const {
  auto it = sites.find(name);
  return it == sites.end() ? siteOfEntry : it->second;
}

} // namespace tfc::dfg
