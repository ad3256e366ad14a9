//===- Grouping.h - Assigning operations to kernels -----------------------===//
//
// Only the decision, separate from outlining. Operations are visited in program order; each joins
// the kernel of one of its producers if both have the same iteration space and the kernel stays
// convex (no path leaves it and comes back), otherwise it starts a kernel. Then kernels that
// exchange or share values are merged by the same rule: an optimizer's update becomes part of the
// product that computes the gradient, whichever of its operations came first.
//
// The code of a kernel is limited (CodeSize.h), so that compile time grows with the length of a
// program, and so is the search for a path between two kernels.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "compiler/fusion/Attention.h"
#include "compiler/fusion/RunOrder.h"
#include "dialects/dfg/RunTimeSizes.h"
#include "llvm/ADT/SetVector.h"
#include <set>

namespace tfc::fusion {

/// The kind of operation that determines the iteration space of a kernel.
enum class Root { Parallel, Rows, Reduction, Contraction, Attention, Opaque };

struct Group {
  Root root;
  llvm::SmallVector<mlir::Operation *> ops; // in program order
  dfg::Shape space;                         // of the results; of the rows for Root::Rows
  dfg::Shape full;                          // Root::Rows: rows and the reduced axes
  int64_t codeSize = 0;
  int node = 0; // in the order in which kernels could run
};

/// Returns true if a reduction leaves some axes and removes the last ones.
bool isRowReduction(mlir::Operation *op);

/// Returns true unless the operations are placed on different devices, which matters where entries
/// are not divided: their kernels are those of the partitions; or wait for different messages.
bool canShareKernel(mlir::Operation *a, mlir::Operation *b);
/// Lets an operation share kernels with those that `other` can.
void placeLike(mlir::Operation *other, mlir::Operation *op);

/// Returns operations of a block in its order.
llvm::SmallVector<mlir::Operation *> inOrder(llvm::ArrayRef<mlir::Operation *> ops);

/// The operations of a block that the kernels that read them each compute: views and small
/// constants whose value the host does not need in memory.
class RepeatedOps {
public:
  explicit RepeatedOps(mlir::Block &block);

  bool contains(mlir::Operation *op) const { return ops.contains(op); }

private:
  llvm::DenseSet<mlir::Operation *> ops;
};

class Grouping {
public:
  /// Groups the operations of `block`; without `fuse`, each operation is a separate group. `sizes`
  /// are those of the entry; `inputs` are operations that were copied for a later reduction, and
  /// `attention` those that attention kernels compute.
  Grouping(mlir::Block &block, const dfg::RunTimeSizes &sizes,
           const llvm::DenseSet<mlir::Operation *> &inputs, const AttentionKernels &attention,
           bool fuse);

  llvm::ArrayRef<Group> getGroups() const { return groups; }

  /// Returns the group of an operation, or -1 if it stays in the host function or is repeated in
  /// each kernel that reads it.
  int groupOf(mlir::Operation *op) const;

  /// The number of operations and kernels that searches for paths have visited.
  int64_t getVisits() const { return visits; }

  /// Visits the operations of the block that must run before `op` although it does not read their
  /// results: the last one on tapes and queues, and the bindings and guards of sizes that
  /// `op`, or an operation that it repeats, mentions.
  void forEachPrevious(mlir::Operation *op,
                       llvm::function_ref<void(mlir::Operation *)> visit) const;

  /// Visits the values that `op` reads, looking through operations that every kernel repeats.
  void forEachSource(mlir::Operation *op, llvm::function_ref<void(mlir::Value)> visit) const;

  /// Returns true if the host function runs `op`: state, checks, control flow, lists, scalars in
  /// registers, large constants, reshapes, the terminator.
  static bool staysInHost(mlir::Operation *op);

private:
  /// Returns true if `op` reads at positions other than its own, so that its operand must be
  /// stored.
  static bool movesElements(mlir::Operation *op);

  bool isRepeated(mlir::Operation *op) const { return repeated.contains(op); }
  void visit(mlir::Operation *op);
  int findHome(mlir::Operation *op);
  void addToAttention(mlir::Operation *op, unsigned kernel);
  void add(Group &group, mlir::Operation *op);
  int split(int id);
  size_t findCut(const Group &group) const;
  bool accepts(const Group &group, mlir::Operation *op);
  bool acceptsReduction(const Group &group, mlir::Operation *op);
  bool staysConvex(int group, mlir::Operation *op);
  bool moveBefore(llvm::ArrayRef<mlir::Operation *> sources, int group);
  int nodeOf(mlir::Operation *op) const;
  bool isReadBy(const Group &group, mlir::Operation *only);
  llvm::SmallVector<int> producers(mlir::Operation *op);
  void found(mlir::Operation *op);

  void buildDependences(mlir::Block &block);
  void addDependence(int unit, int on);
  void mergeAll();
  bool mergeWithPartner(int unit, bool handsOver);
  llvm::SmallVector<int> siblingsOf(int unit) const;
  bool mayMerge(int a, int b);
  bool canRunTogether(int a, int b);
  bool readsMoved(mlir::Operation *op, int producer, bool isMoved);
  bool readsStored(int producer, int reader);
  bool isInputOf(int producer, int reader);
  void merge(int a, int b);

  RepeatedOps repeated;
  const dfg::RunTimeSizes &sizes;
  const llvm::DenseSet<mlir::Operation *> &inputs;
  const AttentionKernels &attention;
  llvm::DenseMap<unsigned, int> attentionGroups; // by the number of the kernel
  bool fuse;
  std::vector<Group> groups;
  llvm::DenseMap<mlir::Operation *, int> groupIds;
  RunOrder order;
  llvm::DenseMap<mlir::Operation *, int> nodes; // of operations outside of groups
  llvm::DenseMap<mlir::Operation *, unsigned> positions;
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> effects; // to the previous one
  /// A group, by its number, or after these an operation of the host.
  struct Unit {
    llvm::SmallSetVector<int, 8> dependences;
    std::set<int> readers;
    int node; // in the order of kernels
  };
  std::vector<Unit> units;
  int64_t visits = 0;
};

} // namespace tfc::fusion
