//===- Readers.cpp - The readers that are fuzzed --------------------------===//
//
// Holds the table of readers that are fuzzed: how each reads a file, and which mutations it gets.
//
//===----------------------------------------------------------------------===//

#include "Readers.h"
#include "compiler/pipeline/Pipeline.h"
#include "frontend/Import.h"
#include "frontend/TensorFile.h"
#include "frontend/onnx/onnx.pb.h"
#include "frontend/tensorflow/graph.pb.h"
#include "frontend/text/Locations.h"
#include "mlir/IR/Verifier.h"
#include "runtime/Model.h"
#include "runtime/Rows.h"
#include "tools/tfc/Array.h"
#include "tools/tfc/Case.h"
#include "tools/tfc/SessionRegistry.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tfc::fuzz {

/// Prints an error and says that the input is refused.
static Verdict refuse(const Twine &message) {
  errs() << "error: " << message << '\n';
  return Verdict::Refused;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

std::string startAfter, stopAfter = "fusion";

/// Reads a graph and runs the requested stages.
static Verdict readGraph(StringRef path, ArrayRef<importer::EntrySpec> entries,
                         const ImportOptions &importOptions = {}) {
  mlir::MLIRContext context(makeSessionRegistry(), mlir::MLIRContext::Threading::DISABLED);
  text::SourceManager sources;
  text::DiagnosticEngine diagnostics(sources);
  text::MlirDiagnosticHandler handler(&context, diagnostics);
  context.printOpOnDiagnostic(false);
  context.loadAllAvailableDialects();
  mlir::OwningOpRef<mlir::ModuleOp> module =
      importFile(path, context, sources, entries, importOptions);
  PipelineOptions options;
  options.startAfter = startAfter;
  options.stopAfter = stopAfter;
  bool isAccepted = module && mlir::succeeded(runStages(*module, options));
  diagnostics.flush(errs());
  return isAccepted ? Verdict::Accepted : Verdict::Refused;
}

static Verdict readGraph(StringRef path, StringRef) {
  return readGraph(path, ArrayRef<importer::EntrySpec>());
}

/// An entry that is fed all placeholders and fetches all values without uses.
static importer::EntrySpec makeEntry(const tensorflow::wire::Graph &graph) {
  constexpr size_t kMaxFetches = 16;
  importer::EntrySpec entry;
  entry.name = "entry";
  StringSet<> read;
  for (const auto &node : graph.node())
    for (const std::string &input : node.input())
      read.insert(StringRef(input).ltrim('^').split(':').first);
  for (const auto &node : graph.node()) {
    if (node.op() == "Placeholder")
      entry.feeds.push_back({.tensor = node.name() + ":0"});
    else if (read.contains(node.name()) || entry.targets.size() >= kMaxFetches)
      continue;
    else if (node.name().size() % 2)
      entry.targets.push_back(node.name());
    else
      entry.fetches.push_back({node.name()});
  }
  return entry;
}

static Verdict readGraphDef(StringRef path, StringRef) {
  tensorflow::wire::Graph graph;
  if (auto file = MemoryBuffer::getFile(path))
    (void)graph.ParsePartialFromArray((*file)->getBufferStart(), int((*file)->getBufferSize()));
  return readGraph(path, makeEntry(graph));
}

/// Copies a file, unless it does not exist.
static void copyFile(StringRef folder, const Twine &name, const Twine &to) {
  (void)sys::fs::copy_file(folder + "/" + name, to);
}

/// A SavedModel of which one file is replaced by that at `path`; `folder` has the others, or is
/// the folder `variables` in it.
static Verdict readSaved(StringRef path, StringRef folder, bool isIndex) {
  std::string model = (path + ".model").str(), variables = model + "/variables";
  std::string original = (isIndex ? folder : folder + "/variables").str();
  (void)sys::fs::create_directories(variables);
  copyFile(isIndex ? sys::path::parent_path(folder) : folder, "saved_model.pb",
           model + "/saved_model.pb");
  for (const char *name : {"variables.index", "variables.data-00000-of-00001",
                           "variables.data-00000-of-00002", "variables.data-00001-of-00002"})
    copyFile(original, name, variables + "/" + name);
  (void)sys::fs::copy_file(path,
                           model + (isIndex ? "/variables/variables.index" : "/saved_model.pb"));
  Verdict verdict = readGraph(model, ArrayRef<importer::EntrySpec>());
  (void)sys::fs::remove_directories(model);
  return verdict;
}

static Verdict readSavedModel(StringRef path, StringRef folder) {
  return readSaved(path, folder, /*isIndex=*/false);
}

static Verdict readCheckpoint(StringRef path, StringRef folder) {
  return readSaved(path, folder, /*isIndex=*/true);
}

/// With a bound for each named size of an input, so that the model can be compiled.
static Verdict readOnnx(StringRef path, StringRef) {
  onnx::wire::Model model;
  if (auto file = MemoryBuffer::getFile(path))
    (void)model.ParsePartialFromArray((*file)->getBufferStart(), int((*file)->getBufferSize()));
  ImportOptions options;
  StringSet<> bounded;
  for (const auto &input : model.graph().input())
    for (const auto &dim : input.type().tensor_type().shape().dim())
      if (dim.has_dim_param() && bounded.insert(dim.dim_param()).second)
        options.bounds.emplace_back(dim.dim_param(), 16);
  return readGraph(path, {}, options);
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// As a constant of a graph and as a feed.
static Verdict readNpyFile(StringRef path, StringRef) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::string error;
  bool isLoaded = bool(TensorFiles().load(&context, path, "", error));
  if (!isLoaded)
    errs() << "error: " << error << '\n';
  Expected<Array> array = readArray(path);
  if (!array)
    return refuse(toString(array.takeError()));
  return isLoaded ? Verdict::Accepted : Verdict::Refused;
}

static Verdict readNpzFile(StringRef path, StringRef) {
  Expected<NpzFile> file = NpzFile::open(path);
  if (!file)
    return refuse(toString(file.takeError()));
  Verdict verdict = Verdict::Accepted;
  for (const std::string &key : file->getKeys())
    if (Expected<Array> array = file->read(key); !array)
      verdict = refuse(toString(array.takeError()));
  return verdict;
}

static constexpr int64_t kMatrix[] = {2, 3}, kEmpty[] = {0, 7};
static constexpr tfc_slice_info kSlice = {"all", 1, 1, 2, 9};
static constexpr tfc_variable_info kVariables[] = {
    {"w", nullptr, TFC_F32, 2, kMatrix, 24, 0, &kSlice},
    {"net.half", "old", TFC_BF16, 2, kMatrix, 12},
    {"mask", nullptr, TFC_BOOL, 2, kMatrix, 6},
    {"steps", nullptr, TFC_I64, 0, nullptr, 8},
    {"empty", nullptr, TFC_F32, 2, kEmpty, 0},
};
static constexpr tfc_model kModel = {TFC_ABI_VERSION,
                                     std::size(kVariables),
                                     0,
                                     0,
                                     "fuzz",
                                     "any",
                                     "",
                                     kVariables,
                                     nullptr,
                                     nullptr,
                                     nullptr,
                                     0};

void writeCheckpoint(StringRef path) {
  tfc_instance *instance = nullptr;
  if (tfc_instance_create(&kModel, nullptr, &instance) == TFC_OK)
    tfc_instance_save(instance, path.str().c_str());
  tfc_instance_destroy(instance);
}

/// By the compiler, with keys and without, and by the runtime.
static Verdict readSafetensors(StringRef path, StringRef) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  TensorFiles files;
  for (StringRef key : {"", "w", "mask", "empty"}) {
    std::string error;
    if (!files.load(&context, path, key, error))
      errs() << "error: " << error << '\n';
  }
  tfc_instance *instance = nullptr;
  if (tfc_instance_create(&kModel, nullptr, &instance) != TFC_OK)
    return refuse("no instance");
  tfc_status status = tfc_instance_load(instance, path.str().c_str());
  std::string message = tfc_instance_message(instance);
  tfc_instance_destroy(instance);
  return status == TFC_OK ? Verdict::Accepted : refuse(message);
}

