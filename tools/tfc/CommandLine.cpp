// Declares the options of all commands and checks their combinations.
#include "tools/tfc/CommandLine.h"
#include "frontend/Fmt.h"
#include "frontend/Import.h"
#include "frontend/text/syntax/Suggest.h"
#include "tools/tfc/Choice.h"
#include "tools/tfc/Feeds.h"
#include "tools/tfc/InputFlags.h"
#include "tools/tfc/PlacementFlags.h"
#include "tools/tfc/TargetFlags.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>

using namespace tfc;
using llvm::StringRef;

static constexpr const char *kEmitKinds = "lib, obj, archive, header, graph, tfg, mlir, llvm, asm";
static constexpr const char *kOrLibrary = ", or a compiled library (.so)";
static constexpr const char *kCalledEntry = "The entry to call (default: the only one); for a ";

static std::optional<EmitKind> parseEmitKind(StringRef name) {
  return llvm::StringSwitch<std::optional<EmitKind>>(name)
      .Case("lib", EmitKind::Library)
      .Case("obj", EmitKind::Object)
      .Case("archive", EmitKind::Archive)
      .Case("header", EmitKind::Header)
      .Case("graph", EmitKind::Graph)
      .Case("tfg", EmitKind::FlatBuffer)
      .Case("mlir", EmitKind::Mlir)
      .Case("llvm", EmitKind::Llvm)
      .Case("asm", EmitKind::Assembly)
      .Default(std::nullopt);
}

static std::optional<EmitKind> kindOfSuffix(StringRef path) {
  return llvm::StringSwitch<std::optional<EmitKind>>(llvm::sys::path::extension(path))
      .Case(".so", EmitKind::Library)
      .Case(".o", EmitKind::Object)
      .Case(".a", EmitKind::Archive)
      .Case(".h", EmitKind::Header)
      .Case(".graph", EmitKind::Graph)
      .Case(".tfg", EmitKind::FlatBuffer)
      .Case(".mlir", EmitKind::Mlir)
      .Case(".ll", EmitKind::Llvm)
      .Case(".s", EmitKind::Assembly)
      .Default(std::nullopt);
}

/// Returns the compute capability in tenths that a name such as "sm_90" stands for; 0 if none that
/// runs our code.
static int64_t parseArchitecture(StringRef name) {
  constexpr int64_t kOldest = 80;
  int64_t capability = 0;
  bool isNumber = name.consume_front("sm_") && !name.getAsInteger(10, capability);
  return isNumber && capability >= kOldest && capability < 1000 ? capability : 0;
}

static bool isText(EmitKind kind) {
  return kind == EmitKind::Header || kind == EmitKind::Graph || kind == EmitKind::Mlir ||
         kind == EmitKind::Llvm || kind == EmitKind::Assembly;
}

/// A check for CLI11: returns an error text, or "" for success.
static std::string checkStage(const std::string &name) {
  if (findStage(name))
    return "";
  std::string known;
  for (const Stage &stage : getStages())
    known += (known.empty() ? "" : ", ") + stage.name.str();
  return fmt::format("'{}' is not a stage; the stages are {}", name, known);
}

static std::string checkArchitecture(const std::string &name) {
  return parseArchitecture(name) ? ""
                                 : fmt::format("'{}' is not an architecture from sm_80 on", name);
}

static std::string switchNames() {
  return llvm::join(
      llvm::map_range(getOptimizations(), [](const Optimization &option) { return option.name; }),
      ", ");
}

static std::string checkOptimization(const std::string &name) {
  if (llvm::any_of(getOptimizations(),
                   [&](const Optimization &option) { return option.name == name; }))
    return "";
  return fmt::format("'{}' is not an optimisation; the optimisations are {}", name, switchNames());
}

namespace {

/// The options shared by all commands that read a graph.
struct ImportFlags {
  /// `callable` names what else FILE may be.
  void add(CLI::App &app, CompileRequest &request, const std::string &callable = "") {
    app.add_option("FILE", request.input,
                   "The graph: a " + graphSuffixes() + " file, the folder of a SavedModel" +
                       callable)
        ->required();
    app.add_option("--max-steps", request.importOptions.limits.steps,
                   "How many steps the expansion of a graph may take (default: 20000000)")
        ->type_name("N");
    app.add_option_function<uint64_t>(
           "--max-operations",
           [&request](uint64_t operations) {
             request.importOptions.limits.operations = request.pipeline.maxOperations = operations;
           },
           "How many operations expansions and gradients may create (default: " +
               std::to_string(dfg::kMaxOperations) + ")")
        ->type_name("N");
    app.add_option("--allow-path", request.importOptions.allowedPaths,
                   "A folder below which 'use' and 'load' find files, besides that of FILE")
        ->check(CLI::ExistingDirectory)
        ->type_name("DIR")
        ->take_all();
    addInputFlags(app, request.importOptions);
  }

