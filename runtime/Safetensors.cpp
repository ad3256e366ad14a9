//===- Safetensors.cpp - The header of a safetensors file -----------------===//
//
// Parses, checks and writes the header of a safetensors file as text in memory. Checkpoint.cpp
// reads and writes the files.
//
//===----------------------------------------------------------------------===//

#include "runtime/Safetensors.h"

#include "runtime/Json.h"
#include "runtime/Slices.h"

#include <stdio.h>
#include <stdlib.h>

using namespace tfc::runtime;

/// Equal names keep the order of the list.
static int compareByName(const void *left, const void *right) {
  const StoredTensor *a = *static_cast<StoredTensor *const *>(left);
  const StoredTensor *b = *static_cast<StoredTensor *const *>(right);
  if (int order = strcmp(a->name, b->name))
    return order;
  return a < b ? -1 : a > b;
}

bool StoredTensors::index() {
  for (StoredTensor &tensor : list)
    if (!byName.push(&tensor))
      return false;
  if (byName.size() > 0)
    qsort(byName.begin(), byName.size(), sizeof(StoredTensor *), compareByName);
  return true;
}

StoredTensor *StoredTensors::find(const char *name) {
  size_t begin = 0, end = byName.size();
  while (begin < end) {
    size_t middle = begin + (end - begin) / 2;
    if (strcmp(byName[middle]->name, name) < 0)
      begin = middle + 1;
    else
      end = middle;
  }
  bool isFound = begin < byName.size() && strcmp(byName[begin]->name, name) == 0;
  return isFound ? byName[begin] : nullptr;
}

//===- Reading ------------------------------------------------------------===//

namespace {

/// A text about a tensor in the metadata.
struct Note {
  const char *tensor;
  const char *value;
};

class HeaderParser {
public:
  HeaderParser(Message &message, const char *path, const Allocator &allocator, char *text,
               size_t bytes, StoredTensors &tensors)
      : message(message), path(path), json(text, bytes), tensors(tensors), checksums(allocator),
        slices(allocator) {}

  tfc_status parse();
  /// Attaches the notes to the tensors, which are in order.
  tfc_status attach();

private:
  bool parseMembers();
  bool parseMetadata();
  bool parseTensor(StoredTensor &tensor);
  bool parseShape(StoredTensor &tensor);
  bool parseOffsets(StoredTensor &tensor);

  Message &message;
  const char *path;
  JsonReader json;
  StoredTensors &tensors;
  Array<Note> checksums, slices;
  bool outOfMemory = false;
};

} // namespace

bool HeaderParser::parseMetadata() {
  if (!json.beginObject())
    return false;
  bool first = true;
  const char *key, *value;
  while (json.nextMember(first, key)) {
    if (!json.readString(value))
      return false;
    for (auto [prefix, notes] : {std::pair(kChecksumPrefix, &checksums), {kSlicePrefix, &slices}}) {
      size_t length = strlen(prefix);
      if (strncmp(key, prefix, length) == 0 && !notes->push({key + length, value}))
        return outOfMemory = true, false;
    }
  }
  return !json.error();
}

bool HeaderParser::parseShape(StoredTensor &tensor) {
  if (!json.beginArray())
    return false;
  tensor.rank = 0;
  for (bool first = true; json.nextElement(first); ++tensor.rank) {
    if (tensor.rank == StoredTensor::kMaxRank)
      return json.fail("at most 16 dimensions");
    if (!json.readSize(tensor.dims[tensor.rank]))
      return false;
  }
  return !json.error();
}

bool HeaderParser::parseOffsets(StoredTensor &tensor) {
  int64_t begin, end;
  bool first = true;
  if (!json.beginArray() || !json.nextElement(first) || !json.readSize(begin) ||
      !json.nextElement(first) || !json.readSize(end))
    return json.fail("two offsets");
  tensor.begin = begin;
  tensor.end = end;
  if (json.nextElement(first))
    return json.fail("two offsets");
  return !json.error();
}

