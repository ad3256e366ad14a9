// Prints syntax trees, for tests of the parser.
#pragma once

#include "frontend/text/syntax/Ast.h"

namespace llvm {
class raw_ostream;
}

namespace tfc::text {

/// Prints the tree as nested lists, one statement per line.
void dump(const ast::File &file, llvm::raw_ostream &os);

} // namespace tfc::text
