// The options of models that name their inputs.
#pragma once

#include "frontend/ImportOptions.h"
#include <CLI/CLI.hpp>

namespace tfc {

/// Adds --bound, --shape and --fix to a command.
void addInputFlags(CLI::App &app, ImportOptions &options);

} // namespace tfc