  /// The entries of a file that declares none.
  static void addEntries(CLI::App &app, std::vector<std::string> &entries) {
    app.add_option("--entry", entries,
                   "An entry to build from a " + entrySuffixes() +
                       " file, as in 'train: x, t -> loss ; step', or a signature of a SavedModel "
                       "(default: all)")
        ->type_name("NAME: FEEDS -> FETCHES ; TARGETS")
        ->take_all();
  }
};

/// The options shared by all commands that compile.
struct CompileFlags {
  /// `callable` names what else FILE may be.
  void add(CLI::App &app, CompileRequest &request, const std::string &callable = "") {
    ImportFlags().add(app, request, callable);
    addPlacementFlags(app, request.pipeline);
    app.add_option("-O", request.pipeline.optLevel, "How much to optimise, 0 to 3 (default: 3)")
        ->check(CLI::Range(0, 3))
        ->type_name("LEVEL");
    addProcessorFlag(app, request);
    addScheduleFlag(app, request);
    addChoice<bool>(app, "--accuracy", request.pipeline.isStrict,
                    {{"strict", true}, {"default", false}},
                    "Whether convolutions on CPUs may have errors of some 1e-5 of the largest "
                    "result, and products of bf16 on AArch64 those of its instructions, to be "
                    "faster (default: default)");
    addChoice<Weights>(
        app, "--weights", request.pipeline.weights,
        {{"f32", Weights::F32}, {"bf16", Weights::Bfloat16}, {"int8", Weights::Int8}},
        "How to store constant factors of products on CPUs, which compute in f32 (default: f32)");
    addChoice<gpu::Precision>(
        app, "--precision", request.pipeline.precision,
        {{"f32", gpu::Precision::F32},
         {"tf32", gpu::Precision::TF32},
         {"bf16", gpu::Precision::BF16}},
        "To what products of f32 on GPUs may round their factors (default: f32)");
    app.add_option_function<std::vector<std::string>>(
           "--gpu-arch",
           [&](const std::vector<std::string> &names) {
             for (const std::string &name : names)
               if (int64_t capability = parseArchitecture(name);
                   !llvm::is_contained(request.pipeline.capabilities, capability))
                 request.pipeline.capabilities.push_back(capability);
           },
           "GPUs for which to assemble code by ptxas, besides PTX for all (default: none)")
        ->delimiter(',')
        ->check(CLI::Validator(checkArchitecture, ""))
        ->type_name("sm_80,sm_90,...");
    app.add_option("--disable", request.pipeline.disabled,
                   "Optimisations to skip: " + switchNames())
        ->delimiter(',')
        ->check(CLI::Validator(checkOptimization, ""))
        ->type_name("NAME,...");
    app.add_option("--cache", request.cacheFolder,
                   "A folder of compiled kernels, which later compilations use again")
        ->type_name("DIR");
    app.add_flag("--time", request.printTimes, "Print how long each stage took");
    app.add_flag("-q,--quiet", request.isQuiet,
                 "Do not show the stages of a long compilation on the terminal");
    app.add_flag("-v,--verbose", request.pipeline.verbose, "Print what the stages decided");
    app.add_option("--dump-after", request.pipeline.dumpAfter,
                   "Print the module after a stage, or after each, to standard error")
        ->check(CLI::Validator(
            [](const std::string &name) { return name == "all" ? "" : checkStage(name); }, ""))
        ->type_name("STAGE|all");
    app.add_option("--start-after", request.pipeline.startAfter,
                   "Treat a .mlir file as the output of this stage")
        ->check(CLI::Validator(checkStage, ""))
        ->type_name("STAGE");
  }
};

/// Adds the commands to the parser and holds the variables that they write.
struct Parser {
  CLI::App app{"Compiles tensor dataflow graphs, for inference and training, to native code."};
  CommandLine result{};
  std::string emit;
  std::vector<std::string> entries;
  CLI::App *compile, *check, *convert, *run, *bench, *show, *profile, *format, *explain;

