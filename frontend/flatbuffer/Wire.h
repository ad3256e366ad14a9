// The code generated from the schema, and the constants and helpers that reading and writing share.
#pragma once

#include "frontend/flatbuffer/Graph_generated.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/iterator_range.h"

namespace tfc::flatbuffer {

/// The newest edition that this version reads. It writes the oldest one that has what a graph
/// needs.
inline constexpr uint32_t kEdition = 3;
/// The editions since which variables are slices and since which nodes and declarations have
/// devices, and the first one.
inline constexpr uint32_t kSlicesEdition = 3, kDevicesEdition = 2, kFirstEdition = 1;
/// The offsets of data are multiples of this.
inline constexpr uint64_t kDataAlignment = 64;
/// Regions and lists of attributes are not nested deeper.
inline constexpr unsigned kMaxRegions = 256, kMaxLists = 16;
/// The offset of the identifier at the beginning of the file.
inline constexpr size_t kIdentifierAt = 4;

/// The elements of a vector that may be missing.
template <typename T>
auto elementsOf(const flatbuffers::Vector<T> *vector)
    -> llvm::iterator_range<typename flatbuffers::Vector<T>::const_iterator> {
  using Iterator = typename flatbuffers::Vector<T>::const_iterator;
  if (vector)
    return {vector->begin(), vector->end()};
  return {Iterator(nullptr, 0), Iterator(nullptr, 0)};
}

} // namespace tfc::flatbuffer
