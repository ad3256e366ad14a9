//===- Slices.h - Variables from slices of other tensors ------------------===//
//
// Variables may be slices of one larger tensor, such as the shards of a table, and a program for
// another number of tasks has other slices. A checkpoint says which elements its tensors have, so
// they can be put together anew. All sizes are along the axis of the slices.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/Safetensors.h"

namespace tfc::runtime {

/// Appends a slice as text, "0 1 2 11 table": axis, first element, step, size, name of the whole.
void writeSlice(TextWriter &writer, const tfc_slice_info &slice);
/// Parses such a text, in which the name stays. Returns false if it is none.
bool parseSlice(const char *text, tfc_slice_info &slice);
/// Returns true if a tensor of this shape can have the slice.
bool isSliceOf(const tfc_slice_info &slice, const int64_t *dims, int32_t rank);

bool areEqual(const tfc_slice_info &a, const tfc_slice_info &b);

/// Puts the value of a variable with a slice together.
class Assembly {
public:
  /// `filled` has to outlive it.
  Assembly(const tfc_variable_info &variable, Block &filled);

  /// Prepares for all elements; returns false if there is no memory.
  bool begin(const Allocator &allocator);

  /// Returns true if the tensor has a slice of the same whole, with the same type.
  bool concerns(const StoredTensor &tensor) const;
  /// Takes those elements of a tensor that no earlier one has had, and returns how many that are.
  /// With null pointers nothing is copied.
  int64_t take(const StoredTensor &tensor, const void *from, void *to);
  /// How many elements `take` would take.
  int64_t countMissing(const StoredTensor &tensor);

  bool isComplete() const { return remaining == 0; }
  /// The number, in the whole, of the first element that is missing.
  int64_t firstMissing() const;

private:
  template <typename F> int64_t forEachMissing(const StoredTensor &tensor, F visit);

  const tfc_variable_info &variable;
  const tfc_slice_info &slice;
  int64_t outer = 1, count = 1, innerBytes; // around the axis, along it, and in an element
  int64_t remaining = 0;
  Block &filled; // a byte for each element
};

} // namespace tfc::runtime
