// The interface of the parser: graph source becomes a syntax tree.
#pragma once

#include "frontend/text/syntax/Ast.h"
#include "frontend/text/syntax/Diagnostics.h"

namespace tfc::text {

/// Parses a file of `sources`. Reports every error and returns what could be parsed; the tree is
/// never null. The tree refers to the text that `sources` owns.
std::unique_ptr<ast::File> parseFile(const SourceManager &sources, FileId file,
                                     DiagnosticEngine &diagnostics);

/// Parses the whole text of the file `file.id`, which is not graph source, as one expression; null
/// after errors. The expression belongs to `file`.
ast::Expr *parseExpression(const SourceManager &sources, ast::File &file,
                           DiagnosticEngine &diagnostics);

/// Returns true if an error at this location means that its file is not graph source: it is in the
/// first declaration of a file without a line such as `entry name(` or `use "..`. The contents of a
/// file that was named by mistake, or by a user who may not read it, are not shown.
bool isInForeignFile(const SourceManager &sources, SourceRange at);

/// Reports such a file, with the line number only.
void reportForeignFile(const SourceManager &sources, SourceRange at, DiagnosticEngine &diagnostics);

} // namespace tfc::text
