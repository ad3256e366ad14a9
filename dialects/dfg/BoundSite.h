//===- BoundSite.h - Where the bound of a size is declared ----------------===//

#pragma once

#include "dialects/dfg/Dfg.h"

namespace tfc::dfg {

/// Returns the line of the first feed whose type has the name, which declares its bound, as
/// `siteOf` does; that of the entry if the feed has none.
std::string siteOfBound(EntryOp entry, llvm::StringRef name);

} // namespace tfc::dfg
