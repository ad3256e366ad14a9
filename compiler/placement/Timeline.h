//===- Timeline.h - When a device is busy ---------------------------------===//

#pragma once

#include <algorithm>
#include <vector>

namespace tfc::placement {

/// The tasks on one device, in time. Later tasks may fill the gaps that earlier ones have left.
class Timeline {
public:
  /// The earliest start of a task that is ready at some time.
  double findStart(double ready, double seconds) const {
    for (const Gap &gap : gaps)
      if (std::max(gap.begin, ready) + seconds <= gap.end)
        return std::max(gap.begin, ready);
    return std::max(end, ready);
  }

  /// Adds a task at a start that `findStart` has found.
  void add(double start, double seconds) {
    if (seconds <= 0)
      return;
    if (start >= end) {
      if (start > end)
        gaps.push_back({end, start});
      end = start + seconds;
      return;
    }
    auto gap =
        std::find_if(gaps.begin(), gaps.end(), [&](const Gap &gap) { return start < gap.end; });
    Gap rest{start + seconds, gap->end};
    gap->end = start;
    if (gap->begin >= gap->end)
      *gap = rest;
    else if (rest.begin < rest.end)
      gaps.insert(gap + 1, rest);
    gaps.erase(std::remove_if(gaps.begin(), gaps.end(),
                              [](const Gap &gap) { return gap.begin >= gap.end; }),
               gaps.end());
  }

private:
  struct Gap {
    double begin, end;
  };
  std::vector<Gap> gaps; // in order
  double end = 0;
};

} // namespace tfc::placement
