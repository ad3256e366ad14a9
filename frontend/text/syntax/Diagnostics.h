#pragma once

#include "frontend/text/syntax/Source.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include <deque>

namespace llvm {
class raw_ostream;
}

namespace tfc::text {

enum class Severity { Error, Warning };

/// One message with its places. The builder functions return the diagnostic, for chains:
/// `diags.error(at, "unknown-name", "...").also(other).note(place, "declared here").help("...")`.
class Diagnostic {
public:
  struct Note {
    SourceRange at;
    std::string text;
    std::string foreignPlace = {};
  };

  /// Marks a second place with `~`, if it is on the line of the first.
  Diagnostic &also(SourceRange range);
  /// A sentence about another place; `at` may be invalid.
  Diagnostic &note(SourceRange at, const llvm::Twine &text);
  /// A call that leads to the place; these notes stand behind the others.
  Diagnostic &call(SourceRange at, const llvm::Twine &text);
  /// What to do. The last one wins.
  Diagnostic &help(const llvm::Twine &text);

  Severity severity = Severity::Error;
  SourceRange at;
  /// "file:line:col: " where `at` is invalid, as no text of that file is at hand.
  std::string foreignPlace;
  llvm::SmallVector<SourceRange, 2> others;
  std::string text;
  std::string slug;
  std::vector<Note> notes;
  std::vector<Note> calls;
  std::string helpText;
};

/// Cuts a trailing " [slug]" off a message; empty where there is none.
std::string takeSlug(std::string &text);

/// Collects the diagnostics of a compilation and prints them, sorted by place, each once.
class DiagnosticEngine {
public:
  explicit DiagnosticEngine(const SourceManager &sources) : sources(sources) {}

  /// References stay valid as long as the engine, or until the next error where there are too many.
  /// `slug` may be empty.
  Diagnostic &error(SourceRange at, llvm::StringRef slug, const llvm::Twine &text);
  Diagnostic &warning(SourceRange at, llvm::StringRef slug, const llvm::Twine &text);

  /// The number of diagnostics that wait to be printed.
  size_t size() const { return diagnostics.size(); }
  /// Takes back all but the first `size` of them.
  std::vector<Diagnostic> takeBack(size_t size);
  void add(Diagnostic diagnostic);

  /// The number of errors so far, repetitions included.
  unsigned errorCount() const { return errors; }
  bool hasErrors() const { return errors != 0; }

  /// Prints what has been collected and forgets it (but not the count).
  void flush(llvm::raw_ostream &os);

  /// The diagnostic that was reported last; there must be one.
  Diagnostic &last() { return dropped ? discarded : diagnostics.back(); }

  const SourceManager &sourceManager() const { return sources; }

private:
  void print(llvm::raw_ostream &os, const Diagnostic &diagnostic) const;
  void printPlace(llvm::raw_ostream &os, SourceRange at, llvm::StringRef foreignPlace) const;
  void printExcerpt(llvm::raw_ostream &os, const Diagnostic &diagnostic) const;

  const SourceManager &sources;
  std::deque<Diagnostic> diagnostics;
  unsigned errors = 0;
  /// Those that are too many to keep, and the last of them.
  size_t dropped = 0;
  Diagnostic discarded;
};

} // namespace tfc::text
