/// Reads a graph file and prints the dfg module that the frontend passes to the compiler, or lists
/// the operations of a reader.

#include "compiler/reference/ConstantEvaluation.h"
#include "frontend/Import.h"
#include "frontend/onnx/Import.h"
#include "frontend/tensorflow/Import.h"
#include "frontend/text/print/Print.h"
#include "frontend/text/syntax/Source.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

/// Prints the operations that a reader supports, as JSON.
static int listOperations(StringRef reader, mlir::MLIRContext &context) {
  tfc::importer::OperationList list;
  if (reader == "onnx")
    tfc::onnx::listOperations(context, list);
  else if (reader == "tensorflow")
    tfc::tensorflow::listOperations(context, list);
  else
    return errs() << "error: there is no reader '" << reader << "'\n", 2;
  outs() << formatv("{0:2}", list.finish()) << '\n';
  return 0;
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::opt<std::string> input(cl::Positional, cl::desc("FILE"), cl::Required);
  cl::opt<bool> locations("locations", cl::desc("print the place of each operation"));
  cl::opt<bool> ranges("ranges", cl::desc("print the range of each operation in the source"));
  cl::list<std::string> entryTexts("entry", cl::desc("an entry to build from a GraphDef"));
  cl::opt<bool> operationsOf(
      "operations", cl::desc("list the operations of the reader FILE: onnx or tensorflow"));
  cl::opt<bool> graph("graph", cl::desc("print graph source instead"));
  tfc::ImportOptions options;
  cl::opt<uint64_t> steps("max-steps", cl::init(options.limits.steps),
                          cl::desc("how many steps the expansion may take"));
  cl::opt<uint64_t> operations("max-operations", cl::init(options.limits.operations),
                               cl::desc("how many operations the graph may become"));
  cl::list<std::string> folders("allow-path", cl::desc("a folder that the graph may read"));
  cl::ParseCommandLineOptions(argc, argv, "prints the dfg module of a graph file\n");
  options.limits = {steps, operations};
  options.allowedPaths.assign(folders.begin(), folders.end());
  std::vector<tfc::importer::EntrySpec> entries;
  for (const std::string &text : entryTexts) {
    std::string reason;
    std::optional<tfc::importer::EntrySpec> entry = tfc::parseEntry(input, text, reason);
    if (!entry) {
      errs() << "error: " << reason << '\n';
      return 1;
    }
    entries.push_back(std::move(*entry));
  }
  mlir::DialectRegistry registry;
  tfc::reference::registerConstantEvaluation(registry);
  mlir::MLIRContext context(registry);
  if (operationsOf)
    return listOperations(input, context);
  tfc::text::SourceManager sources;
  mlir::OwningOpRef<mlir::ModuleOp> module =
      tfc::importFile(input, context, sources, entries, options);
  if (!module)
    return 1;
  if (graph)
    return mlir::failed(tfc::text::printGraph(*module, outs()));
  mlir::OpPrintingFlags flags;
  if (locations || ranges)
    flags.enableDebugInfo(true, /*prettyForm=*/!ranges);
  module->print(outs(), flags);
  return 0;
}
