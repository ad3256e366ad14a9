// From a file to an artifact: what `tfc compile` does, and `run` and `bench` begin with.
#pragma once

#include "compiler/emission/Emission.h"
#include "compiler/pipeline/Pipeline.h"
#include "frontend/ImportOptions.h"
#include "frontend/tensorflow/Import.h"
#include "frontend/text/Locations.h"

namespace tfc {

/// What to write. Mlir is the module as the stages leave it, Graph the same as graph source.
enum class EmitKind { Library, Object, Archive, Header, Graph, Mlir, Llvm, Assembly };

struct CompileRequest {
  std::string input;
  std::string output; // "-" is standard output
  EmitKind kind = EmitKind::Library;
  std::string prefix;                         // empty: the graph's name, else the file's
  std::vector<tensorflow::EntrySpec> entries; // to make of a GraphDef
  ImportOptions importOptions;                // limits and folders
  std::string soname;                         // empty: the file's name, beside the program
  bool keepSymbols = false;                   // of kernels, in a library
  PipelineOptions pipeline;
  bool printTimes = false;
};

/// Compiles, and prints the times if the request asks for them; errors have been printed to
/// standard error when it fails. `inputs` gets the files that were read.
llvm::LogicalResult compile(const CompileRequest &request,
                            std::vector<std::string> *inputs = nullptr);

/// Fails if the command would overwrite one of the inputs, or a header that tfc did not write.
llvm::Error checkOutputs(const CompileRequest &request, llvm::ArrayRef<std::string> inputs);

/// The reading of an input: what a module and its diagnostics refer to. Prints what was reported
/// when it goes.
struct Session {
  Session();
  ~Session();

  /// The module of the frontend, or of the stage that the request starts after; null after errors.
  mlir::OwningOpRef<mlir::ModuleOp> load(const CompileRequest &request);
  /// Runs the stages; one that fails has reported an error.
  mlir::LogicalResult runStages(mlir::ModuleOp module, const CompileRequest &request,
                                mlir::Timer timing = {});
  mlir::LogicalResult fail(llvm::Error error);

  text::SourceManager sources;
  text::DiagnosticEngine diagnostics;
  mlir::MLIRContext context;
  text::MlirDiagnosticHandler handler;
};

/// Prints "tfc: error: ..." and returns the exit code for errors in the input.
int reportError(const llvm::Twine &message);
int reportError(llvm::Error error);

} // namespace tfc