//===----------------------------------------------------------------------===//
// Datasets
//===----------------------------------------------------------------------===//

static constexpr int64_t kWords[] = {3};
static constexpr tfc_variable_info kFields[] = {
    {"x", nullptr, TFC_F32, 1, kWords, 12},
    {"k", nullptr, TFC_I16, 0, nullptr, 2},
    {"b", nullptr, TFC_BOOL, 1, kWords, 3},
};

namespace {
/// Memory for a row.
struct RowMemory {
  char x[12], k[2], b[3];
  char *values[3] = {x, k, b};
};
} // namespace

template <tfc_dataset_format format> static Verdict readRows(StringRef path, StringRef) {
  tfc_dataset_info info = {"rows", format, std::size(kFields), kFields, nullptr, 0, 0};
  runtime::Allocator allocator = runtime::defaultAllocator();
  runtime::Rows rows(allocator, info);
  runtime::Message message;
  std::string name = path.str();
  const char *names[] = {name.c_str()};
  tfc_status status = rows.open(names, 1, message);
  runtime::Block scratch;
  for (int64_t i = 0; i < rows.count() && i < 100 && status == TFC_OK; ++i) {
    RowMemory row;
    status = rows.read(&i, 1, row.values, scratch, message);
  }
  return status == TFC_OK ? Verdict::Accepted : refuse(message.c_str());
}

