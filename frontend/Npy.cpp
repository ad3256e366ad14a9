// Parses and writes .npy headers and elements.
#include "frontend/Npy.h"
#include "frontend/Fmt.h"

#include "dialects/dfg/Dtypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tfc {

//===----------------------------------------------------------------------===//
// Headers
//===----------------------------------------------------------------------===//

namespace {

/// The dictionary of a header: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 64), }
struct Header {
  StringRef descr;
  bool isColumnMajor = false;
  SmallVector<int64_t> shape;
};

} // namespace

/// The text after `'key':`; std::nullopt if there is none.
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

static bool parseShape(StringRef text, SmallVectorImpl<int64_t> &shape) {
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
  header.descr = descr->drop_front().take_until([&](char c) { return c == quote; });
  header.isColumnMajor = order->starts_with("True");
  if (!parseShape(*shape, header.shape))
    return std::nullopt;
  return header;
}

static std::optional<tfc_dtype> findDtype(StringRef descr, std::optional<tfc_dtype> expected) {
  if (descr == "<u2" || descr == "|V2" || descr == "<V2") {
    if (expected == TFC_BF16)
      return expected;
    return descr == "<u2" ? std::optional(TFC_U16) : std::nullopt;
  }
  for (const dfg::Dtype &dtype : dfg::getDtypes()) {
    // NumPy writes "|" for single bytes; other writers say "<".
    if (descr.drop_front() == dtype.numpy.drop_front() &&
        (descr[0] == dtype.numpy[0] || (dtype.bytes == 1 && (descr[0] == '<' || descr[0] == '='))))
      return dtype.code;
  }
  return std::nullopt;
}

/// Splits a file into its header's dictionary and its elements; std::nullopt if it is not a .npy
/// file.
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

//===----------------------------------------------------------------------===//
// Reading and writing
//===----------------------------------------------------------------------===//

Expected<NpyTensor> parseNpy(StringRef file, std::optional<tfc_dtype> expected) {
  auto parts = splitFile(file);
  if (!parts)
    return createStringError("not a .npy file");
  std::optional<Header> header = parseHeader(parts->first);
  if (!header)
    return createStringError("the header is damaged");
  std::optional<tfc_dtype> dtype =
      header->descr.size() > 1 ? findDtype(header->descr, expected) : std::nullopt;
  if (!dtype)
    return createStringError(fmt::format("elements of type '{}' are not supported{}", header->descr,
                                         header->descr.starts_with(">") ? " (big-endian)" : ""));
  uint64_t bytes = dfg::dtypeOf(*dtype).bytes;
  for (int64_t size : header->shape)
    bytes *= size;
  StringRef elements = parts->second;
  if (elements.size() != bytes)
    return createStringError(
        fmt::format("{}: expected {} bytes of {}, but got {}",
                    elements.size() < bytes ? "the file ends early" : "the file is too long", bytes,
                    dfg::toText(*dtype, header->shape), elements.size()));
  return NpyTensor{*dtype, header->shape, header->isColumnMajor && header->shape.size() > 1,
                   elements};
}

void NpyTensor::copyTo(MutableArrayRef<char> target) const {
  if (!isColumnMajor) {
    llvm::copy(bytes, target.begin());
    return;
  }
  size_t width = dfg::dtypeOf(dtype).bytes;
  SmallVector<int64_t> index(shape.size(), 0);
  for (size_t i = 0; i < bytes.size() / width; ++i) {
    size_t place = 0;
    for (auto [size, position] : zip(shape, index))
      place = place * size + position;
    memcpy(target.data() + place * width, bytes.data() + i * width, width);
    for (size_t axis = 0; axis < index.size() && ++index[axis] == shape[axis]; ++axis)
      index[axis] = 0;
  }
}

std::string makeNpyHeader(tfc_dtype dtype, ArrayRef<int64_t> shape) {
  std::string dictionary;
  raw_string_ostream text(dictionary);
  text << "{'descr': '" << dfg::dtypeOf(dtype).numpy << "', 'fortran_order': False, 'shape': (";
  interleaveComma(shape, text);
  text << (shape.size() == 1 ? ",), }" : "), }");
  // The elements begin at a multiple of 64 bytes, after magic, version and length.
  dictionary.append(alignTo(dictionary.size() + 11, 64) - 11 - dictionary.size(), ' ');
  dictionary += '\n';
  std::string header("\x93NUMPY\1\0", 8);
  header += char(dictionary.size() & 0xff);
  header += char(dictionary.size() >> 8);
  return header + dictionary;
}

} // namespace tfc
