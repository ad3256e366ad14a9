//===- Registry.cpp - How the oracle computes each operation --------------===//

#include "compiler/reference/Registry.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

Call::Call(Operation *op, ArrayRef<const Tensor *> operands, const Sizes &sizes)
    : op(op), operands(operands), symbols(sizes) {
  for (Type type : op->getResultTypes())
    results.emplace_back(elementTypeOf(type), shapeOf(type));
}

/// A size that cannot be computed belongs to an operation that a refused call does not reach: 0.
int64_t Call::size(const DimExpr &expr) const {
  auto lookup = [&](StringRef name) -> std::optional<int64_t> {
    auto found = symbols.find(name);
    return found == symbols.end() ? std::nullopt : std::optional(found->second);
  };
  return expr.evaluate(lookup).value_or(0);
}

SmallVector<int64_t> Call::sizes(DimsAttr dims) const {
  return llvm::map_to_vector(dims.getExprs(), [&](const DimExpr &expr) { return size(expr); });
}

SmallVector<int64_t> Call::shapeOf(Type tensorType) const {
  return llvm::map_to_vector(dfg::shapeOf(tensorType),
                             [&](const DimExpr &expr) { return std::max<int64_t>(size(expr), 0); });
}

const Registry::Evaluator *Registry::find(Operation *op) const {
  auto found = evaluators.find(op->getName().getStringRef());
  return found == evaluators.end() ? nullptr : &found->second;
}

const Registry &getRegistry() {
  static const Registry registry = [] {
    Registry all;
    addElementwise(all);
    addReduction(all);
    return all;
  }();
  return registry;
}

} // namespace tfc::reference
