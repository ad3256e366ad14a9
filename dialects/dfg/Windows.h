//===- Windows.h - Positions of windows on padded axes --------------------===//
//
// Shared by convolutions and pooling: the axes between the first and the last
// are padded, and windows slide over them.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/dfg/WindowOps.h"

namespace tfc::dfg {

/// An option that an author may leave out or give as an empty list, so that a function can pass on
/// one that its own caller left out.
inline std::optional<llvm::ArrayRef<int64_t>>
orAbsent(std::optional<llvm::ArrayRef<int64_t>> numbers) {
  return numbers && numbers->empty() ? std::nullopt : numbers;
}

/// Options of an operation over windows, as written by the author. A list has one number for all
/// axes or one for each; `pads` also two for each, before and after it. No pads are the same as an
/// empty list.
struct WindowOptions {
  llvm::StringRef op;
  std::optional<llvm::ArrayRef<int64_t>> stride, dilation, pads;
  std::optional<PaddingMode> padding;

  template <typename Op> static WindowOptions of(llvm::StringRef name, Op &op) {
    return {name, op.getStride(), op.getDilation(), orAbsent(op.getPads()), op.getPadding()};
  }
};

/// Windows over some axes, one entry for each. Element `tap` of window `i` is element `i * stride +
/// tap * dilation - low` of the axis, or padding.
struct Windows {
  Shape sizes, taps, low, high, count;
  /// The number of elements after the last window; a call in which it is negative fails.
  Shape room;
  llvm::SmallVector<int64_t> stride, dilation;

  size_t rank() const { return sizes.size(); }
  /// The distance between the first and the last element of a window.
  DimExpr extent(size_t axis) const { return (taps[axis] - 1) * dilation[axis] + 1; }
  /// The distance between the first element of the first window and the last element of the last
  /// one.
  DimExpr last(size_t axis) const {
    return (count[axis] - 1) * stride[axis] + (taps[axis] - 1) * dilation[axis];
  }
  DimExpr padded(size_t axis) const { return low[axis] + sizes[axis] + high[axis]; }
  bool isPadded() const;
  /// Returns true if each element is a window of its own.
  bool isIdentity() const;
  /// The expressions that must be at least 0 for all windows to be inside, without those that are
  /// known to be.
  llvm::SmallVector<DimExpr> conditions() const;
};

/// One number per axis from an option; fails if there are too many or one is below `least`.
llvm::FailureOr<llvm::SmallVector<int64_t>>
readPerAxis(std::optional<mlir::Location> location, llvm::StringRef op, llvm::StringRef name,
            std::optional<llvm::ArrayRef<int64_t>> numbers, int64_t otherwise, int64_t least,
            size_t rank);

/// The windows of `taps` elements over the axes `sizes`, or an error.
llvm::FailureOr<Windows> readWindows(std::optional<mlir::Location> location,
                                     const WindowOptions &options, llvm::ArrayRef<DimExpr> sizes,
                                     llvm::ArrayRef<DimExpr> taps);

/// Fails with an error that shows `type` if windows are known to exceed the padded axes.
llvm::LogicalResult checkWindows(std::optional<mlir::Location> location, llvm::StringRef op,
                                 const Windows &windows, mlir::Type type);

/// Sizes of the axes between the first and the last.
llvm::ArrayRef<DimExpr> innerSizes(llvm::ArrayRef<DimExpr> shape);

/// `first`, then `middle`, then `last`.
Shape joined(llvm::ArrayRef<DimExpr> first, llvm::ArrayRef<DimExpr> middle,
             llvm::ArrayRef<DimExpr> last);

/// `x` padded with `value` along the axes of the windows.
mlir::Value buildPadded(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                        const Windows &windows, double value);

/// The windows of `x`, padded with `value`.
mlir::Value buildWindows(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                         const Windows &windows, double value);

/// The same without a padded copy, for readers that compute the elements they read: elements
/// outside are masked.
mlir::Value buildMaskedWindows(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                               const Windows &windows, double value);

/// The axes of the result of `buildWindows` that run along the elements of a window.
llvm::SmallVector<int64_t> tapAxes(const Windows &windows);

/// `x`, a value per window, placed at the positions of the windows' elements, with an additional
/// axis for each tap.
mlir::Value buildPlaced(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                        const Windows &windows, double value);

/// Builds the condition that all windows of `op` over a tensor of type `type` are inside of it;
/// nothing if that is known.
std::optional<DataCheck> buildWindowsCheck(mlir::OpBuilder &b, mlir::Operation *op,
                                           const Windows &windows, mlir::Type type);

} // namespace tfc::dfg
