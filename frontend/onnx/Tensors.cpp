// Reads tensors from their typed fields, from raw bytes, or from other files. Sizes, offsets and
// paths are checked here.

#include "frontend/onnx/Tensors.h"

#include "dialects/dfg/Dfg.h"
#include "frontend/ForeignFile.h"
#include "frontend/ReadFile.h"
#include "frontend/TensorFile.h"
#include "frontend/onnx/Dtypes.h"
#include "frontend/onnx/onnx.pb.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace llvm;

namespace tfc::onnx {

/// Returns the type of a tensor, or null if its sizes are negative or too large.
static RankedTensorType typeOf(const wire::Tensor &tensor, Type element) {
  SmallVector<int64_t> sizes(tensor.dims().begin(), tensor.dims().end());
  int64_t count = 1;
  for (int64_t size : sizes)
    if (size < 0 || __builtin_mul_overflow(count, size, &count) || count > (int64_t(1) << 40))
      return {};
  return RankedTensorType::get(sizes, element);
}

//===----------------------------------------------------------------------===//
// Typed fields
//===----------------------------------------------------------------------===//

/// Elements of floats of 16 bits are given by their bits.
static Attribute elementOf(Type type, int64_t number) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return IntegerAttr::get(type, APInt(64, uint64_t(number)).trunc(integer.getWidth()));
  const fltSemantics &semantics = cast<FloatType>(type).getFloatSemantics();
  return FloatAttr::get(type, APFloat(semantics, APInt(16, uint64_t(number) & 0xffff)));
}

static SmallVector<Attribute> typedElements(const wire::Tensor &tensor, Type type) {
  SmallVector<Attribute> elements;
  if (type.isF32() || type.isF64()) {
    for (float value : tensor.float_data())
      elements.push_back(FloatAttr::get(type, value));
    for (double value : tensor.double_data())
      elements.push_back(FloatAttr::get(type, value));
    return elements;
  }
  for (int32_t value : tensor.int32_data())
    elements.push_back(elementOf(type, value));
  for (int64_t value : tensor.int64_data())
    elements.push_back(elementOf(type, value));
  for (uint64_t value : tensor.uint64_data())
    elements.push_back(elementOf(type, int64_t(value)));
  return elements;
}

static ElementsAttr readTyped(const wire::Tensor &tensor, RankedTensorType type,
                              std::string &error) {
  SmallVector<Attribute> elements = typedElements(tensor, type.getElementType());
  if (int64_t(elements.size()) == type.getNumElements())
    return DenseElementsAttr::get(type, elements);
  error = "expected " + std::to_string(type.getNumElements()) + " elements, but got " +
          std::to_string(elements.size());
  return {};
}

/// Elements of fewer than 8 bits are packed, the first one in the lowest bits of a byte.
static ElementsAttr readPacked(const wire::Tensor &tensor, StringRef raw, RankedTensorType type,
                               std::string &error) {
  unsigned bits = bitsOf(tensor.data_type());
  int64_t perByte = 8 / bits, count = type.getNumElements();
  std::vector<uint8_t> bytes(raw.bytes_begin(), raw.bytes_end());
  for (int32_t value : tensor.int32_data())
    bytes.push_back(uint8_t(value));
  if (bytes.size() != divideCeil(uint64_t(count), uint64_t(perByte))) {
    error = "its tensor has more or fewer bytes than its shape";
    return {};
  }
  bool isSigned = !type.getElementType().isUnsignedInteger();
  SmallVector<APInt> elements;
  for (int64_t i = 0; i < count; ++i) {
    APInt code = APInt(8, bytes[i / perByte]).extractBits(bits, unsigned(i % perByte) * bits);
    elements.push_back(isSigned ? code.sext(8) : code.zext(8));
  }
  return DenseElementsAttr::get(type, elements);
}

//===----------------------------------------------------------------------===//
// Other files
//===----------------------------------------------------------------------===//

