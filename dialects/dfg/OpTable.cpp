//===- OpTable.cpp - How operations are called by name --------------------===//
//
// Holds the table of operations that the build generates from ODS. Readers that call operations by
// name use it, and so need no change for a new operation.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/OpTable.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace tfc::dfg {

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

} // namespace tfc::dfg
