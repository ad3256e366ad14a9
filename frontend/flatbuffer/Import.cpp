// Reads a file in three steps: FlatBuffers' verifier, the operations that it declares, and the
// verification of these operations.
#include "frontend/flatbuffer/Import.h"

#include "dialects/dfg/RunTimeSizes.h"
#include "frontend/Fmt.h"
#include "frontend/flatbuffer/Declarations.h"
#include "frontend/importer/Diagnostics.h"
#include "frontend/text/syntax/Diagnostics.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace llvm;

namespace tfc::flatbuffer {

//===----------------------------------------------------------------------===//
// The FlatBuffer
//===----------------------------------------------------------------------===//

/// Returns the beginning of the file that may hold the FlatBuffer, which is limited to 2 GB.
static StringRef flatBufferOf(const ForeignFile &file) {
  return file.buffer->getBuffer().take_front(FLATBUFFERS_MAX_BUFFER_SIZE - 1);
}

/// Returns the graph in a file; null, after an error, if the file is not a valid FlatBuffer.
static const tfg::Graph *verifyFlatBuffer(const FileContext &file) {
  StringRef bytes = flatBufferOf(file.getFile());
  const auto *begin = reinterpret_cast<const uint8_t *>(bytes.data());
  StringRef identifier = bytes.substr(kIdentifierAt, flatbuffers::kFileIdentifierLength);
  if (identifier != tfg::GraphIdentifier()) {
    emitError(file.locate()) << "this is not a binary graph [graph-file]";
    return nullptr;
  }
  flatbuffers::Verifier::Options limits;
  // Each level of regions and of lists has two tables.
  limits.max_depth = 2 * (kMaxRegions + kMaxLists) + 16;
  // A file of distinct tables has fewer tables than bytes; shared ones are counted at each use.
  limits.max_tables = std::max<size_t>(bytes.size(), 1);
  flatbuffers::Verifier verifier(begin, bytes.size(), limits);
  if (tfg::VerifyGraphBuffer(verifier))
    return tfg::GetGraph(begin);
  emitError(file.locate()) << "the binary graph is damaged, or nested too deeply [graph-file]";
  return nullptr;
}

static LogicalResult checkEdition(const tfg::Graph &graph, const FileContext &file) {
  if (graph.edition() == 0)
    return emitError(file.locate()) << "the graph has no edition [graph-file]";
  if (graph.edition() <= kEdition)
    return success();
  return emitError(file.locate()) << "the graph has edition " << graph.edition()
                                  << ", but this version of tfc reads editions up to " << kEdition
                                  << " [unknown-edition]";
}

//===----------------------------------------------------------------------===//
// The operations
//===----------------------------------------------------------------------===//

/// Returns true if the message starts with the name of an operation, as `Operation::emitOpError`
/// writes it: a quote, the name as an argument of its own, and a quote with `op`.
static bool startsWithOperation(ArrayRef<DiagnosticArgument> message) {
  using Kind = DiagnosticArgument::DiagnosticArgumentKind;
  if (message.size() < 3 || message[1].getKind() != Kind::String)
    return false;
  StringRef name = message[1].getAsString();
  return name.consume_front(dfg::DfgDialect::getDialectNamespace()) && name.consume_front(".");
}

/// The message of MLIR's verifier in the words of a graph.
static std::string rewriteMessage(const Diagnostic &diagnostic) {
  ArrayRef<DiagnosticArgument> arguments = diagnostic.getArguments();
  std::string text = diagnostic.str();
  if (std::string sentence = text; !text::takeSlug(sentence).empty())
    return text;
  if (startsWithOperation(arguments)) {
    text = fmt::format("'{}' ", arguments[1].getAsString().split('.').second);
    raw_string_ostream os(text);
    for (const DiagnosticArgument &argument : arguments.drop_front(3))
      argument.print(os);
  }
  return text + " [graph-node]";
}

namespace {
/// Collects the errors of MLIR's verifier during its lifetime, and then reports them in the words
/// of a graph: its author is not the one who wrote operations.
class VerifierErrors {
public:
  explicit VerifierErrors(MLIRContext *context)
      : handler(std::make_unique<ScopedDiagnosticHandler>(
            context, [this](Diagnostic &diagnostic) { add(diagnostic); })) {}
  ~VerifierErrors() {
    handler.reset();
    for (const auto &[location, message, notes] : errors) {
      InFlightDiagnostic error = emitError(location) << message;
      for (const auto &[place, note] : notes)
        error.attachNote(place) << note;
    }
  }
  bool isEmpty() const { return errors.empty(); }

private:
  using Text = std::pair<Location, std::string>;
  struct Error {
    Location location;
    std::string message;
    std::vector<Text> notes;
  };
  void add(Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
      return;
    Error error{diagnostic.getLocation(), rewriteMessage(diagnostic), {}};
    for (Diagnostic &note : diagnostic.getNotes())
      if (std::string text = note.str(); !StringRef(text).starts_with("see current operation"))
        error.notes.emplace_back(note.getLocation(), std::move(text));
    errors.push_back(std::move(error));
  }

