// The command `tfc fmt`.
#include "frontend/text/format/Format.h"
#include "compiler/emission/OutputFile.h"
#include "tools/tfc/Commands.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tfc;

/// Prints the canonical form of a file, writes it to the file, or only compares them. Returns false
/// after errors, which are printed.
static bool formatFile(const FormatOptions &options, const std::string &path) {
  auto fail = [&](const Twine &problem) {
    errs() << path << ": error: " << problem << '\n';
    return false;
  };
  text::SourceManager sources;
  text::DiagnosticEngine diagnostics(sources);
  std::string problem;
  std::optional<text::FileId> file = sources.load(path, problem);
  if (!file)
    return fail(problem);
  std::optional<std::string> formatted = text::formatSource(sources, *file, diagnostics);
  diagnostics.flush(errs());
  if (!formatted)
    return false;
  bool isChanged = *formatted != sources.text(*file);
  if (options.check)
    return isChanged ? fail("not in canonical form; 'tfc fmt -i' writes it") : true;
  if (!options.inPlace) {
    outs() << *formatted;
    return true;
  }
  if (!isChanged)
    return true;
  if (Error error = emission::writeOutput(path, *formatted))
    return fail(toString(std::move(error)));
  return true;
}

int tfc::runFormat(const FormatOptions &options) {
  bool good = true;
  for (const std::string &path : options.files)
    good &= formatFile(options, path);
  return good ? 0 : 1;
}