  Parser() {
    app.name("tfc");
    app.set_version_flag("--version", "tfc " TFC_VERSION);
    app.require_subcommand(1);
    addCompile();
    addCheck();
    addConvert();
    addRun();
    addBench();
    addShow();
    addProfile();
    format = app.add_subcommand("fmt", "Print graph files in their canonical form");
    format->add_option("FILE", result.format.files, "Graph files")->required();
    CLI::Option *inPlace = format->add_flag("-i", result.format.inPlace, "Write the files instead");
    format
        ->add_flag("--check", result.format.check,
                   "Only report (exit code 1) whether anything would change")
        ->excludes(inPlace);
    explain = app.add_subcommand("explain", "Explain an error by the word in brackets after it");
    explain->add_option("SLUG", result.slug, "The word, such as unknown-name")->required();
  }

  void addCompile() {
    compile = app.add_subcommand("compile", "Compile a graph to a library, an object, a header");
    CompileFlags().add(*compile, result.compile);
    addTargetFlags(*compile, result.compile);
    addTuneFlags(*compile, result.compile);
    compile->add_option("-o,--output", result.compile.output, "The file to write")
        ->type_name("FILE");
    compile
        ->add_option("--emit", emit,
                     std::string("The kind of output (default: by the suffix of -o): ") +
                         kEmitKinds)
        ->type_name("KIND");
    compile
        ->add_option("--prefix", result.compile.prefix,
                     "The prefix of the C functions (default: the graph's name)")
        ->type_name("NAME");
    compile
        ->add_option("--soname", result.compile.soname,
                     "Where programs look for the library (default: their own folder)")
        ->type_name("NAME");
    compile->add_flag("--symbols", result.compile.keepSymbols,
                      "Keep the names of kernels in a library, for profilers");
    ImportFlags::addEntries(*compile, entries);
    compile
        ->add_option("--stop-after", result.compile.pipeline.stopAfter,
                     "Stop after a stage and write the module")
        ->check(CLI::Validator(checkStage, ""))
        ->type_name("STAGE");
  }

  void addCheck() {
    check = app.add_subcommand("check", "Report the errors of a graph without compiling it");
    ImportFlags().add(*check, result.compile);
    addPlacementFlags(*check, result.compile.pipeline);
    ImportFlags::addEntries(*check, entries);
  }

  void addConvert() {
    convert = app.add_subcommand("convert", "Write a graph in another form");
    ImportFlags().add(*convert, result.compile);
    convert
        ->add_option("OUTPUT", result.compile.output,
                     "The file to write: .graph (text), .tfg (binary) or .mlir")
        ->required();
    convert->add_flag("--trainable", result.compile.importOptions.isTrainable,
                      "Make the weights of a model (" + inputSuffixes() +
                          ") variables, and its graph a function");
    ImportFlags::addEntries(*convert, entries);
  }

  void addRun() {
    RunOptions &options = result.run;
    run = app.add_subcommand("run", "Compile a graph and call an entry");
    CompileFlags().add(*run, options.compile, kOrLibrary);
    run->add_option("--entry", options.entry,
                    kCalledEntry + entrySuffixes() + " file, its definition");
    addFeeds(*run, options);
    run->add_option("--fetch-dir", options.fetchFolder,
                    "Write results as DIR/NAME.npy instead of printing them")
        ->type_name("DIR");
    run->add_option("--case", options.caseFile, "Run recorded steps and compare their results")
        ->type_name("FILE.json");
    run->add_option("--rtol", options.rtol, "Relative tolerance of --case (default: 1e-5)");
    run->add_option("--atol", options.atol, "Absolute tolerance of --case (default: 1e-5)");
    run->add_flag("--reference", options.isReference,
                  "Execute the graph op by op, in f64, instead of compiling it");
    run->add_option("--compare-with", options.compareWith,
                    "Also execute the graph as --reference does, and compare the results; without "
                    "--feed all feeds are random")
        ->check(CLI::IsMember({"reference"}))
        ->excludes("--reference");
  }

