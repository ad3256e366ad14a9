// The command `tfc run`: makes feeds, calls an entry, prints or writes its fetches.
#include "compiler/emission/Link.h"
#include "compiler/emission/OutputFile.h"
#include "frontend/Import.h"
#include "tools/tfc/BenchFeeds.h"
#include "tools/tfc/Commands.h"
#include "tools/tfc/ComparedModel.h"
#include "tools/tfc/Feeds.h"
#include "tools/tfc/Message.h"
#include "tools/tfc/Print.h"
#include "tools/tfc/SessionRegistry.h"
#include "tools/tfc/Tune.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tfc;

static constexpr int kWrongUsage = 2;

int tfc::runCompile(const CompileRequest &request) {
  bool onlyTunes = request.tunes && request.output.empty();
  if (!onlyTunes)
    if (Error error = checkOutputs(request, request.input)) {
      reportError(std::move(error));
      return kWrongUsage;
    }
  if (request.tunes)
    if (int code = tune(request, request.tuneThreads); code || onlyTunes)
      return code;
  return failed(compile(request));
}

std::optional<LoadedModel> tfc::compileAndLoad(const CompileRequest &request, int threads) {
  CompileRequest library = request;
  CompileNotes notes;
  std::chrono::duration<double> compileTime(0);
  // The folder is removed on return; a library that is loaded stays mapped.
  std::optional<Expected<emission::WorkFolder>> folder;
  library.output = request.input;
  if (!StringRef(request.input).ends_with(".so")) {
    folder.emplace(emission::WorkFolder::create());
    if (!*folder) {
      reportError(folder->takeError());
      return std::nullopt;
    }
    library.output = (*folder)->file("libmodel.so");
    library.kind = EmitKind::Library;
    auto begin = std::chrono::steady_clock::now();
    if (failed(compile(library, &notes)))
      return std::nullopt;
    compileTime = std::chrono::steady_clock::now() - begin;
  }
  Expected<LoadedModel> model = LoadedModel::load(library.output, threads);
  if (!model) {
    reportError(model.takeError());
    return std::nullopt;
  }
  model->setInputs(notes.inputs);
  model->setCompileTime(compileTime);
  return std::move(*model);
}

Expected<std::pair<std::string, std::string>> tfc::splitAssignment(StringRef text,
                                                                   StringRef option) {
  auto [name, value] = text.split('=');
  if (name.empty() || value.empty())
    return makeError("{} expects NAME=VALUE, but got '{}'", option, text);
  return std::pair(name.str(), value.str());
}

static std::string fetchPath(const RunOptions &options, const Port &fetch) {
  std::string file = fetch.name;
  llvm::replace(file, '/', '_'); // backquoted names hold anything
  return fmt::format("{}/{}.npy", options.fetchFolder, file);
}

/// The exit code after an error if a fetch would replace a file that the command reads, else 0.
static int checkFetchFiles(const RunOptions &options, const CallableModel &model) {
  Expected<const Entry *> entry = model.findEntry(options.entry);
  if (!entry) { // the call reports it
    consumeError(entry.takeError());
    return 0;
  }
  std::vector<emission::Output> outputs;
  if (!options.fetchFolder.empty())
    for (const Port &fetch : (*entry)->fetches)
      outputs.push_back({fetchPath(options, fetch), ""});
  std::vector<std::string> named = {options.compile.input};
  append_range(named, feedFiles(options));
  if (Error error = emission::checkOutputs(outputs, named)) {
    reportError(std::move(error));
    return kWrongUsage;
  }
  if (Error error = emission::checkOutputs(outputs, model.getInputs()))
    return reportError(std::move(error));
  return 0;
}

static Error writeResults(const RunOptions &options, const Entry &entry, ArrayRef<Array> results) {
  if (options.fetchFolder.empty()) {
    for (auto [port, array] : zip(entry.fetches, results)) {
      outs() << port.name << ": " << array.typeText() << " =\n";
      printArray(outs(), array);
      outs() << '\n';
    }
    return Error::success();
  }
  if (std::error_code error = sys::fs::create_directories(options.fetchFolder))
    return createFileError(options.fetchFolder, error);
  for (auto [port, array] : zip(entry.fetches, results)) {
    if (Error error = writeArray(fetchPath(options, port), array))
      return error;
  }
  return Error::success();
}

