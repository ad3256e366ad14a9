//===- Slices.cpp - Variables from slices of other tensors ----------------===//
//
// Copies those elements of stored slices that a variable has.
//
//===----------------------------------------------------------------------===//

#include "runtime/Slices.h"

#include <errno.h>
#include <stdlib.h>

using namespace tfc::runtime;

void tfc::runtime::writeSlice(TextWriter &writer, const tfc_slice_info &slice) {
  for (int64_t number : {slice.axis, slice.first, slice.step, slice.size}) {
    writer.number(number);
    writer.raw(" ");
  }
  writer.escaped(slice.whole);
}

bool tfc::runtime::parseSlice(const char *text, tfc_slice_info &slice) {
  for (int64_t *number : {&slice.axis, &slice.first, &slice.step, &slice.size}) {
    if (*text < '0' || *text > '9')
      return false;
    char *end;
    errno = 0;
    *number = strtoll(text, &end, 10);
    if (errno || *end != ' ')
      return false;
    text = end + 1;
  }
  slice.whole = text;
  return *text != 0 && slice.step > 0;
}

static int64_t countAlong(const tfc_slice_info &slice, const int64_t *dims, int32_t rank) {
  return rank == 0 ? 1 : dims[slice.axis];
}

bool tfc::runtime::isSliceOf(const tfc_slice_info &slice, const int64_t *dims, int32_t rank) {
  if (slice.axis >= (rank ? rank : 1))
    return false;
  int64_t count = countAlong(slice, dims, rank);
  return count == 0 ||
         (slice.first < slice.size && count - 1 <= (slice.size - 1 - slice.first) / slice.step);
}

bool tfc::runtime::areEqual(const tfc_slice_info &a, const tfc_slice_info &b) {
  return a.axis == b.axis && a.first == b.first && a.step == b.step && a.size == b.size &&
         strcmp(a.whole, b.whole) == 0;
}

Assembly::Assembly(const tfc_variable_info &variable, Block &filled)
    : variable(variable), slice(*variable.slice), innerBytes(dtypeInfo(variable.dtype)->bytes),
      filled(filled) {
  for (int32_t i = 0; i < variable.rank; ++i)
    (i < slice.axis ? outer : i == slice.axis ? count : innerBytes) *= variable.dims[i];
}

bool Assembly::begin(const Allocator &allocator) {
  if (!filled.reserve(allocator, count ? count : 1))
    return false;
  memset(filled.data(), 0, count);
  remaining = count;
  return true;
}

bool Assembly::concerns(const StoredTensor &tensor) const {
  if (!tensor.slice.whole || strcmp(tensor.slice.whole, slice.whole) != 0 ||
      tensor.slice.axis != slice.axis || tensor.slice.size != slice.size ||
      tensor.rank != variable.rank ||
      strcmp(tensor.dtype, dtypeInfo(variable.dtype)->safetensors) != 0)
    return false;
  for (int32_t i = 0; i < variable.rank; ++i)
    if (i != slice.axis && tensor.dims[i] != variable.dims[i])
      return false;
  return true;
}

/// Calls `visit` with the position of each missing element in the variable and in the tensor.
template <typename F> int64_t Assembly::forEachMissing(const StoredTensor &tensor, F visit) {
  const tfc_slice_info &other = tensor.slice;
  int64_t stored = countAlong(other, tensor.dims, tensor.rank), found = 0;
  for (int64_t i = 0; i < count && remaining > 0; ++i) {
    int64_t distance = slice.first + i * slice.step - other.first;
    if (filled.data()[i] || distance < 0 || distance % other.step != 0 ||
        distance / other.step >= stored)
      continue;
    visit(i, distance / other.step);
    ++found;
  }
  return found;
}

int64_t Assembly::countMissing(const StoredTensor &tensor) {
  return forEachMissing(tensor, [](int64_t, int64_t) {});
}

int64_t Assembly::take(const StoredTensor &tensor, const void *from, void *to) {
  int64_t stored = countAlong(tensor.slice, tensor.dims, tensor.rank);
  int64_t taken = forEachMissing(tensor, [&](int64_t here, int64_t there) {
    filled.data()[here] = 1;
    for (int64_t i = 0; from && i < outer; ++i)
      memcpy(static_cast<char *>(to) + (i * count + here) * innerBytes,
             static_cast<const char *>(from) + (i * stored + there) * innerBytes, innerBytes);
  });
  remaining -= taken;
  return taken;
}

int64_t Assembly::firstMissing() const {
  int64_t i = 0;
  while (i < count && filled.data()[i])
    ++i;
  return slice.first + i * slice.step;
}
