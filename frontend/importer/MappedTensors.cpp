// Copies the encoding of a message without the bytes of large tensors. Protobuf's parser has no way
// to leave a field where it is, and would copy weights of gigabytes.
#include "frontend/importer/MappedTensors.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/message_lite.h>
#include <google/protobuf/wire_format_lite.h>

using namespace llvm;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;

namespace tfc::importer {

/// Smaller tensors are parsed.
static constexpr size_t kMinMapped = 4096;
/// Messages that are nested more deeply are not parsed. Protobuf's own limit of 100 is that of some
/// 30 graphs inside each other.
static constexpr unsigned kMaxDepth = 1000;

static void writeVarint(std::string &out, uint64_t value) {
  uint8_t bytes[10];
  out.append(reinterpret_cast<char *>(bytes),
             CodedOutputStream::WriteVarint64ToArray(value, bytes) - bytes);
}

static void writeNumber(std::string &out, unsigned field, uint64_t value) {
  writeVarint(out, WireFormatLite::MakeTag(int(field), WireFormatLite::WIRETYPE_VARINT));
  writeVarint(out, value);
}

static void writeMessage(std::string &out, unsigned field, StringRef content) {
  writeVarint(out, WireFormatLite::MakeTag(int(field), WireFormatLite::WIRETYPE_LENGTH_DELIMITED));
  writeVarint(out, content.size());
  out += content;
}

namespace {
class Outliner {
public:
  Outliner(StringRef file, const TensorFields &fields) : file(file), fields(fields) {}

  /// Returns a message without the bytes of large tensors. Damaged parts are copied, so that the
  /// parser reports them.
  std::string copy(StringRef message, unsigned kind, unsigned depth = 0);

private:
  const MessageField *fieldOf(unsigned kind, unsigned number) const {
    const MessageField *found = find_if(fields.fields, [=](const MessageField &field) {
      return field.owner == kind && field.number == number;
    });
    return found == fields.fields.end() ? nullptr : found;
  }
  /// Adds what replaces a field with this content; returns false if the field stays as it is.
  bool replace(std::string &out, unsigned kind, unsigned number, StringRef content, unsigned depth);

  StringRef file;
  const TensorFields &fields;
};
} // namespace

bool Outliner::replace(std::string &out, unsigned kind, unsigned number, StringRef content,
                       unsigned depth) {
  if (kind == fields.tensor && number == fields.bytes && content.size() >= kMinMapped) {
    writeNumber(out, fields.offset, uint64_t(content.data() - file.data()));
    writeNumber(out, fields.size, content.size());
    return true;
  }
  const MessageField *field = fieldOf(kind, number);
  if (!field || content.size() < kMinMapped || depth == kMaxDepth)
    return false;
  writeMessage(out, number, copy(content, field->held, depth + 1));
  return true;
}

std::string Outliner::copy(StringRef message, unsigned kind, unsigned depth) {
  CodedInputStream in(message.bytes_begin(), int(message.size()));
  auto position = [&] { return size_t(in.CurrentPosition()); };
  std::string out;
  size_t copied = 0, start = 0;
  for (uint32_t tag; (tag = in.ReadTag()) != 0; start = position()) {
    if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      if (!WireFormatLite::SkipField(&in, tag))
        break;
      continue;
    }
    uint32_t length;
    if (!in.ReadVarint32(&length) || length > message.size() - position())
      break;
    StringRef content = message.substr(position(), length);
    in.Skip(int(length));
    std::string replacement;
    if (!replace(replacement, kind, unsigned(WireFormatLite::GetTagFieldNumber(tag)), content,
                 depth))
      continue;
    out += message.slice(copied, start);
    out += replacement;
    copied = position();
  }
  out += message.drop_front(copied);
  return out;
}

bool parseWithMappedTensors(StringRef file, const TensorFields &fields,
                            google::protobuf::MessageLite &message) {
  std::string outline = Outliner(file, fields).copy(file, 0);
  CodedInputStream in(reinterpret_cast<const uint8_t *>(outline.data()), int(outline.size()));
  in.SetRecursionLimit(kMaxDepth);
  return message.ParseFromCodedStream(&in) && in.ConsumedEntireMessage();
}

} // namespace tfc::importer
