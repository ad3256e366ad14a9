//===- Main.cpp - tfc-fuzz: damaged files for every reader ----------------===//
//
//   tfc-fuzz --reader=text --count=1000 --out=found test/frontend
//   tfc-fuzz --reader=text found/text-17.graph --repeat
//
// Inputs are made of the files that the command line names, or of those below
// the folders that it names. Each is read in a process of its own. A process that
// ends with neither a result nor an error is a failure.
//
//===----------------------------------------------------------------------===//

#include "Readers.h"
#include "compiler/pipeline/Pipeline.h"
#include "test/random/Workers.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

using namespace llvm;
using namespace tfc;
using namespace tfc::fuzz;

static cl::opt<std::string> readerName("reader", cl::Required,
                                       cl::desc("text, graphdef, savedmodel, checkpoint, onnx, "
                                                "flatbuffer, mlir, npy, npz, safetensors or case"));
static cl::list<std::string> paths(cl::Positional, cl::desc("<files and folders>"));
static cl::opt<uint64_t> first("first", cl::desc("The number of the first input"));
static cl::opt<uint64_t> inputCount("count", cl::init(1000), cl::desc("How many inputs"));
static cl::opt<uint64_t> seed("seed", cl::init(1), cl::desc("The seed of all inputs"));
static cl::opt<unsigned> jobs("jobs", cl::init(1), cl::desc("Processes at a time"));
static cl::opt<unsigned> mostSeconds("seconds", cl::init(20),
                                     cl::desc("For one input, of the processor's time"));
static cl::opt<unsigned> megabytes("megabytes", cl::init(3000), cl::desc("For one process"));
static cl::opt<unsigned> shrinkSeconds("shrink-seconds", cl::init(60),
                                       cl::desc("To make a failing input small"));
static cl::opt<std::string> outFolder("out", cl::init("found"), cl::desc("Where failures go"));
static cl::opt<std::string> firstStage("after-stage",
                                       cl::desc("The stage that modules are after when read"));
static cl::opt<std::string> lastStage("last-stage", cl::init("fusion"),
                                      cl::desc("The last stage that graphs go through"));
static cl::opt<bool> isRepeated("repeat", cl::desc("Read one file as it is, with what it prints"));

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
/// MLIR keeps interned objects, and a huge allocation is a failure. LLVM's allocators poison memory
/// in code that is compiled here, but do not unpoison it in LLVM's libraries.
extern "C" const char *__asan_default_options() {
  return "detect_leaks=0:allocator_may_return_null=0:max_allocation_size_mb=2048:"
         "handle_abort=1:detect_odr_violation=0:allow_user_poisoning=0";
}
#endif
#endif

//===----------------------------------------------------------------------===//
// One input
//===----------------------------------------------------------------------===//

namespace {
struct Seed {
  std::string folder, text;
};
} // namespace

static const Reader *reader;
static std::vector<Seed> seeds;
static std::vector<std::string> corpus;
static std::vector<std::pair<size_t, size_t>> cuts; // seeds cut off at a length
static SmallString<128> workFolder;

static constexpr int kTooLong = 98, kTooLarge = 99; // exit codes
static clock_t started;

/// Ends a process that takes too long or too much memory: sanitizers do not work with limits on the
/// address space, and other processes may run at the same time.
static void checkLimits(int) {
  if ((clock() - started) / CLOCKS_PER_SEC >= mostSeconds)
    _exit(kTooLong);
  char text[64] = {};
  int file = open("/proc/self/statm", O_RDONLY);
  ssize_t length = file < 0 ? 0 : read(file, text, sizeof(text) - 1);
  if (file >= 0)
    close(file);
  const char *resident = length > 0 ? strchr(text, ' ') : nullptr;
  if (resident && strtoull(resident, nullptr, 10) >> 8 > megabytes)
    _exit(kTooLarge);
}

