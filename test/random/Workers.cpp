//===- Workers.cpp - Work in processes of its own -------------------------===//
//
// Runs pieces of work in processes, so that a crash or an endless loop ends one piece only. It does
// not know what the work is.
//
//===----------------------------------------------------------------------===//

#include "Workers.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace json = llvm::json;

namespace tfc::random {

//===----------------------------------------------------------------------===//
// The result of a piece of work: one line of JSON
//===----------------------------------------------------------------------===//

static std::string toLine(size_t number, const std::string &text, const Counts &counts) {
  json::Object executed;
  for (const auto &[name, times] : counts.executed)
    executed[name] = times;
  json::Object record{{"number", int64_t(number)},
                      {"text", json::fixUTF8(text)},
                      {"numbers", json::Array{counts.calls, counts.refusedCalls, counts.elements,
                                              counts.undetermined, counts.divided}},
                      {"unsupported", counts.unsupported},
                      {"executed", std::move(executed)}};
  std::string line;
  llvm::raw_string_ostream(line) << json::Value(std::move(record)) << '\n';
  return line;
}

static bool readLine(llvm::StringRef line, size_t &number, std::string &text, Counts &counts) {
  llvm::Expected<json::Value> value = json::parse(line);
  if (!value) {
    llvm::consumeError(value.takeError());
    return false;
  }
  const json::Object &record = *value->getAsObject();
  number = *record.getInteger("number");
  text = record.getString("text")->str();
  const json::Array &numbers = *record.getArray("numbers");
  counts.calls = *numbers[0].getAsInteger();
  counts.refusedCalls = *numbers[1].getAsInteger();
  counts.elements = *numbers[2].getAsInteger();
  counts.undetermined = *numbers[3].getAsInteger();
  counts.divided = *numbers[4].getAsInteger();
  counts.unsupported = record.getString("unsupported")->str();
  for (const auto &[name, times] : *record.getObject("executed"))
    counts.executed[name.str()] = *times.getAsInteger();
  return true;
}

//===----------------------------------------------------------------------===//
// Processes
//===----------------------------------------------------------------------===//

using Clock = std::chrono::steady_clock;

namespace {

struct Worker {
  pid_t process;
  int pipe;
  std::vector<size_t> pieces; // that it has, in order
  Clock::time_point end;      // of the time for the current one
  size_t done = 0;
  bool isLate = false;
  std::string pending; // of a line
};

} // namespace

/// A signal ends the process at once. Handlers would allocate memory, and wait forever if the crash
/// left the heap locked.
static void restoreSignals() {
  for (int number = 1; number < NSIG; ++number)
    (void)std::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] static void runPieces(llvm::ArrayRef<size_t> pieces, int pipe, Work work) {
  setpgid(0, 0); // to end with the linkers that it starts
  restoreSignals();
  for (size_t piece : pieces) {
    Counts counts;
    std::string text = work(piece, counts);
    std::string line = toLine(piece, text, counts);
    for (size_t at = 0; at < line.size();) {
      ssize_t written = write(pipe, line.data() + at, line.size() - at);
      if (written <= 0)
        _exit(1);
      at += written;
    }
  }
  _exit(0);
}

static Worker start(std::vector<size_t> pieces, unsigned mostSeconds, Work work) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) // what a worker starts may outlive it
    abort();
  llvm::outs().flush();
  pid_t process = fork();
  if (process < 0)
    abort();
  if (process == 0) {
    close(ends[0]);
    runPieces(pieces, ends[1], work);
  }
  close(ends[1]);
  Clock::time_point end = Clock::now() + std::chrono::seconds(mostSeconds);
  return {process, ends[0], std::move(pieces), end, 0, false, ""};
}

static void kill(const Worker &worker) {
  ::kill(-worker.process, SIGKILL);
  ::kill(worker.process, SIGKILL); // before it has a group of its own
}

/// Reads the available lines; returns false at the end.
static bool receive(Worker &worker, Take take, bool &goesOn) {
  char buffer[1 << 14];
  ssize_t bytes = read(worker.pipe, buffer, sizeof(buffer));
  if (bytes <= 0)
    return false;
  worker.pending.append(buffer, bytes);
  size_t end;
  while ((end = worker.pending.find('\n')) != std::string::npos) {
    size_t number;
    std::string text;
    Counts counts;
    if (readLine(llvm::StringRef(worker.pending).take_front(end), number, text, counts)) {
      ++worker.done;
      goesOn = goesOn && take(number, text, counts);
    }
    worker.pending.erase(0, end + 1);
  }
  return true;
}