  /// The feeds of a call, and the threads that run it.
  static void addFeeds(CLI::App &app, RunOptions &options) {
    app.add_option("--feed", options.feeds,
                   "The value of a feed, once for each: a .npy file; numbers, as in i=2 and "
                   "x=[[1, 2], [3, 4]]; zeros; ones; random:normal[:MEAN:STDDEV]; "
                   "random:uniform[:LOW:HIGH]")
        ->type_name("NAME=VALUE")
        ->take_all();
    app.add_option(
           "--dim", options.dims,
           "A named size of random feeds, zeros and ones (default: that of the other feeds, else "
           "its bound, else 64)")
        ->type_name("NAME=SIZE")
        ->take_all();
    app.add_option("--seed", options.seed, "The seed of random feeds (default: 0)");
    addThreads(app, options.threads);
  }

  void addBench() {
    BenchOptions &options = result.bench;
    bench = app.add_subcommand(
        "bench", "Time calls of an entry with random feeds: normal floats, integers that it takes");
    CompileFlags().add(*bench, options.compile, kOrLibrary);
    bench->add_option("--entry", options.entry,
                      kCalledEntry + entrySuffixes() + " file, its definition");
    bench
        ->add_option("--dim", options.dims,
                     "The value of a named size (default: its bound, else 64)")
        ->type_name("NAME=SIZE")
        ->take_all();
    bench->add_option("--seconds", options.seconds, "How long to call it (default: 2)")
        ->check(CLI::Range(0.0, 1e6));
    bench->add_flag("--kernels", options.kernels, "Also print the time that each kernel takes");
    addThreads(*bench, options.threads);
  }

  void addProfile() {
    ProfileOptions &options = result.profile;
    profile = app.add_subcommand("profile", "Record when each step of an entry runs");
    CompileFlags().add(*profile, options.run.compile);
    profile->add_option("--entry", options.run.entry,
                        kCalledEntry + entrySuffixes() + " file, its definition");
    addFeeds(*profile, options.run);
    profile->add_option("-o,--output", options.output, "The trace to write (default: trace.json)")
        ->type_name("FILE.json");
    profile->add_option("--calls", options.calls, "How many calls to record (default: 10)")
        ->check(CLI::Range(1, 100000))
        ->type_name("N");
  }

  void addShow() {
    show = app.add_subcommand("show", "Draw an entry as it is divided among devices");
    ImportFlags().add(*show, result.show.compile);
    addPlacementFlags(*show, result.show.compile.pipeline);
    show->add_option("--entry", result.show.entry,
                     "The entry to draw (default: the only one); for a " + entrySuffixes() +
                         " file, its definition");
    show->add_option("--svg", result.show.compile.output, "The file to write, or - to print it")
        ->required()
        ->type_name("FILE.svg");
  }

  static void addThreads(CLI::App &app, int &threads) {
    app.add_option("--threads", threads, "Threads of a call (default: one for each processor)")
        ->check(CLI::Range(0, 4096));
  }
};

} // namespace

/// Stages that stop before they start.
static void checkStages(const PipelineOptions &options) {
  if (options.startAfter.empty() || options.stopAfter.empty())
    return;
  if (*findStage(options.stopAfter) <= *findStage(options.startAfter))
    throw CLI::ValidationError("--stop-after",
                               fmt::format("the stage '{}' does not come after '{}'",
                                           options.stopAfter, options.startAfter));
}

/// Checks that CLI11 cannot express; throws its errors.
static void completeCompile(CompileRequest &request, const std::string &emit) {
  checkStages(request.pipeline);
  if (request.tunes && emit.empty() && request.output.empty() && request.pipeline.stopAfter.empty())
    return; // only measures
  if (!emit.empty()) {
    std::optional<EmitKind> kind = parseEmitKind(emit);
    if (!kind)
      throw CLI::ValidationError("--emit", fmt::format("'{}' is not one of {}", emit, kEmitKinds));
    request.kind = *kind;
  }
  if (!request.pipeline.stopAfter.empty()) {
    if (emit.empty())
      request.kind = kindOfSuffix(request.output).value_or(EmitKind::Mlir);
    if (request.kind != EmitKind::Mlir && request.kind != EmitKind::Graph)
      throw CLI::ValidationError("--stop-after",
                                 "the output of a stage is written as mlir or graph");
  } else if (emit.empty()) {
    std::optional<EmitKind> kind = kindOfSuffix(request.output);
    if (!kind && request.output.empty())
      throw CLI::RequiredError("-o");
    if (!kind)
      throw CLI::ValidationError(
          "-o", fmt::format("the suffix of '{}' does not specify a kind of output: add --emit",
                            request.output));
    request.kind = *kind;
  }
  if (request.output.empty() && isText(request.kind))
    request.output = "-";
  if (request.output.empty())
    throw CLI::RequiredError("-o");
  if (request.output == "-" && !isText(request.kind))
    throw CLI::ValidationError("-o", "only text goes to standard output");
}

