#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tfc {

/// How large a graph may become while it is expanded, so that a mistake ends in an error before it
/// takes all memory.
struct ExpansionLimits {
  /// Expressions and statements that are evaluated, with what large values among them cost.
  uint64_t steps = 20'000'000;
  /// Operations that are created.
  uint64_t operations = 500'000;
};

/// What the caller of an import decides.
struct ImportOptions {
  ExpansionLimits limits;
  /// Folders below which `use` and `load` find files, besides that of the main graph.
  std::vector<std::string> allowedPaths;
};

} // namespace tfc
