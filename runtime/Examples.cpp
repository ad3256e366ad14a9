//===- Examples.cpp - Records of TensorFlow -------------------------------===//
//
// Reads the records of a TFRecord file and the features of a tf.Example in them. The forms are
// those of TensorFlow's lib/io/record_writer.h and core/example/feature.proto; the encoding of
// messages is that of protocol buffers.
//
//===----------------------------------------------------------------------===//

#include "runtime/Crc32c.h"
#include "runtime/Elements.h"
#include "runtime/Rows.h"

using namespace tfc::runtime;

//===- Records ------------------------------------------------------------===//

/// Checksums are stored in this form, so that the checksum of bytes with checksums among them stays
/// a good one.
static uint32_t maskedCrc(const void *data, uint64_t bytes) {
  uint32_t crc = extendCrc32c(0, data, bytes);
  return (crc >> 15 | crc << 17) + 0xa282ead8;
}

static uint32_t readWord(const void *from) {
  uint32_t word;
  memcpy(&word, from, sizeof(word));
  return word;
}

bool tfc::runtime::parseRecordPrefix(const unsigned char *prefix, uint64_t &bytes) {
  memcpy(&bytes, prefix, sizeof(bytes));
  return readWord(prefix + sizeof(bytes)) == maskedCrc(prefix, sizeof(bytes));
}

bool tfc::runtime::isRecordWhole(const char *record, uint64_t bytes) {
  return readWord(record + bytes) == maskedCrc(record, bytes);
}

//===- Messages -----------------------------------------------------------===//

namespace {
enum WireType { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

/// Reads the fields of a message one by one.
class MessageReader {
public:
  MessageReader() = default;
  MessageReader(const char *data, uint64_t bytes) : at(data), end(data + bytes) {}

  /// Moves to the next field; returns false at the end, or if the message is damaged.
  bool next();
  bool isDamaged() const { return damaged; }

  uint64_t number() const { return tag >> 3; }
  WireType type() const { return static_cast<WireType>(tag & 7); }
  /// The value of a field of bytes, and of numbers.
  const char *data() const { return value; }
  uint64_t bytes() const { return length; }
  uint64_t integer() const { return word; }
  MessageReader message() const { return {value, length}; }

  /// Reads a number from the bytes of a packed field.
  bool readVarint(uint64_t &integer);
  bool isAtEnd() const { return at == end; }

private:
  bool fail() {
    damaged = true;
    return false;
  }

  const char *at = nullptr, *end = nullptr, *value = nullptr;
  uint64_t tag = 0, length = 0, word = 0;
  bool damaged = false;
};
} // namespace

bool MessageReader::readVarint(uint64_t &integer) {
  integer = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (at == end)
      return fail();
    auto byte = static_cast<unsigned char>(*at++);
    integer |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80)
      return true;
  }
  return fail();
}

bool MessageReader::next() {
  if (at == end || damaged || !readVarint(tag))
    return false;
  switch (type()) {
  case Varint:
    return readVarint(word);
  case Fixed64:
  case Fixed32:
    length = type() == Fixed64 ? 8 : 4;
    break;
  case Bytes:
    if (!readVarint(length))
      return false;
    break;
  default:
    return fail();
  }
  if (length > static_cast<uint64_t>(end - at))
    return fail();
  value = at;
  at += length;
  return true;
}

//===- Features -----------------------------------------------------------===//

namespace {
/// Decodes one feature to the elements of a component; those that it does not have are zeros.
class FeatureDecoder {
public:
  FeatureDecoder(const tfc_variable_info &component, char *to, Message &reason)
      : component(component), elementBytes(dtypeInfo(component.dtype)->bytes), to(to),
        reason(reason) {}

  bool decode(MessageReader feature);

private:
  enum List { BytesList = 1, FloatList = 2, Int64List = 3 };

  bool isFloat() const { return component.dtype == TFC_F32 || component.dtype == TFC_F64; }
  bool decodeList(List list, MessageReader values);
  bool decodeFloats(const char *data, uint64_t bytes);
  bool decodeIntegers(MessageReader values);
  bool addInteger(uint64_t value);
  bool addBytes(const char *data, uint64_t bytes);
  bool reserve(uint64_t bytes);
  bool failDamaged();

  const tfc_variable_info &component;
  int32_t elementBytes;
  char *to;
  uint64_t used = 0; // bytes
  Message &reason;
};
} // namespace

bool FeatureDecoder::failDamaged() {
  reason.add("feature '%s' is damaged", component.name);
  return false;
}

/// Returns true if there is room for more.
bool FeatureDecoder::reserve(uint64_t bytes) {
  if (bytes <= component.bytes - used)
    return true;
  reason.add("feature '%s' has more than the %llu elements of ", component.name,
             static_cast<unsigned long long>(component.bytes / elementBytes));
  reason.add("%s", dtypeName(component.dtype));
  reason.addShape(component.dims, component.rank);
  return false;
}

