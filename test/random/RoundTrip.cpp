//===- RoundTrip.cpp - Programs written as text and read again ------------===//
//
// Checks that a program written as graph text and read again is the same graph.
//
//===----------------------------------------------------------------------===//

#include "RoundTrip.h"
#include "Same.h"
#include "compiler/pipeline/ModelInfo.h"
#include "frontend/Import.h"
#include "frontend/text/print/Print.h"
#include "frontend/text/syntax/Source.h"

using namespace mlir;

namespace tfc::random {

static OwningOpRef<ModuleOp> read(MLIRContext &context, StringRef path) {
  text::SourceManager sources;
  return importFile(path, context, sources);
}

std::string roundTrip(const Program &program, Counts &counts) {
  ModuleOp module = *program.module;
  MLIRContext &context = *module.getContext();
  std::string text, reason;
  llvm::raw_string_ostream os(text);
  {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (reason.empty())
        reason = diagnostic.str();
      return success();
    });
    if (failed(text::printGraph(module, os))) {
      counts.unsupported = reason;
      return StringRef(reason).ends_with("[no-text]") ? "" : "cannot be written: " + reason;
    }
  }
  llvm::Expected<emission::WorkFolder> folder = emission::WorkFolder::create();
  if (!folder)
    return llvm::toString(folder.takeError());
  std::string path = folder->file("again.graph");
  std::error_code error;
  llvm::raw_fd_ostream(path, error) << text;
  OwningOpRef<ModuleOp> again = read(context, path);
  if (!again)
    return "the text cannot be read:\n" + text;
  std::string difference = findDifference(module, *again);
  return difference.empty() ? "" : "the text means " + difference + "\n" + text;
}

std::string compareFiles(MLIRContext &context, StringRef one, StringRef other) {
  OwningOpRef<ModuleOp> module = read(context, one), otherModule = read(context, other);
  if (!module || !otherModule)
    return "cannot be read";
  // `tfc` adds the sizes that calls must have.
  requireSizes(*module);
  requireSizes(*otherModule);
  return findDifference(*module, *otherModule);
}

} // namespace tfc::random