static Error callOnce(const RunOptions &options, CallableModel &model) {
  Expected<const Entry *> entry = model.findEntry(options.entry);
  if (!entry)
    return entry.takeError();
  Expected<std::vector<Array>> feeds = readFeeds(options, **entry);
  if (!feeds)
    return feeds.takeError();
  Expected<std::vector<Array>> fetches = model.run(**entry, *feeds);
  if (!fetches)
    return fetches.takeError();
  return writeResults(options, **entry, *fetches);
}

/// Returns the model that the options request, compiled or executed by the oracle; null after
/// errors, which have been printed.
static std::unique_ptr<CallableModel> makeModel(const RunOptions &options,
                                                const CompileRequest &request) {
  if (options.isReference)
    return ReferenceModel::load(request);
  std::optional<LoadedModel> model = compileAndLoad(request, options.threads);
  return model ? std::make_unique<LoadedModel>(std::move(*model)) : nullptr;
}

/// Adds the entries that the case calls. If their shapes depend on the values of feeds, the entries
/// are specialised to the recorded values, also if that fails: the errors are about what would not
/// help.
static Error addEntries(CompileRequest &request, Case &recorded) {
  Case general = recorded;
  Expected<std::vector<importer::EntrySpec>> entries = makeEntries(general, false);
  if (!entries)
    return entries.takeError();
  if (canImport(request.input, *entries, makeSessionRegistry()))
    recorded = std::move(general);
  else if (entries = makeEntries(recorded, true); !entries)
    return entries.takeError();
  request.entries = std::move(*entries);
  return Error::success();
}

/// Compiles the entries that the steps of a recorded case call, and runs the steps.
static int runRecorded(const RunOptions &options) {
  Expected<Case> recorded = readCase(options.caseFile);
  if (!recorded)
    return reportError(recorded.takeError());
  CompileRequest request = options.compile;
  if (needsEntries(request.input))
    if (Error error = addEntries(request, *recorded))
      return reportError(std::move(error));
  if (!options.compareWith.empty()) {
    std::unique_ptr<ComparedModel> model = ComparedModel::load(request, options.threads);
    if (!model)
      return 1;
    if (int code = runCase(options, *recorded, *model))
      return code;
    if (Error error = model->compareNodes())
      return reportError(std::move(error));
    outs() << model->summary() << '\n';
    return 0;
  }
  std::unique_ptr<CallableModel> model = makeModel(options, request);
  return model ? runCase(options, *recorded, *model) : 1;
}

/// Returns the feeds of the command line, or random ones if it has none.
static Expected<std::vector<Array>> feedsToCompare(const RunOptions &options, const Entry &entry,
                                                   ComparedModel &model) {
  if (!options.feeds.empty() || entry.feeds.empty())
    return readFeeds(options, entry);
  // Integers are kept small, since one of them may be the trip count of a loop.
  Expected<RandomFeeds> feeds =
      makeFeeds(model.getCompiled(), entry, options.dims, /*mostIntegers=*/16);
  if (!feeds)
    return feeds.takeError();
  if (Error error = model.restart())
    return std::move(error);
  return std::move(feeds->arrays);
}

/// Calls the entry in both models, and prints a summary if their results agree.
static Error compareOnce(const RunOptions &options, ComparedModel &model) {
  Expected<const Entry *> entry = model.findEntry(options.entry);
  if (!entry)
    return entry.takeError();
  Expected<std::vector<Array>> feeds = feedsToCompare(options, **entry, model);
  if (!feeds)
    return feeds.takeError();
  Expected<std::vector<Array>> fetches = model.run(**entry, *feeds);
  if (!fetches)
    return fetches.takeError();
  if (Error error = model.compareNodes())
    return error;
  outs() << model.summary() << '\n';
  return options.fetchFolder.empty() ? Error::success() : writeResults(options, **entry, *fetches);
}

int tfc::runEntry(const RunOptions &options) {
  if (!options.caseFile.empty())
    return runRecorded(options);
  bool compares = !options.compareWith.empty();
  std::unique_ptr<ComparedModel> both;
  std::unique_ptr<CallableModel> one;
  if (compares)
    both = ComparedModel::load(options.compile, options.threads);
  else
    one = makeModel(options, options.compile);
  if (!both && !one)
    return 1;
  if (int code =
          checkFetchFiles(options, compares ? static_cast<const CallableModel &>(*both) : *one))
    return code;
  if (Error error = compares ? compareOnce(options, *both) : callOnce(options, *one))
    return reportError(std::move(error));
  return 0;
}
