//===- Window.cpp - Windows that slide over axes --------------------------===//
//
// Evaluates `windows` and `place_windows`.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Slide.h"
#include "dialects/dfg/WindowOps.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

SmallVector<int64_t> perAxis(std::optional<ArrayRef<int64_t>> numbers, size_t rank) {
  if (!numbers)
    return SmallVector<int64_t>(rank, 1);
  if (numbers->size() == 1)
    return SmallVector<int64_t>(rank, numbers->front());
  return SmallVector<int64_t>(*numbers);
}

/// The padding before and after axis `axis`.
static std::pair<int64_t, int64_t> padsOf(ArrayRef<int64_t> pads, size_t axis, size_t rank) {
  if (pads.size() == 2 * rank && rank > 0)
    return {pads[2 * axis], pads[2 * axis + 1]};
  int64_t both = pads[pads.size() == 1 ? 0 : axis];
  return {both, both};
}

Slide::Slide(const SlideOptions &options, ArrayRef<int64_t> sizes, ArrayRef<int64_t> taps)
    : sizes(sizes), taps(taps), stride(perAxis(options.stride, sizes.size())),
      dilation(perAxis(options.dilation, sizes.size())) {
  for (size_t i = 0; i < sizes.size(); ++i) {
    // Saturated above the size of any axis.
    int64_t extent = int64_t(std::min<__int128>(__int128(taps[i] - 1) * dilation[i] + 1,
                                                std::numeric_limits<int64_t>::max() / 4));
    if (options.padding == PaddingMode::Same) {
      counts.push_back(sizes[i] / stride[i] + (sizes[i] % stride[i] > 0));
      low.push_back(std::max<int64_t>((counts[i] - 1) * stride[i] + extent - sizes[i], 0) / 2);
      padded.push_back(std::max((counts[i] - 1) * stride[i] + extent, sizes[i]));
      continue;
    }
    auto [before, after] =
        options.pads ? padsOf(*options.pads, i, sizes.size()) : std::pair<int64_t, int64_t>(0, 0);
    if (options.padding == PaddingMode::Causal)
      before = extent - 1;
    padded.push_back(sizes[i] + before + after);
    int64_t room = padded[i] - extent;
    hasRoom &= room >= 0 && taps[i] > 0;
    low.push_back(before);
    counts.push_back(room >= 0 ? room / stride[i] + 1 : 0);
  }
}

void Slide::setCounts(ArrayRef<int64_t> given) {
  counts.assign(given.begin(), given.end());
  hasRoom = llvm::all_of(taps, [](int64_t tap) { return tap > 0; });
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t last = (counts[i] - 1) * stride[i] + (taps[i] - 1) * dilation[i];
    hasRoom &= counts[i] == 0 || (counts[i] > 0 && last < sizes[i]);
  }
}

void Slide::setPadding(ArrayRef<int64_t> newLow, ArrayRef<int64_t> newCounts) {
  low.assign(newLow.begin(), newLow.end());
  counts.assign(newCounts.begin(), newCounts.end());
  hasRoom = llvm::all_of(counts, [](int64_t count) { return count >= 0; });
}

std::optional<SmallVector<int64_t>> Slide::place(ArrayRef<int64_t> window,
                                                 ArrayRef<int64_t> tap) const {
  SmallVector<int64_t> place;
  for (size_t i = 0; i < sizes.size(); ++i) {
    place.push_back(window[i] * stride[i] + tap[i] * dilation[i] - low[i]);
    if (place[i] < 0 || place[i] >= sizes[i])
      return std::nullopt;
  }
  return place;
}

int64_t Slide::countPadded(ArrayRef<int64_t> window) const {
  int64_t total = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t count = 0;
    for (int64_t tap = 0; tap < taps[i]; ++tap)
      count += window[i] * stride[i] + tap * dilation[i] < padded[i];
    total *= count;
  }
  return total;
}

std::optional<SmallVector<int64_t>> Slide::window(ArrayRef<int64_t> place,
                                                  ArrayRef<int64_t> tap) const {
  SmallVector<int64_t> window;
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t start = place[i] + low[i] - tap[i] * dilation[i];
    window.push_back(start / stride[i]);
    if (start < 0 || start % stride[i] != 0 || window[i] >= counts[i])
      return std::nullopt;
  }
  return window;
}

int64_t offsetAt(const Tensor &x, int64_t batch, ArrayRef<int64_t> places, ArrayRef<int64_t> rest) {
  SmallVector<int64_t> at{batch};
  at.append(places.begin(), places.end());
  at.append(rest.begin(), rest.end());
  int64_t offset = 0;
  for (auto [position, size] : llvm::zip_equal(at, x.getShape()))
    offset = offset * size + position;
  return offset;
}

static void windows(WindowsOp op, Call &call) {
  const Tensor &x = call.operand();
  SmallVector<int64_t> taps = call.sizes(op.getSize());
  size_t rank = taps.size();
  Slide slide({op.getStride(), op.getDilation(), std::nullopt, PaddingMode::Valid},
              x.getShape().slice(1, rank), taps);
  if (op.getLow()) {
    slide.setPadding(call.sizes(*op.getLow()), call.sizes(*op.getCount()));
  } else if (op.getCount()) {
    slide.setCounts(call.sizes(*op.getCount()));
  }
  if (!slide.fits())
    return call.refuse();
  int64_t i = 0;
  for (Positions at(call.result().getShape()); !at.done(); at.next(), ++i) {
    ArrayRef<int64_t> tap = (*at).slice(1 + rank, rank), rest = (*at).drop_front(1 + 2 * rank);
    if (auto place = slide.place((*at).slice(1, rank), tap))
      call.result().copy(i, x, offsetAt(x, at[0], *place, rest));
    else
      call.result().setConstant(i, op.getValue().convertToDouble());
  }
}

static void placeWindows(PlaceWindowsOp op, Call &call) {
  const Tensor &x = call.operand();
  SmallVector<int64_t> sizes = call.sizes(op.getShape());
  size_t rank = sizes.size();
  Slide slide({op.getStride(), op.getDilation(), std::nullopt, PaddingMode::Valid}, sizes,
              x.getShape().slice(1 + rank, rank));
  slide.setCounts(x.getShape().slice(1, rank));
  if (op.getLow())
    slide.setLow(call.sizes(*op.getLow()));
  int64_t i = 0;
  for (Positions at(call.result().getShape()); !at.done(); at.next(), ++i) {
    call.result().setConstant(i, op.getValue().convertToDouble());
    if (auto window = slide.window((*at).slice(1, rank), (*at).slice(1 + rank, rank)))
      call.result().copy(i, x, offsetAt(x, at[0], *window, (*at).drop_front(1 + rank)));
  }
}

void addWindow(Registry &registry) {
  registry.add<WindowsOp>(windows);
  registry.add<PlaceWindowsOp>(placeWindows);
}

} // namespace tfc::reference
