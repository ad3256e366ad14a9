//===- WorkersTest.cpp - However a worker ends, the others go on ----------===//
//
// Tests that all other pieces of work are done, however a worker ends.
//
//===----------------------------------------------------------------------===//

#include "Workers.h"
#include "gtest/gtest.h"
#include <csignal>
#include <unistd.h>

using namespace tfc::random;

/// Does three pieces, `fault` in the second; returns the result of each.
static std::vector<std::string> runThree(unsigned jobs, llvm::function_ref<void()> fault) {
  std::vector<std::string> texts(3, "missing");
  size_t done = runWorkers(
      3, jobs, /*mostSeconds=*/2,
      [&](size_t piece, Counts &counts) -> std::string {
        counts.calls = 10 + piece;
        if (piece == 1)
          fault();
        return "";
      },
      [&](size_t piece, const std::string &text, const Counts &counts) {
        texts[piece] = text + (counts.calls ? "" : "!");
        return true;
      });
  EXPECT_EQ(done, 3u);
  return texts;
}

using Texts = std::vector<std::string>;

TEST(Workers, DoAllPieces) {
  EXPECT_EQ(runThree(2, [] {}), (Texts{"", "", ""}));
}

TEST(Workers, MayCrash) {
  EXPECT_EQ(runThree(1, [] { raise(SIGSEGV); }), (Texts{"", "crashed: Segmentation fault!", ""}));
  EXPECT_EQ(runThree(2, [] { abort(); }), (Texts{"", "crashed: Aborted!", ""}));
  EXPECT_EQ(runThree(1, [] { _exit(3); }), (Texts{"", "ended with 3!", ""}));
}

// Signal handlers of the parent are not run in a crashed worker: they might wait for a lock that it
// holds.
TEST(Workers, DieWithoutHandlers) {
  auto waits = [](int) { pause(); };
  auto *before = std::signal(SIGSEGV, waits);
  EXPECT_EQ(runThree(1, [] { raise(SIGSEGV); }), (Texts{"", "crashed: Segmentation fault!", ""}));
  (void)std::signal(SIGSEGV, before);
}

TEST(Workers, MayTakeTooLong) {
  auto deaf = [] {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, nullptr);
    pause();
  };
  EXPECT_EQ(runThree(1, deaf), (Texts{"", "took too long!", ""}));
}

// A program that a worker started is killed with it, and does not keep its pipe open.
TEST(Workers, TakeTheirProcessesAlong) {
  auto leave = [] {
    if (fork() == 0)
      execlp("sleep", "sleep", "1000", nullptr);
    usleep(100000); // until it is another program
    abort();
  };
  EXPECT_EQ(runThree(1, leave), (Texts{"", "crashed: Aborted!", ""}));
}

TEST(Workers, StopWhenNobodyTakes) {
  size_t taken = 0;
  runWorkers(
      100, 2, 2, [](size_t, Counts &) { return std::string(); },
      [&](size_t, const std::string &, const Counts &) { return ++taken < 3; });
  EXPECT_EQ(taken, 3u);
}
