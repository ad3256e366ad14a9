// Turns a file into an artifact: `tfc compile`, and the first step of `run` and `bench`.
#pragma once

#include "compiler/emission/Emission.h"
#include "compiler/pipeline/Pipeline.h"
#include "frontend/ImportOptions.h"
#include "frontend/importer/EntrySpec.h"
#include "frontend/text/Locations.h"
#include "tools/tfc/CallableModel.h"

namespace tfc {

/// The kind of output. Mlir is the module after the stages, Graph the same as graph source,
/// FlatBuffer the module of the frontend in binary form.
enum class EmitKind { Library, Object, Archive, Header, Graph, FlatBuffer, Mlir, Llvm, Assembly };

struct CompileRequest {
  std::string input;
  std::string output; // "-" is standard output
  EmitKind kind = EmitKind::Library;
  std::string prefix;                       // empty: the graph's name, else the file's
  std::vector<importer::EntrySpec> entries; // of a file that declares none
  ImportOptions importOptions;              // limits and folders
  std::string soname;                       // empty: the file's name, in the program's folder
  bool keepSymbols = false;                 // of kernels, in a library
  PipelineOptions pipeline;
  std::string sysroot;            // of the target's C library; empty: where its packages install it
  std::string cacheFolder;        // of compiled kernels; empty: none
  std::string schedules;          // a file of measured ones; empty: one beside the input; "none"
  bool tunes = false;             // measures them first
  int tuneThreads = 0;            // of the measured calls; 0: all processors
  bool expressesDataflow = false; // as branches and loops, where a graph file needs that
  bool printTimes = false;
  bool isQuiet = false; // do not show the stages of a long compilation
};

/// Facts about a graph that the output of its compilation lacks.
struct CompileNotes {
  std::vector<std::string> inputs; // the files that were read
};

/// Returns what `notes` hold of the entries of a model.
std::map<std::string, SizeFacts> sizeFactsOf(const ModelInfo &model);

/// Compiles, and prints the times if requested. If it fails, errors have been printed to standard
/// error.
llvm::LogicalResult compile(const CompileRequest &request, CompileNotes *notes = nullptr);

/// Fails if the command would overwrite one of the inputs, or a header that tfc did not write.
llvm::Error checkOutputs(const CompileRequest &request, llvm::ArrayRef<std::string> inputs);

/// Reads an input and owns everything that the module and its diagnostics refer to. The destructor
/// prints the diagnostics.
struct Session {
  Session();
  ~Session();

  /// The module of the frontend, or of the stage that the request starts after; null after errors.
  mlir::OwningOpRef<mlir::ModuleOp> load(const CompileRequest &request);
  /// Runs the stages; a failing stage has reported an error.
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
