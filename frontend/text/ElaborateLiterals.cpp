// What is an operation on any data but has constants that nobody can mean: divisors that are zero,
// limits in the wrong order. Data that a call brings are no concern of the elaborator.
#include "frontend/text/ElaborateImpl.h"
#include "frontend/text/Refusals.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/Format.h"

using namespace llvm;
using namespace mlir;

namespace tfc::text {

/// The elements of a constant, null of anything else.
static DenseElementsAttr constantOf(mlir::Value value) {
  DenseElementsAttr elements;
  matchPattern(value, m_Constant(&elements));
  return elements;
}

static bool hasZero(mlir::Value divisor) {
  DenseElementsAttr elements = constantOf(divisor);
  return elements && isa<IntegerType>(elements.getElementType()) &&
         any_of(elements.getValues<APInt>(), [](const APInt &number) { return number.isZero(); });
}

/// The number that all elements of a constant are.
static std::optional<double> numberOf(mlir::Value value) {
  DenseElementsAttr elements = constantOf(value);
  if (!elements || !elements.isSplat())
    return std::nullopt;
  if (isa<FloatType>(elements.getElementType())) {
    APFloat number = elements.getSplatValue<APFloat>();
    bool losesInfo;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
    return number.convertToDouble();
  }
  APInt number = elements.getSplatValue<APInt>();
  bool isSigned = elements.getElementType().isSignlessInteger();
  return isSigned ? double(number.getSExtValue()) : double(number.getZExtValue());
}

std::optional<Refusal> findMeaninglessConstants(Operation *op, StringRef name) {
  // In a branch or loop it may never run.
  bool divides = isa<dfg::FloordivOp, dfg::ModOp>(op) && isa<dfg::EntryOp>(op->getParentOp());
  if (divides && hasZero(op->getOperand(1)))
    return Refusal{"division-by-zero",
                   ("'" + name + "' of integers by zero makes every call fail").str()};
  auto clamp = dyn_cast<dfg::ClampOp>(op);
  if (!clamp)
    return std::nullopt;
  std::optional<double> low = numberOf(clamp.getMin()), high = numberOf(clamp.getMax());
  if (!low || !high || !(*low > *high))
    return std::nullopt;
  std::string got;
  raw_string_ostream(got) << format("%g and %g", *low, *high);
  return Refusal{"clamp-limits", "'clamp' expects 'min' to be at most 'max', but got " + got};
}

bool Elaborator::canBeMeant(Operation *op, SourceRange at, StringRef operatorText) {
  StringRef name = operatorText.empty() ? op->getName().stripDialect() : operatorText;
  std::optional<Refusal> refusal = findMeaninglessConstants(op, name);
  if (refusal)
    error(at, refusal->word, refusal->text);
  return !refusal;
}

} // namespace tfc::text
