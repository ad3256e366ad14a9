// The subset of the zip format that NumPy writes: the directory at the end of the file, and members
// that are stored or deflated. zlib inflates them and computes the checksum.
#include "tools/tfc/Npz.h"
#include "frontend/ReadFile.h"
#include "tools/tfc/Message.h"
#include "llvm/Support/Endian.h"
#include <zlib.h>

using namespace llvm;
using namespace tfc;

namespace {

enum : uint32_t { kLocalMagic = 0x04034b50, kMemberMagic = 0x02014b50, kEndMagic = 0x06054b50 };
enum : size_t { kLocalBytes = 30, kMemberBytes = 46, kEndBytes = 22 };
enum : uint16_t { kStored = 0, kDeflated = 8 };
constexpr uint16_t kEncrypted = 1;

/// The fields of a record in a zip file.
class Record {
public:
  explicit Record(StringRef bytes) : bytes(bytes) {}
  uint16_t u16(size_t at) const { return support::endian::read16le(bytes.data() + at); }
  uint32_t u32(size_t at) const { return support::endian::read32le(bytes.data() + at); }

private:
  StringRef bytes;
};

} // namespace

static Error damaged() { return createStringError("the archive is damaged"); }

//===----------------------------------------------------------------------===//
// The directory
//===----------------------------------------------------------------------===//

/// The record at the end, which a comment of up to 64 KiB may follow.
static std::optional<Record> findEnd(StringRef file) {
  StringRef tail = file.take_back(kEndBytes + UINT16_MAX);
  size_t at = tail.rfind(StringRef("PK\5\6", 4));
  if (at == StringRef::npos || tail.size() - at < kEndBytes)
    return std::nullopt;
  return Record(tail.drop_front(at));
}

Error NpzFile::readDirectory() {
  StringRef file = buffer->getBuffer();
  std::optional<Record> end = findEnd(file);
  if (!end)
    return createStringError("not a .npz file");
  uint16_t count = end->u16(10);
  uint32_t offset = end->u32(16);
  if (count == UINT16_MAX || offset == UINT32_MAX)
    return createStringError("archives of 4 GiB are not supported");
  if (offset > file.size())
    return damaged();
  StringRef directory = file.drop_front(offset);
  for (unsigned i = 0; i < count; ++i) {
    Record record(directory);
    if (directory.size() < kMemberBytes || record.u32(0) != kMemberMagic)
      return damaged();
    size_t nameBytes = record.u16(28), otherBytes = record.u16(30) + record.u16(32);
    directory = directory.drop_front(kMemberBytes);
    if (directory.size() < nameBytes + otherBytes)
      return damaged();
    members[directory.take_front(nameBytes)] = {record.u16(8),  record.u16(10), record.u32(16),
                                                record.u32(20), record.u32(24), record.u32(42)};
    directory = directory.drop_front(nameBytes + otherBytes);
  }
  return Error::success();
}

Expected<NpzFile> NpzFile::open(StringRef path) {
  std::string reason;
  std::unique_ptr<MemoryBuffer> buffer = readRegularFile(path, reason);
  if (!buffer)
    return makeError("{}: {}", path, reason);
  NpzFile result(std::move(buffer));
  if (Error error = result.readDirectory())
    return makeError("{}: {}", path, toString(std::move(error)));
  return result;
}

std::vector<std::string> NpzFile::getKeys() const {
  std::vector<std::string> keys;
  for (StringRef name : members.keys())
    if (name.consume_back(".npy"))
      keys.push_back(name.str());
  llvm::sort(keys);
  return keys;
}

//===----------------------------------------------------------------------===//
// Members
//===----------------------------------------------------------------------===//

/// The bytes of a member as they are in the file.
Expected<StringRef> NpzFile::findPacked(const Member &member) const {
  StringRef rest =
      buffer->getBuffer().drop_front(std::min<size_t>(member.offset, buffer->getBufferSize()));
  Record record(rest);
  if (rest.size() < kLocalBytes || record.u32(0) != kLocalMagic)
    return damaged();
  size_t start = kLocalBytes + record.u16(26) + record.u16(28);
  if (rest.size() < start || rest.size() - start < member.packedBytes)
    return damaged();
  return rest.substr(start, member.packedBytes);
}

static bool inflateTo(MutableArrayRef<char> target, StringRef packed) {
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) // without a header of zlib's
    return false;
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(packed.data()));
  stream.avail_in = packed.size();
  stream.next_out = reinterpret_cast<Bytef *>(target.data());
  stream.avail_out = target.size();
  bool isWhole = inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  return isWhole;
}

Expected<std::unique_ptr<MemoryBuffer>> NpzFile::unpack(const Member &member) const {
  /// The largest possible compression ratio.
  constexpr uint64_t kMostRatio = 1032;
  if (member.flags & kEncrypted || (member.method != kStored && member.method != kDeflated))
    return createStringError("expected a member that is stored or deflated");
  Expected<StringRef> packed = findPacked(member);
  if (!packed)
    return packed.takeError();
  if (member.method == kStored ? member.bytes != packed->size()
                               : member.bytes / kMostRatio > packed->size())
    return damaged();
  auto unpacked = WritableMemoryBuffer::getNewUninitMemBuffer(member.bytes);
  if (!unpacked)
    return makeError("not enough memory for {} bytes", member.bytes);
  if (member.method == kStored)
    llvm::copy(*packed, unpacked->getBufferStart());
  else if (!inflateTo(unpacked->getBuffer(), *packed))
    return damaged();
  auto *bytes = reinterpret_cast<const Bytef *>(unpacked->getBufferStart());
  if (crc32_z(0, bytes, member.bytes) != member.crc)
    return damaged();
  return std::move(unpacked);
}

Expected<Array> NpzFile::read(StringRef key, std::optional<tfc_dtype> expected) const {
  auto fail = [&](StringRef reason) {
    return makeError("{}: array '{}': {}", buffer->getBufferIdentifier(), key, reason);
  };
  auto member = members.find((key + ".npy").str());
  if (member == members.end())
    return fail("the archive has no such array");
  Expected<std::unique_ptr<MemoryBuffer>> file = unpack(member->second);
  if (!file)
    return fail(toString(file.takeError()));
  Expected<Array> array = makeArray((*file)->getBuffer(), expected);
  if (!array)
    return fail(toString(array.takeError()));
  return array;
}
