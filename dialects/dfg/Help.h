//===- Help.h - Advice in diagnostics -------------------------------------===//
//
// Advice is a note with a prefix, as compilers print it, so that it also reads well where MLIR
// prints diagnostics. Only these functions know the prefix. They are inline for readers of
// diagnostics that do not depend on the dialect.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/Diagnostics.h"

namespace tfc::dfg {

inline constexpr llvm::StringLiteral kHelpPrefix = "help: ";

/// Attaches a note with advice on how to fix the error, by default at the error's location.
inline void attachHelp(mlir::InFlightDiagnostic &error, const llvm::Twine &text,
                       std::optional<mlir::Location> location = std::nullopt) {
  error.attachNote(location) << kHelpPrefix + text;
}

/// Returns the advice in the text of a note; std::nullopt if the note is not advice.
inline std::optional<llvm::StringRef> helpIn(llvm::StringRef note) {
  return note.consume_front(kHelpPrefix) ? std::optional(note) : std::nullopt;
}

} // namespace tfc::dfg
