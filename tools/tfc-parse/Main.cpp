// A developer's tool: parses graph files and prints their errors, their tree or their canonical
// form.

#include "frontend/text/Parser.h"
#include "tools/tfc-parse/AstDump.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tfc::text;

static constexpr const char *kUsage = "usage: tfc-parse [--print-ast] FILE...\n";

int main(int argc, char **argv) {
  bool printAst = false;
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  std::vector<FileId> files;
  for (StringRef argument : ArrayRef(argv, argc).drop_front()) {
    if (argument == "--print-ast") {
      printAst = true;
      continue;
    }
    if (argument.starts_with("--")) {
      errs() << kUsage;
      return 2;
    }
    std::string error;
    std::optional<FileId> file = sources.load(argument, error);
    if (!file) {
      errs() << argument << ": error: " << error << '\n';
      return 1;
    }
    files.push_back(*file);
  }
  for (FileId file : files) {
    std::unique_ptr<ast::File> tree = parseFile(sources, file, diagnostics);
    if (printAst)
      dump(*tree, outs());
  }
  diagnostics.flush(errs());
  return diagnostics.hasErrors() ? 1 : 0;
}