/// The form of the converted graph, by its suffix.
static void completeConvert(CompileRequest &request) {
  std::optional<EmitKind> kind = kindOfSuffix(request.output);
  if (kind != EmitKind::Graph && kind != EmitKind::FlatBuffer && kind != EmitKind::Mlir)
    throw CLI::ValidationError(
        "OUTPUT", fmt::format("'{}' is not a .graph, .tfg or .mlir file", request.output));
  request.kind = *kind;
  request.expressesDataflow = true;
  if (request.kind == EmitKind::Mlir)
    request.pipeline.stopAfter = "frontend";
}

/// Sets the entries of a file that declares none.
static void completeEntries(CompileRequest &request, const std::vector<std::string> &entries) {
  if (!entries.empty() && !needsEntries(request.input) && !isSavedModel(request.input))
    throw CLI::ValidationError(
        "--entry",
        fmt::format("only a {} file takes entries: all those that a graph declares are compiled",
                    entrySuffixes()));
  for (const std::string &text : entries) {
    std::string reason;
    std::optional<importer::EntrySpec> entry = parseEntry(request.input, text, reason);
    if (!entry)
      throw CLI::ValidationError("--entry", fmt::format("'{}': {}", text, reason));
    request.entries.push_back(std::move(*entry));
  }
}

/// A library was compiled for its devices.
static void checkPlacement(const CLI::App &command, const CompileRequest &request) {
  for (const char *option : {"--device", "--devices", "--placement"})
    if (StringRef(request.input).ends_with(".so") && command.count(option) > 0)
      throw CLI::ValidationError(option, "a compiled library has its devices; compile it again");
}

/// The entry to call is described for a file that declares none, otherwise it is named. Of a
/// SavedModel only this one is compiled.
static void completeCalled(CompileRequest &request, std::string &entry) {
  bool hasSignatures = isSavedModel(request.input);
  if (entry.empty() || !(needsEntries(request.input) || hasSignatures))
    return;
  completeEntries(request, {entry});
  entry = hasSignatures ? "" : request.entries.front().name;
}

/// Sizes are for generated feeds; `isGiven` says that feeds are given.
static void checkDims(const RunOptions &options, bool isGiven) {
  if (!options.dims.empty() && isGiven && llvm::none_of(options.feeds, isGeneratedFeed))
    throw CLI::ValidationError("--dim", "no feed takes its size: all are given");
}

static void complete(Parser &parser) {
  using Command = CommandLine::Command;
  CommandLine &result = parser.result;
  if (*parser.compile) {
    result.command = Command::Compile;
    checkTarget(result.compile);
    completeCompile(result.compile, parser.emit);
  } else if (*parser.check) {
    result.command = Command::Check;
  } else if (*parser.convert) {
    result.command = Command::Compile;
    completeConvert(result.compile);
  } else if (*parser.run) {
    result.command = Command::Run;
    checkTarget(result.run.compile);
    if (!result.run.caseFile.empty() &&
        (!result.run.feeds.empty() || !result.run.fetchFolder.empty()))
      throw CLI::ValidationError("--case", "the file determines feeds and fetches");
    bool generates = !result.run.compareWith.empty() && result.run.feeds.empty();
    bool isGiven = !result.run.feeds.empty() || !result.run.caseFile.empty();
    checkDims(result.run, isGiven && !generates);
    completeCalled(result.run.compile, result.run.entry);
    checkInputFlags(result.run.compile.input, result.run.compile.importOptions);
    checkPlacement(*parser.run, result.run.compile);
  } else if (*parser.bench) {
    result.command = Command::Bench;
    checkTarget(result.bench.compile);
    completeCalled(result.bench.compile, result.bench.entry);
    checkInputFlags(result.bench.compile.input, result.bench.compile.importOptions);
    checkPlacement(*parser.bench, result.bench.compile);
    result.bench.compile.keepSymbols = result.bench.kernels;
  } else if (*parser.show) {
    result.command = Command::Show;
    completeCalled(result.show.compile, result.show.entry);
    checkInputFlags(result.show.compile.input, result.show.compile.importOptions);
  } else if (*parser.profile) {
    result.command = Command::Profile;
    checkTarget(result.profile.run.compile);
    checkDims(result.profile.run, !result.profile.run.feeds.empty());
    if (result.profile.output == "-")
      throw CLI::ValidationError("-o", "the summary goes to standard output");
    completeCalled(result.profile.run.compile, result.profile.run.entry);
    checkInputFlags(result.profile.run.compile.input, result.profile.run.compile.importOptions);
  } else if (*parser.format) {
    result.command = Command::Format;
  } else {
    result.command = Command::Explain;
  }
  if (*parser.compile || *parser.check || *parser.convert) {
    completeEntries(result.compile, parser.entries);
    checkInputFlags(result.compile.input, result.compile.importOptions);
  }
}

