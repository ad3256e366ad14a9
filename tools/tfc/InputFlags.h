// The options of models that name their inputs.
#pragma once

#include "frontend/ImportOptions.h"
#include "llvm/ADT/StringRef.h"
#include <CLI/CLI.hpp>

namespace tfc {

/// Adds --bound, --shape, --fix and --tags to a command.
void addInputFlags(CLI::App &app, ImportOptions &options);

/// Throws an error of the parser if the input is of a kind that has no inputs, weights or tags to
/// specify.
void checkInputFlags(llvm::StringRef input, const ImportOptions &options);

} // namespace tfc
