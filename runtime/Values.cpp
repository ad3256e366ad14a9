//===- Values.cpp - Dtypes, shapes and messages ---------------------------===//
//
// Defines dtypes, counts elements, and formats shapes and messages, for all other files of the
// runtime.
//
//===----------------------------------------------------------------------===//

#include "runtime/Instance.h"

#include <stdio.h>

using namespace tfc::runtime;

void Message::add(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  addList(format, arguments);
  va_end(arguments);
}

void Message::addList(const char *format, va_list arguments) {
  int written = vsnprintf(text + length, sizeof(text) - length, format, arguments);
  if (written > 0)
    length += written;
  if (length >= sizeof(text))
    length = sizeof(text) - 1;
}

tfc_status Message::fail(tfc_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  clear();
  addList(format, arguments);
  va_end(arguments);
  return status;
}

/// A larger rank is an error of the caller; its sizes must not be read.
static constexpr int32_t kMaxShownRank = 64;

void Message::addShape(const int64_t *dims, int32_t rank) {
  if (rank < 0 || rank > kMaxShownRank) {
    add("[rank %d]", static_cast<int>(rank));
    return;
  }
  add("[");
  for (int32_t i = 0; i < rank; ++i)
    add(i ? ", %lld" : "%lld", static_cast<long long>(dims[i]));
  add("]");
}

tfc_status tfc_instance::fail(tfc_status status, const char *format, ...) {
  if (rendezvous.isRunning() && !rendezvous.abort(status))
    return status;
  va_list arguments;
  va_start(arguments, format);
  message.clear();
  message.addList(format, arguments);
  va_end(arguments);
  if (rendezvous.isRunning() && state->tasks.areUsed())
    state->tasks.abort(*this, status);
  return status;
}

static constexpr Dtype kDtypes[] = {
#define TFC_DTYPE(CODE, NAME, KIND, BITS, C, NUMPY, SAFETENSORS, LONG_NAME)                        \
  {NAME, SAFETENSORS, (BITS + 7) / 8},
#include "runtime/Dtypes.inc"
};

// The table is in the order of tfc_dtype.
#define TFC_DTYPE(CODE, NAME, ...)                                                                 \
  static_assert(__builtin_strcmp(kDtypes[TFC_##CODE].name, NAME) == 0);
#include "runtime/Dtypes.inc"

const Dtype *tfc::runtime::dtypeInfo(int32_t dtype) {
  constexpr uint32_t kCount = sizeof(kDtypes) / sizeof(kDtypes[0]);
  return static_cast<uint32_t>(dtype) < kCount ? &kDtypes[dtype] : nullptr;
}

const char *tfc::runtime::dtypeName(int32_t dtype) {
  const Dtype *info = dtypeInfo(dtype);
  return info ? info->name : "no dtype";
}

int64_t tfc::runtime::elementCount(const int64_t *dims, int32_t rank) {
  int64_t count = 1;
  bool empty = false;
  bool overflow = false;
  for (int32_t i = 0; i < rank; ++i) {
    if (dims[i] < 0)
      return -1;
    empty |= dims[i] == 0;
    overflow |= __builtin_mul_overflow(count, dims[i], &count);
  }
  return empty ? 0 : overflow ? -1 : count;
}

bool tfc::runtime::isValidBool(const void *data, uint64_t bytes) {
  const auto *byte = static_cast<const uint8_t *>(data);
  uint8_t all = 0;
  for (uint64_t i = 0; i < bytes; ++i)
    all |= byte[i];
  return all <= 1;
}

extern "C" const char *tfc_status_name(int32_t status) {
  static constexpr const char *kNames[] = {
      "ok",        "invalid argument", "out of range", "not found",       "failed precondition",
      "data loss", "out of memory",    "i/o error",    "unsupported cpu", "abi mismatch",
      "internal",  "closed",           "cancelled",    "no device",       "device lost",
      "task lost",
  };
  constexpr uint32_t kCount = sizeof(kNames) / sizeof(kNames[0]);
  return static_cast<uint32_t>(status) < kCount ? kNames[status] : "unknown status";
}
