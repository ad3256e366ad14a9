//===- Cluster.h - The tasks of a program ---------------------------------===//
//
// A program may run in several processes, its tasks, which form jobs: `/job:worker/task:3` is the
// fourth task of the job 'worker' (Abadi et al., OSDI 2016, section 3.3). A process of no job makes
// calls, too: it is `/job:local/task:0` for itself.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/dfg/DeviceName.h"
#include "llvm/ADT/SmallVector.h"
#include <vector>

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace tfc::dfg {

/// The array of `#dfg.job` of a module whose entries may run in several processes.
inline constexpr llvm::StringLiteral kClusterAttr = "dfg.cluster";

/// A number of 64 bits that other programs hardly have, by which processes find out that they have
/// different ones.
inline constexpr llvm::StringLiteral kFingerprintAttr = "dfg.fingerprint";

class Cluster {
public:
  struct Job {
    std::string name;
    int64_t tasks;
  };

  /// Reads `ps=2,worker=6`; lines, and what follows a '#', are allowed as well. Returns
  /// std::nullopt, with the reason, for other text.
  static std::optional<Cluster> parse(llvm::StringRef text, std::string &reason);
  /// The cluster of a module; without jobs if it has none.
  static Cluster of(mlir::ModuleOp module);

  void write(mlir::ModuleOp module) const;

  bool isEmpty() const { return jobs.empty(); }
  /// Returns true if a task of the cluster may have a device of this name.
  bool has(const DeviceName &name) const;
  /// Returns the number of a device's task, in the order of the jobs; std::nullopt for
  /// `/job:local`.
  std::optional<int64_t> taskOf(const DeviceName &name) const;
  /// The names of all tasks in this order, as in `/job:ps/task:0`.
  std::vector<std::string> taskNames() const;
  /// As in `ps=2,worker=6`.
  std::string str() const;

private:
  bool add(llvm::StringRef text, std::string &reason);

  std::vector<Job> jobs;
};

} // namespace tfc::dfg