bool FeatureDecoder::addBytes(const char *data, uint64_t bytes) {
  if (!reserve(bytes))
    return false;
  if (bytes % elementBytes != 0) {
    reason.add("feature '%s' has %llu bytes, which are no elements of %s", component.name,
               static_cast<unsigned long long>(bytes), dtypeName(component.dtype));
    return false;
  }
  if (bytes)
    memcpy(to + used, data, bytes);
  used += bytes;
  if (component.dtype != TFC_BOOL || isValidBool(to, used))
    return true;
  reason.add("feature '%s' is bool, but a byte is neither 0 nor 1", component.name);
  return false;
}

bool FeatureDecoder::decodeFloats(const char *data, uint64_t bytes) {
  if (bytes % sizeof(float) != 0)
    return failDamaged();
  for (; bytes > 0; data += sizeof(float), bytes -= sizeof(float)) {
    float value;
    memcpy(&value, data, sizeof(value));
    if (!reserve(elementBytes))
      return false;
    storeFloat(component.dtype, value, to + used);
    used += elementBytes;
  }
  return true;
}

bool FeatureDecoder::addInteger(uint64_t value) {
  if (!reserve(elementBytes))
    return false;
  auto number = static_cast<int64_t>(value);
  if (!storeSigned(component.dtype, number, to + used)) {
    reason.add("feature '%s' has the number %lld, which is no %s", component.name,
               static_cast<long long>(number), dtypeName(component.dtype));
    return false;
  }
  used += elementBytes;
  return true;
}

bool FeatureDecoder::decodeIntegers(MessageReader values) {
  while (!values.isAtEnd()) {
    uint64_t value;
    if (!values.readVarint(value))
      return failDamaged();
    if (!addInteger(value))
      return false;
  }
  return true;
}

bool FeatureDecoder::decodeList(List list, MessageReader values) {
  bool isWanted = list == BytesList || (list == FloatList) == isFloat();
  if (!isWanted) {
    reason.add("feature '%s' has %s, but '%s' is %s", component.name,
               list == FloatList ? "floats" : "integers", component.name,
               dtypeName(component.dtype));
    return false;
  }
  while (values.next()) {
    if (values.number() != 1)
      continue;
    bool isAdded = false;
    if (list == BytesList)
      isAdded = values.type() == Bytes ? addBytes(values.data(), values.bytes()) : failDamaged();
    else if (list == FloatList)
      isAdded = values.type() == Bytes || values.type() == Fixed32
                    ? decodeFloats(values.data(), values.bytes())
                    : failDamaged();
    else if (values.type() == Varint)
      isAdded = addInteger(values.integer());
    else
      isAdded = values.type() == Bytes ? decodeIntegers(values.message()) : failDamaged();
    if (!isAdded)
      return false;
  }
  return values.isDamaged() ? failDamaged() : true;
}

bool FeatureDecoder::decode(MessageReader feature) {
  if (component.bytes)
    memset(to, 0, component.bytes);
  while (feature.next()) {
    bool isList = feature.number() >= BytesList && feature.number() <= Int64List;
    if (!isList)
      continue;
    if (feature.type() != Bytes)
      return failDamaged();
    if (!decodeList(static_cast<List>(feature.number()), feature.message()))
      return false;
  }
  return feature.isDamaged() ? failDamaged() : true;
}

/// Finds the feature of a name in the map of an example.
static bool findFeature(MessageReader features, const char *name, MessageReader &feature,
                        bool &isFound) {
  constexpr uint64_t kEntry = 1, kKey = 1, kValue = 2;
  uint64_t length = strlen(name);
  isFound = false;
  while (features.next()) {
    if (features.number() != kEntry || features.type() != Bytes)
      continue;
    MessageReader entry = features.message(), value;
    bool isNamed = length == 0;
    while (entry.next()) {
      if (entry.type() != Bytes)
        continue;
      if (entry.number() == kKey)
        isNamed = entry.bytes() == length && memcmp(entry.data(), name, length) == 0;
      else if (entry.number() == kValue)
        value = entry.message();
    }
    if (entry.isDamaged())
      return false;
    if (isNamed) {
      feature = value;
      isFound = true;
    }
  }
  return !features.isDamaged();
}

bool tfc::runtime::decodeExample(const tfc_dataset_info &info, const char *record, uint64_t bytes,
                                 int64_t at, char *const *values, Message &reason) {
  constexpr uint64_t kFeatures = 1;
  MessageReader example(record, bytes), features;
  while (example.next())
    if (example.number() == kFeatures && example.type() == Bytes)
      features = example.message();
  bool isDamaged = example.isDamaged();
  for (int32_t i = 0; i < info.component_count && !isDamaged; ++i) {
    const tfc_variable_info &component = info.components[i];
    MessageReader feature;
    bool isFound;
    isDamaged = !findFeature(features, component.name, feature, isFound);
    if (!isDamaged && !isFound) {
      reason.add("it has no feature '%s'", component.name);
      return false;
    }
    if (!isDamaged &&
        !FeatureDecoder(component, values[i] + at * component.bytes, reason).decode(feature))
      return false;
  }
  if (isDamaged)
    reason.add("it is no tf.Example, or damaged");
  return !isDamaged;
}
