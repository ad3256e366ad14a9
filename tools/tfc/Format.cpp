#include "frontend/text/Format.h"
#include "tools/tfc/Commands.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tfc;

/// Prints the canonical form of a file; false if it has errors, which are printed.
static bool printFormatted(const std::string &path) {
  text::SourceManager sources;
  text::DiagnosticEngine diagnostics(sources);
  std::string problem;
  std::optional<text::FileId> file = sources.load(path, problem);
  if (!file) {
    errs() << path << ": error: " << problem << '\n';
    return false;
  }
  std::optional<std::string> formatted = text::formatSource(sources, *file, diagnostics);
  diagnostics.flush(errs());
  if (formatted)
    outs() << *formatted;
  return formatted.has_value();
}

int tfc::runFormat(const FormatOptions &options) {
  bool good = true;
  for (const std::string &path : options.files) {
    if (!options.inPlace && !options.check) {
      good &= printFormatted(path);
      continue;
    }
    text::FormatResult result = text::formatFile(path, options.check, errs());
    if (options.check && result == text::FormatResult::Changed)
      errs() << path << ": error: not in canonical form; 'tfc fmt -i' writes it\n";
    good &= result == text::FormatResult::Unchanged ||
            (result == text::FormatResult::Changed && !options.check);
  }
  return good ? 0 : 1;
}
