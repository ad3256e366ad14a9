#include "tools/tfc/Npy.h"
#include "compiler/emission/OutputFile.h"
#include "frontend/ReadFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tfc;

namespace {

struct DtypeInfo {
  StringLiteral name;
  size_t bytes;
  StringLiteral descr; // NumPy's
};

} // namespace

// In the order of tfc_dtype.
static constexpr DtypeInfo kDtypes[] = {
    {"f32", 4, "<f4"}, {"f64", 8, "<f8"}, {"f16", 2, "<f2"}, {"bf16", 2, "<u2"}, {"i8", 1, "|i1"},
    {"i16", 2, "<i2"}, {"i32", 4, "<i4"}, {"i64", 8, "<i8"}, {"u8", 1, "|u1"},   {"bool", 1, "|b1"},
};

size_t tfc::sizeOf(tfc_dtype dtype) { return kDtypes[dtype].bytes; }
StringRef tfc::nameOf(tfc_dtype dtype) { return kDtypes[dtype].name; }

std::string tfc::typeText(tfc_dtype dtype, ArrayRef<int64_t> shape) {
  std::string text = nameOf(dtype).str();
  if (shape.empty())
    return text;
  raw_string_ostream os(text);
  os << '[';
  interleaveComma(shape, os);
  os << ']';
  return text;
}

int64_t Array::elementCount() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

Error Array::allocate() {
  uint64_t bytes = sizeOf(dtype);
  for (int64_t size : shape)
    bytes = SaturatingMultiply<uint64_t>(bytes, std::max<int64_t>(size, 0));
  // A vector without memory would end the program.
  void *volatile memory = malloc(bytes);
  if (!memory && bytes)
    return createStringError("no memory for " + typeText(dtype, shape));
  free(memory);
  data.resize(bytes);
  return Error::success();
}

tfc_tensor Array::view() {
  return {dtype, static_cast<int32_t>(shape.size()), shape.data(), data.data()};
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

/// The dictionary of a header: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 64), }
struct Header {
  std::string descr;
  bool fortranOrder = false;
  std::vector<int64_t> shape;
};

} // namespace

/// The text behind `'key':`, or nothing.
static std::optional<StringRef> findKey(StringRef dictionary, StringRef key) {
  for (char quote : {'\'', '"'}) {
    size_t at = dictionary.find((Twine(quote) + key + Twine(quote)).str());
    if (at == StringRef::npos)
      continue;
    StringRef rest = dictionary.drop_front(at + key.size() + 2).ltrim();
    if (rest.consume_front(":"))
      return rest.ltrim();
  }
  return std::nullopt;
}

static bool parseShape(StringRef text, std::vector<int64_t> &shape) {
  if (!text.consume_front("("))
    return false;
  int64_t count = 1;
  while (true) {
    text = text.ltrim(" ,");
    if (text.consume_front(")"))
      return true;
    uint64_t size;
    if (text.consumeInteger(10, size) || size > uint64_t(INT64_MAX))
      return false;
    text.consume_front("L"); // Python 2
    shape.push_back(size);
    if (MulOverflow(count, std::max<int64_t>(size, 1), count) || count > INT64_MAX / 8)
      return false;
  }
}

static std::optional<Header> parseHeader(StringRef dictionary) {
  std::optional<StringRef> descr = findKey(dictionary, "descr");
  std::optional<StringRef> order = findKey(dictionary, "fortran_order");
  std::optional<StringRef> shape = findKey(dictionary, "shape");
  if (!descr || !order || !shape || descr->empty())
    return std::nullopt;
  Header header;
  char quote = descr->front();
  if (quote != '\'' && quote != '"')
    return std::nullopt;
  header.descr = descr->drop_front().take_until([&](char c) { return c == quote; }).str();
  header.fortranOrder = order->starts_with("True");
  if (!parseShape(*shape, header.shape))
    return std::nullopt;
  return header;
}

static std::optional<tfc_dtype> findDtype(StringRef descr, std::optional<tfc_dtype> expected) {
  bool twoBytes = descr == "<u2" || descr == "|V2" || descr == "<V2";
  if (twoBytes)
    return expected == TFC_BF16 ? expected : std::nullopt;
  for (auto [i, info] : enumerate(kDtypes)) {
    // NumPy writes "|" for single bytes; other writers say "<".
    if (descr.drop_front() == info.descr.drop_front() &&
        (descr[0] == info.descr[0] || (info.bytes == 1 && (descr[0] == '<' || descr[0] == '='))))
      return static_cast<tfc_dtype>(i);
  }
  return std::nullopt;
}

