// Shows the stage from a thread of its own, because a stage may take long without a call.
#include "tools/tfc/Progress.h"
#include "frontend/Fmt.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <fmt/format.h>

using namespace llvm;
using namespace tfc;

static constexpr std::chrono::seconds kDelay(1);
static constexpr StringLiteral kEraseLine = "\r\x1b[K";

/// Returns true if lines on standard error can be erased: on a terminal, but not in the log of
/// continuous integration, which may claim to be one.
static bool canErase() {
  std::optional<std::string> terminal = sys::Process::GetEnv("TERM");
  return sys::Process::StandardErrIsDisplayed() && terminal && *terminal != "dumb" &&
         !sys::Process::GetEnv("CI");
}

Progress::Progress(bool isWanted) {
  if (isWanted && canErase())
    thread = std::thread([this] { show(); });
}

void Progress::begin(StringRef stage, size_t number, size_t count) {
  if (!thread.joinable())
    return;
  {
    std::lock_guard lock(mutex);
    text = fmt::format("tfc: {} ({} of {})", std::string_view(stage), number, count);
  }
  changed.notify_one();
}

void Progress::stop() {
  if (!thread.joinable())
    return;
  {
    std::lock_guard lock(mutex);
    isDone = true;
  }
  changed.notify_one();
  thread.join();
}

void Progress::show() {
  std::unique_lock lock(mutex);
  if (changed.wait_for(lock, kDelay, [this] { return isDone; }))
    return;
  std::string shown;
  while (!isDone) {
    if (shown != text)
      errs() << kEraseLine << text;
    shown = text;
    changed.wait(lock, [&] { return isDone || shown != text; });
  }
  errs() << kEraseLine;
}
