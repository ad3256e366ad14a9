// Reads graph files of all formats, chosen by the suffix of the file.
#pragma once

#include "frontend/ImportOptions.h"
#include "frontend/importer/EntrySpec.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tfc::text {
class SourceManager;
} // namespace tfc::text

namespace tfc {

/// Reads a graph file of any supported format, by its suffix: `.graph` (text), `.mlir`, or that of
/// a reader, or the folder of a SavedModel. `entries` is for files that need entries. Prints errors
/// to stderr in the language's form, and returns null after one. `sources` keeps the texts that
/// were read, for the errors of later stages.
mlir::OwningOpRef<mlir::ModuleOp> importFile(llvm::StringRef path, mlir::MLIRContext &context,
                                             text::SourceManager &sources,
                                             llvm::ArrayRef<importer::EntrySpec> entries = {},
                                             const ImportOptions &options = {});

/// Returns true for a graph file of a format that declares no entries, so that the caller specifies
/// them.
bool needsEntries(llvm::StringRef path);
/// Returns true for a graph file of another system that declares its inputs, of which the options
/// of the import specify sizes and values.
bool namesInputs(llvm::StringRef path);
/// Returns true for the folder of a SavedModel, or the file in it. Its entries are its signatures,
/// of which the caller may choose some by their names, and others.
bool isSavedModel(llvm::StringRef path);
/// Parses an entry of the command line for a file: the name of a signature, if the file has some,
/// or a specification (see `importer::parseEntrySpec`). Sets `error` if it is malformed.
std::optional<importer::EntrySpec> parseEntry(llvm::StringRef path, llvm::StringRef text,
                                              std::string &error);
/// Returns the suffixes of the files that importFile reads, for messages: ".graph, .mlir or .pb".
std::string graphSuffixes();
/// Returns the suffixes of the files that need entries.
std::string entrySuffixes();
/// Returns what declares inputs (see `namesInputs`), for messages.
std::string inputSuffixes();

/// Returns true if such a file can be read with these entries, in a context with these dialects.
/// Reports no errors.
bool canImport(llvm::StringRef path, llvm::ArrayRef<importer::EntrySpec> entries,
               const mlir::DialectRegistry &registry);

} // namespace tfc
