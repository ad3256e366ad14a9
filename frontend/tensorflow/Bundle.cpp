// Reads tensors of a checkpoint. Offsets, sizes and checksums are checked here. A tensor that was
// saved in parts has an entry for each part, whose key is an encoding of its own.

#include "frontend/tensorflow/Bundle.h"

#include "frontend/Fmt.h"
#include "frontend/ReadFile.h"
#include "frontend/TensorFile.h"
#include "frontend/tensorflow/GraphDef.h"
#include "frontend/tensorflow/LevelTable.h"
#include "frontend/tensorflow/graph.pb.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/LEB128.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

//===----------------------------------------------------------------------===//
// The index
//===----------------------------------------------------------------------===//

bool Bundle::open(std::string &error) {
  constexpr int kVersion = 1, kMostShards = 99999;
  index = readRegularFile(indexPath(), error);
  if (!index)
    return false;
  addInput(indexPath());
  StringRef file = index->getBuffer();
  std::string header;
  bool hasHeader = false;
  auto visit = [&](StringRef key, StringRef value) {
    if (key.empty())
      header = value.str();
    hasHeader |= key.empty();
    entries[key] = value;
  };
  if (!readLevelTable(file, visit, error))
    return false;
  wire::BundleHeader described;
  if (!hasHeader || !described.ParseFromString(header) || described.num_shards() < 0 ||
      described.num_shards() > kMostShards || described.endianness() < 0 ||
      described.endianness() > 1) {
    error = "the header of the checkpoint is missing or damaged";
    return false;
  }
  if (described.version().min_consumer() > kVersion) {
    error = fmt::format("tfc reads checkpoints of version {}, but this one needs {}", kVersion,
                        described.version().min_consumer());
    return false;
  }
  shardCount = described.num_shards();
  isBigEndian = described.endianness() == 1;
  return true;
}

