// Where the time of a compilation goes: one row per stage.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <chrono>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace tfc {

class Timing {
public:
  /// Measures from its construction to its end, as one row.
  class Scope {
  public:
    Scope(Timing &timing, llvm::StringRef name)
        : timing(timing), name(name.str()), begin(std::chrono::steady_clock::now()) {}
    ~Scope() {
      std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
      timing.record(name, elapsed.count());
    }

  private:
    Timing &timing;
    std::string name;
    std::chrono::steady_clock::time_point begin;
  };

  void record(llvm::StringRef name, double seconds) { rows.push_back({name.str(), seconds}); }
  /// Prints name, milliseconds and share of each row, then the sum.
  void print(llvm::raw_ostream &os) const;
  double total() const;

private:
  struct Row {
    std::string name;
    double seconds;
  };
  std::vector<Row> rows;
};

} // namespace tfc
