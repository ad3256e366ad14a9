// Reads a table of LevelDB whole, block by block. Each number is checked before it is used.
//
//   file:   blocks of data, other blocks, the index block, the footer
//   block:  entries, positions of whole keys (4 bytes each), their number, then the trailer:
//           a byte for the compression, 4 bytes for the checksum
//   entry:  shared and own bytes of the key, bytes of the value (varints), own key, value
//   footer: the offsets and sizes of two blocks (varints), up to byte 40, and a magic number

#include "frontend/tensorflow/LevelTable.h"

#include "frontend/Fmt.h"
#include "runtime/Crc32c.h"
#include "llvm/Support/Endian.h"

using namespace llvm;

namespace tfc::tensorflow {

static constexpr size_t kFooterBytes = 48, kTrailerBytes = 5;
static constexpr uint64_t kMagic = 0xdb4775248b80fb57;

bool hasMaskedChecksum(StringRef bytes, uint32_t stored) {
  // A checksum of bytes that contain checksums is weak, so stored ones are altered.
  constexpr uint32_t kDelta = 0xa282ead8;
  uint32_t crc = runtime::extendCrc32c(0, bytes.data(), bytes.size());
  return ((crc >> 15) | (crc << 17)) + kDelta == stored;
}

namespace {

/// Where a block is in the file, without its trailer.
struct Handle {
  uint64_t offset = 0, size = 0;
};

class TableReader {
public:
  using Visit = function_ref<void(StringRef key, StringRef value)>;

  TableReader(StringRef file, std::string &error) : file(file), error(error) {}

  bool read(Visit visit);

private:
  std::optional<StringRef> readBlock(const Handle &handle);
  /// Visits the entries of a block; `visit` returns false after an error.
  bool readEntries(StringRef block, function_ref<bool(StringRef key, StringRef value)> visit);
  bool fail(std::string text) {
    error = std::move(text);
    return false;
  }

  StringRef file;
  std::string &error;
  uint64_t keyBytes = 0; // of all keys so far, with what they share
};

} // namespace

/// Takes a number of at most `most` from the front of the text.
static bool takeVarint(StringRef &text, uint64_t &value, uint64_t most = UINT64_MAX) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !text.empty(); shift += 7) {
    uint64_t byte = uint8_t(text.front());
    text = text.drop_front();
    value |= (byte & 127) << shift;
    if (byte < 128)
      return value <= most && (shift < 63 || byte < 2);
  }
  return false;
}

static bool takeHandle(StringRef &text, Handle &handle) {
  return takeVarint(text, handle.offset) && takeVarint(text, handle.size);
}

std::optional<StringRef> TableReader::readBlock(const Handle &handle) {
  if (file.size() < kTrailerBytes || handle.size > file.size() - kTrailerBytes ||
      handle.offset > file.size() - kTrailerBytes - handle.size) {
    error = "one of its blocks is not inside of the file";
    return std::nullopt;
  }
  StringRef whole = file.substr(handle.offset, handle.size + 1); // with its compression
  if (!hasMaskedChecksum(whole, support::endian::read32le(whole.end()))) {
    error = fmt::format("the checksum of its block at byte {} is wrong", handle.offset);
    return std::nullopt;
  }
  if (whole.back() == 0)
    return whole.drop_back();
  error = whole.back() == 1 ? "its blocks are compressed by Snappy, which tfc does not read"
                            : fmt::format("its blocks have the unknown compression {}",
                                          unsigned(uint8_t(whole.back())));
  return std::nullopt;
}

bool TableReader::readEntries(StringRef block,
                              function_ref<bool(StringRef key, StringRef value)> visit) {
  // Keys may share most of their bytes, so that a small file stands for long ones.
  constexpr uint64_t kMostKeyBytes = uint64_t(256) << 20;
  constexpr StringLiteral kDamaged = "one of its blocks is damaged";
  uint64_t restarts = block.size() < 4 ? 0 : support::endian::read32le(block.end() - 4);
  if (block.size() < 4 || restarts > (block.size() - 4) / 4)
    return fail(kDamaged.str());
  StringRef entries = block.drop_back(4 + 4 * restarts);
  std::string key;
  while (!entries.empty()) {
    uint64_t shared, own, valueBytes;
    if (!takeVarint(entries, shared, key.size()) || !takeVarint(entries, own) ||
        !takeVarint(entries, valueBytes) || own > entries.size() ||
        valueBytes > entries.size() - own)
      return fail(kDamaged.str());
    key.resize(shared);
    key += entries.take_front(own);
    keyBytes += key.size();
    if (keyBytes > kMostKeyBytes)
      return fail("its keys have more than 256 MiB together");
    if (!visit(key, entries.substr(own, valueBytes)))
      return false;
    entries = entries.drop_front(own + valueBytes);
  }
  return true;
}

bool TableReader::read(Visit visit) {
  Handle others, index;
  StringRef footer = file.take_back(kFooterBytes);
  bool isTable = footer.size() == kFooterBytes &&
                 support::endian::read64le(footer.end() - sizeof(kMagic)) == kMagic &&
                 takeHandle(footer, others) && takeHandle(footer, index);
  if (!isTable)
    return fail("this is not the index of a checkpoint, or its end is missing");
  std::optional<StringRef> block = readBlock(index);
  std::optional<std::string> last;
  auto visitEntry = [&](StringRef key, StringRef value) {
    if (last && key <= *last)
      return fail("its keys are not in order");
    last = key.str();
    visit(key, value);
    return true;
  };
  auto visitBlock = [&](StringRef, StringRef value) {
    Handle handle;
    if (!takeHandle(value, handle))
      return fail("its index block is damaged");
    std::optional<StringRef> data = readBlock(handle);
    return data && readEntries(*data, visitEntry);
  };
  return block && readEntries(*block, visitBlock);
}

bool readLevelTable(StringRef file, function_ref<void(StringRef key, StringRef value)> visit,
                    std::string &error) {
  return TableReader(file, error).read(visit);
}

} // namespace tfc::tensorflow
