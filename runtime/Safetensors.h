//===- Safetensors.h - The header of a safetensors file -------------------===//
//
// A file is the length of its header (8 bytes, little endian), the header (a JSON object: dtype,
// shape and byte range of each tensor; strings about the whole file under "__metadata__"), and the
// tensors' bytes without gaps.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/Instance.h"

namespace tfc::runtime {

/// The key of a tensor's checksum in the metadata is this and its name; its value has eight
/// hexadecimal digits.
inline constexpr char kChecksumPrefix[] = "crc32c/";
/// The same for the slice that a tensor is; its value is that of `writeSlice`.
inline constexpr char kSlicePrefix[] = "slice/";

/// The largest header that is read, as in the reference implementation.
inline constexpr uint64_t kMaxHeaderBytes = 100'000'000;

struct StoredFile;

struct StoredTensor {
  static constexpr int32_t kMaxRank = 16;

  const char *name;  // in the header's text
  const char *dtype; // as the file writes it, "F32"
  int32_t rank;
  int64_t dims[kMaxRank];
  uint64_t begin; // in the bytes after the header
  uint64_t end;
  const char *checksum; // null if the file has none
  bool taken;           // by a variable
  StoredFile *file;     // set by readers of several files
  tfc_slice_info slice; // `whole` is null if it is none
};

/// The tensors that a header lists. The strings point into the header's text.
struct StoredTensors {
  explicit StoredTensors(const Allocator &allocator) : list(allocator), byName(allocator) {}

  Array<StoredTensor> list;
  bool hasChecksums = false;

  /// Prepares `find` once the list is complete and in order; returns false if there is no memory.
  bool index();
  /// The tensor of this name, the first of several, or null.
  StoredTensor *find(const char *name);

private:
  Array<StoredTensor *> byName;
};

/// Parses a header and checks it against the `dataBytes` after it: complete, consecutive tensors up
/// to the end of the file. `text` has `bytes` characters and a null after them; strings are decoded
/// in place. If it fails, the message begins with `path`.
tfc_status parseHeader(Message &message, const char *path, const Allocator &allocator, char *text,
                       size_t bytes, uint64_t dataBytes, StoredTensors &tensors);

/// Appends the header (preceded by its length) for `count` variables of a model, in the order
/// `order`. Checksums are by variable.
bool writeHeader(const tfc_model &model, const int32_t *order, int32_t count,
                 const uint32_t *checksums, Array<char> &out);

/// Appends JSON to a text; `complete` is false when there was no memory.
class TextWriter {
public:
  explicit TextWriter(Array<char> &out) : out(out) {}

  void raw(const char *text) { complete &= out.append(text, strlen(text)); }
  void number(uint64_t value);
  /// The contents of a string.
  void escaped(const char *text);

  bool complete = true;

private:
  Array<char> &out;
};

} // namespace tfc::runtime