bool Bundle::findEntry(StringRef key, wire::BundleEntry &entry, std::string &error) const {
  auto found = entries.find(key);
  if (key.empty() || found == entries.end())
    error = "there is no such tensor";
  else if (!entry.ParseFromArray(found->second.data(), int(found->second.size())))
    error = "its entry in the index is damaged";
  return error.empty();
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

struct Bundle::Stored {
  Type element;
  SmallVector<int64_t> shape;
  StringRef bytes; // little-endian
  FileBuffer file; // that holds them

  RankedTensorType type() const { return RankedTensorType::get(shape, element); }
};

Bundle::FileBuffer Bundle::openShard(int64_t number, std::string &error) {
  if (number < 0 || number >= shardCount) {
    error = fmt::format("it is in file {} of {}", number, shardCount);
    return nullptr;
  }
  FileBuffer &file = shards[number];
  if (file)
    return file;
  std::string path = fmt::format("{}.data-{:05}-of-{:05}", prefix, number, shardCount), reason;
  file = readRegularFile(path, reason);
  if (file)
    addInput(path);
  else
    error = fmt::format("cannot read '{}': {}", path, reason);
  return file;
}

std::optional<StringRef> Bundle::findBytes(const wire::BundleEntry &entry, FileBuffer &file,
                                           std::string &error) {
  file = openShard(entry.shard_id(), error);
  if (!file)
    return std::nullopt;
  StringRef all = file->getBuffer();
  if (entry.offset() >= 0 && entry.size() >= 0 && uint64_t(entry.offset()) <= all.size() &&
      uint64_t(entry.size()) <= all.size() - uint64_t(entry.offset()))
    return all.substr(entry.offset(), entry.size());
  error = fmt::format("'{}' ends before its last element", file->getBufferIdentifier());
  return std::nullopt;
}

static std::string wrongChecksum(const MemoryBuffer &file) {
  return fmt::format("its checksum is wrong: '{}' is damaged", file.getBufferIdentifier());
}

static unsigned byteWidth(Type element) { return divideCeil(element.getIntOrFloatBitWidth(), 8); }

/// Returns the number of bytes of a tensor, or std::nullopt if it is far too large.
static std::optional<uint64_t> countBytes(Type element, ArrayRef<int64_t> shape) {
  uint64_t bytes = byteWidth(element);
  for (int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(bytes, uint64_t(size), &bytes) ||
        bytes > (uint64_t(1) << 44))
      return std::nullopt;
  return bytes;
}

/// Returns a copy with the bytes of each element reversed.
static std::shared_ptr<MemoryBuffer> swapBytes(StringRef bytes, unsigned width) {
  std::shared_ptr<WritableMemoryBuffer> copy =
      WritableMemoryBuffer::getNewUninitMemBuffer(bytes.size());
  if (!copy)
    return nullptr;
  for (size_t i = 0; i < bytes.size(); ++i)
    copy->getBufferStart()[i] = bytes[i - i % width + width - 1 - i % width];
  return copy;
}

bool Bundle::readStored(MLIRContext *context, const wire::BundleEntry &entry, Stored &stored,
                        std::string &error) {
  stored.element = elementTypeOf(context, entry.dtype());
  if (!stored.element) {
    error = fmt::format("tfc does not support tensors of {}", dtypeName(entry.dtype()));
    return false;
  }
  for (const wire::Shape::Dim &dim : entry.shape().dim())
    stored.shape.push_back(dim.size());
  std::optional<uint64_t> bytes = countBytes(stored.element, stored.shape);
  if (!bytes || entry.shape().unknown_rank() || entry.size() < 0 ||
      uint64_t(entry.size()) != *bytes) {
    error = "its shape does not match its number of bytes";
    return false;
  }
  std::optional<StringRef> found = findBytes(entry, stored.file, error);
  if (!found)
    return false;
  stored.bytes = *found;
  if (!hasMaskedChecksum(stored.bytes, entry.crc32c())) {
    error = wrongChecksum(*stored.file);
    return false;
  }
  unsigned width = byteWidth(stored.element);
  if (!isBigEndian || width == 1)
    return true;
  stored.file = swapBytes(stored.bytes, width);
  if (!stored.file) {
    error = "not enough memory for its elements";
    return false;
  }
  stored.bytes = stored.file->getBuffer();
  return true;
}

// The bytes of a text follow its length and the checksum of that. The checksum of the whole takes
// the length as a number of 32 bits, or of 64 if it needs them.
std::optional<std::string> Bundle::readText(StringRef key, std::string &error) {
  wire::BundleEntry entry;
  if (!findEntry(key, entry, error))
    return std::nullopt;
  FileBuffer file;
  std::optional<StringRef> bytes = findBytes(entry, file, error);
  if (!bytes)
    return std::nullopt;
  constexpr size_t kChecksumBytes = 4;
  unsigned lengthBytes = 0;
  const char *problem = nullptr;
  uint64_t length = decodeULEB128(bytes->bytes_begin(), &lengthBytes, bytes->bytes_end(), &problem);
  if (entry.dtype() != kStringDtype || !entry.shape().dim().empty() || problem ||
      length > UINT32_MAX || bytes->size() != lengthBytes + kChecksumBytes + length) {
    error = "it is not one text";
    return std::nullopt;
  }
  endianness order = isBigEndian ? endianness::big : endianness::little;
  std::string checked(sizeof(uint32_t), 0);
  support::endian::write32(checked.data(), uint32_t(length), order);
  uint32_t lengthChecksum = support::endian::read32(bytes->data() + lengthBytes, order);
  bool isIntact = hasMaskedChecksum(checked, lengthChecksum);
  checked += bytes->drop_front(lengthBytes);
  if (isIntact && hasMaskedChecksum(checked, entry.crc32c()))
    return bytes->drop_front(lengthBytes + kChecksumBytes).str();
  error = wrongChecksum(*file);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

namespace {
/// A box of elements of a tensor.
struct Box {
  SmallVector<int64_t> starts, sizes;
  bool operator==(const Box &other) const = default;
};
} // namespace

static Box wholeOf(ArrayRef<int64_t> shape) {
  return {SmallVector<int64_t>(shape.size(), 0), SmallVector<int64_t>(shape)};
}

/// Appends a number as OrderedCode (TensorFlow's lib/strings) encodes it if it is not negative.
static void appendNumber(std::string &key, uint64_t value) {
  size_t length = divideCeil(bit_width(value), 8u);
  key += char(length);
  for (size_t i = length; i-- > 0;)
    key += char(value >> (8 * i));
}

/// The same for numbers that may be negative: the first bits say how many bytes there are.
static void appendSigned(std::string &key, int64_t value) {
  unsigned length = bit_width(uint64_t(value < 0 ? ~value : value)) / 7 + 1;
  std::string bytes;
  for (unsigned i = length; i-- > 0;)
    bytes += i >= 8 ? (value < 0 ? char(0xff) : char(0)) : char(value >> (8 * i));
  // `length` ones, and a zero where there is room.
  for (unsigned bit = 0; bit < length; ++bit)
    bytes[bit / 8] ^= char(0x80 >> bit % 8);
  key += bytes;
}

static void appendText(std::string &key, StringRef text) {
  for (char c : text) {
    key += c;
    if (c == '\0')
      key += '\xff';
    else if (c == '\xff')
      key += '\0';
  }
  key += StringRef("\0\1", 2);
}

/// Returns the key of a part, as TensorFlow encodes it (EncodeTensorNameSlice).
static std::string keyOfPart(StringRef tensor, const wire::BundleEntry::Slice &part) {
  std::string key;
  appendNumber(key, 0);
  appendText(key, tensor);
  appendNumber(key, part.extent_size());
  for (const wire::BundleEntry::Extent &extent : part.extent()) {
    appendSigned(key, extent.start());
    appendSigned(key, extent.has_length() ? extent.length() : -1);
  }
  return key;
}

/// Returns the place of a part in a tensor, or std::nullopt if it is not inside.
static std::optional<Box> boxOf(const wire::BundleEntry::Slice &part, ArrayRef<int64_t> shape) {
  Box box = wholeOf(shape);
  if (part.extent_size() != int(shape.size()))
    return std::nullopt;
  for (auto [axis, extent] : enumerate(part.extent())) {
    if (!extent.has_length())
      continue;
    if (extent.start() < 0 || extent.length() < 0 || extent.start() > shape[axis] ||
        extent.length() > shape[axis] - extent.start())
      return std::nullopt;
    box.starts[axis] = extent.start();
    box.sizes[axis] = extent.length();
  }
  return box;
}

/// Parses "6 4 0,3:-", the shape of a tensor and a part of it; the whole tensor if it is empty.
static std::optional<Box> parseSlice(StringRef text, ArrayRef<int64_t> shape) {
  Box box = wholeOf(shape);
  if (text.empty())
    return box;
  SmallVector<StringRef> words, parts;
  text.split(words, ' ');
  words.back().split(parts, ':');
  if (words.size() != shape.size() + 1 || parts.size() != shape.size())
    return std::nullopt;
  for (auto [axis, size] : enumerate(shape)) {
    int64_t whole;
    if (words[axis].getAsInteger(10, whole) || whole != size)
      return std::nullopt;
    if (parts[axis] == "-")
      continue;
    auto [start, length] = parts[axis].split(',');
    if (start.getAsInteger(10, box.starts[axis]) || length.getAsInteger(10, box.sizes[axis]) ||
        box.starts[axis] < 0 || box.sizes[axis] < 0 || box.starts[axis] > size ||
        box.sizes[axis] > size - box.starts[axis])
      return std::nullopt;
  }
  return box;
}

/// Copies the elements that two boxes of a tensor share, each stored row by row, and marks them in
/// the second one.
static void copyShared(const Box &from, const char *source, const Box &to, char *target,
                       unsigned width, BitVector &marks) {
  size_t rank = from.sizes.size();
  SmallVector<int64_t> begin, size;
  int64_t count = 1;
  for (size_t axis = 0; axis < rank; ++axis) {
    begin.push_back(std::max(from.starts[axis], to.starts[axis]));
    int64_t end = std::min(from.starts[axis] + from.sizes[axis], to.starts[axis] + to.sizes[axis]);
    size.push_back(std::max<int64_t>(0, end - begin.back()));
    count *= size.back();
  }
  if (count == 0)
    return;
  auto offsetIn = [&](const Box &box, ArrayRef<int64_t> at) {
    int64_t offset = 0;
    for (size_t axis = 0; axis < rank; ++axis)
      offset = offset * box.sizes[axis] + begin[axis] + at[axis] - box.starts[axis];
    return offset;
  };
  int64_t run = rank ? size.back() : 1;
  SmallVector<int64_t> at(rank, 0);
  for (int64_t row = 0, rows = count / run; row < rows; ++row) {
    int64_t place = offsetIn(to, at);
    memcpy(target + place * width, source + offsetIn(from, at) * width, size_t(run * width));
    marks.set(unsigned(place), unsigned(place + run));
    for (size_t axis = rank - (rank > 0); axis-- > 0;) {
      if (++at[axis] < size[axis])
        break;
      at[axis] = 0;
    }
  }
}

struct Bundle::Part {
  Box box;
  Stored stored;
};

/// Reads the parts of a tensor, or the one part that is the whole. Returns false and sets `error`
/// if one is damaged.
bool Bundle::readParts(MLIRContext *context, StringRef key, Stored &whole, std::vector<Part> &parts,
                       std::string &error) {
  wire::BundleEntry entry;
  if (!findEntry(key, entry, error))
    return false;
  if (entry.slices().empty()) {
    if (!readStored(context, entry, whole, error))
      return false;
    parts.push_back({wholeOf(whole.shape), whole});
    return true;
  }
  whole.element = elementTypeOf(context, entry.dtype());
  for (const wire::Shape::Dim &dim : entry.shape().dim())
    whole.shape.push_back(dim.size());
  for (const wire::BundleEntry::Slice &slice : entry.slices()) {
    std::optional<Box> box = boxOf(slice, whole.shape);
    wire::BundleEntry own;
    Stored part;
    if (!box || !findEntry(keyOfPart(key, slice), own, error) ||
        !readStored(context, own, part, error) || part.shape != box->sizes ||
        part.element != whole.element) {
      error = fmt::format("one of its parts is damaged{}{}", error.empty() ? "" : ": ", error);
      return false;
    }
    parts.push_back({std::move(*box), std::move(part)});
  }
  return true;
}

ElementsAttr Bundle::read(MLIRContext *context, StringRef key, StringRef slice, StringRef name,
                          std::string &error) {
  Stored whole;
  std::vector<Part> parts;
  if (!readParts(context, key, whole, parts, error))
    return {};
  std::optional<Box> wanted = parseSlice(slice, whole.shape);
  if (!wanted) {
    error = fmt::format("it is {}, of which '{}' is no part", dfg::toText(whole.type()), slice);
    return {};
  }
  auto type = RankedTensorType::get(wanted->sizes, whole.element);
  uint64_t stored = 0;
  for (const Part &part : parts) {
    if (part.box == *wanted)
      return mapTensor(type, part.stored.bytes, part.stored.file, name);
    stored += part.stored.bytes.size();
  }
  constexpr StringLiteral kIncomplete = "its parts do not make up the whole";
  unsigned width = byteWidth(whole.element);
  std::optional<uint64_t> bytes = countBytes(whole.element, wanted->sizes);
  if (!bytes || *bytes > stored || *bytes / width > uint64_t(INT32_MAX)) {
    error = kIncomplete.str();
    return {};
  }
  std::shared_ptr<WritableMemoryBuffer> result = WritableMemoryBuffer::getNewMemBuffer(*bytes);
  if (!result) {
    error = "not enough memory for its elements";
    return {};
  }
  BitVector marks(unsigned(*bytes / width));
  for (const Part &part : parts)
    copyShared(part.box, part.stored.bytes.data(), *wanted, result->getBufferStart(), width, marks);
  if (marks.all())
    return mapTensor(type, StringRef(result->getBufferStart(), *bytes), result, name);
  error = kIncomplete.str();
  return {};
}

} // namespace tfc::tensorflow