bool HeaderParser::parseTensor(StoredTensor &tensor) {
  if (!json.beginObject())
    return false;
  bool hasShape = false, hasOffsets = false, first = true;
  const char *key;
  while (json.nextMember(first, key)) {
    bool parsed = true;
    if (strcmp(key, "dtype") == 0)
      parsed = json.readString(tensor.dtype);
    else if (strcmp(key, "shape") == 0)
      parsed = hasShape = parseShape(tensor);
    else if (strcmp(key, "data_offsets") == 0)
      parsed = hasOffsets = parseOffsets(tensor);
    else
      parsed = json.skipValue();
    if (!parsed)
      return false;
  }
  if (!tensor.dtype || !hasShape || !hasOffsets)
    return json.fail("'dtype', 'shape' and 'data_offsets' of each tensor");
  return !json.error();
}

bool HeaderParser::parseMembers() {
  if (!json.beginObject())
    return false;
  bool first = true;
  const char *key;
  while (json.nextMember(first, key)) {
    if (strcmp(key, "__metadata__") == 0) {
      if (!parseMetadata())
        return false;
      continue;
    }
    StoredTensor tensor = {};
    tensor.name = key;
    if (!parseTensor(tensor))
      return false;
    if (!tensors.list.push(tensor))
      return outOfMemory = true, false;
  }
  return !json.error() && json.finish();
}

tfc_status HeaderParser::attach() {
  tensors.hasChecksums = checksums.size() > 0;
  for (Note &checksum : checksums)
    if (StoredTensor *tensor = tensors.find(checksum.tensor))
      tensor->checksum = checksum.value;
  for (Note &note : slices) {
    StoredTensor *tensor = tensors.find(note.tensor);
    if (tensor && (!parseSlice(note.value, tensor->slice) ||
                   !isSliceOf(tensor->slice, tensor->dims, tensor->rank)))
      return message.fail(TFC_DATA_LOSS, "%s: damaged header: tensor '%s' is no slice '%s'", path,
                          note.tensor, note.value);
  }
  return TFC_OK;
}

tfc_status HeaderParser::parse() {
  bool parsed = parseMembers();
  if (outOfMemory)
    return message.fail(TFC_OUT_OF_MEMORY, "%s: not enough memory for the header", path);
  if (!parsed)
    return message.fail(TFC_DATA_LOSS, "%s: damaged header: expected %s at byte %llu", path,
                        json.error(), static_cast<unsigned long long>(8 + json.offset()));
  return TFC_OK;
}

static int compareByBegin(const void *left, const void *right) {
  const auto &a = *static_cast<const StoredTensor *>(left);
  const auto &b = *static_cast<const StoredTensor *>(right);
  if (a.begin != b.begin)
    return a.begin < b.begin ? -1 : 1;
  return a.end < b.end ? -1 : a.end > b.end;
}

static int64_t storedItemBytes(const char *dtype) {
  for (int32_t i = 0; const Dtype *info = dtypeInfo(i); ++i)
    if (strcmp(info->safetensors, dtype) == 0)
      return info->bytes;
  return 0; // a dtype that variables cannot have
}

/// Checks that the bytes of a tensor match its shape, follow those of the previous tensor, and are
/// within the file.
static tfc_status checkLayout(Message &message, const char *path, uint64_t dataBytes,
                              StoredTensors &tensors) {
  auto asUnsigned = [](uint64_t value) { return static_cast<unsigned long long>(value); };
  if (tensors.list.size() > 1)
    qsort(tensors.list.begin(), tensors.list.size(), sizeof(StoredTensor), compareByBegin);
  uint64_t expected = 0;
  for (const StoredTensor &tensor : tensors.list) {
    if (tensor.begin != expected || tensor.end < tensor.begin)
      return message.fail(TFC_DATA_LOSS,
                          "%s: damaged header: tensor '%s' begins at %llu and ends "
                          "at %llu, but expected it to begin at %llu",
                          path, tensor.name, asUnsigned(tensor.begin), asUnsigned(tensor.end),
                          asUnsigned(expected));
    int64_t count = elementCount(tensor.dims, tensor.rank);
    int64_t itemBytes = storedItemBytes(tensor.dtype);
    int64_t bytes;
    bool overflow = count < 0 || __builtin_mul_overflow(count, itemBytes, &bytes);
    if (overflow || (itemBytes && static_cast<uint64_t>(bytes) != tensor.end - tensor.begin))
      return message.fail(TFC_DATA_LOSS,
                          "%s: damaged header: tensor '%s' has %llu bytes, which do "
                          "not fit its shape",
                          path, tensor.name, asUnsigned(tensor.end - tensor.begin));
    if (tensor.end > dataBytes)
      return message.fail(TFC_DATA_LOSS,
                          "%s: truncated: tensor '%s' ends at byte %llu of the "
                          "data, but the file has %llu",
                          path, tensor.name, asUnsigned(tensor.end), asUnsigned(dataBytes));
    expected = tensor.end;
  }
  if (expected != dataBytes)
    return message.fail(TFC_DATA_LOSS, "%s: damaged: %llu bytes after the last tensor", path,
                        asUnsigned(dataBytes - expected));
  return TFC_OK;
}

