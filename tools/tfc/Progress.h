// The stage of a long compilation, shown on a terminal.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace tfc {

/// After a second, shows on standard error what a compilation is doing, on a line of its own that
/// is erased at the end. Shows nothing if standard error is no terminal. Nobody else may write
/// there while a stage runs.
class Progress {
public:
  explicit Progress(bool isWanted);
  ~Progress() { stop(); }

  /// Says which stage begins, and its number, from 1, among `count`.
  void begin(llvm::StringRef stage, size_t number, size_t count);
  /// Erases the line; nothing is shown any more.
  void stop();

private:
  void show();

  std::mutex mutex;
  std::condition_variable changed;
  std::string text;
  bool isDone = false;
  std::thread thread;
};

} // namespace tfc
