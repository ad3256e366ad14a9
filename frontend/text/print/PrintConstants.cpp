// Writes constants that are too long for the text to a safetensors file.
#include "dialects/dfg/Dfg.h"
#include "frontend/text/print/PrintImpl.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/EndianStream.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace mlir;

namespace tfc::text {

std::string LongConstants::add(Tensor tensor) {
  std::string key = std::move(tensor.key);
  for (size_t number = tensors.size() + 1; key.empty() || !keys.insert(key).second; ++number)
    key = "constant_" + std::to_string(number);
  std::string arguments = "(" + quoteString(fileName) + ", key: " + quoteString(key) + ")";
  tensors.push_back({std::move(key), tensor.type, tensor.data});
  return arguments;
}

std::string LongConstants::add(DenseElementsAttr value, StringRef key) {
  return add({key.str(), cast<RankedTensorType>(value.getType()), value.getRawData()});
}

std::string LongConstants::add(DenseResourceElementsAttr value, StringRef key) {
  return add({key.str(), cast<RankedTensorType>(value.getType()),
              value.getRawHandle().getBlob()->getData()});
}

/// The size of an element in the file, where a bool takes a byte.
static int64_t bytesPerElement(Type element) {
  return divideCeil(element.getIntOrFloatBitWidth(), 8);
}

static void writeElements(RankedTensorType type, ArrayRef<char> data, raw_ostream &os) {
  int64_t count = type.getNumElements();
  if (type.getElementType().isInteger(1)) {
    for (bool flag : DenseElementsAttr::getFromRawBuffer(type, data).getValues<bool>())
      os << char(flag);
    return;
  }
  bool isSplat = int64_t(data.size()) != count * bytesPerElement(type.getElementType());
  for (int64_t i = 0; i < (isSplat ? count : 1); ++i)
    os.write(data.data(), data.size());
}

/// The name of an element type in safetensors files: that of the language, in capitals.
static std::string dtypeOf(Type type) { return StringRef(dfg::toText(type)).upper(); }

void LongConstants::write(raw_ostream &os) const {
  std::string header = kMark.str();
  raw_string_ostream text(header);
  int64_t offset = 0;
  for (const Tensor &tensor : tensors) {
    Type element = tensor.type.getElementType();
    int64_t end = offset + tensor.type.getNumElements() * bytesPerElement(element);
    text << ',' << json::Value(tensor.key) << ':'
         << json::Value(json::Object{{"dtype", dtypeOf(element)},
                                     {"shape", json::Array(tensor.type.getShape())},
                                     {"data_offsets", json::Array{offset, end}}});
    offset = end;
  }
  text << '}';
  header.append(alignTo(header.size(), 64) - header.size() + 56, ' '); // the data are aligned
  support::endian::write<uint64_t>(os, header.size(), endianness::little);
  os << header;
  for (const Tensor &tensor : tensors)
    writeElements(tensor.type, tensor.data, os);
}

} // namespace tfc::text
