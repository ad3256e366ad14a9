//===- EntryGraph.h - The tasks of an entry -------------------------------===//

#pragma once

#include "compiler/placement/Groups.h"
#include "compiler/placement/Placement.h"
#include "compiler/placement/Work.h"
#include "dialects/dfg/FreeValues.h"
#include "llvm/ADT/IntEqClasses.h"

namespace tfc::placement {

/// The questions that a graph of tasks asks about the module.
struct PlacementContext {
  const Groups &groups;
  const Machine &machine;
  const Placement &placed; // the groups of other entries
  /// The device of groups that say nothing, by `--device`.
  std::optional<unsigned> defaultDevice;
  /// The devices that satisfy a name; by `--placement=soft` a device for what cannot be there.
  std::vector<bool> allowedBy(const dfg::DeviceName &name) const;
  /// The devices on which a group can be: the one on which another entry has it, or those that
  /// satisfy its constraint, or the default device if that is one of them.
  std::vector<bool> allowedFor(Groups::Id group) const;
};

/// An entry as a graph of tasks, one for each operation that is on a device. Operations in regions
/// are tasks whose work is multiplied by how often they run. Units are the groups, loops, sums of
/// products and other kernels, each with the cheap operations next to it. Task 0 is the caller with
/// the feeds, the last task the caller with the fetches.
class EntryGraph {
public:
  EntryGraph(dfg::EntryOp entry, const PlacementContext &context);

  const TaskGraph &getTasks() const { return graph; }
  /// The operations of the tasks; null for the caller.
  llvm::ArrayRef<mlir::Operation *> getOperations() const { return operations; }
  /// The task of an operation, if it has one.
  std::optional<unsigned> taskOf(mlir::Operation *op) const;
  /// The seconds that all of it takes on the first device.
  double getTotal() const;

private:
  using Sources = llvm::SmallVector<unsigned, 2>;

  void addTasks();
  void addEdges(mlir::Operation *op, unsigned task);
  void addReads(mlir::Value value, unsigned task);
  void addControl(mlir::Operation *op, unsigned task);
  void addNextValues(mlir::Value argument, unsigned task);
  const Sources &sourcesOf(mlir::Value value);
  Sources findSources(mlir::Value value);
  double timesOf(mlir::Block *block) const { return times.lookup(block); }

  void formUnits();
  std::vector<bool> allowedFor(unsigned task) const;
  void joinGroups();
  void joinLoops();
  void joinCheap();
  bool joinNeighbour(unsigned task, bool isForward);
  bool join(unsigned a, unsigned b);
  void numberUnits();

  dfg::EntryOp entry;
  const PlacementContext &context;
  dfg::FreeValues free;
  Work work;
  TaskGraph graph;
  llvm::SmallVector<mlir::Operation *> operations;
  llvm::DenseMap<mlir::Operation *, unsigned> numbers;
  llvm::DenseMap<mlir::Operation *, unsigned> loops;
  llvm::DenseMap<mlir::Block *, double> times;
  llvm::DenseMap<mlir::Value, Sources> sources;

  /// While units are formed.
  struct Neighbour {
    unsigned task;
    double bytes; // that would cross
  };
  std::vector<llvm::SmallVector<Neighbour, 4>> producers, consumers;
  llvm::IntEqClasses classes;
  std::vector<std::vector<bool>> allowed; // devices of a class, by its leader
  std::vector<bool> isAnchored;
};

} // namespace tfc::placement
