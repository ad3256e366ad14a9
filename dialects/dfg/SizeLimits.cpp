//===- SizeLimits.cpp - Sizes that exceed any memory ----------------------===//
//
// Checks that sizes, offsets and byte counts fit in 64 bits, and collects the limits that calls
// have to check. Readers, stages and the oracle apply the same limits.
//
//===----------------------------------------------------------------------===//

#include "dialects/dfg/SizeLimits.h"
#include "dialects/dfg/Dfg.h"
#include "dialects/dfg/Errors.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tfc::dfg {

/// The bytes of an element; a bool has one byte.
static int64_t elementBytes(Type elementType) {
  return llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
}

DimExpr byteCount(RankedTensorType type) {
  return elementCount(shapeOf(type)) * elementBytes(type.getElementType());
}

/// A lower bound of a size, at least 1.
static uint64_t leastOf(const DimExpr &size) {
  auto bounds = [](StringRef) { return DimExpr::Interval(0, std::nullopt); };
  return std::max<int64_t>(size.interval(bounds).first.value_or(1), 1);
}

static bool isTensorTooLarge(RankedTensorType type) {
  uint64_t bytes = elementBytes(type.getElementType());
  if (type.hasStaticShape()) {
    for (int64_t size : type.getShape())
      bytes = llvm::SaturatingMultiply<uint64_t>(bytes, std::max<int64_t>(size, 1));
    return bytes > uint64_t(kMaxTensorBytes);
  }
  Shape shape = shapeOf(type);
  for (const DimExpr &size : shape)
    bytes = llvm::SaturatingMultiply(bytes, leastOf(size));
  return bytes > uint64_t(kMaxTensorBytes) || llvm::any_of(shape, isOverflow) ||
         isOverflow(byteCount(type));
}

bool isTooLarge(Type type) {
  if (auto list = dyn_cast<ListType>(type))
    return isTensorTooLarge(list.getElementType());
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isTensorTooLarge(tensor);
}

bool isTooComplex(Type type) {
  if (auto list = dyn_cast<ListType>(type))
    type = list.getElementType();
  auto tensor = cast<RankedTensorType>(type);
  return llvm::any_of(shapeOf(tensor), isUncomputed) || isUncomputed(byteCount(tensor));
}

LogicalResult checkSizes(Location location, StringRef op, TypeRange types) {
  for (Type type : types) {
    if (!isTooLarge(type))
      continue;
    if (isTooComplex(type))
      return emitError(location) << "the sizes of the result of " << quotedName(location, op)
                                 << " are too complex [too-large]";
    return emitError(location) << quotedName(location, op) << " returns " << toText(type)
                               << ", which is too large for any memory [too-large]";
  }
  return success();
}

const SizeLimit &numberLimitOf(Type type) {
  std::optional<SizeUse> use = symbolizeSizeUse(toText(type));
  for (const SizeLimit &limit : kNumberLimits)
    if (limit.use == use)
      return limit;
  llvm_unreachable("sizes become integers only");
}

std::string misfitText(const SizeLimit &limit) {
  return ("is out of range for " + stringifySizeUse(limit.use)).str();
}

bool holdsNumber(Type type, std::optional<int64_t> number) {
  int64_t most = numberLimitOf(type).most;
  return number && *number >= -most && *number <= most;
}

AttrLimit limitOf(StringRef op, StringRef attribute) {
  const OpSignature *known = lookupOp(op);
  const AttrSignature *signature = known ? known->findAttribute(attribute) : nullptr;
  return signature ? signature->limit : AttrLimit::Memory;
}

LogicalResult checkNumbers(Operation *op) {
  auto numbering = dyn_cast<NumberingOpInterface>(op);
  if (!numbering)
    return success();
  for (auto [number, type] : numbering.getNumbers()) {
    int64_t known = number.constant().value_or(0), most = numberLimitOf(type).most;
    if (known > most || known < -most)
      return op->emitError() << quotedName(op->getLoc(), op->getName().stripDialect())
                             << " returns numbers up to " << known
                             << ", which are out of range for " << toText(type)
                             << " [number-range]";
  }
  return success();
}

/// The first number in an attribute that is larger than `most` in magnitude, as text.
static std::optional<std::string> findTooLarge(Attribute attribute, int64_t most) {
  auto isInRange = [&](int64_t number) { return number >= -most && number <= most; };
  if (auto numbers = dyn_cast<DenseI64ArrayAttr>(attribute))
    for (int64_t number : numbers.asArrayRef())
      if (!isInRange(number))
        return std::to_string(number);
  if (auto dims = dyn_cast<DimsAttr>(attribute))
    for (const DimExpr &size : dims.getExprs())
      if (isOverflow(size) || !isInRange(size.constant().value_or(0)))
        return size.str();
  return std::nullopt;
}

LogicalResult checkSizes(Location location, StringRef op, ArrayRef<NamedAttribute> attributes) {
  for (NamedAttribute attribute : attributes) {
    AttrLimit limit = limitOf(op, attribute.getName());
    if (limit == AttrLimit::Operation)
      continue;
    bool isNumber = limit == AttrLimit::Number;
    int64_t most = isNumber ? INT64_MAX : kMaxTensorBytes;
    if (std::optional<std::string> number = findTooLarge(attribute.getValue(), most))
      return emitError(location) << quotedName(location, op) << " expects numbers up to 2^"
                                 << (isNumber ? 63 : 56) << " in '"
                                 << attribute.getName().getValue() << "', but got " << *number
                                 << " [too-large]";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Magnitudes
//===----------------------------------------------------------------------===//

namespace {
/// Computes an upper bound of a size, and records the largest intermediate number.
class Magnitude {
public:
  explicit Magnitude(function_ref<uint64_t(StringRef)> largest) : largest(largest) {}

  uint64_t of(const DimExpr &size) {
    if (isOverflow(size))
      return note(UINT64_MAX);
    uint64_t sum = 0;
    for (auto &[monomial, coefficient] : size.getTerms()) {
      uint64_t product = coefficient < 0 ? 0 - uint64_t(coefficient) : uint64_t(coefficient);
      for (const DimExpr::Atom &atom : monomial)
        product = note(llvm::SaturatingMultiply(product, of(atom)));
      sum = note(llvm::SaturatingAdd(sum, product));
    }
    return sum;
  }

  uint64_t most = 0;

private:
  uint64_t note(uint64_t value) {
    most = std::max(most, value);
    return value;
  }

  uint64_t of(const DimExpr::Atom &atom) {
    if (atom.kind == DimExpr::AtomKind::Symbol)
      return note(largest(atom.name));
    uint64_t lhs = of(*atom.lhs), rhs = of(*atom.rhs);
    switch (atom.kind) {
    case DimExpr::AtomKind::FloorDiv:
      return lhs;
    case DimExpr::AtomKind::Mod:
      return rhs;
    default:
      return std::max(lhs, rhs);
    }
  }

  function_ref<uint64_t(StringRef)> largest;
};
} // namespace

uint64_t largestMagnitude(const DimExpr &size, function_ref<uint64_t(StringRef)> largest) {
  Magnitude magnitude(largest);
  magnitude.of(size.plain());
  return magnitude.most;
}

} // namespace tfc::dfg
