// The choice of a register tile by a cost model over sizes and the target.
#pragma once

#include "compiler/cpu/Target.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace tfc::cpu {

/// Bytes of a line of all caches.
inline constexpr int64_t kLineBytes = 64;

/// A tile of the output that is kept in registers: `rows` by `vectors` vector registers.
struct RegisterTile {
  int64_t rows = 1;
  int64_t vectors = 1;
};

/// The sizes of a contraction; unknown ones are empty.
struct ContractionSizes {
  std::optional<int64_t> m, n, k;
};

/// Returns how many sets of accumulators a tile needs to keep the multiply-add units busy.
///
/// A tile with few accumulators is bound by the latency of the multiply-adds. With more sets,
/// consecutive steps along k use different sets, which are added up at the end.
int64_t accumulatorSets(const Target &target, RegisterTile tile);

/// Returns true if `count` rows (unknown: many) of `bytes` bytes at a stride of `strideBytes`
/// (unknown: large) fit into half of the first-level cache. Rows whose stride is a large power of
/// two conflict.
bool fitsFirstCache(const Target &target, std::optional<int64_t> strideBytes,
                    std::optional<int64_t> count, int64_t bytes);

/// Returns true if so many bytes are expected beyond the second-level cache, half of which other
/// data take.
inline bool isFar(const Target &target, int64_t bytes) { return bytes > target.l2Bytes / 2; }

/// Estimates the cycles of one tile: the k loop, and initializing and storing the accumulators.
double tileCycles(const Target &target, RegisterTile tile, int64_t k);

/// Returns tiles in the order of the estimated cycles for the whole product, the fastest first: at
/// most `count`, none of which is estimated to be much slower. `lanes` is the number of elements in
/// a vector; no tile has more than `maxRows` rows.
llvm::SmallVector<RegisterTile> rankTiles(const Target &target, const ContractionSizes &sizes,
                                          int64_t lanes, int64_t maxRows, size_t count);

/// Returns the first of them.
RegisterTile chooseTile(const Target &target, const ContractionSizes &sizes, int64_t lanes,
                        int64_t maxRows);

} // namespace tfc::cpu