tfc_status tfc::runtime::parseHeader(Message &message, const char *path, const Allocator &allocator,
                                     char *text, size_t bytes, uint64_t dataBytes,
                                     StoredTensors &tensors) {
  HeaderParser parser(message, path, allocator, text, bytes, tensors);
  if (tfc_status status = parser.parse())
    return status;
  if (tfc_status status = checkLayout(message, path, dataBytes, tensors))
    return status;
  if (!tensors.index())
    return message.fail(TFC_OUT_OF_MEMORY, "%s: not enough memory for the header", path);
  return parser.attach();
}

//===- Writing ------------------------------------------------------------===//

void TextWriter::number(uint64_t value) {
  char text[24];
  snprintf(text, sizeof(text), "%llu", static_cast<unsigned long long>(value));
  raw(text);
}

void TextWriter::escaped(const char *text) {
  for (; *text; ++text) {
    char escape[8] = {*text};
    if (*text == '"' || *text == '\\')
      snprintf(escape, sizeof(escape), "\\%c", *text);
    else if (static_cast<unsigned char>(*text) < 0x20)
      snprintf(escape, sizeof(escape), "\\u%04x", *text);
    raw(escape);
  }
}

static void writeTensor(TextWriter &writer, const tfc_variable_info &variable, uint64_t begin) {
  writer.raw(",\"");
  writer.escaped(variable.name);
  writer.raw("\":{\"dtype\":\"");
  writer.raw(dtypeInfo(variable.dtype)->safetensors);
  writer.raw("\",\"shape\":[");
  for (int32_t i = 0; i < variable.rank; ++i) {
    writer.raw(i ? "," : "");
    writer.number(variable.dims[i]);
  }
  writer.raw("],\"data_offsets\":[");
  writer.number(begin);
  writer.raw(",");
  writer.number(begin + variable.bytes);
  writer.raw("]}");
}

bool tfc::runtime::writeHeader(const tfc_model &model, const int32_t *order, int32_t count,
                               const uint32_t *checksums, Array<char> &out) {
  TextWriter writer(out);
  constexpr size_t kLengthBytes = 8;
  writer.complete &= out.append("        ", kLengthBytes);
  writer.raw("{\"__metadata__\":{\"model\":\"");
  writer.escaped(model.name);
  writer.raw("\"");
  for (int32_t i = 0; i < count; ++i) {
    writer.raw(",\"");
    writer.raw(kChecksumPrefix);
    writer.escaped(model.variables[order[i]].name);
    char digits[16];
    snprintf(digits, sizeof(digits), "\":\"%08x\"", checksums[order[i]]);
    writer.raw(digits);
  }
  for (int32_t i = 0; i < count; ++i)
    if (const tfc_slice_info *slice = model.variables[order[i]].slice) {
      writer.raw(",\"");
      writer.raw(kSlicePrefix);
      writer.escaped(model.variables[order[i]].name);
      writer.raw("\":\"");
      writeSlice(writer, *slice);
      writer.raw("\"");
    }
  writer.raw("}");
  uint64_t begin = 0;
  for (int32_t i = 0; i < count; ++i) {
    const tfc_variable_info &variable = model.variables[order[i]];
    writeTensor(writer, variable, begin);
    begin += variable.bytes;
  }
  writer.raw("}");
  // The tensors begin at a multiple of 64, for readers that map the file.
  while (writer.complete && out.size() % 64 != 0)
    writer.raw(" ");
  if (!writer.complete)
    return false;
  uint64_t length = out.size() - kLengthBytes;
  memcpy(out.begin(), &length, kLengthBytes);
  return true;
}