  std::vector<Error> errors;
  std::unique_ptr<ScopedDiagnosticHandler> handler;
};
} // namespace

/// Checks that each size that the entry declares is known from the sizes of its feeds.
static void checkSizes(dfg::EntryOp entry) {
  llvm::StringSet<> determined = dfg::determinedNames(entry.getArgumentTypes());
  ArrayAttr symbols = entry.getSymbolsAttr();
  for (Attribute symbol : symbols ? symbols.getValue() : ArrayRef<Attribute>())
    if (StringRef name = cast<StringAttr>(symbol).getValue(); !determined.contains(name))
      entry.emitOpError("expects a feed with a size that is a multiple of '")
          << name << "', which nothing else determines";
}

/// Checks that sizes which operations find are bound before others mention them. Stages keep this
/// order, but a file may have another one.
static void checkBindings(dfg::EntryOp entry) {
  dfg::RunTimeSizes bound(entry);
  if (bound.empty())
    return;
  entry.getBody().walk([&](Operation *op) {
    for (StringRef name : dfg::RunTimeSizes::namesIn(op)) {
      dfg::BindSizeOp binder = bound.find(name, op->getBlock());
      Operation *user = binder ? binder->getBlock()->findAncestorOpInBlock(*op) : nullptr;
      if (user && user->isBeforeInBlock(binder) && !isa<dfg::DataflowOp>(binder->getParentOp()))
        op->emitOpError("mentions the size '") << name << "' before it is bound";
    }
  });
}

/// Checks each operation on its own, to report all errors, and then verifies the whole module.
static LogicalResult verifyModule(ModuleOp module) {
  VerifierErrors errors(module.getContext());
  module.walk([&](Operation *op) {
    if (op != module && !isa<dfg::EntryOp>(op))
      (void)GraphBuilder::checkDeclared(op);
  });
  if (!errors.isEmpty() || failed(verify(module)))
    return failure();
  for (auto entry : module.getOps<dfg::EntryOp>()) {
    checkSizes(entry);
    checkBindings(entry);
  }
  return success(errors.isEmpty());
}

static void readModule(ModuleOp module, const tfg::Graph &graph, FileContext &file,
                       Tables &tables) {
  StringRef name = file.text(graph.name());
  if (!name.empty())
    module.setSymName(name);
  Constants constants(file, tables);
  if (succeeded(constants.findSection(graph.data_bytes())))
    Declarations(module, file, tables, constants).create(graph);
}

OwningOpRef<ModuleOp> importGraph(MLIRContext &context, const ForeignFile &foreign) {
  FileContext file(&context, foreign);
  const tfg::Graph *graph = verifyFlatBuffer(file);
  if (!graph || failed(checkEdition(*graph, file)))
    return {};
  importer::Diagnostics diagnostics(&context);
  Tables tables(file);
  tables.read(*graph);
  if (diagnostics.getErrorCount())
    return {};
  OwningOpRef<ModuleOp> module(ModuleOp::create(tables.place(graph->place(), file.locate())));
  readModule(*module, *graph, file, tables);
  if (diagnostics.getErrorCount() || failed(verifyModule(*module)))
    return {};
  return module;
}

} // namespace tfc::flatbuffer
