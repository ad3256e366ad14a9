//===- Memory.h - The instance's allocator and owners of its memory -------===//

#pragma once

#include <new>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace tfc::runtime {

/// The caller's functions, or malloc and free.
struct Allocator {
  void *(*allocate)(void *context, size_t bytes, size_t alignment);
  void (*release)(void *context, void *memory, size_t bytes);
  void *context;

  /// Uninitialised memory with an alignment of 64 bytes, or null.
  void *take(size_t bytes) const { return allocate(context, bytes, 64); }
  void give(void *memory, size_t bytes) const {
    if (memory)
      release(context, memory, bytes);
  }
};

/// The default allocator, for instances whose options specify none.
Allocator defaultAllocator();

/// Owns a piece of 64-byte aligned memory.
class Block {
public:
  Block() = default;
  Block(const Block &) = delete;
  Block &operator=(const Block &) = delete;
  ~Block() { reset(); }

  /// Ensures that the block has at least `bytes` (and is not empty). The contents are lost when it
  /// grows; a failed call does not change it.
  bool reserve(const Allocator &from, size_t bytes) {
    if (memory && bytes <= capacity)
      return true;
    Block larger;
    larger.allocator = from;
    larger.capacity = bytes < 64 ? 64 : bytes;
    larger.memory = static_cast<char *>(from.take(larger.capacity));
    if (!larger.memory)
      return false;
    swap(larger);
    return true;
  }

  void reset() {
    if (memory)
      allocator.give(memory, capacity);
    memory = nullptr;
    capacity = 0;
  }

  void swap(Block &other) {
    char saved[sizeof(Block)];
    memcpy(saved, static_cast<void *>(this), sizeof(Block));
    memcpy(static_cast<void *>(this), static_cast<void *>(&other), sizeof(Block));
    memcpy(static_cast<void *>(&other), saved, sizeof(Block));
  }

  char *data() const { return memory; }
  size_t size() const { return capacity; }

private:
  Allocator allocator = {};
  char *memory = nullptr;
  size_t capacity = 0;
};

/// Owns an array of objects, which never move.
template <typename T> class Objects {
public:
  Objects() = default;
  Objects(const Objects &) = delete;
  Objects &operator=(const Objects &) = delete;
  ~Objects() {
    while (count > 0)
      (*this)[--count].~T();
  }

  /// Creates `wanted` objects; returns false if there is no memory. May be called once.
  bool create(const Allocator &allocator, int32_t wanted) {
    if (!block.reserve(allocator, wanted * sizeof(T)))
      return false;
    for (; count < wanted; ++count)
      new (block.data() + count * sizeof(T)) T;
    return true;
  }

  T &operator[](int64_t index) const { return reinterpret_cast<T *>(block.data())[index]; }
  T *begin() const { return reinterpret_cast<T *>(block.data()); }
  T *end() const { return begin() + count; }
  int32_t size() const { return count; }

private:
  Block block;
  int32_t count = 0;
};

/// A growing array of trivial values. `push` returns false if there is no memory.
template <typename T> class Array {
public:
  explicit Array(const Allocator &allocator) : allocator(allocator) {}

  bool push(const T &value) { return append(&value, 1); }

  bool append(const T *values, size_t added) {
    if (count + added > block.size() / sizeof(T) && !grow(count + added))
      return false;
    if (added)
      memcpy(begin() + count, values, added * sizeof(T));
    count += added;
    return true;
  }

  T *begin() const { return reinterpret_cast<T *>(block.data()); }
  T *end() const { return begin() + count; }
  T &operator[](size_t index) const { return begin()[index]; }
  size_t size() const { return count; }

private:
  bool grow(size_t wanted) {
    Block larger;
    if (!larger.reserve(allocator, (wanted + wanted / 2 + 8) * sizeof(T)))
      return false;
    if (count)
      memcpy(larger.data(), block.data(), count * sizeof(T));
    block.swap(larger);
    return true;
  }

  Allocator allocator;
  Block block;
  size_t count = 0;
};

} // namespace tfc::runtime
