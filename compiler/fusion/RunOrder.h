//===- RunOrder.h - A topological order that changes ----------------------===//

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace tfc::fusion {

/// An order in which kernels and the operations outside of them could run, while kernels are being
/// formed. Comparing two nodes takes constant time: each has a label, and labels have gaps between
/// them, into which other nodes fit.
class RunOrder {
public:
  RunOrder();

  /// Adds a node after all others, or directly after `node`.
  int append() { return insertAfter(previous[kEnd]); }
  int insertAfter(int node);

  bool isBefore(int a, int b) const { return labels[a] < labels[b]; }

  /// Moves nodes that come after `node` directly before it and keeps their order.
  void moveBefore(llvm::MutableArrayRef<int> nodes, int node);

private:
  static constexpr int kEnd = 0; // the list is circular
  static constexpr uint64_t kGap = uint64_t(1) << 32;

  void link(int node, int after);
  void unlink(int node);
  void label(llvm::ArrayRef<int> nodes, int after);
  void labelAll();

  std::vector<int> previous, next;
  std::vector<uint64_t> labels;
};

} // namespace tfc::fusion
