// The C names of a model's functions and their parameters: shared by the header and the code.
#pragma once

#include "compiler/pipeline/ModelInfo.h"

namespace tfc::emission {

struct EntryNames {
  std::string function; // with the prefix
  std::vector<std::string> symbols, feeds, fetches, found;
};

struct ModelNames {
  std::string prefix;
  std::vector<EntryNames> entries;

  /// The function for a fixed purpose: "create" -> "digits_create".
  std::string of(llvm::StringRef purpose) const { return (prefix + "_" + purpose).str(); }
};

ModelNames chooseNames(const ModelInfo &model, llvm::StringRef prefix);

} // namespace tfc::emission