static void setLimits() {
  started = clock();
  struct sigaction action = {};
  action.sa_handler = checkLimits;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  itimerval often = {{0, 50000}, {0, 50000}};
  setitimer(ITIMER_REAL, &often, nullptr);
}

static std::string inputOf(size_t number, std::string &folder) {
  if (number < cuts.size()) {
    folder = seeds[cuts[number].first].folder;
    return seeds[cuts[number].first].text.substr(0, cuts[number].second);
  }
  Draw draw(seed * 0x2545f4914f6cdd1d + number);
  const Seed &chosen = draw.of(seeds);
  folder = chosen.folder;
  return reader->mutate(chosen.text, corpus, draw);
}

static void writeFile(StringRef path, StringRef text) {
  std::error_code error;
  raw_fd_ostream os(path, error);
  os << text;
}

/// Reads an input in this process and returns an error, or nothing. A result starts with "+".
static std::string execute(StringRef input, StringRef folder) {
  setLimits();
  SmallString<128> path(workFolder), log(workFolder);
  std::string stem = "/" + std::to_string(getpid());
  path += stem + reader->suffix.str();
  log += stem + ".log";
  writeFile(path, input);
  int file = open(log.c_str(), O_CREAT | O_TRUNC | O_RDWR | O_APPEND, 0600);
  dup2(file, STDERR_FILENO);
  close(file);
  Verdict verdict = reader->read(path, folder);
  auto printed = MemoryBuffer::getFile(log);
  StringRef text = printed ? (*printed)->getBuffer() : StringRef();
  sys::fs::remove(path);
  sys::fs::remove(log);
  if (text.contains("internal error"))
    return "internal error: " + text.substr(0, 2000).str();
  if (verdict == Verdict::Refused && !text.contains("error: "))
    return "refused without an error";
  return verdict == Verdict::Accepted ? "+" : "";
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

static bool isFailure(StringRef result) { return !result.empty() && result != "+"; }

/// Limits elapsed time, in which an input may also wait for other processes.
static unsigned mostWallSeconds() { return 10 * mostSeconds; }

/// A text that failures with the same cause have in common, roughly.
static StringRef kindOf(StringRef result) { return result.split('\n').first.take_front(60); }

static std::string executeApart(StringRef input, StringRef folder) {
  return random::runApart(mostWallSeconds(),
                          [&](random::Counts &) { return execute(input, folder); });
}

/// Leaves out parts while the input fails in the same way.
static std::string shrink(std::string input, StringRef folder, StringRef kind) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point end = Clock::now() + std::chrono::seconds(shrinkSeconds);
  for (size_t part = std::max<size_t>(1, input.size() / 2); Clock::now() < end;) {
    bool isSmaller = false;
    for (size_t at = 0; at < input.size() && Clock::now() < end;) {
      std::string candidate = input;
      candidate.erase(at, part);
      if (kindOf(executeApart(candidate, folder)) == kind) {
        input = candidate;
        isSmaller = true;
      } else {
        at += part;
      }
    }
    if (part == 1 && !isSmaller)
      break;
    part = std::max<size_t>(1, part / 2);
  }
  return input;
}

/// Describes a result, with the meaning of the exit codes of limits.
static StringRef explain(StringRef result) {
  if (result == "ended with " + std::to_string(kTooLong))
    return "took too long";
  return result == "ended with " + std::to_string(kTooLarge) ? "took too much memory" : result;
}