/// The contents of a record.
static Verdict readExample(StringRef path, StringRef) {
  auto buffer = MemoryBuffer::getFile(path);
  if (!buffer)
    return refuse("no file");
  tfc_dataset_info info = {"rows", TFC_DATASET_TFRECORD, std::size(kFields), kFields, nullptr, 0,
                           0};
  // A buffer of exactly this size, so that the sanitizer detects reads past its end.
  std::vector<char> record((*buffer)->getBuffer().begin(), (*buffer)->getBuffer().end());
  RowMemory row;
  runtime::Message reason;
  bool isDecoded =
      runtime::decodeExample(info, record.data(), record.size(), 0, row.values, reason);
  return isDecoded ? Verdict::Accepted : refuse(reason.c_str());
}

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

static Verdict readCaseFile(StringRef path, StringRef folder) {
  Expected<Case> recorded = readCase(path, folder);
  if (!recorded)
    return refuse(toString(recorded.takeError()));
  for (bool specializes : {false, true}) {
    Case copy = *recorded;
    Expected<std::vector<importer::EntrySpec>> entries = makeEntries(copy, specializes);
    if (!entries)
      return refuse(toString(entries.takeError()));
  }
  return Verdict::Accepted;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// The length of the header is two bytes, after the magic and the version.
static std::string mutateNpy(StringRef input, Corpus corpus, Draw &draw) {
  return mutateHeader(input, corpus, 8, 2, draw);
}

static std::string mutateSafetensors(StringRef input, Corpus corpus, Draw &draw) {
  return mutateHeader(input, corpus, 0, 8, draw);
}

/// Damages the directory, at the end of the file, more often than the members.
static std::string mutateNpz(StringRef input, Corpus corpus, Draw &draw) {
  size_t at = input.find(StringRef("PK\1\2", 4));
  if (at == StringRef::npos || draw.chance(40))
    return mutateBytes(input, corpus, draw);
  return input.take_front(at).str() + mutateBytes(input.drop_front(at), corpus, draw);
}

static constexpr Reader kReaders[] = {
    {"text", ".graph", readGraph, mutateTokens},
    {"graphdef", ".pb", readGraphDef, mutateGraphDef},
    {"savedmodel", "saved_model.pb", readSavedModel, mutateSavedModel},
    {"checkpoint", ".index", readCheckpoint, mutateTable},
    {"onnx", ".onnx", readOnnx, mutateOnnx},
    {"flatbuffer", ".tfg", readGraph, mutateFlatBuffer},
    {"mlir", ".mlir", readGraph, mutateTokens},
    {"npy", ".npy", readNpyFile, mutateNpy},
    {"npz", ".npz", readNpzFile, mutateNpz},
    {"safetensors", ".safetensors", readSafetensors, mutateSafetensors},
    {"case", ".json", readCaseFile, mutateTokens},
    {"csv", ".csv", readRows<TFC_DATASET_CSV>, mutateTokens},
    {"tfrecord", ".tfrecord", readRows<TFC_DATASET_TFRECORD>, mutateBytes},
    {"example", ".example", readExample, mutateBytes},
    {"rows", ".safetensors", readRows<TFC_DATASET_SAFETENSORS>, mutateSafetensors},
};

ArrayRef<Reader> getReaders() { return kReaders; }

} // namespace tfc::fuzz
