// Implements what rules ask about the entry, and how they see a constant: as sizes, as a tensor, or
// as codes of a small type. The initializers of graphs and the nodes called Constant share this.

#include "frontend/onnx/EntryContext.h"

#include "frontend/importer/NodeBuilder.h"
#include "frontend/onnx/Dtypes.h"

using namespace mlir;
using namespace llvm;

namespace tfc::onnx {

dfg::DimExpr::Interval EntryContext::intervalOf(const dfg::DimExpr &value) const {
  return value.interval([&](StringRef name) {
    dfg::DimExpr::Interval interval{0, std::nullopt};
    for (const auto &[bounded, most] : options.bounds)
      if (name == bounded)
        interval.second = most;
    for (const dfg::Fact &fact : assumed)
      if (fact.comparison == dfg::Comparison::LessEqual)
        if (auto bound = dfg::boundOfNonNegative(fact.rhs - fact.lhs); bound && bound->name == name)
          dfg::tighten(interval, *bound);
    return interval;
  });
}

bool EntryContext::isFed(const dfg::DimExpr &size) {
  ArrayAttr symbols = builder.currentEntry().getSymbolsAttr();
  bool isFed = true;
  size.forEachSymbol([&](StringRef name) {
    isFed &= symbols && is_contained(symbols.getAsValueRange<StringAttr>(), name);
  });
  return isFed;
}

NodeValue constantValue(EntryContext &entry, ElementsAttr value, int64_t dtype, StringRef name) {
  if (isCoded(dtype))
    return NodeValue(entry.builder.constant(value, entry.locate(name))).withCode(dtype);
  return importer::constantValue(entry.builder, value, entry.locate(name));
}

} // namespace tfc::onnx
