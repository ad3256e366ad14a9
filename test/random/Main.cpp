//===- Main.cpp - Random programs, compared and counted -------------------===//
//
//   tfc-random --count=1000               programs 0 to 999
//   tfc-random --first=4711 --count=1 --print
//   tfc-random FILE.graph...              programs from files
//
// Worker processes compare, so that a crash is a failure like others.
//
//===----------------------------------------------------------------------===//

#include "Compare.h"
#include "RoundTrip.h"
#include "Workers.h"
#include "dialects/dfg/OpTable.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace mlir;
using namespace tfc::random;
namespace cl = llvm::cl;

static cl::OptionCategory category("Random programs");
static cl::list<std::string> files(cl::Positional, cl::desc("FILE..."), cl::cat(category));
static cl::opt<uint64_t> first("first", cl::desc("The first program"), cl::cat(category));
static cl::opt<uint64_t> count("count", cl::desc("How many programs"), cl::init(100),
                               cl::cat(category));
static cl::opt<unsigned> jobs("jobs", cl::desc("Processes at once"), cl::init(1),
                              cl::cat(category));
static cl::opt<unsigned> variants("variants", cl::desc("Ways in which each program is compiled"),
                                  cl::init(1), cl::cat(category));
static cl::opt<bool> forAll("all-targets", cl::desc("Compile each for all processors, not for one"),
                            cl::cat(category));
static cl::opt<unsigned> scale("scale", cl::desc("Make programs so many times as long, and deeper"),
                               cl::init(1), cl::cat(category));
static cl::opt<bool> hasGraphs("graphs", cl::desc("Draw `dataflow` blocks, too"),
                               cl::cat(category));
static cl::opt<bool> hasDevices("devices",
                                cl::desc("Draw devices of operations and variables, too"),
                                cl::cat(category));
static cl::opt<std::string> device("device", cl::desc("The device of what says nothing about it"),
                                   cl::cat(category));
static cl::opt<unsigned> limit("seconds", cl::desc("How long a program may take"), cl::init(60),
                               cl::cat(category));
static cl::opt<unsigned> mostFailures("failures", cl::desc("Stop after that many failures"),
                                      cl::init(10), cl::cat(category));
static cl::opt<std::string> folder("out", cl::desc("Where shrunken programs go"), cl::init("."),
                                   cl::cat(category));
static cl::opt<bool> shrinks("shrink", cl::desc("Make failing programs small"), cl::init(true),
                             cl::cat(category));
static cl::opt<unsigned> mostSeconds("shrink-seconds", cl::desc("How long to make one small"),
                                     cl::init(60), cl::cat(category));
static cl::opt<bool> printsOnly("print", cl::desc("Print the programs"), cl::cat(category));
static cl::opt<bool> interpretsOnly("interpret",
                                    cl::desc("Run the oracle alone, compare gradients"),
                                    cl::cat(category));
static cl::opt<bool> readsText("text", cl::desc("Write them as graph text and read that, only"),
                               cl::cat(category));
static cl::opt<bool> comparesFiles("same", cl::desc("Say whether two files are the same graph"),
                                   cl::cat(category));
static cl::opt<bool> printsCoverage("coverage", cl::desc("Count what was executed"),
                                    cl::cat(category));

namespace {

/// A program to compare: a seed or a file.
struct Job {
  uint64_t seed;
  std::string file;

  std::string name() const { return file.empty() ? "program " + std::to_string(seed) : file; }
};

} // namespace

static FailureOr<Program> load(MLIRContext &context, const Job &job) {
  if (!job.file.empty())
    return readProgram(context, job.file);
  return makeProgram(context, job.seed, {scale, hasGraphs, hasDevices});
}