TensorReader::TensorReader(MLIRContext *context, const ForeignFile &model)
    : context(context), model(model.buffer) {
  folder = sys::path::parent_path(model.path).str();
  if (folder.empty())
    folder = ".";
}

/// Returns true if a path names a file in a folder or below it, also after symbolic links.
static bool isInside(StringRef folder, StringRef path) {
  SmallString<128> outer, inner;
  if (sys::fs::real_path(folder, outer) || sys::fs::real_path(path, inner))
    return true; // a missing file is reported when it is opened
  StringRef rest = inner;
  return rest.consume_front(outer) && (rest.starts_with("/") || outer == "/");
}

TensorReader::FileBuffer TensorReader::open(StringRef location, std::string &error) {
  FileBuffer &file = files[location];
  if (file)
    return file;
  SmallString<128> path(folder);
  sys::path::append(path, location);
  bool leavesFolder = sys::path::is_absolute(location) ||
                      is_contained(make_range(sys::path::begin(location), sys::path::end(location)),
                                   StringRef(".."));
  if (location.empty() || leavesFolder || !isInside(folder, path)) {
    error = ("expected its elements in the folder of the model, but got '" + location + "'").str();
    return nullptr;
  }
  std::string reason;
  file = readRegularFile(path, reason);
  if (!file)
    error = ("cannot read '" + path + "': " + reason).str();
  return file;
}

ElementsAttr TensorReader::readExternal(const wire::Tensor &tensor, RankedTensorType type,
                                        StringRef name, std::string &error) {
  std::string location;
  std::optional<uint64_t> offset = 0, length;
  for (const wire::StringPair &entry : tensor.external_data()) {
    uint64_t number = 0;
    bool isNumber = !StringRef(entry.value()).getAsInteger(10, number);
    if (entry.key() == "location")
      location = entry.value();
    else if (entry.key() == "offset")
      offset = isNumber ? std::optional(number) : std::nullopt;
    else if (entry.key() == "length" && !isNumber)
      offset = std::nullopt;
    else if (entry.key() == "length")
      length = number;
  }
  FileBuffer file = open(location, error);
  if (!file)
    return {};
  StringRef bytes = file->getBuffer();
  uint64_t width = std::max(type.getElementTypeBitWidth(), 8u) / 8;
  uint64_t size = length.value_or(type.getNumElements() * width);
  if (!offset || *offset > bytes.size() || size > bytes.size() - *offset) {
    error = "its elements are not inside of '" + location + "'";
    return {};
  }
  ElementsAttr result = mapTensor(type, bytes.substr(*offset, size), file, name);
  if (!result)
    error = "its tensor has more or fewer bytes than its shape";
  return result;
}

StringRef TensorReader::rawData(const wire::Tensor &tensor) const {
  if (tensor.has_mapped_size())
    return model->getBuffer().substr(tensor.mapped_offset(), tensor.mapped_size());
  return tensor.raw_data();
}

ElementsAttr TensorReader::read(const wire::Tensor &tensor, StringRef name, std::string &error) {
  Type element = storedTypeOf(context, tensor.data_type());
  if (!element)
    return {};
  RankedTensorType type = typeOf(tensor, element);
  if (!type) {
    error = "expected the sizes of its tensor to be from 0 to 2^40 elements in all";
    return {};
  }
  if (isCoded(tensor.data_type()) && bitsOf(tensor.data_type()) < 8)
    return readPacked(tensor, rawData(tensor), type, error);
  constexpr int kExternal = 1;
  if (tensor.data_location() == kExternal)
    return readExternal(tensor, type, name, error);
  if (!tensor.has_raw_data() && !tensor.has_mapped_size())
    return readTyped(tensor, type, error);
  StringRef raw = rawData(tensor);
  ElementsAttr result =
      tensor.has_mapped_size() ? mapTensor(type, raw, model, name) : makeTensor(type, raw, name);
  if (!result)
    error = "its tensor has more or fewer bytes than its shape";
  return result;
}

} // namespace tfc::onnx
