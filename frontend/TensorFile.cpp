// Loads tensors from .npy and .safetensors files, which stay mapped for large constants.
#include "frontend/TensorFile.h"
#include "frontend/Fmt.h"

#include "dialects/dfg/Dtypes.h"
#include "frontend/Npy.h"
#include "frontend/ReadFile.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace tfc {

namespace {
/// The bytes of a tensor in a file, with its type.
struct TensorBytes {
  llvm::StringRef bytes;
  Type element;
  llvm::SmallVector<int64_t> shape;
};
} // namespace

using FileBuffer = std::shared_ptr<llvm::MemoryBuffer>;

/// Tensors up to this size are ordinary attributes.
static constexpr size_t kMaxInline = 256;

static unsigned byteWidth(Type element) {
  return element.isInteger(1) ? 1 : element.getIntOrFloatBitWidth() / 8;
}

/// Returns true if the number of bytes is that of the type and shape.
static bool hasRightSize(const TensorBytes &tensor) {
  uint64_t count = byteWidth(tensor.element);
  for (int64_t size : tensor.shape) {
    if (size < 0 || (size != 0 && count > UINT64_MAX / uint64_t(size)))
      return false;
    count *= static_cast<uint64_t>(size);
  }
  return count == tensor.bytes.size();
}

/// Copies the elements to an attribute; `bytes` holds all of them, or one if they are equal.
static DenseElementsAttr makeDense(RankedTensorType type, llvm::StringRef bytes) {
  if (type.getElementType().isInteger(1)) {
    llvm::SmallVector<bool> flags;
    for (char byte : bytes)
      flags.push_back(byte != 0);
    return DenseElementsAttr::get(type, llvm::ArrayRef<bool>(flags));
  }
  // The accessors of the attribute read whole elements.
  std::vector<std::max_align_t> copy(bytes.size() / sizeof(std::max_align_t) + 1);
  llvm::copy(bytes, reinterpret_cast<char *>(copy.data()));
  return DenseElementsAttr::getFromRawBuffer(
      type, llvm::ArrayRef<char>(reinterpret_cast<char *>(copy.data()), bytes.size()));
}

static ElementsAttr makeAttribute(const TensorBytes &tensor, const FileBuffer &file,
                                  llvm::StringRef name) {
  auto type = RankedTensorType::get(tensor.shape, tensor.element);
  if (tensor.element.isInteger(1) || tensor.bytes.size() <= kMaxInline)
    return makeDense(type, tensor.bytes);
  llvm::ArrayRef<char> data(tensor.bytes.data(), tensor.bytes.size());
  // Elements in a file may be unaligned: all readers of resources copy their bytes. The alignment
  // that is recorded is that of copies.
  AsmResourceBlob blob(
      data, byteWidth(tensor.element), [file](void *, size_t, size_t) {},
      /*dataIsMutable=*/false);
  return DenseResourceElementsAttr::get(type, name, std::move(blob));
}

static TensorBytes tensorBytes(RankedTensorType type, llvm::StringRef bytes) {
  return {bytes, type.getElementType(), llvm::SmallVector<int64_t>(type.getShape())};
}

ElementsAttr makeTensor(RankedTensorType type, llvm::StringRef bytes, llvm::StringRef name) {
  if (!hasRightSize(tensorBytes(type, bytes)))
    return {};
  FileBuffer copy = llvm::MemoryBuffer::getMemBufferCopy(bytes);
  return makeAttribute(tensorBytes(type, copy->getBuffer()), copy, name);
}

ElementsAttr mapTensor(RankedTensorType type, llvm::StringRef bytes, const FileBuffer &file,
                       llvm::StringRef name) {
  TensorBytes tensor = tensorBytes(type, bytes);
  return hasRightSize(tensor) ? makeAttribute(tensor, file, name) : ElementsAttr();
}

DenseElementsAttr makeDenseTensor(RankedTensorType type, llvm::StringRef bytes, bool isSplat) {
  RankedTensorType given = isSplat ? RankedTensorType::get({}, type.getElementType()) : type;
  return hasRightSize(tensorBytes(given, bytes)) ? makeDense(type, bytes) : DenseElementsAttr();
}

//===----------------------------------------------------------------------===//
// npy
//===----------------------------------------------------------------------===//

static std::optional<TensorBytes> readNpy(MLIRContext *context, FileBuffer &file, Type expected,
                                          std::string &error) {
  const dfg::Dtype *dtype = expected ? dfg::findDtype(expected) : nullptr;
  llvm::Expected<NpyTensor> tensor =
      parseNpy(file->getBuffer(), dtype ? std::optional(dtype->code) : std::nullopt);
  if (!tensor) {
    error = llvm::toString(tensor.takeError());
    return std::nullopt;
  }
  if (tensor->isColumnMajor) {
    auto buffer = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(tensor->bytes.size());
    if (!buffer) {
      error = "not enough memory for its elements";
      return std::nullopt;
    }
    tensor->copyTo(buffer->getBuffer());
    tensor->bytes = {buffer->getBufferStart(), buffer->getBufferSize()};
    file = std::move(buffer);
  }
  return TensorBytes{tensor->bytes, dfg::dtypeOf(tensor->dtype).elementType(context),
                     std::move(tensor->shape)};
}

