//===- OperandTypes.cpp - Types of operands in the language's terms -------===//
//
// Checks operands against the table of operations before MLIR verifies them, because authors of
// graphs know the types of the language and not those of MLIR.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/OperandTypes.h"
#include "dialects/dfg/Dfg.h"
#include "dialects/dfg/Errors.h"
#include "dialects/dfg/OpTable.h"

using namespace mlir;

namespace tfc::dfg {

/// The signature of each operand.
static SmallVector<const OperandSignature *> signaturesOf(Operation *op,
                                                          const OpSignature &signature) {
  SmallVector<const OperandSignature *> signatures;
  auto segments = op->getAttrOfType<DenseI32ArrayAttr>("operandSegmentSizes");
  for (auto [i, operand] : llvm::enumerate(signature.operands)) {
    size_t rest = op->getNumOperands() - signatures.size();
    bool isFlexible = operand.isVariadic || operand.isOptional;
    // Without segments only the last operand is variadic or optional.
    size_t count = segments ? segments[i] : isFlexible ? rest : std::min<size_t>(rest, 1);
    signatures.append(count, &operand);
  }
  return signatures;
}

static bool accepts(const OperandSignature &signature, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  switch (signature.kind) {
  case OperandKind::List:
    return isa<ListType>(type);
  case OperandKind::Token:
    return isa<TokenType>(type);
  case OperandKind::Any:
    return tensor || isa<ListType>(type);
  case OperandKind::Tensor:
  case OperandKind::Predicate:
    break;
  }
  return tensor && (!signature.isScalar || tensor.getRank() == 0) &&
         llvm::is_contained(signature.dtypes, toText(tensor.getElementType()));
}

static std::string describe(const OperandSignature &signature) {
  switch (signature.kind) {
  case OperandKind::List:
    return "a list";
  case OperandKind::Token:
    return "a control edge";
  case OperandKind::Any:
    return "a tensor or a list";
  case OperandKind::Tensor:
  case OperandKind::Predicate:
    break;
  }
  return (signature.isScalar ? "a scalar of type " : "a tensor of ") +
         llvm::join(signature.dtypes, " or ");
}

LogicalResult verifyOperandTypes(Operation *op) {
  const OpSignature *signature = lookupOp(op->getName().stripDialect());
  for (auto [operand, type] : llvm::zip(signaturesOf(op, *signature), op->getOperandTypes()))
    if (!accepts(*operand, type))
      return emitErrorAbout(op->getLoc(), signature->name, "expects ", describe(*operand),
                            ", but got ", toText(type), " [operand-kind]");
  return success();
}

} // namespace tfc::dfg
