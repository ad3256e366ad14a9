// The interface of the formatter.
#pragma once

#include "frontend/text/syntax/Ast.h"
#include "frontend/text/syntax/Diagnostics.h"

namespace tfc::text {

/// The canonical form of a file: one statement per line, two spaces of indentation per block, at
/// most 100 columns where possible. Keeps all comments, blank lines between groups of lines, and
/// blocks of a single statement on one line. Formatting is idempotent. Returns std::nullopt and
/// reports diagnostics if the file has syntax errors.
std::optional<std::string> formatSource(const SourceManager &sources, FileId file,
                                        DiagnosticEngine &diagnostics);

/// The same for text without a file; std::nullopt if it has syntax errors.
std::optional<std::string> formatSource(llvm::StringRef text);

} // namespace tfc::text