/// How a process ended that had work left.
static std::string reasonOf(const Worker &worker, int status) {
  if (worker.isLate)
    return "took too long";
  if (WIFSIGNALED(status))
    return std::string("crashed: ") + strsignal(WTERMSIG(status));
  return "ended with " + std::to_string(WEXITSTATUS(status));
}

namespace {

class Pool {
public:
  Pool(size_t count, unsigned jobs, unsigned mostSeconds, Work work, Take take)
      : count(count), jobs(std::max(1u, jobs)), mostSeconds(mostSeconds), work(work), take(take) {}

  size_t run() {
    for (refill(); !workers.empty(); refill()) {
      std::vector<bool> isReady = wait();
      for (size_t i = workers.size(); i-- > 0;)
        if (!serve(workers[i], isReady[i]))
          end(i);
    }
    return done;
  }

private:
  void refill();
  std::vector<bool> wait();
  bool serve(Worker &worker, bool isReady);
  void end(size_t i);
  void startOn(std::vector<size_t> pieces) {
    workers.push_back(start(std::move(pieces), mostSeconds, work));
  }

  size_t count, jobs;
  unsigned mostSeconds;
  Work work;
  Take take;
  std::vector<Worker> workers;
  size_t next = 0, done = 0;
  bool goesOn = true;
};

} // namespace

void Pool::refill() {
  // Few pieces for each, so that they leak little memory.
  constexpr size_t kPieces = 25;
  while (goesOn && workers.size() < jobs && next < count) {
    std::vector<size_t> pieces;
    for (; next < count && pieces.size() < kPieces; ++next)
      pieces.push_back(next);
    startOn(std::move(pieces));
  }
}

/// Waits until a worker writes a line or exceeds its time; returns those that do.
std::vector<bool> Pool::wait() {
  std::vector<pollfd> polls;
  Clock::time_point first = workers.front().end;
  for (const Worker &worker : workers) {
    polls.push_back({worker.pipe, POLLIN, 0});
    first = std::min(first, worker.end);
  }
  auto left = std::chrono::ceil<std::chrono::milliseconds>(first - Clock::now());
  poll(polls.data(), polls.size(), std::max<int64_t>(left.count(), 0));
  std::vector<bool> isReady;
  for (const pollfd &entry : polls)
    isReady.push_back(entry.revents != 0);
  return isReady;
}

/// Reads a worker's output; returns false if the worker has ended.
bool Pool::serve(Worker &worker, bool isReady) {
  if (!goesOn)
    return false;
  size_t before = worker.done;
  if (isReady && !receive(worker, take, goesOn))
    return false;
  if (worker.done != before)
    worker.end = Clock::now() + std::chrono::seconds(mostSeconds);
  worker.isLate = Clock::now() >= worker.end;
  return goesOn && !worker.isLate;
}

/// Removes a worker. Its current piece has failed; other workers take the following ones.
void Pool::end(size_t i) {
  Worker worker = std::move(workers[i]);
  workers.erase(workers.begin() + i);
  if (!goesOn || worker.isLate)
    kill(worker);
  int status = 0;
  waitpid(worker.process, &status, 0);
  ::kill(-worker.process, SIGKILL); // what it started and a crash left
  close(worker.pipe);
  done += worker.done;
  std::vector<size_t> rest(worker.pieces.begin() + worker.done, worker.pieces.end());
  if (!goesOn || rest.empty())
    return;
  ++done;
  goesOn = take(rest.front(), reasonOf(worker, status), {});
  rest.erase(rest.begin());
  if (goesOn && !rest.empty())
    startOn(std::move(rest));
}

size_t runWorkers(size_t count, unsigned jobs, unsigned mostSeconds, Work work, Take take) {
  return Pool(count, jobs, mostSeconds, work, take).run();
}

std::string runApart(unsigned mostSeconds, llvm::function_ref<std::string(Counts &counts)> work) {
  std::string result;
  runWorkers(
      1, 1, mostSeconds, [&](size_t, Counts &counts) { return work(counts); },
      [&](size_t, const std::string &text, const Counts &) {
        result = text;
        return true;
      });
  return result;
}

} // namespace tfc::random
