#pragma once

#include "frontend/text/syntax/Ast.h"
#include "frontend/text/syntax/Diagnostics.h"

namespace tfc::text {

/// The canonical form of a file: a statement a line, two spaces a block, at most 100 columns where
/// that can be. All comments and the groups of lines that blank lines make are kept; so is whether
/// a block with one statement stands on one line. Formatting twice changes nothing more. Nothing,
/// and diagnostics, where the file has syntax errors.
std::optional<std::string> formatSource(const SourceManager &sources, FileId file,
                                        DiagnosticEngine &diagnostics);

/// The same for text without a file; nothing where it has syntax errors.
std::optional<std::string> formatSource(llvm::StringRef text);

} // namespace tfc::text
