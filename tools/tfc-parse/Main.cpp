// A developer's tool: parses graph files and prints their errors, their tree or their canonical
// form.

#include "frontend/text/format/Format.h"
#include "frontend/text/syntax/Parser.h"
#include "tools/tfc-parse/AstDump.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tfc::text;

static constexpr const char *kUsage =
    "usage: tfc-parse [--print-ast|--format|--verify-format] FILE...\n"
    "  --verify-format  formats what parses, and fails where that changes the tree or loses a\n"
    "                   comment, or where formatting again changes more; prints no syntax errors\n";

namespace {

/// The content that formatting must preserve: the tree, and the text of all comments.
struct Content {
  std::string tree;
  std::string comments;
  bool isValid = false;
};

} // namespace

static Content contentOf(StringRef text) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  std::unique_ptr<ast::File> file = parseFile(sources, sources.add("text", text), diagnostics);
  Content content;
  raw_string_ostream os(content.tree);
  dump(*file, os);
  std::vector<StringRef> comments;
  for (const ast::Comment &comment : file->comments)
    for (StringRef part : split(sources.text(comment.range), '#'))
      if (!part.trim().empty())
        comments.push_back(part.trim());
  llvm::sort(comments);
  content.comments = join(comments, "\n");
  content.isValid = !diagnostics.hasErrors();
  return content;
}

static bool verifyFormat(const SourceManager &sources, FileId file) {
  Content before = contentOf(sources.text(file));
  std::optional<std::string> once = formatSource(sources.text(file));
  if (!once)
    return !before.isValid;
  Content after = contentOf(*once);
  StringRef problem = !after.isValid                      ? "does not parse"
                      : before.tree != after.tree         ? "has another tree"
                      : before.comments != after.comments ? "has other comments"
                      : formatSource(*once) != once       ? "is formatted differently"
                                                          : "";
  if (!problem.empty())
    errs() << sources.name(file) << ": the formatted text " << problem << '\n';
  return problem.empty();
}

int main(int argc, char **argv) {
  StringRef mode;
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  std::vector<FileId> files;
  for (StringRef argument : ArrayRef(argv, argc).drop_front()) {
    if (argument.starts_with("--")) {
      mode = argument;
      continue;
    }
    std::string error;
    std::optional<FileId> file = sources.load(argument, error);
    if (!file) {
      errs() << argument << ": error: " << error << '\n';
      return 1;
    }
    files.push_back(*file);
  }
  bool knownMode =
      mode.empty() || mode == "--print-ast" || mode == "--format" || mode == "--verify-format";
  if (!knownMode || files.empty()) {
    errs() << kUsage;
    return 2;
  }

  bool failed = false;
  for (FileId file : files) {
    if (mode == "--verify-format") {
      failed |= !verifyFormat(sources, file);
    } else if (mode == "--format") {
      outs() << formatSource(sources, file, diagnostics).value_or("");
    } else {
      std::unique_ptr<ast::File> tree = parseFile(sources, file, diagnostics);
      if (mode == "--print-ast")
        dump(*tree, outs());
    }
  }
  diagnostics.flush(errs());
  return failed || diagnostics.hasErrors() ? 1 : 0;
}
