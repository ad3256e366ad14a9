//===- RunOrder.cpp - A topological order that changes --------------------===//
//
// Keeps the order of nodes in a list whose labels have gaps. It knows neither operations nor
// kernels: Grouping decides what has to move.
//
//===----------------------------------------------------------------------===//

#include "compiler/fusion/RunOrder.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace tfc::fusion;

RunOrder::RunOrder() : previous{kEnd}, next{kEnd}, labels{0} {}

void RunOrder::link(int node, int after) {
  previous[node] = after;
  next[node] = next[after];
  previous[next[node]] = node;
  next[after] = node;
}

void RunOrder::unlink(int node) {
  next[previous[node]] = next[node];
  previous[next[node]] = previous[node];
}

/// Labels consecutive nodes, of which the first comes after `after`.
void RunOrder::label(ArrayRef<int> nodes, int after) {
  int last = next[nodes.back()];
  uint64_t begin = labels[after];
  uint64_t gap = last == kEnd ? kGap : (labels[last] - begin) / (nodes.size() + 1);
  if (gap == 0)
    return labelAll();
  for (int node : nodes)
    labels[node] = begin += gap;
}

void RunOrder::labelAll() {
  uint64_t last = 0;
  for (int node = next[kEnd]; node != kEnd; node = next[node])
    labels[node] = last += kGap;
}

int RunOrder::insertAfter(int node) {
  int added = labels.size();
  previous.push_back(kEnd);
  next.push_back(kEnd);
  labels.push_back(0);
  link(added, node);
  label(added, node);
  return added;
}

void RunOrder::moveBefore(MutableArrayRef<int> nodes, int node) {
  if (nodes.empty())
    return;
  llvm::sort(nodes, [&](int a, int b) { return isBefore(a, b); });
  llvm::for_each(nodes, [&](int moved) { unlink(moved); });
  int first = previous[node], last = first;
  for (int moved : nodes) {
    link(moved, last);
    last = moved;
  }
  label(nodes, first);
}