static std::unique_ptr<MLIRContext> makeContext() {
  auto context =
      std::make_unique<MLIRContext>(tfc::makeDialectRegistry(), MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  context->printOpOnDiagnostic(false);
  return context;
}

/// How often each program is compiled.
static unsigned variantCount() { return variants * (forAll ? getTargets().size() : 1); }

static Variant variantOf(const Job &job, unsigned number) {
  unsigned draw = forAll ? number / getTargets().size() : number;
  std::string name = job.file.empty() ? job.name() : llvm::sys::path::stem(job.file).str();
  Variant variant = makeVariant(job.seed + draw * 0x10000000, drawTarget(name, number));
  variant.pipeline.device = device;
  return variant;
}

/// Compares one program in all variants.
static std::string runJob(const Job &job, Counts &counts) {
  std::unique_ptr<MLIRContext> context = makeContext();
  FailureOr<Program> program = load(*context, job);
  if (failed(program))
    return "cannot be read";
  if (interpretsOnly)
    return interpret(*program, counts);
  if (readsText)
    return roundTrip(*program, counts);
  for (unsigned i = 0; i < variantCount(); ++i) {
    Variant variant = variantOf(job, i);
    if (std::string text = compare(*program, variant, counts); !text.empty())
      return "tfc " + variant.text() + ": " + text;
  }
  return "";
}

static bool isFailure(const std::string &text) {
  return !text.empty() && !StringRef(text).contains("[no-gradient]");
}

/// The kind of a failure: refusals differ from wrong results and from other refusals.
static StringRef kindOf(StringRef text) {
  StringRef way = text.take_while([](char c) { return c != ' '; });
  if (way == "divided:" || way == "undivided:")
    text = text.drop_front(way.size() + 1);
  return text.starts_with("refused") ? text.take_front(40) : "";
}

/// The failure of a program that takes longer than it may.
static constexpr StringLiteral kLate = "took too long";
/// How long a smaller program may take until it has the same fault as one that took too long.
static constexpr unsigned kLateSeconds = 5;

/// Shrinks and writes a program that fails.
static void keep(const Job &job, const std::string &text) {
  std::unique_ptr<MLIRContext> context = makeContext();
  FailureOr<Program> program = load(*context, job);
  if (failed(program))
    return;
  bool isLate = text == kLate;
  unsigned seconds = isLate ? std::min(limit / 4, kLateSeconds) : limit / 4;
  auto failsIn = [&](const Variant &variant, const Program &candidate) {
    return runApart(seconds, [&](Counts &counts) { return compare(candidate, variant, counts); });
  };
  unsigned number = 0;
  while (number + 1 < variantCount() && !isFailure(failsIn(variantOf(job, number), *program)))
    ++number;
  Variant variant = variantOf(job, number), quick = variant;
  quick.llvmLevel = 0;
  if (isFailure(failsIn(quick, *program)))
    variant = quick;
  std::string whole = failsIn(variant, *program);
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(mostSeconds);
  if (shrinks)
    shrink(*program, [&](const Program &candidate) {
      if (std::chrono::steady_clock::now() > end)
        return false;
      std::string now = failsIn(variant, candidate);
      if ((now == kLate) != isLate)
        return false;
      return isFailure(now) && kindOf(now) == kindOf(whole);
    });
  llvm::sys::fs::create_directories(folder);
  std::string path =
      writeProgram(*program, folder + "/failure" + std::to_string(job.seed),
                   job.name() + "\ntfc " + variant.text() + ": " + failsIn(variant, *program));
  llvm::outs() << "  small: " << path << '\n';
}

static void printCoverage(const Counts &counts) {
  llvm::outs() << "operations executed:";
  for (const auto &[name, times] : counts.executed)
    llvm::outs() << ' ' << name << '=' << times;
  llvm::outs() << "\nnever executed:";
  for (const tfc::dfg::OpSignature &op : tfc::dfg::allOps())
    if (!op.operands.empty() && !isLeftOut(op.name) && !counts.executed.count(op.name.str()))
      llvm::outs() << ' ' << op.name;
  llvm::outs() << '\n';
}

/// Prints the targets whose code this processor cannot run.
static void printOtherTargets() {
  for (StringRef target : getTargets())
    if (!interpretsOnly && !readsText && !canRun(target))
      llvm::outs() << "this processor cannot run code for " << target
                   << ": programs are compiled for it, and run as native code\n";
}

static void printSummary(size_t programs, unsigned failures, const Counts &counts) {
  llvm::outs() << programs << " programs, " << counts.calls << " calls, " << counts.refusedCalls
               << " of them refused, " << counts.elements << " elements, " << counts.undetermined
               << " of them undetermined, " << failures << " failures\n";
  if (hasDevices || !device.empty())
    llvm::outs() << counts.divided << " programs on several devices\n";
  for (const auto &[reason, times] : counts.reasons)
    llvm::outs() << times << " programs not finished: " << reason << '\n';
}

static int compareTwo() {
  if (files.size() != 2) {
    llvm::errs() << "tfc-random: --same takes two files\n";
    return 2;
  }
  std::string difference = compareFiles(*makeContext(), files[0], files[1]);
  if (!difference.empty())
    llvm::outs() << difference << '\n';
  return !difference.empty();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "Compares random programs with the reference\n");
  std::vector<Job> all;
  for (const std::string &file : files)
    all.push_back({0, file});
  for (uint64_t seed = first; files.empty() && seed < first + count; ++seed)
    all.push_back({seed, ""});
  if (printsOnly) {
    for (const Job &job : all) {
      std::unique_ptr<MLIRContext> context = makeContext();
      if (FailureOr<Program> program = load(*context, job); succeeded(program))
        llvm::outs() << toText(*program, job.name() + ": tfc " + variantOf(job, 0).text()) << '\n';
    }
    return 0;
  }
  if (comparesFiles)
    return compareTwo();
  printOtherTargets();
  Counts counts;
  unsigned failures = 0;
  size_t done = runWorkers(
      all.size(), jobs, limit, [&](size_t i, Counts &own) { return runJob(all[i], own); },
      [&](size_t i, const std::string &text, const Counts &own) {
        counts.add(own);
        if (!isFailure(text))
          return true;
        llvm::outs() << all[i].name() << ": " << text << '\n';
        llvm::outs().flush();
        if (!interpretsOnly && !readsText)
          keep(all[i], text);
        return ++failures < mostFailures;
      });
  printSummary(done, failures, counts);
  if (printsCoverage)
    printCoverage(counts);
  return failures != 0;
}