static void report(size_t number, StringRef result) {
  std::string folder, input = inputOf(number, folder);
  std::string small = shrink(input, folder, kindOf(result));
  std::string path = outFolder + "/" + reader->name.str() + "-" + std::to_string(number);
  writeFile(path + reader->suffix.str(), small);
  if (small != input)
    writeFile(path + ".whole" + reader->suffix.str(), input);
  outs() << reader->name << " " << number << ": " << explain(result)
         << "\n  tfc-fuzz --reader=" << reader->name << " --repeat " << path << reader->suffix
         << "\n";
  outs().flush();
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

static void addSeed(StringRef path) {
  constexpr size_t kMaxSeed = 100000;
  auto file = MemoryBuffer::getFile(path);
  if (!file || (*file)->getBufferSize() > kMaxSeed)
    return;
  std::string folder = sys::path::parent_path(path).str();
  SmallVector<StringRef> parts{(*file)->getBuffer()};
  if (reader->suffix == ".mlir") {
    parts.clear();
    (*file)->getBuffer().split(parts, "// -----");
  }
  for (StringRef part : parts)
    seeds.push_back({folder, part.str()});
}

static void addSeeds(StringRef path) {
  if (!sys::fs::is_directory(path))
    return addSeed(path);
  std::vector<std::string> found;
  std::error_code error;
  for (sys::fs::recursive_directory_iterator at(path, error), end; at != end && !error;
       at.increment(error))
    if (StringRef(at->path()).ends_with(reader->suffix))
      found.push_back(at->path());
  llvm::sort(found);
  for (const std::string &file : found)
    addSeed(file);
}

/// Small files are cut off at each length.
static void addCuts() {
  constexpr size_t kMaxCut = 300, kMaxCuts = 400;
  for (auto [i, file] : enumerate(seeds))
    for (size_t length = 0; file.text.size() <= kMaxCut && length < file.text.size(); ++length)
      if (cuts.size() < kMaxCuts)
        cuts.emplace_back(i, length);
}

static int repeat() {
  for (const Seed &file : seeds) {
    SmallString<128> path(workFolder);
    path += "/input" + reader->suffix.str();
    writeFile(path, file.text);
    bool isAccepted = reader->read(path, file.folder) == Verdict::Accepted;
    outs() << (isAccepted ? "accepted\n" : "refused\n");
  }
  return 0;
}

static int run() {
  size_t accepted = 0, refused = 0, failures = 0;
  sys::fs::create_directories(outFolder);
  random::runWorkers(
      inputCount, jobs, mostWallSeconds(),
      [](size_t i, random::Counts &) {
        std::string folder, input = inputOf(first + i, folder);
        return execute(input, folder);
      },
      [&](size_t i, const std::string &result, const random::Counts &) {
        if (isFailure(result))
          report(first + i, result);
        ++(isFailure(result) ? failures : result == "+" ? accepted : refused);
        return true;
      });
  outs() << reader->name << ": " << inputCount << " inputs of " << seeds.size() << " files, "
         << accepted << " accepted, " << refused << " refused, " << failures << " failures\n";
  return failures ? 1 : 0;
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "Feeds damaged files to the readers of tfc\n");
  reader = llvm::find_if(getReaders(), [](const Reader &r) { return r.name == readerName; });
  if (reader == getReaders().end()) {
    errs() << "tfc-fuzz: there is no reader '" << readerName << "'\n";
    return 2;
  }
  for (const std::string &stage : {firstStage.getValue(), lastStage.getValue()})
    if (!stage.empty() && !findStage(stage)) {
      errs() << "tfc-fuzz: there is no stage '" << stage << "'\n";
      return 2;
    }
  if (std::error_code error = sys::fs::createUniqueDirectory("tfc-fuzz", workFolder)) {
    errs() << "tfc-fuzz: " << error.message() << '\n';
    return 2;
  }
  startAfter = firstStage;
  stopAfter = lastStage;
  for (const std::string &path : paths)
    addSeeds(path);
  if (reader->name == "safetensors" && seeds.empty()) {
    SmallString<128> path(workFolder);
    path += "/seed.safetensors";
    writeCheckpoint(path);
    addSeed(path);
  }
  if (seeds.empty()) {
    errs() << "tfc-fuzz: expected files that end in " << reader->suffix << '\n';
    return 2;
  }
  for (const Seed &file : seeds)
    corpus.push_back(file.text);
  addCuts();
  int exitCode = isRepeated ? repeat() : run();
  sys::fs::remove_directories(workFolder);
  return exitCode;
}