//===----------------------------------------------------------------------===//
// safetensors
//===----------------------------------------------------------------------===//

static std::optional<TensorBytes> tensorOfEntry(MLIRContext *context,
                                                const llvm::json::Object &entry,
                                                llvm::StringRef data, std::string &error) {
  TensorBytes tensor;
  tensor.element = dfg::elementTypeNamed(context, entry.getString("dtype").value_or(""),
                                         &dfg::Dtype::safetensors);
  const llvm::json::Array *shape = entry.getArray("shape");
  const llvm::json::Array *offsets = entry.getArray("data_offsets");
  error = "its header is damaged";
  if (!shape || !offsets || offsets->size() != 2)
    return std::nullopt;
  if (!tensor.element) {
    error = "the language does not have its dtype";
    return std::nullopt;
  }
  for (const llvm::json::Value &size : *shape) {
    std::optional<int64_t> number = size.getAsInteger();
    if (!number)
      return std::nullopt;
    tensor.shape.push_back(*number);
  }
  std::optional<int64_t> begin = (*offsets)[0].getAsInteger(), end = (*offsets)[1].getAsInteger();
  if (!begin || !end || *begin < 0 || *end < *begin || uint64_t(*end) > data.size())
    return std::nullopt;
  tensor.bytes = data.slice(*begin, *end);
  if (!hasRightSize(tensor))
    return std::nullopt;
  return tensor;
}

/// The header; null if the file has none.
static std::unique_ptr<llvm::json::Value> parseHeader(llvm::StringRef text) {
  if (text.size() < 8)
    return nullptr;
  uint64_t length = llvm::support::endian::read64le(text.data());
  if (length > text.size() - 8)
    return nullptr;
  llvm::Expected<llvm::json::Value> header = llvm::json::parse(text.substr(8, length));
  if (header && header->getAsObject())
    return std::make_unique<llvm::json::Value>(std::move(*header));
  llvm::consumeError(header.takeError());
  return nullptr;
}

static std::optional<TensorBytes> findTensor(MLIRContext *context, const llvm::json::Object &header,
                                             llvm::StringRef data, llvm::StringRef key,
                                             std::string &error) {
  if (const llvm::json::Object *named = key.empty() ? nullptr : header.getObject(key);
      named && key != "__metadata__")
    return tensorOfEntry(context, *named, data, error);
  const llvm::json::Object *found = nullptr;
  std::string names;
  unsigned count = 0;
  for (const auto &[name, value] : header) {
    if (name == "__metadata__" || !value.getAsObject())
      continue;
    found = value.getAsObject();
    if (++count <= 5)
      names += fmt::format("{}{}'", count > 1 ? ", '" : "'", llvm::StringRef(name));
  }
  if (!key.empty() || count != 1) {
    error = (key.empty() ? "it holds several tensors; name one as key: (" + names
                         : "it holds no tensor '" + key.str() + "' (but " + names) +
            (count > 5 ? ", ...)" : ")");
    return std::nullopt;
  }
  return tensorOfEntry(context, *found, data, error);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

struct TensorFiles::File {
  FileBuffer buffer;
  /// Of a safetensors file.
  std::unique_ptr<llvm::json::Value> header;
};

TensorFiles::TensorFiles() = default;
TensorFiles::~TensorFiles() = default;

ElementsAttr TensorFiles::load(MLIRContext *context, llvm::StringRef path, llvm::StringRef key,
                               std::string &error, Type expected) {
  std::unique_ptr<File> &known = files[path];
  bool isNpy = path.ends_with(".npy");
  if (!known) {
    File read{readRegularFile(path, error), nullptr};
    if (!read.buffer)
      return {};
    if (!isNpy && !(read.header = parseHeader(read.buffer->getBuffer()))) {
      error = "this is not a safetensors file";
      return {};
    }
    known = std::make_unique<File>(std::move(read));
  }
  FileBuffer file = known->buffer;
  llvm::StringRef text = file->getBuffer();
  std::optional<TensorBytes> tensor;
  if (isNpy) {
    tensor = readNpy(context, file, expected, error);
  } else {
    llvm::StringRef data = text.drop_front(8 + llvm::support::endian::read64le(text.data()));
    tensor = findTensor(context, *known->header->getAsObject(), data, key, error);
  }
  if (!tensor)
    return {};
  return makeAttribute(*tensor, file, key.empty() ? path : key);
}

} // namespace tfc
