//===- Slide.h - Windows of one call --------------------------------------===//

#pragma once

#include "compiler/reference/Registry.h"

namespace tfc::reference {

/// Options of an operation over windows; a list has one number for all axes or one for each.
struct SlideOptions {
  std::optional<llvm::ArrayRef<int64_t>> stride, dilation, pads;
  dfg::PaddingMode padding = dfg::PaddingMode::Valid;

  template <typename Op> static SlideOptions of(Op op) {
    std::optional<llvm::ArrayRef<int64_t>> pads = op.getPads();
    if (pads && pads->empty())
      pads.reset();
    return {op.getStride(), op.getDilation(), pads,
            op.getPadding().value_or(dfg::PaddingMode::Valid)};
  }
};

/// Windows over some axes of a tensor, with the sizes of a call.
class Slide {
public:
  Slide(const SlideOptions &options, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> taps);

  /// Returns true if a window fits along each axis.
  bool fits() const { return hasRoom; }
  llvm::ArrayRef<int64_t> getTaps() const { return taps; }
  llvm::ArrayRef<int64_t> getCounts() const { return counts; }
  /// Sets the padding: the same number of windows, starting `low` elements before the first
  /// element.
  void setPadding(llvm::ArrayRef<int64_t> newLow, llvm::ArrayRef<int64_t> newCounts);
  /// Sets the number of windows; zero windows always fit.
  void setCounts(llvm::ArrayRef<int64_t> given);
  void setLow(llvm::ArrayRef<int64_t> given) { low.assign(given.begin(), given.end()); }

  /// The position of a tap of a window; std::nullopt for padding.
  std::optional<llvm::SmallVector<int64_t>> place(llvm::ArrayRef<int64_t> window,
                                                  llvm::ArrayRef<int64_t> tap) const;
  /// The window whose tap is at a position; std::nullopt if there is none.
  std::optional<llvm::SmallVector<int64_t>> window(llvm::ArrayRef<int64_t> place,
                                                   llvm::ArrayRef<int64_t> tap) const;

  /// The number of taps of a window that are elements or specified padding.
  int64_t countPadded(llvm::ArrayRef<int64_t> window) const;

private:
  llvm::SmallVector<int64_t> sizes, taps, stride, dilation, low, counts, padded;
  bool hasRoom = true;
};

/// One number per axis from an option of one or all.
llvm::SmallVector<int64_t> perAxis(std::optional<llvm::ArrayRef<int64_t>> numbers, size_t rank);

/// The offset of an element: batch, then positions along the inner axes, then the rest.
int64_t offsetAt(const Tensor &x, int64_t batch, llvm::ArrayRef<int64_t> places,
                 llvm::ArrayRef<int64_t> rest);

} // namespace tfc::reference
