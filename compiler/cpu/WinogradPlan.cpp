// Divides convolutions that are computed by transforms, by a cost model over sizes and the target.

#include "compiler/cpu/ContractionTiles.h"
#include "compiler/cpu/LinearCode.h"
#include "compiler/cpu/WinogradForm.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace tfc;
using namespace tfc::cpu;
using llvm::ArrayRef, llvm::SmallVector, llvm::SmallVectorImpl;

/// Transformed elements and products of a unit are on the stack, and take at most this many bytes.
/// They need not fit into the second-level cache: of each matrix of elements, which does, all
/// panels of a group are computed before the next one.
static constexpr int64_t kMostStackBytes = 896 << 10;
/// The most tiles of a unit: with more, transformed weights are read seldom enough.
static constexpr int64_t kMostTiles = 64;
/// The number of units that is enough for several threads.
static constexpr int64_t kEnoughUnits = 8;
/// The instructions of a transform that begin in a cycle, and those that store a result.
static constexpr double kIssue = 2, kStoreInstructions = 4;
/// Bytes that a cycle reads from the second-level cache or from beyond it.
static constexpr double kNearBytes = 20, kFarBytes = 10;
/// The share of the time of reading that the products do not hide.
static constexpr double kNotHidden = 0.5;

namespace {
/// Estimates ways to divide a convolution whose tiles are chosen.
class Estimate {
public:
  Estimate(const Target &target, const ImageConvolution &c);

  /// A plan with the results of a tile alone.
  WinogradPlan emptyPlan() const {
    WinogradPlan plan;
    plan.rowResults = c.rows.tileResults;
    plan.columnResults = c.columns.tileResults;
    return plan;
  }
  /// Completes a plan whose tiles, channels and panels are chosen.
  void complete(WinogradPlan &plan) const;
  /// The transformed elements and the products of a unit.
  int64_t unitBytes(const WinogradPlan &plan) const {
    return c.tileElements() * plan.tiles * (plan.channels + plan.panels * plan.columns(lanes)) *
           int64_t(sizeof(float));
  }
  bool fits(const WinogradPlan &plan) const { return unitBytes(plan) <= kMostStackBytes; }
  double readingWeights(int64_t elements) const {
    double bytes = double(elements * c.channels * c.features) * sizeof(float);
    return bytes / (bytes <= double(target.l2Bytes) / 2 ? kNearBytes : kFarBytes);
  }

  const Target &target;
  const ImageConvolution &c;
  int64_t lanes, channelVectors, featureVectors;

private:
  double products(const WinogradPlan &plan) const;

  /// Cycles of the transforms of a vector of a tile.
  double elementCycles, resultCycles;
};
} // namespace

/// Both axes are transformed one after the other, and of the elements of a tile some are in no
/// register between.
Estimate::Estimate(const Target &target, const ImageConvolution &c)
    : target(target), c(c), lanes(target.lanes(32)),
      channelVectors(llvm::divideCeil(c.channels, lanes)),
      featureVectors(llvm::divideCeil(c.features, lanes)) {
  dfg::WinogradMatrices ofRows = c.rows.matrices(), ofColumns = c.columns.matrices();
  auto count = [](ArrayRef<double> matrix, int64_t columns) {
    return LinearCode(matrix, columns).operations();
  };
  int64_t elements = c.tileElements(), height = ofRows.size, width = ofColumns.size;
  int64_t spilled = std::max<int64_t>(0, elements - target.vectorRegisters);
  int64_t transform =
      width * count(ofRows.ofElements, height) + height * count(ofColumns.ofElements, width);
  elementCycles = double(transform + 2 * elements + 2 * spilled) / kIssue;
  transform =
      width * count(ofRows.ofResults, height) + ofRows.results * count(ofColumns.ofResults, width);
  resultCycles = (double(transform + elements) +
                  kStoreInstructions * double(ofRows.results * ofColumns.results)) /
                 kIssue;
}

/// The products of the tiles of one unit with all panels, for one element of the tiles.
double Estimate::products(const WinogradPlan &plan) const {
  int64_t blocks = llvm::divideCeil(c.channels, plan.channels);
  double cycles = 0;
  auto addRows = [&](int64_t rows, int64_t count) {
    auto addPanels = [&](int64_t vectors, int64_t panels) {
      if (rows == 0 || vectors == 0)
        return;
      double one = tileCycles(target, {rows, vectors}, plan.channels);
      if (blocks > 1)
        one += double(rows * vectors);
      cycles += double(blocks * count * panels) * one;
    };
    addPanels(plan.vectors, featureVectors / plan.vectors);
    addPanels(featureVectors % plan.vectors, 1);
  };
  addRows(plan.rows, plan.tiles / plan.rows);
  addRows(plan.tiles % plan.rows, 1);
  return cycles;
}

