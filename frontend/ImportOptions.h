// The options with which a caller controls how a graph file is read.
#pragma once

#include "dialects/dfg/ExpansionLimit.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tfc {

/// Limits of the expansion of a graph, so that a mistake ends with an error before it uses up the
/// memory.
struct ExpansionLimits {
  /// Evaluated expressions and statements, including the cost of large values.
  uint64_t steps = 20'000'000;
  /// Created operations.
  uint64_t operations = dfg::kMaxOperations;
};

/// The options of an import.
struct ImportOptions {
  ExpansionLimits limits;
  /// Folders below which `use` and `load` find files, besides that of the main graph.
  std::vector<std::string> allowedPaths;

  // Of formats whose files name their inputs and sizes.
  /// The largest values of named sizes.
  std::vector<std::pair<std::string, int64_t>> bounds;
  /// The sizes of inputs, as text.
  std::vector<std::pair<std::string, std::vector<std::string>>> shapes;
  /// Inputs that become constants, with the `.npy` files of their values.
  std::vector<std::pair<std::string, std::string>> fixed;
  /// The tags of the graph to read, of a SavedModel.
  std::vector<std::string> tags;
  /// Weights become variables.
  bool isTrainable = false;
};

} // namespace tfc
