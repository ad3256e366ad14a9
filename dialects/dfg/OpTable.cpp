//===- OpTable.cpp - How operations are called by name --------------------===//
//
// Holds the table of operations that the build generates from ODS. Readers that call operations by
// name use it, and so need no change for a new operation.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/OpTable.h"
#include "dialects/dfg/Dfg.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir;

namespace tfc::dfg {

template <typename WordAttr, auto value> static Attribute buildWord(MLIRContext *context) {
  return WordAttr::get(context, value);
}

ArrayRef<OpSignature> allOps() {
#define UNWRAP(...) __VA_ARGS__
#define OP(name, operands, attributes, results, variadicResults, updates)                          \
  OpSignature{name, UNWRAP operands, UNWRAP attributes, UNWRAP results, variadicResults, updates},
  static const std::vector<OpSignature> ops = {
#include "dialects/dfg/OpTable.inc"
  };
#undef OP
#undef UNWRAP
  return ops;
}

const OpSignature *lookupOp(StringRef name) {
  ArrayRef<OpSignature> ops = allOps();
  const OpSignature *it = llvm::lower_bound(
      ops, name, [](const OpSignature &op, StringRef key) { return op.name < key; });
  return it != ops.end() && it->name == name ? it : nullptr;
}

bool OpSignature::isDraw() const {
  return llvm::any_of(operands, [](const OperandSignature &operand) { return operand.isCounter; });
}

const AttrSignature *OpSignature::findAttribute(StringRef name) const {
  for (const AttrSignature &attribute : attributes)
    if (attribute.name == name)
      return &attribute;
  return nullptr;
}

Attribute AttrSignature::fromWord(StringRef word, MLIRContext *context) const {
  for (const EnumCase &known : cases)
    if (known.name == word)
      return known.build(context);
  return {};
}

std::optional<StringRef> AttrSignature::toWord(Attribute attribute) const {
  for (const EnumCase &known : cases)
    if (known.build(attribute.getContext()) == attribute)
      return known.name;
  return std::nullopt;
}

} // namespace tfc::dfg
