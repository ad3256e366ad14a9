// The options about devices that commands share.
#pragma once

#include "compiler/pipeline/Pipeline.h"
#include <CLI/CLI.hpp>

namespace tfc {

void addPlacementFlags(CLI::App &app, PipelineOptions &options);

} // namespace tfc
