// Recorded cases: steps with their feeds and the expected fetches.
#pragma once

#include "frontend/tensorflow/Import.h"
#include "llvm/Support/Error.h"
#include <map>

namespace tfc {

using Files = std::map<std::string, std::string>; // name -> file

struct Step {
  std::string entry; // empty: the only one
  Files feeds, fetches;
  std::vector<std::string> targets; // entries to call for their effects
  std::optional<double> rtol, atol;
};

struct Case {
  std::string folder;            // of the files
  std::vector<std::string> init; // entries to call first
  std::vector<Step> steps;

  std::string pathOf(llvm::StringRef file) const;
};

llvm::Expected<Case> readCase(llvm::StringRef path);

/// What a case wants of a GraphDef: an entry for each distinct set of feeds, with their shapes,
/// fetches and targets. The steps get the entries' names. `specializes`: feeds of few integers are
/// distinct by their values, too, and the graph may take shapes from them.
llvm::Expected<std::vector<tensorflow::EntrySpec>> makeEntries(Case &recorded, bool specializes);

} // namespace tfc
