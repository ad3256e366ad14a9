// The commands; each returns the exit code.
#pragma once

#include "tools/tfc/Case.h"
#include "tools/tfc/CommandLine.h"
#include "tools/tfc/LoadedModel.h"

namespace tfc {

int runCompile(const CompileRequest &request);
int runCheck(CompileRequest request);
int runEntry(const RunOptions &options);
int runBench(const BenchOptions &options);
int runProfile(const ProfileOptions &options);
int runShow(ShowOptions options);
int runFormat(const FormatOptions &options);
int runExplain(llvm::StringRef slug);

/// Runs a recorded case on a model: its steps in order, in one instance.
int runCase(const RunOptions &options, const Case &recorded, CallableModel &model);

/// Compiles the request's input into a temporary library and loads it; a library is loaded
/// directly. Returns std::nullopt after errors, which have been printed.
std::optional<LoadedModel> compileAndLoad(const CompileRequest &request, int threads);

/// Splits "NAME=VALUE".
llvm::Expected<std::pair<std::string, std::string>> splitAssignment(llvm::StringRef text,
                                                                    llvm::StringRef option);

} // namespace tfc
