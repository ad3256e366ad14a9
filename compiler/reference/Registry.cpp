//===- Registry.cpp - The evaluators of all operations --------------------===//
//
// Collects the evaluators of all families, and computes sizes and shapes for them.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Registry.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

std::optional<int64_t> knownSizeOf(const DimExpr &expr, const Sizes &sizes) {
  auto lookup = [&](StringRef name) -> std::optional<int64_t> {
    auto found = sizes.find(name);
    return found == sizes.end() ? std::nullopt : std::optional(found->second);
  };
  return expr.evaluate(lookup);
}

int64_t sizeOf(const DimExpr &expr, const Sizes &sizes) {
  return knownSizeOf(expr, sizes).value_or(0);
}

Call::Call(Operation *op, ArrayRef<const Tensor *> operands, const Sizes &sizes)
    : op(op), operands(operands), symbols(sizes) {
  for (Type type : op->getResultTypes())
    results.emplace_back(elementTypeOf(type), shapeOf(type));
}

SmallVector<int64_t> Call::sizes(DimsAttr dims) const {
  return llvm::map_to_vector(dims.getExprs(), [&](const DimExpr &expr) { return size(expr); });
}

SmallVector<int64_t> Call::shapeOf(Type tensorType) const {
  return llvm::map_to_vector(dfg::shapeOf(tensorType),
                             [&](const DimExpr &expr) { return std::max<int64_t>(size(expr), 0); });
}

const Registry::Evaluator *Registry::find(StringRef name) const {
  auto found = evaluators.find(name);
  return found == evaluators.end() ? nullptr : &found->second;
}

const Registry &getRegistry() {
  static const Registry registry = [] {
    Registry all;
#define TFC_FAMILY(NAME) add##NAME(all);
#include "compiler/reference/Families.inc"
#undef TFC_FAMILY
    return all;
  }();
  return registry;
}

} // namespace tfc::reference
