// Measures the ways in which the kernels of a model can be computed.
#pragma once

#include "tools/tfc/Compiler.h"

namespace tfc {

/// Measures with `threads` threads (0: all processors), prints what came of it, and writes the
/// schedules of the request. Returns the exit code.
int tune(const CompileRequest &request, int threads);

} // namespace tfc
