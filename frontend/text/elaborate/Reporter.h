// The errors of the elaborator, with the calls that lead to them, and the locations of operations.
#pragma once

#include "frontend/text/elaborate/Context.h"
#include <set>

namespace tfc::text {

class SizeScope;

/// The help for sizes that are passed as arguments, as in other languages.
inline constexpr llvm::StringLiteral kSizesInTypeHelp = "sizes belong to the type: f32[n, 4]";

/// Reports errors with the calls that lead to them, and sets the locations of operations.
class Reporter {
public:
  Reporter(Context &context, SizeScope &sizeScope) : context(context), sizeScope(sizeScope) {}

  /// Reports an error with the calls around it, once per location and slug.
  Diagnostic &error(SourceRange at, llvm::StringRef slug, const llvm::Twine &text);
  template <typename Arg, typename... Args>
  Diagnostic &error(SourceRange at, llvm::StringRef slug, fmt::format_string<Arg, Args...> format,
                    Arg &&arg, Args &&...args) {
    return error(
        at, slug,
        llvm::Twine(fmt::format(format, std::forward<Arg>(arg), std::forward<Args>(args)...)));
  }
  Entity fail(SourceRange at, llvm::StringRef slug, const llvm::Twine &text);
  template <typename Arg, typename... Args>
  Entity fail(SourceRange at, llvm::StringRef slug, fmt::format_string<Arg, Args...> format,
              Arg &&arg, Args &&...args) {
    return fail(
        at, slug,
        llvm::Twine(fmt::format(format, std::forward<Arg>(arg), std::forward<Args>(args)...)));
  }
  /// Reports a sparse gradient where a tensor is needed.
  Entity failSparse(SourceRange at);
  void suggest(Diagnostic &diagnostic, llvm::StringRef name,
               llvm::ArrayRef<llvm::StringRef> candidates);
  /// Lists all candidates if none is similar.
  void suggestAmong(Diagnostic &diagnostic, llvm::StringRef name,
                    llvm::ArrayRef<llvm::StringRef> candidates);
  /// The location of an operation that the author calls by `name`; without it, by its own name.
  mlir::Location locate(SourceRange range, llvm::StringRef name = {});

  /// Returns true if no error with this slug has been reported at this location yet, and records
  /// one.
  bool isFirst(SourceRange at, llvm::StringRef slug) {
    return reported.emplace(at.file, at.begin, at.end, slug.str()).second;
  }
  using Reported = std::set<std::tuple<FileId, uint32_t, uint32_t, std::string>>;
  /// Replaces the record of reported errors; returns the old one.
  Reported exchangeReported(Reported other) { return std::exchange(reported, std::move(other)); }

  /// The innermost activation in a file that does not ship with tfc, or the current one; and the
  /// call in it that led here, or `at`.
  std::pair<Activation *, SourceRange> authorsCall(SourceRange at) const;

private:
  void addCallNotes(Diagnostic &diagnostic);
  std::string describeDims(const Activation &activation);

  Context &context;
  SizeScope &sizeScope;
  Reported reported;
  Diagnostic discarded;
};

} // namespace tfc::text
