//===- Queue.cpp - The elements of a queue --------------------------------===//
//
// Stores the elements of one queue and decides in which order they are taken. Locking and waiting
// are in Queues.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Queue.h"

using namespace tfc::runtime;

static int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

static bool hasOrder(const tfc_queue_info &info) { return info.kind != TFC_QUEUE_FIFO; }

static int64_t bytesOfElement(const tfc_queue_info &info) {
  int64_t bytes = 0;
  for (int32_t i = 0; i < info.component_count; ++i)
    if (__builtin_add_overflow(bytes, static_cast<int64_t>(info.components[i].bytes), &bytes))
      return -1;
  return bytes;
}

int64_t Queue::memoryBytes(const tfc_queue_info &info) {
  int64_t elements, bytes = bytesOfElement(info);
  if (bytes < 0 || info.capacity > INT64_MAX / 64 ||
      __builtin_mul_overflow(bytes, info.capacity, &elements) || elements > INT64_MAX / 4)
    return -1;
  int64_t order = hasOrder(info) ? aligned(info.capacity * int64_t(sizeof(int64_t))) : 0;
  int64_t keys =
      info.kind == TFC_QUEUE_PRIORITY ? aligned(info.capacity * int64_t(sizeof(Key))) : 0;
  return order + keys + aligned(elements);
}

void Queue::place(char *memory) {
  elementBytes = bytesOfElement(*info);
  if (hasOrder(*info)) {
    order = reinterpret_cast<int64_t *>(memory);
    for (int64_t i = 0; i < info->capacity; ++i)
      order[i] = i;
    memory += aligned(info->capacity * int64_t(sizeof(int64_t)));
  }
  if (info->kind == TFC_QUEUE_PRIORITY) {
    keys = reinterpret_cast<Key *>(memory);
    memory += aligned(info->capacity * int64_t(sizeof(Key)));
  }
  elements = memory;
}

//===- Copies -------------------------------------------------------------===//

void Queue::put(const void *const *values, int64_t index) {
  char *to = elements + slotToFill(values, index) * elementBytes;
  for (int32_t i = 0; i < info->component_count; ++i) {
    uint64_t bytes = info->components[i].bytes;
    if (bytes)
      memcpy(to, static_cast<const char *>(values[i]) + index * bytes, bytes);
    to += bytes;
  }
}

void Queue::take(void *const *values, int64_t index) {
  const char *from = elements + slotToEmpty() * elementBytes;
  for (int32_t i = 0; i < info->component_count; ++i) {
    uint64_t bytes = info->components[i].bytes;
    if (bytes)
      memcpy(static_cast<char *>(values[i]) + index * bytes, from, bytes);
    from += bytes;
  }
}

//===- Order --------------------------------------------------------------===//

int64_t Queue::slotToFill(const void *const *values, int64_t index) {
  if (!hasOrder(*info))
    return (head + count++) % info->capacity;
  int64_t slot = order[count];
  if (info->kind == TFC_QUEUE_PRIORITY) {
    memcpy(&keys[slot].priority, static_cast<const int64_t *>(values[0]) + index, sizeof(int64_t));
    keys[slot].arrival = arrivals++;
    moveUp(count);
  }
  ++count;
  return slot;
}

int64_t Queue::slotToEmpty() {
  --count;
  if (!hasOrder(*info)) {
    int64_t slot = head;
    head = (head + 1) % info->capacity;
    return slot;
  }
  bool isRandom = info->kind == TFC_QUEUE_SHUFFLE;
  swapOrder(isRandom ? drawBelow(count + 1) : 0, count);
  if (!isRandom)
    moveDown(0);
  return order[count];
}

/// SplitMix64 of the seed and the number of the draw, scaled.
int64_t Queue::drawBelow(int64_t bound) {
  uint64_t x =
      static_cast<uint64_t>(info->seed) * 0xd1342543de82ef95u + ++draws * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  x ^= x >> 31;
  return static_cast<int64_t>((static_cast<unsigned __int128>(x) * bound) >> 64);
}

bool Queue::isBefore(int64_t a, int64_t b) const {
  const Key &first = keys[order[a]], &second = keys[order[b]];
  return first.priority != second.priority ? first.priority < second.priority
                                           : first.arrival < second.arrival;
}

void Queue::swapOrder(int64_t a, int64_t b) {
  int64_t slot = order[a];
  order[a] = order[b];
  order[b] = slot;
}

void Queue::moveUp(int64_t position) {
  for (int64_t parent; position > 0 && isBefore(position, parent = (position - 1) / 2);
       position = parent)
    swapOrder(position, parent);
}

void Queue::moveDown(int64_t position) {
  for (;;) {
    int64_t first = position;
    for (int64_t child = 2 * position + 1; child < count && child <= 2 * position + 2; ++child)
      if (isBefore(child, first))
        first = child;
    if (first == position)
      return;
    swapOrder(first, position);
    position = first;
  }
}
