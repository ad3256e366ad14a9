// Recorded cases: steps with their feeds and the expected fetches.
#pragma once

#include "frontend/importer/EntrySpec.h"
#include "tools/tfc/Npz.h"
#include "llvm/Support/Error.h"
#include <map>

namespace tfc {

using ArrayNames = std::map<std::string, std::string>; // name of a feed or fetch -> array

struct Step {
  std::string entry; // empty: the only one
  ArrayNames feeds, fetches;
  std::vector<std::string> targets; // entries to call for their effects
  std::optional<double> rtol, atol;
};

struct Case {
  std::string folder;                    // of the files
  std::vector<std::string> init;         // entries to call first
  std::string archive;                   // the .npz file of the arrays; empty: each is a .npy file
  std::shared_ptr<const NpzFile> arrays; // the archive, if there is one
  std::vector<Step> steps;

  /// Reads the array that a step names: a key of the archive, or a file.
  llvm::Expected<Array> read(llvm::StringRef name, std::optional<tfc_dtype> expected = {}) const;
};

/// Reads a case whose files are in `folder`, or in the same folder as the case.
llvm::Expected<Case> readCase(llvm::StringRef path, std::optional<llvm::StringRef> folder = {});

/// The entries that a case needs from a file that declares none: one for each distinct set of
/// feeds, with their shapes, fetches and targets. Sets the entries' names in the steps.
/// `specializes`: feeds of few integers are also distinguished by their values, and the graph may
/// derive shapes from them.
llvm::Expected<std::vector<importer::EntrySpec>> makeEntries(Case &recorded, bool specializes);

} // namespace tfc
