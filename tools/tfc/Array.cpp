// Allocates arrays and reads and writes them as .npy files.
#include "tools/tfc/Array.h"
#include "compiler/emission/OutputFile.h"
#include "dialects/dfg/Dtypes.h"
#include "frontend/Npy.h"
#include "frontend/ReadFile.h"
#include "tools/tfc/Message.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace tfc;

int64_t Array::elementCount() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

size_t Array::elementBytes() const { return dfg::dtypeOf(dtype).bytes; }

std::string Array::typeText() const { return dfg::toText(dtype, shape); }

Error Array::allocate() {
  uint64_t bytes = elementBytes();
  for (int64_t size : shape)
    bytes = SaturatingMultiply<uint64_t>(bytes, std::max<int64_t>(size, 0));
  // A vector would end the program if there is no memory.
  void *volatile memory = malloc(bytes);
  if (!memory && bytes)
    return makeError("not enough memory for {}", typeText());
  free(memory);
  data.resize(bytes);
  return Error::success();
}

tfc_tensor Array::view() {
  return {dtype, static_cast<int32_t>(shape.size()), shape.data(), data.data()};
}

Expected<Array> tfc::makeArray(StringRef file, std::optional<tfc_dtype> expected) {
  Expected<NpyTensor> tensor = parseNpy(file, expected);
  if (!tensor)
    return tensor.takeError();
  Array array{tensor->dtype, {tensor->shape.begin(), tensor->shape.end()}, {}};
  if (Error error = array.allocate())
    return error;
  tensor->copyTo(array.data);
  return array;
}

Expected<Array> tfc::readArray(StringRef path, std::optional<tfc_dtype> expected) {
  std::string reason;
  std::unique_ptr<MemoryBuffer> buffer = readRegularFile(path, reason);
  if (!buffer)
    return makeError("{}: {}", path, reason);
  Expected<Array> array = makeArray(buffer->getBuffer(), expected);
  if (!array)
    return makeError("{}: {}", path, toString(array.takeError()));
  return array;
}

Error tfc::writeArray(StringRef path, const Array &array) {
  std::string content = makeNpyHeader(array.dtype, array.shape);
  content.append(array.data.begin(), array.data.end());
  return emission::writeOutput(path, content);
}