/// Returns a suggestion for a word that is no command; empty if nothing is similar.
static std::string suggestCommand(StringRef word, llvm::ArrayRef<StringRef> commands) {
  if (word.ends_with(".graph") || needsEntries(word))
    return fmt::format("; write 'tfc compile {} -o libmodel.so' or 'tfc run {}'", word, word);
  StringRef meant = llvm::StringSwitch<StringRef>(word)
                        .Cases({"lint", "validate", "verify"}, "did you mean 'check'?")
                        .Cases({"print", "dump"}, "'tfc compile FILE --emit=graph' prints a module")
                        .Cases({"draw", "plot"}, "did you mean 'show'?")
                        .Cases({"build", "make"}, "did you mean 'compile'?")
                        .Case("format", "did you mean 'fmt'?")
                        .Case("help", "'tfc COMMAND --help' lists options")
                        .Case("version", "did you mean '--version'?")
                        .Default("");
  if (!meant.empty())
    return "; " + meant.str();
  StringRef similar = text::findSimilar(word, commands);
  return similar.empty() ? "" : "; did you mean '" + similar.str() + "'?";
}

/// Reports a first word that is not a command, which the parser would ignore.
static void checkCommand(CLI::App &app, int argc, char **argv) {
  if (argc < 2 || argv[1][0] == '-')
    return;
  llvm::SmallVector<StringRef> names;
  for (const CLI::App *command : app.get_subcommands(nullptr)) {
    if (command->check_name(argv[1]))
      return;
    names.push_back(command->get_name());
  }
  throw CLI::ValidationError(argv[1],
                             fmt::format("there is no such command; the commands are {}{}",
                                         llvm::join(names, ", "), suggestCommand(argv[1], names)));
}

/// Returns a suggestion for the first argument that the command does not know; empty if nothing is
/// similar.
static std::string suggestArgument(const CLI::App &app) {
  for (const CLI::App *command : app.get_subcommands()) {
    std::vector<std::string> unknown = command->remaining();
    llvm::SmallVector<StringRef> names;
    for (const CLI::Option *option : command->get_options())
      llvm::append_range(names, option->get_lnames());
    for (StringRef word : unknown) {
      bool takesFeeds = llvm::is_contained(names, "feed");
      StringRef similar = word.starts_with("--")
                              ? text::findSimilar(word.split('=').first.drop_front(2), names)
                              : "";
      if (!similar.empty())
        return fmt::format("did you mean '--{}'?", similar);
      if (takesFeeds && !word.starts_with("-"))
        return fmt::format("write '--{}{}'", StringRef(word.contains('=') ? "feed " : "entry "),
                           word);
    }
  }
  return "";
}

std::optional<CommandLine> tfc::parseCommandLine(int argc, char **argv, int &exitCode) {
  Parser parser;
  try {
    checkCommand(parser.app, argc, argv);
    parser.app.parse(argc, argv);
    complete(parser);
    return parser.result;
  } catch (const CLI::ParseError &error) {
    exitCode = parser.app.exit(error) == 0 ? 0 : 2;
    if (std::string help = exitCode ? suggestArgument(parser.app) : ""; !help.empty())
      llvm::errs() << "help: " << help << '\n';
    return std::nullopt;
  }
}
