#pragma once

#include "frontend/text/Ast.h"
#include "frontend/text/Diagnostics.h"

namespace tfc::text {

/// Parses a file of `sources`. Reports every error and returns what could be parsed; the tree is
/// never null. The tree refers to the text that `sources` owns.
std::unique_ptr<ast::File> parseFile(const SourceManager &sources, FileId file,
                                     DiagnosticEngine &diagnostics);

} // namespace tfc::text
