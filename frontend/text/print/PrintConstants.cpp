// Writes constants that are too long for the text to a safetensors file.
#include "dialects/dfg/Dfg.h"
#include "frontend/text/print/PrintImpl.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/EndianStream.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace mlir;

namespace tfc::text {

static std::string keyOf(size_t index) { return "constant_" + std::to_string(index + 1); }

std::string LongConstants::add(DenseElementsAttr value) {
  tensors.push_back(value);
  return "(" + quoteString(fileName) + ", key: " + quoteString(keyOf(tensors.size() - 1)) + ")";
}

/// The bytes of the elements, a bool in one byte.
static SmallVector<char> bytesOf(DenseElementsAttr value) {
  if (value.getElementType().isInteger(1)) {
    SmallVector<char> bytes;
    for (bool flag : value.getValues<bool>())
      bytes.push_back(flag);
    return bytes;
  }
  ArrayRef<char> data = value.getRawData();
  return {data.begin(), data.end()};
}

/// The name of an element type in safetensors files: that of the language, in capitals.
static std::string dtypeOf(Type type) { return StringRef(dfg::toText(type)).upper(); }

void LongConstants::write(raw_ostream &os) const {
  json::Object header{{"__metadata__", json::Object{{"written_by", "tfc"}}}};
  int64_t offset = 0;
  for (auto [i, tensor] : enumerate(tensors)) {
    int64_t end = offset + int64_t(bytesOf(tensor).size());
    json::Array shape(tensor.getType().getShape());
    header[keyOf(i)] = json::Object{{"dtype", dtypeOf(tensor.getElementType())},
                                    {"shape", std::move(shape)},
                                    {"data_offsets", json::Array{offset, end}}};
    offset = end;
  }
  std::string text = formatv("{0}", json::Value(std::move(header))).str();
  text.append(alignTo(text.size(), 64) - text.size() + 56, ' '); // the data are aligned
  support::endian::write<uint64_t>(os, text.size(), endianness::little);
  os << text;
  for (DenseElementsAttr tensor : tensors) {
    SmallVector<char> bytes = bytesOf(tensor);
    os.write(bytes.data(), bytes.size());
  }
}

} // namespace tfc::text
