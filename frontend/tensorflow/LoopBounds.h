// Numbers of which the condition of a loop says how large they become.
#pragma once

#include "frontend/tensorflow/EntryContext.h"

namespace tfc::tensorflow {

/// Returns a number that an integer does not exceed, whatever the call computes: a constant, a size
/// that callers pass, a loop variable in the body of a loop whose condition limits it, or the
/// length of a list that is written at such positions only. Returns std::nullopt if there is none.
std::optional<dfg::DimExpr> largestValue(const EntryContext &entry, Edge number);
/// Returns a number that the length of a TensorArray or TensorList does not exceed.
std::optional<dfg::DimExpr> largestLength(const EntryContext &entry, unsigned array);

struct Trips {
  int64_t count;
  /// Each run of the loop has that many iterations.
  bool isExact;
};
/// Returns a number that the number of iterations of a loop does not exceed, by a Merge of it.
std::optional<Trips> tripsOf(const EntryContext &entry, unsigned merge);
/// Returns true for a Merge that begins a loop variable which each iteration passes on as it is.
bool isInvariant(const EntryContext &entry, unsigned merge);
/// Returns a number that the size of a loop variable along an axis does not exceed in iterations of
/// the loop, because the condition compares it. The entry must have been built as far as possible.
std::optional<int64_t> largestSize(const EntryContext &entry, unsigned merge, unsigned axis);

} // namespace tfc::tensorflow
