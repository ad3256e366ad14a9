#pragma once

#include "frontend/text/syntax/Ast.h"
#include "frontend/text/syntax/Diagnostics.h"

namespace tfc::text {

/// Parses a file of `sources`. Reports every error and returns what could be parsed; the tree is
/// never null. The tree refers to the text that `sources` owns.
std::unique_ptr<ast::File> parseFile(const SourceManager &sources, FileId file,
                                     DiagnosticEngine &diagnostics);

/// Whether an error in this place says that its file is no graph source: one in the first
/// declaration of a file without a line such as `entry name(` or `use "..`. What stands in a file
/// that was named by mistake, or by somebody who may not read it, is not shown.
bool isInForeignFile(const SourceManager &sources, SourceRange at);

/// The error about such a file, which shows the line alone.
void reportForeignFile(const SourceManager &sources, SourceRange at, DiagnosticEngine &diagnostics);

} // namespace tfc::text
