// Chooses a reader by the suffix of a file, and hides the contents of files that are not graph
// source.
#include "frontend/Import.h"
#include "frontend/Fmt.h"

#include "dialects/dfg/Dfg.h"
#include "frontend/ForeignFile.h"
#include "frontend/ReadFile.h"
#include "frontend/flatbuffer/Import.h"
#include "frontend/onnx/Import.h"
#include "frontend/tensorflow/Import.h"
#include "frontend/text/Locations.h"
#include "frontend/text/elaborate/Elaborate.h"
#include "frontend/text/syntax/Parser.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace llvm;

namespace tfc {

/// Replaces all errors about files that are not graph source by one for each file.
static void hideForeignFiles(text::DiagnosticEngine &diagnostics,
                             const text::SourceManager &sources) {
  std::vector<text::Diagnostic> errors = diagnostics.takeBack(0);
  SmallVector<text::FileId> foreign;
  for (const text::Diagnostic &error : errors)
    if (!is_contained(foreign, error.at.file) && text::isInForeignFile(sources, error.at)) {
      foreign.push_back(error.at.file);
      text::reportForeignFile(sources, error.at, diagnostics);
    }
  for (text::Diagnostic &error : errors)
    if (!error.at.isValid() || !is_contained(foreign, error.at.file))
      diagnostics.add(std::move(error));
}

static OwningOpRef<ModuleOp> importText(text::FileId file, MLIRContext &context,
                                        text::SourceManager &sources,
                                        const ImportOptions &options) {
  text::DiagnosticEngine diagnostics(sources);
  OwningOpRef<ModuleOp> module(ModuleOp::create(
      FileLineColLoc::get(&context, sources.name(file), /*line=*/1, /*column=*/1)));
  bool succeeded = text::elaborate(*module, sources, file, diagnostics, options);
  if (succeeded) {
    text::MlirDiagnosticHandler handler(&context, diagnostics);
    succeeded = mlir::succeeded(verify(*module));
  }
  if (!succeeded)
    hideForeignFiles(diagnostics, sources);
  diagnostics.flush(errs());
  return succeeded ? std::move(module) : OwningOpRef<ModuleOp>();
}

/// Returns true if text begins with the name of a registered operation and a symbol, operands, a
/// region or attributes, optionally after words such as `private`.
static bool beginsAsOperation(StringRef text, MLIRContext &context) {
  if (text.consume_front("%")) // results
    text = text.take_until([](char c) { return c == '\n'; }).split('=').second.ltrim(' ');
  bool isQuoted = text.consume_front("\"");
  StringRef name = text.take_while([](char c) { return isAlnum(c) || c == '_' || c == '.'; });
  text = text.drop_front(name.size());
  if (!RegisteredOperationName::lookup(name == "module" ? "builtin.module" : name, &context))
    return false;
  if (isQuoted)
    return text.starts_with("\"(");
  do {
    text = text.ltrim(' ').drop_while([](char c) { return isLower(c) || c == '_'; });
  } while (text.starts_with(" "));
  return !text.empty() && StringRef("@%({").contains(text.front());
}

/// Returns true if text begins like an MLIR module: with an operation, after comments and aliases.
static bool beginsAsModule(StringRef text, MLIRContext &context) {
  bool hasAlias = false;
  while (!(text = text.ltrim()).empty()) {
    bool isAlias = text.starts_with("#") || text.starts_with("!");
    if (!isAlias && !text.starts_with("//"))
      return beginsAsOperation(text, context);
    hasAlias |= isAlias;
    text = text.drop_until([](char c) { return c == '\n'; });
  }
  return !hasAlias; // an empty module
}

static OwningOpRef<ModuleOp> importModule(text::FileId file, MLIRContext &context,
                                          text::SourceManager &sources) {
  text::DiagnosticEngine diagnostics(sources);
  OwningOpRef<ModuleOp> module;
  // An error would show the contents of the file.
  if (!beginsAsModule(sources.text(file), context)) {
    errs() << sources.name(file) << ": error: this is not an MLIR module [not-a-graph]\n";
    return module;
  }
  {
    text::MlirDiagnosticHandler handler(&context, diagnostics);
    module =
        parseSourceString<ModuleOp>(sources.text(file), ParserConfig(&context), sources.name(file));
  }
  diagnostics.flush(errs());
  return module;
}

//===----------------------------------------------------------------------===//
// Graphs of other systems
//===----------------------------------------------------------------------===//

namespace {
/// The entries of a file.
enum class Entries {
  Declared,  // by the file
  OfInputs,  // one, with the inputs and outputs that the file names
  Specified, // by the caller
};

/// A reader of files with a suffix. Errors go to the context's diagnostics; null after one.
struct ForeignReader {
  StringLiteral suffix;
  Entries entries;
  OwningOpRef<ModuleOp> (*read)(MLIRContext &context, const ForeignFile &file);
};
} // namespace

static constexpr ForeignReader kReaders[] = {
    {".onnx", Entries::OfInputs, onnx::importModel},
    {".pb", Entries::Specified, tensorflow::importGraphDef},
    {".tfg", Entries::Declared, flatbuffer::importGraph},
};

/// The reader of a SavedModel, a folder with a file of this name.
static constexpr ForeignReader kSavedModel = {"saved_model.pb", Entries::OfInputs,
                                              tensorflow::importSavedModel};

/// Returns the file to read: that of a SavedModel if the path is its folder.
static std::string fileOf(StringRef path) {
  SmallString<128> file(path);
  if (!path.empty() && sys::fs::is_directory(path)) {
    sys::path::append(file, kSavedModel.suffix);
    if (!sys::fs::exists(file))
      return path.str();
  }
  return file.str().str();
}

bool isSavedModel(StringRef path) {
  return sys::path::filename(fileOf(path)) == kSavedModel.suffix;
}

std::optional<importer::EntrySpec> parseEntry(StringRef path, StringRef text, std::string &error) {
  if (!isSavedModel(path) || text.contains(':'))
    return importer::parseEntrySpec(text, error);
  importer::EntrySpec signature;
  signature.name = text.str();
  return signature;
}

static const ForeignReader *readerOf(StringRef path) {
  if (isSavedModel(path))
    return &kSavedModel;
  const auto *found = find_if(kReaders, [&](const ForeignReader &reader) {
    return reader.suffix == sys::path::extension(path);
  });
  return found == std::end(kReaders) ? nullptr : found;
}

bool needsEntries(StringRef path) {
  const ForeignReader *reader = readerOf(path);
  return reader && reader->entries == Entries::Specified;
}

bool namesInputs(StringRef path) {
  const ForeignReader *reader = readerOf(path);
  return reader && reader->entries == Entries::OfInputs;
}

/// Returns "a, b or c".
static std::string listAlternatives(ArrayRef<StringRef> words) {
  if (words.size() == 1)
    return words.front().str();
  return fmt::format("{} or {}", join(words.drop_back(), ", "), words.back().str());
}

std::string graphSuffixes() {
  SmallVector<StringRef> suffixes{".graph", ".mlir"};
  for (const ForeignReader &reader : kReaders)
    suffixes.push_back(reader.suffix);
  return listAlternatives(suffixes);
}

static std::string suffixesWith(Entries entries) {
  SmallVector<StringRef> suffixes;
  for (const ForeignReader &reader : kReaders)
    if (reader.entries == entries)
      suffixes.push_back(reader.suffix);
  return listAlternatives(suffixes);
}

std::string entrySuffixes() { return suffixesWith(Entries::Specified); }
std::string inputSuffixes() { return suffixesWith(Entries::OfInputs) + " or SavedModel"; }

bool canImport(StringRef path, ArrayRef<importer::EntrySpec> entries,
               const DialectRegistry &registry) {
  MLIRContext context(registry);
  context.loadDialect<dfg::DfgDialect>();
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
  std::string reason, name = fileOf(path);
  std::shared_ptr<MemoryBuffer> file = readRegularFile(name, reason);
  const ForeignReader *reader = readerOf(path);
  return file && reader &&
         reader->read(context, {name, std::move(file), entries, {}, [](StringRef) {}});
}

static OwningOpRef<ModuleOp> importForeign(const ForeignReader &reader, StringRef path,
                                           MLIRContext &context, text::SourceManager &sources,
                                           ArrayRef<importer::EntrySpec> entries,
                                           const ImportOptions &options) {
  std::string reason;
  std::shared_ptr<MemoryBuffer> file = readRegularFile(path, reason);
  if (!file) {
    errs() << "tfc: error: cannot read '" << path << "': " << reason << '\n';
    return {};
  }
  sources.addInput(path);
  text::DiagnosticEngine diagnostics(sources);
  OwningOpRef<ModuleOp> module;
  {
    text::MlirDiagnosticHandler handler(&context, diagnostics);
    auto addInput = [&](StringRef other) { sources.addInput(other); };
    module = reader.read(context, {path, std::move(file), entries, options, addInput});
    if (module && failed(verify(*module)))
      module = nullptr;
  }
  diagnostics.flush(errs());
  return module;
}

OwningOpRef<ModuleOp> importFile(StringRef path, MLIRContext &context, text::SourceManager &sources,
                                 ArrayRef<importer::EntrySpec> entries,
                                 const ImportOptions &options) {
  context.loadDialect<dfg::DfgDialect>();
  StringRef suffix = sys::path::extension(path);
  if (const ForeignReader *reader = readerOf(path))
    return importForeign(*reader, fileOf(path), context, sources, entries, options);
  if (sys::fs::is_directory(path) && suffix != ".graph" && suffix != ".mlir") {
    errs() << "tfc: error: cannot read '" << path
           << "': expected the folder of a SavedModel, but it has no " << kSavedModel.suffix
           << '\n';
    return {};
  }
  if (suffix != ".graph" && suffix != ".mlir") {
    errs() << "tfc: error: cannot determine the format of '" << path
           << "': expected a name that ends in " << graphSuffixes() << '\n';
    return {};
  }
  std::string reason;
  std::optional<text::FileId> file =
      sources.load(path, reason, suffix == ".graph" ? kMaxGraphBytes : kMaxModuleBytes);
  if (!file) {
    errs() << "tfc: error: cannot read '" << path << "': " << reason << '\n';
    return {};
  }
  return suffix == ".graph" ? importText(*file, context, sources, options)
                            : importModule(*file, context, sources);
}

} // namespace tfc
