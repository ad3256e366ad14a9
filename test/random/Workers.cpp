//===- Workers.cpp - Work in processes of its own ---------------------------===//

#include "Workers.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace json = llvm::json;

namespace tfc::random {

//===----------------------------------------------------------------------===//
// What is said about a piece of work: one line of JSON
//===----------------------------------------------------------------------===//

static std::string toLine(size_t number, const std::string &text, const Counts &counts) {
  json::Object executed;
  for (const auto &[name, times] : counts.executed)
    executed[name] = times;
  json::Object record{{"number", int64_t(number)},
                      {"text", json::fixUTF8(text)},
                      {"numbers", json::Array{counts.calls, counts.refusedCalls, counts.elements,
                                              counts.undetermined}},
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
  counts.unsupported = record.getString("unsupported")->str();
  for (const auto &[name, times] : *record.getObject("executed"))
    counts.executed[name.str()] = *times.getAsInteger();
  return true;
}

//===----------------------------------------------------------------------===//
// Processes
//===----------------------------------------------------------------------===//

namespace {

struct Worker {
  pid_t process;
  int pipe;
  std::vector<size_t> pieces; // that it has, in order
  size_t done = 0;
  std::string pending; // of a line
};

} // namespace

static Worker start(std::vector<size_t> pieces, unsigned mostSeconds, Work work) {
  int ends[2];
  if (pipe(ends) != 0)
    abort();
  llvm::outs().flush();
  pid_t process = fork();
  if (process != 0) {
    close(ends[1]);
    return {process, ends[0], std::move(pieces), 0, ""};
  }
  close(ends[0]);
  std::signal(SIGALRM, SIG_DFL);
  for (size_t piece : pieces) {
    alarm(mostSeconds);
    Counts counts;
    std::string text = work(piece, counts);
    std::string line = toLine(piece, text, counts);
    for (size_t at = 0; at < line.size();) {
      ssize_t written = write(ends[1], line.data() + at, line.size() - at);
      if (written <= 0)
        _exit(1);
      at += written;
    }
  }
  _exit(0);
}

/// Takes the lines that are there; false at the end.
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
static std::string reasonOf(int status) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    return "took too long";
  if (WIFSIGNALED(status))
    return std::string("crashed: ") + strsignal(WTERMSIG(status));
  return "ended with " + std::to_string(WEXITSTATUS(status));
}

size_t runWorkers(size_t count, unsigned jobs, unsigned mostSeconds, Work work, Take take) {
  // Few pieces for each, so that what they leak stays small.
  constexpr size_t kPieces = 25;
  std::vector<Worker> workers;
  size_t next = 0, done = 0;
  bool goesOn = true;
  auto refill = [&] {
    while (goesOn && workers.size() < std::max(1u, jobs) && next < count) {
      std::vector<size_t> pieces;
      for (; next < count && pieces.size() < kPieces; ++next)
        pieces.push_back(next);
      workers.push_back(start(std::move(pieces), mostSeconds, work));
    }
  };
  for (refill(); !workers.empty(); refill()) {
    std::vector<pollfd> polls;
    for (Worker &worker : workers)
      polls.push_back({worker.pipe, POLLIN, 0});
    poll(polls.data(), polls.size(), -1);
    for (size_t i = workers.size(); i-- > 0;) {
      Worker &worker = workers[i];
      if (!polls[i].revents || (goesOn && receive(worker, take, goesOn)))
        continue;
      if (!goesOn)
        kill(worker.process, SIGKILL);
      int status = 0;
      waitpid(worker.process, &status, 0);
      close(worker.pipe);
      std::vector<size_t> rest(worker.pieces.begin() + worker.done, worker.pieces.end());
      done += worker.done;
      workers.erase(workers.begin() + i);
      if (!goesOn || rest.empty())
        continue;
      ++done;
      goesOn = take(rest.front(), reasonOf(status), {});
      rest.erase(rest.begin());
      if (goesOn && !rest.empty())
        workers.push_back(start(std::move(rest), mostSeconds, work));
    }
  }
  return done;
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
