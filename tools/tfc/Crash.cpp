// Handles crashes. Everything here is safe in a signal handler; what LLVM's handlers do is not.
#include "tools/tfc/Crash.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include <csignal>
#include <cstring>
#include <ctime>
#include <unistd.h>

/// Not alarm(), which LLVM sets and cancels while it prints.
static timer_t timer;
static itimerspec limit = {};

static void print(const char *text) {
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text, strlen(text));
}

static void endProcess(int) {
  print("tfc: there is no more about the crash: the memory is damaged\n");
  signal(SIGABRT, SIG_DFL);
  raise(SIGABRT);
}

static void beginCrash(void *) {
  print("tfc crashed: please report it with the command and its input.\n");
  signal(SIGALRM, endProcess);
  timer_settime(timer, 0, &limit, nullptr);
}

void tfc::installCrashHandler(unsigned seconds) {
  sigevent event = {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGALRM;
  limit.it_value.tv_sec = seconds;
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  llvm::setBugReportMsg("");
  // Handlers run in the order in which they are added.
  llvm::sys::AddSignalHandler(beginCrash, nullptr);
}