/// Copies elements from column-major to row-major order.
static std::vector<char> fromFortranOrder(StringRef source, ArrayRef<int64_t> shape, size_t bytes) {
  std::vector<char> result(source.size());
  std::vector<int64_t> index(shape.size(), 0);
  int64_t count = source.size() / bytes;
  for (int64_t i = 0; i < count; ++i) {
    int64_t offset = 0;
    for (size_t axis = 0; axis < shape.size(); ++axis)
      offset = offset * shape[axis] + index[axis];
    memcpy(result.data() + offset * bytes, source.data() + i * bytes, bytes);
    for (size_t axis = 0; axis < shape.size() && ++index[axis] == shape[axis]; ++axis)
      index[axis] = 0;
  }
  return result;
}

static Error damaged(StringRef path, const Twine &what) {
  return createStringError(path + ": " + what);
}

/// Splits a file into its header's dictionary and its data; nothing if it is no .npy file.
static std::optional<std::pair<StringRef, StringRef>> splitFile(StringRef file) {
  if (!file.consume_front("\x93NUMPY") || file.size() < 2)
    return std::nullopt;
  unsigned version = static_cast<unsigned char>(file[0]);
  file = file.drop_front(2);
  size_t lengthBytes = version == 1 ? 2 : 4;
  if (version < 1 || version > 3 || file.size() < lengthBytes)
    return std::nullopt;
  size_t length = version == 1 ? support::endian::read16le(file.data())
                               : support::endian::read32le(file.data());
  file = file.drop_front(lengthBytes);
  if (file.size() < length)
    return std::nullopt;
  return std::pair(file.take_front(length), file.drop_front(length));
}

Expected<Array> tfc::readNpy(StringRef path, std::optional<tfc_dtype> expected) {
  std::string reason;
  std::unique_ptr<MemoryBuffer> buffer = readRegularFile(path, reason);
  if (!buffer)
    return damaged(path, reason);
  auto parts = splitFile(buffer->getBuffer());
  if (!parts)
    return damaged(path, "not a .npy file");
  std::optional<Header> header = parseHeader(parts->first);
  if (!header)
    return damaged(path, "the header is damaged");
  std::optional<tfc_dtype> dtype =
      header->descr.size() > 1 ? findDtype(header->descr, expected) : std::nullopt;
  if (!dtype)
    return damaged(path, "elements of type '" + header->descr + "' are not supported" +
                             (StringRef(header->descr).starts_with(">") ? " (big-endian)" : ""));
  Array array;
  array.dtype = *dtype;
  array.shape = header->shape;
  size_t bytes = array.elementCount() * sizeOf(*dtype);
  if (parts->second.size() < bytes)
    return damaged(path, "the file ends early: expected " + Twine(bytes) + " bytes of " +
                             typeText(*dtype, array.shape) + ", but got " +
                             Twine(parts->second.size()));
  StringRef data = parts->second.take_front(bytes);
  if (header->fortranOrder && array.shape.size() > 1)
    array.data = fromFortranOrder(data, array.shape, sizeOf(*dtype));
  else
    array.data.assign(data.begin(), data.end());
  return array;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

Error tfc::writeNpy(StringRef path, const Array &array) {
  std::string header;
  raw_string_ostream text(header);
  text << "{'descr': '" << kDtypes[array.dtype].descr << "', 'fortran_order': False, 'shape': (";
  for (int64_t size : array.shape)
    text << size << (array.shape.size() == 1 ? "," : ", ");
  if (array.shape.size() > 1)
    header.resize(header.size() - 2);
  header += "), }";
  // The data begins at a multiple of 64 bytes, behind magic, version and length.
  header.append(alignTo(header.size() + 11, 64) - 11 - header.size(), ' ');
  header += '\n';

  std::string content;
  raw_string_ostream os(content);
  os << "\x93NUMPY" << '\1' << '\0' << char(header.size() & 0xff) << char(header.size() >> 8)
     << header;
  os.write(array.data.data(), array.data.size());
  return emission::writeOutput(path, content);
}
