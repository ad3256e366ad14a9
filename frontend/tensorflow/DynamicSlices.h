// Strided slices: their masks, cuts of axes, and those that begin or end where calls say, as x[i].
#pragma once

#include "frontend/tensorflow/NodeBuilder.h"

namespace tfc::tensorflow {

/// An axis that a strided slice reads or adds.
struct SlicedAxis {
  std::optional<unsigned> input; // none for a new axis
  std::optional<unsigned> entry; // of begin, end and strides; none for axes without bounds
};

/// The masks of a strided slice; bit i refers to entry i of begin, end and strides.
struct SliceMasks {
  int64_t begin, end, ellipsis, newAxis, shrink;
  explicit SliceMasks(const Node &node);
  static bool has(int64_t mask, unsigned i) { return i < 63 && ((mask >> i) & 1); }
  bool hasBegin(unsigned i) const { return !has(begin, i); }
  bool hasEnd(unsigned i) const { return !has(end, i); }
  /// Returns the axes to which `count` entries refer in a tensor of this rank, in order. Returns
  /// std::nullopt if there are more entries than axes, or two ellipses.
  std::optional<llvm::SmallVector<SlicedAxis>> expand(int64_t count, int64_t rank) const;
};

/// An axis of a slice whose begin, end and stride are known.
struct SliceCut {
  dfg::DimExpr start, size;
  int64_t step;
};

/// Cuts an axis of this size from `begin` to `end`, or from where and to where it goes if they are
/// null. `step` is not 0.
SliceCut cutAxis(const dfg::DimExpr &size, const dfg::DimExpr *begin, const dfg::DimExpr *end,
                 int64_t step);

/// Returns the elements of `x` in cuts, one for each axis.
NodeValue readCuts(NodeBuilder &node, NodeValue x, llvm::ArrayRef<SliceCut> cuts);

/// Returns the elements of cuts where they are in a tensor of this shape, which is 0 elsewhere.
NodeValue placeCuts(NodeBuilder &node, NodeValue x, llvm::ArrayRef<SliceCut> cuts,
                    const dfg::Shape &shape);

/// Returns the elements `start + i` along an axis, where `start` is an entry of an input, a vector
/// that is known only at run time.
NodeValue sliceFrom(NodeBuilder &node, NodeValue x, unsigned input, unsigned entry, unsigned axis,
                    dfg::DimExpr size);

/// Returns `x` padded with zeros by paddings (input 1) that only calls know, whose sums are known,
/// as in the gradient of a slice that begins where calls say. Returns std::nullopt for other
/// paddings, and null after errors.
std::optional<NodeValue> padBetween(NodeBuilder &node, NodeValue x);

/// A slice of a tensor by inputs 1 to 3 of a node, its begin, end and strides.
class DynamicSlice {
public:
  DynamicSlice(NodeBuilder &node, llvm::ArrayRef<dfg::DimExpr> shape);

  /// Returns true for a slice with steps of 1 along the axes whose bounds only calls know, of which
  /// the functions below are. Each of these returns null after errors.
  bool isSupported() const { return isValid; }
  /// Returns the elements of the slice.
  NodeValue read(NodeValue x);
  /// Returns a tensor of the whole shape with the elements of the slice, and zeros elsewhere.
  NodeValue place(NodeValue elements);
  /// Returns the shape of the slice, unless only calls know it.
  std::optional<dfg::Shape> getShape() const;

private:
  bool isRemoved(unsigned axis) const;
  /// Returns true for an axis that is neither removed nor one of the cuts.
  bool isOpen(unsigned axis) const { return !isRemoved(axis) && !cuts[axis]; }
  /// Returns how an axis is cut if this is known.
  std::optional<SliceCut> cutOf(unsigned axis);
  /// Returns the cuts of an `x` with these sizes, which along other axes is whole.
  llvm::SmallVector<SliceCut> cutsWithin(llvm::ArrayRef<dfg::DimExpr> sizes) const;
  /// Returns the distance from begin to end of an axis if it is a constant whatever these are.
  std::optional<int64_t> constantSpan(unsigned axis) const;
  /// Returns the position where the slice begins; negative ones count from the end.
  NodeValue beginOf(unsigned axis);
  /// Returns the first of some positions, all of which calls check.
  NodeValue checkPlaces(NodeValue first, unsigned axis, int64_t length);
  NodeValue cutBetween(NodeValue x, unsigned axis);

  NodeBuilder &node;
  SliceMasks masks;
  dfg::Shape shape;
  llvm::SmallVector<SlicedAxis> axes;                 // in the order of the result
  llvm::SmallVector<std::optional<unsigned>> entries; // of begin, end and strides by axis
  llvm::SmallVector<std::optional<SliceCut>> cuts;    // by axis
  bool isValid = false;
};

} // namespace tfc::tensorflow
