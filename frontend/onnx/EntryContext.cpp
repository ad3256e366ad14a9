// Holds the constants of a model.

#include "frontend/onnx/EntryContext.h"

using namespace mlir;

namespace tfc::onnx {

NodeValue constantValue(EntryContext &entry, ElementsAttr value, StringRef name) {
  if (std::optional<dfg::SizeTensor> sizes = dfg::readSizes(value))
    return NodeValue(std::move(*sizes));
  return entry.builder.constant(value, entry.locate(name));
}

} // namespace tfc::onnx
