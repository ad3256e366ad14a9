#pragma once

#include "compiler/cpu/Target.h"
#include <optional>

namespace tfc::cpu {

/// A tile of the output that is kept in registers: `rows` by `vectors` vector registers.
struct RegisterTile {
  int64_t rows = 1;
  int64_t vectors = 1;
};

/// The sizes of a contraction as far as they are known.
struct ContractionSizes {
  std::optional<int64_t> m, n, k;
};

/// The sets of accumulators that a tile needs to keep the multiply-add units busy.
///
/// A tile with few accumulators waits for the latency of each multiply-add; more sets take turns
/// along k and are added up at the end.
int64_t accumulatorSets(const Target &target, RegisterTile tile);

/// Whether rows that are `strideBytes` apart (unknown: far) and `count` in number (unknown: many),
/// of `bytes` each, find room in half of the first level cache. Rows whose distance is a large
/// power of two compete for the same lines.
bool fitsFirstCache(const Target &target, std::optional<int64_t> strideBytes,
                    std::optional<int64_t> count, int64_t bytes);

/// The tile with the least estimated cycles for the whole product. `lanes` is the number of
/// elements in a vector; no tile has more than `maxRows` rows.
RegisterTile chooseTile(const Target &target, const ContractionSizes &sizes, int64_t lanes,
                        int64_t maxRows);

} // namespace tfc::cpu
