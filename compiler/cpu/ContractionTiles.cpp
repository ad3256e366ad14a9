// Chooses the register tile of a contraction by a cost model, which knows sizes and the target but
// no operation.

#include "compiler/cpu/ContractionTiles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <numeric>

namespace tfc::cpu {
namespace {

/// Current out-of-order cores execute two multiply-adds and two loads and issue six operations per
/// cycle; multiply-adds have a latency of four cycles.
constexpr int64_t kWayBytes = 4096;
constexpr int64_t kUnits = 2, kLatency = 4, kLoads = 2, kIssue = 6;

/// Sustained bandwidth of the second-level cache, in bytes per cycle.
constexpr int64_t kSecondCacheBytes = 20;

/// Tiles whose estimate is so many times that of the best one are not worth a measurement.
constexpr double kMuchSlower = 1.25;

/// Unknown sizes are assumed to be large and not a multiple of anything.
constexpr int64_t kUnknownM = 211, kUnknownN = 1009, kUnknownK = 128;

bool fitsRegisters(const Target &target, RegisterTile tile, int64_t sets) {
  // With a single vector of b, the broadcast of a is folded into a memory operand.
  int64_t broadcast = tile.vectors == 1 && target.vectorBits == 512 ? 0 : 1;
  return tile.rows * tile.vectors * sets + tile.vectors + broadcast <= target.vectorRegisters;
}

} // namespace

bool fitsFirstCache(const Target &target, std::optional<int64_t> strideBytes,
                    std::optional<int64_t> count, int64_t bytes) {
  if (!count || !strideBytes)
    return false;
  int64_t lines = llvm::divideCeil(bytes, kLineBytes);
  int64_t conflict = std::gcd<int64_t>(*strideBytes, kWayBytes);
  int64_t sets = kWayBytes / std::max(conflict, kLineBytes) * lines;
  int64_t ways = target.l1Bytes / kWayBytes;
  return lines * *count <= std::min(sets, kWayBytes / kLineBytes) * ways;
}

int64_t accumulatorSets(const Target &target, RegisterTile tile) {
  int64_t wanted = llvm::divideCeil(kUnits * kLatency, tile.rows * tile.vectors);
  int64_t sets = std::min<int64_t>(wanted, 4);
  while (sets > 1 && !fitsRegisters(target, tile, sets))
    --sets;
  return sets;
}

double tileCycles(const Target &target, RegisterTile tile, int64_t k) {
  int64_t panelBytes = tile.vectors * target.vectorBits / 8;
  double accumulators = tile.rows * tile.vectors;
  double loads = tile.rows + tile.vectors;
  double operations = (tile.vectors == 1 ? tile.rows : accumulators + tile.rows) + tile.vectors + 2;
  double latency = double(kLatency) / accumulatorSets(target, tile);
  double reading = panelBytes * k > target.l1Bytes / 2 ? double(panelBytes) / kSecondCacheBytes : 0;
  double cycles =
      std::max({accumulators / kUnits, loads / kLoads, operations / kIssue, latency, reading});
  // The other loads are not hidden completely by the bottleneck.
  cycles += 0.1 * (loads / kLoads + reading);
  return cycles * k + 3 * accumulators + 20;
}

llvm::SmallVector<RegisterTile> rankTiles(const Target &target, const ContractionSizes &sizes,
                                          int64_t lanes, int64_t maxRows, size_t count) {
  int64_t m = sizes.m.value_or(kUnknownM), k = sizes.k.value_or(kUnknownK);
  int64_t vectors = llvm::divideCeil(sizes.n.value_or(kUnknownN), lanes);
  llvm::SmallVector<std::pair<double, RegisterTile>> tiles;
  for (int64_t tileVectors = 1; tileVectors <= std::min<int64_t>(vectors, 8); ++tileVectors)
    for (int64_t rows = 1; rows <= std::min(m, maxRows); ++rows) {
      RegisterTile tile{rows, tileVectors};
      if (!fitsRegisters(target, tile, 1))
        break;
      double cycles = 0;
      auto addRows = [&](int64_t tileRows, int64_t count) {
        if (tileRows == 0 || count == 0)
          return;
        cycles += count * (vectors / tileVectors) * tileCycles(target, {tileRows, tileVectors}, k);
        if (int64_t rest = vectors % tileVectors)
          cycles += count * tileCycles(target, {tileRows, rest}, k);
      };
      addRows(rows, m / rows);
      addRows(m % rows, 1);
      // Each additional tile shape adds code.
      cycles *= 1 + 0.01 * ((m % rows != 0) + (vectors % tileVectors != 0));
      tiles.emplace_back(cycles, tile);
    }
  llvm::stable_sort(tiles, llvm::less_first());
  llvm::SmallVector<RegisterTile> ranked;
  for (auto [cycles, tile] : tiles)
    if (ranked.size() < count && cycles <= kMuchSlower * tiles.front().first)
      ranked.push_back(tile);
  return ranked;
}

RegisterTile chooseTile(const Target &target, const ContractionSizes &sizes, int64_t lanes,
                        int64_t maxRows) {
  llvm::SmallVector<RegisterTile> best = rankTiles(target, sizes, lanes, maxRows, 1);
  return best.empty() ? RegisterTile() : best.front();
}

} // namespace tfc::cpu