void Estimate::complete(WinogradPlan &plan) const {
  int64_t units = llvm::divideCeil(c.tiles(), plan.tiles);
  int64_t panels = llvm::divideCeil(featureVectors, plan.vectors);
  int64_t groups = llvm::divideCeil(panels, plan.panels);
  int64_t parts = std::min<int64_t>(groups, llvm::divideCeil(kEnoughUnits, units));
  plan.groups = llvm::divideCeil(groups, parts);
  parts = llvm::divideCeil(groups, plan.groups);
  // Elements are transformed for each unit, and if not all channels are kept, for each group.
  int64_t repeats = plan.channels >= c.channels ? parts : groups;
  double elements = elementCycles * double(repeats * c.tiles() * channelVectors);
  double results = resultCycles * double(c.tiles() * featureVectors);
  double multiplying = double(c.tileElements() * units) * products(plan);
  double reading = double(units) * readingWeights(c.tileElements());
  // Elements and products are written and read again.
  if (int64_t bytes = unitBytes(plan); bytes > target.l2Bytes / 2)
    reading += 2 * double(units * parts * bytes) / kFarBytes;
  plan.cycles = elements + results + std::max(multiplying, reading) +
                kNotHidden * std::min(multiplying, reading);
  plan.waiting = plan.cycles * (1 + 1 / double(units * parts));
}

std::string WinogradPlan::name() const {
  return llvm::formatv("{0}{1}x{2}:{3}x{4}:{5}x{6}x{7}", kWinogradWay, rowResults, columnResults,
                       rows, vectors, tiles, channels, panels);
}

/// Returns the best plan of units of so many tiles; with no cycles if none fits.
static WinogradPlan bestOf(const Estimate &estimate, int64_t tiles, const RegisterTile &tile) {
  WinogradPlan plan = estimate.emptyPlan(), best;
  plan.tiles = tiles;
  plan.rows = tile.rows;
  plan.vectors = tile.vectors;
  int64_t panels = llvm::divideCeil(estimate.featureVectors, tile.vectors);
  for (int64_t blocks = 1; blocks <= estimate.channelVectors; ++blocks) {
    plan.channels = llvm::divideCeil(estimate.channelVectors, blocks) * estimate.lanes;
    // Blocks of weights have equal sizes.
    if (blocks > 1 && estimate.c.channels % plan.channels != 0)
      continue;
    for (plan.panels = 1; plan.panels <= panels && estimate.fits(plan); ++plan.panels) {
      estimate.complete(plan);
      if (best.cycles == 0 || plan.waiting < best.waiting)
        best = plan;
    }
  }
  return best;
}

/// Adds the plans that have room for a convolution whose tiles are chosen.
static void addPlans(const Target &target, const ImageConvolution &convolution,
                     SmallVectorImpl<WinogradPlan> &plans) {
  Estimate estimate(target, convolution);
  int64_t lanes = estimate.lanes, tiles = convolution.tiles();
  for (int64_t wanted = 1; wanted <= std::min(tiles, kMostTiles); ++wanted) {
    int64_t units = llvm::divideCeil(tiles, wanted);
    if (int64_t(llvm::divideCeil(tiles, units)) != wanted)
      continue;
    RegisterTile tile = chooseTile(target, {wanted, convolution.features, convolution.channels},
                                   lanes, target.vectorRegisters);
    WinogradPlan best = bestOf(estimate, wanted, tile);
    if (best.cycles > 0)
      plans.push_back(best);
  }
}

static ImageConvolution withTiles(ImageConvolution convolution, int64_t rowResults,
                                  int64_t columnResults) {
  convolution.rows.tileResults = rowResults;
  convolution.columns.tileResults = columnResults;
  return convolution;
}

SmallVector<WinogradPlan>
tfc::cpu::rankWinograd(const Target &target, const ImageConvolution &convolution, size_t count) {
  SmallVector<WinogradPlan> plans;
  for (const auto &tiling : dfg::winogradTilings({convolution.rows, convolution.columns}))
    addPlans(target, withTiles(convolution, tiling[0], tiling[1]), plans);
  llvm::stable_sort(plans, [](auto &a, auto &b) { return a.waiting < b.waiting; });
  plans.truncate(std::min(plans.size(), count));
  return plans;
}

std::optional<ImageConvolution> tfc::cpu::chooseTiles(const Target &target,
                                                      const ImageConvolution &convolution,
                                                      llvm::StringRef way) {
  // Lanes run along the features.
  if (convolution.features < target.lanes(32))
    return std::nullopt;
  SmallVector<WinogradPlan> plans =
      rankWinograd(target, convolution, way.empty() ? 1 : std::numeric_limits<size_t>::max());
  if (plans.empty())
    return std::nullopt;
  auto named = llvm::find_if(plans, [&](const WinogradPlan &plan) { return plan.name() == way; });
  const WinogradPlan &plan = named == plans.end() ? plans.front() : *named;
  return withTiles(convolution, plan.rowResults, plan.columnResults);
}

bool tfc::cpu::isWinogradFaster(const Target &target, const ImageConvolution &convolution) {
  Estimate estimate(target, convolution);
  double products =
      double(convolution.taps() * convolution.channels * estimate.featureVectors) *
      double(convolution.count * convolution.rows.results * convolution.columns.results) / 2;
  double reading = estimate.readingWeights(convolution.taps());
  return rankWinograd(target, convolution, 1).front().cycles < products + kNotHidden * reading;
}
