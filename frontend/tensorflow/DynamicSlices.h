// Strided slices that begin or end where calls say, as x[i] and x[i:i + 2].
#pragma once

#include "frontend/tensorflow/NodeBuilder.h"

namespace tfc::tensorflow {

/// The masks of a strided slice; bit i refers to entry i of begin, end and strides.
struct SliceMasks {
  int64_t begin, end, ellipsis, newAxis, shrink;
  explicit SliceMasks(const Node &node);
  static bool has(int64_t mask, unsigned i) { return i < 63 && ((mask >> i) & 1); }
};

/// Returns the elements `start + i` along an axis, where `start` is known only at run time.
NodeValue sliceFrom(NodeBuilder &node, NodeValue x, NodeValue starts, unsigned axis,
                    dfg::DimExpr size);

/// Returns `x` padded with zeros by paddings (input 1) that only calls know, whose sums are known,
/// as in the gradient of a slice that begins where calls say. Returns std::nullopt for other
/// paddings, and null after errors.
std::optional<NodeValue> padBetween(NodeBuilder &node, NodeValue x);

/// A slice of a tensor by inputs 1 to 3 of a node, its begin, end and strides.
class DynamicSlice {
public:
  DynamicSlice(NodeBuilder &node, llvm::ArrayRef<dfg::DimExpr> shape);

  /// Returns true for a slice with steps of 1 and without new axes, of which the functions below
  /// are. Each of these returns null after errors.
  bool isSupported() const { return count.has_value(); }
  /// Returns the elements of the slice.
  NodeValue read(NodeValue x);
  /// Returns a tensor of the whole shape with the elements of the slice, and zeros elsewhere.
  NodeValue place(NodeValue elements);
  /// Returns the shape of the slice, unless only calls know it.
  std::optional<dfg::Shape> getShape() const;

private:
  bool isRemoved(unsigned axis) const { return SliceMasks::has(masks.shrink, axis); }
  bool isWhole(unsigned axis) const;
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
  std::optional<int64_t> count; // of axes with entries in begin, end and strides
};

} // namespace tfc::tensorflow
