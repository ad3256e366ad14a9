// The options about the processor that code is for, and what was measured on it.
#pragma once

#include "tools/tfc/Compiler.h"
#include <CLI/CLI.hpp>

namespace tfc {

/// `--mcpu`, for all commands that compile.
void addProcessorFlag(CLI::App &app, CompileRequest &request);

/// `--target` and `--sysroot`, for commands whose code need not run on this machine.
void addTargetFlags(CLI::App &app, CompileRequest &request);

/// `--schedules`, for all commands that compile, and what measures them.
void addScheduleFlag(CLI::App &app, CompileRequest &request);
void addTuneFlags(CLI::App &app, CompileRequest &request);

/// Checks the options together; throws CLI11's errors.
void checkTarget(const CompileRequest &request);

} // namespace tfc
