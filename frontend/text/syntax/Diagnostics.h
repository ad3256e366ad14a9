// Diagnostics of graph source: their locations, notes and hints, and how they are printed.
#pragma once

#include "frontend/Fmt.h"
#include "frontend/text/syntax/Source.h"
#include "llvm/ADT/SmallVector.h"
#include <deque>

namespace llvm {
class raw_ostream;
}

namespace tfc::text {

enum class Severity { Error, Warning };

/// One message with its locations. The builder functions return the diagnostic, for chaining:
/// `diags.error(at, "unknown-name", "...").also(other).note(place, "declared here").help("...")`.
class Diagnostic {
public:
  struct Note {
    SourceRange at;
    std::string text;
    std::string foreignPlace = {};
  };

  /// Marks a second range with `~`, if it is on the line of the first.
  Diagnostic &also(SourceRange range);
  /// Adds a note at another location; `at` may be invalid.
  Diagnostic &note(SourceRange at, const llvm::Twine &text);
  template <typename Arg, typename... Args>
  Diagnostic &note(SourceRange at, fmt::format_string<Arg, Args...> format, Arg &&arg,
                   Args &&...args) {
    return note(
        at, llvm::Twine(fmt::format(format, std::forward<Arg>(arg), std::forward<Args>(args)...)));
  }
  /// Adds a note for a call that leads to the location, after the other notes.
  Diagnostic &call(SourceRange at, const llvm::Twine &text);
  template <typename Arg, typename... Args>
  Diagnostic &call(SourceRange at, fmt::format_string<Arg, Args...> format, Arg &&arg,
                   Args &&...args) {
    return call(
        at, llvm::Twine(fmt::format(format, std::forward<Arg>(arg), std::forward<Args>(args)...)));
  }
  /// No sizes of tensors avoid the error.
  Diagnostic &forAllSizes(bool isForAllSizes = true);
  /// Sets the suggested fix, replacing an earlier one.
  Diagnostic &help(const llvm::Twine &text);
  template <typename Arg, typename... Args>
  Diagnostic &help(fmt::format_string<Arg, Args...> format, Arg &&arg, Args &&...args) {
    return help(
        llvm::Twine(fmt::format(format, std::forward<Arg>(arg), std::forward<Args>(args)...)));
  }
  /// Sets the suggested fix if there is none yet.
  Diagnostic &elseHelp(const llvm::Twine &text);
  template <typename Arg, typename... Args>
  Diagnostic &elseHelp(fmt::format_string<Arg, Args...> format, Arg &&arg, Args &&...args) {
    return elseHelp(
        llvm::Twine(fmt::format(format, std::forward<Arg>(arg), std::forward<Args>(args)...)));
  }

  Severity severity = Severity::Error;
  SourceRange at;
  /// "file:line:col: " if `at` is invalid because the text of that file is not available.
  std::string foreignPlace;
  llvm::SmallVector<SourceRange, 2> others;
  std::string text;
  std::string slug;
  std::vector<Note> notes;
  std::vector<Note> calls;
  std::string helpText;
  bool isForAllSizes = false;
};

/// Removes a trailing " [slug]" from a message and returns it; empty if there is none.
std::string takeSlug(std::string &text);

/// Collects the diagnostics of a compilation and prints them, sorted by location, without
/// duplicates.
class DiagnosticEngine {
public:
  explicit DiagnosticEngine(const SourceManager &sources) : sources(sources) {}

  /// References stay valid as long as the engine, or until the next error if there are too many.
  /// `slug` may be empty.
  Diagnostic &error(SourceRange at, llvm::StringRef slug, const llvm::Twine &text);
  template <typename Arg, typename... Args>
  Diagnostic &error(SourceRange at, llvm::StringRef slug, fmt::format_string<Arg, Args...> format,
                    Arg &&arg, Args &&...args) {
    return error(
        at, slug,
        llvm::Twine(fmt::format(format, std::forward<Arg>(arg), std::forward<Args>(args)...)));
  }
  Diagnostic &warning(SourceRange at, llvm::StringRef slug, const llvm::Twine &text);
  template <typename Arg, typename... Args>
  Diagnostic &warning(SourceRange at, llvm::StringRef slug, fmt::format_string<Arg, Args...> format,
                      Arg &&arg, Args &&...args) {
    return warning(
        at, slug,
        llvm::Twine(fmt::format(format, std::forward<Arg>(arg), std::forward<Args>(args)...)));
  }

  /// The number of diagnostics to be printed.
  size_t size() const { return diagnostics.size(); }
  /// Removes and returns all but the first `size` diagnostics.
  std::vector<Diagnostic> takeBack(size_t size);
  void add(Diagnostic diagnostic);

  /// The number of errors so far, including repetitions.
  unsigned errorCount() const { return errors; }
  bool hasErrors() const { return errors != 0; }

  /// Prints the collected diagnostics and removes them, but keeps the count.
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
  /// The number of dropped diagnostics, and the last of them.
  size_t dropped = 0;
  Diagnostic discarded;
};

} // namespace tfc::text
