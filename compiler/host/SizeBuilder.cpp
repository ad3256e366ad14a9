// Builds sizes as arithmetic on the values of names, for host functions and for the functions that
// describe a call.

#include "compiler/host/SizeBuilder.h"
#include "dialects/dfg/DimRemainders.h"
#include "dialects/rt/Rt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::host {

SizeBuilder::SizeBuilder(OpBuilder &b, Location loc, Value symbols, ArrayRef<std::string> names)
    : start(b), b(&b), loc(loc), symbols(symbols) {
  for (auto [i, name] : llvm::enumerate(names))
    numbers[name] = i;
}

Value SizeBuilder::constant(int64_t value) {
  Value &result = constants[value];
  if (!result)
    result = arith::ConstantOp::create(start, loc, start.getI64IntegerAttr(value));
  return result;
}

std::optional<int64_t> SizeBuilder::constantOf(Value value) const {
  APInt result;
  if (matchPattern(value, m_ConstantInt(&result)))
    return result.getSExtValue();
  return std::nullopt;
}

template <typename Op, typename Watched> Value SizeBuilder::arithmetic(Value lhs, Value rhs) {
  if (!watching)
    return Op::create(*b, loc, lhs, rhs);
  Type i1 = b->getI1Type();
  Type pair = LLVM::LLVMStructType::getLiteral(b->getContext(), {lhs.getType(), i1});
  Value both = Watched::create(*b, loc, pair, lhs, rhs);
  Value flag = LLVM::ExtractValueOp::create(*b, loc, both, 1);
  overflow = overflow ? arith::OrIOp::create(*b, loc, overflow, flag).getResult() : flag;
  return LLVM::ExtractValueOp::create(*b, loc, both, 0);
}

Value SizeBuilder::add(Value lhs, Value rhs) {
  if (constantOf(lhs) == 0)
    return rhs;
  if (constantOf(rhs) == 0)
    return lhs;
  return arithmetic<arith::AddIOp, LLVM::SAddWithOverflowOp>(lhs, rhs);
}

Value SizeBuilder::multiply(Value lhs, Value rhs) {
  if (constantOf(lhs) == 1)
    return rhs;
  if (constantOf(rhs) == 1)
    return lhs;
  return arithmetic<arith::MulIOp, LLVM::SMulWithOverflowOp>(lhs, rhs);
}

Value SizeBuilder::max(Value lhs, Value rhs) { return arith::MaxSIOp::create(*b, loc, lhs, rhs); }

/// Rounds toward negative infinity; the remainder has the sign of the divisor.
Value SizeBuilder::buildDivision(Value lhs, Value rhs, bool remainder) {
  Value zero = constant(0), one = constant(1);
  auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) -> Value {
    return arith::CmpIOp::create(*b, loc, predicate, x, y);
  };
  auto select = [&](Value condition, Value x, Value y) -> Value {
    return arith::SelectOp::create(*b, loc, condition, x, y);
  };
  Value isZero = compare(arith::CmpIPredicate::eq, rhs, zero);
  // Processors trap if the smallest number is divided by -1.
  Value minusOne = constant(-1), isNegation = compare(arith::CmpIPredicate::eq, rhs, minusOne);
  Value divisor = select(arith::OrIOp::create(*b, loc, isZero, isNegation), one, rhs);
  Value rest = arith::RemSIOp::create(*b, loc, lhs, divisor);
  Value signs = arith::XOrIOp::create(*b, loc, rest, divisor);
  Value isInexact = compare(arith::CmpIPredicate::ne, rest, zero);
  Value differ = compare(arith::CmpIPredicate::slt, signs, zero);
  Value wrong = arith::AndIOp::create(*b, loc, isInexact, differ);
  Value exact;
  if (remainder) {
    exact = arith::AddIOp::create(*b, loc, rest, select(wrong, divisor, zero));
  } else {
    Value quotient = arith::DivSIOp::create(*b, loc, lhs, divisor);
    exact = arith::SubIOp::create(*b, loc, quotient, select(wrong, one, zero));
    exact = select(isNegation, arith::SubIOp::create(*b, loc, zero, lhs), exact);
  }
  return select(isZero, zero, exact);
}

Value SizeBuilder::buildAtom(const DimExpr::Atom &atom) {
  if (atom.kind == DimExpr::AtomKind::Symbol) {
    if (Value value = bound.lookup(atom.name))
      return value;
    auto number = numbers.find(atom.name);
    // Names that are unknown to the call were rejected when the entry was described.
    if (number == numbers.end())
      return constant(0);
    return rt::ElementOp::create(*b, loc, b->getI64Type(), symbols, number->second);
  }
  Value lhs = build(*atom.lhs), rhs = build(*atom.rhs);
  switch (atom.kind) {
  case DimExpr::AtomKind::FloorDiv:
    return buildDivision(lhs, rhs, /*remainder=*/false);
  case DimExpr::AtomKind::Mod:
    return buildDivision(lhs, rhs, /*remainder=*/true);
  case DimExpr::AtomKind::Min:
    return arith::MinSIOp::create(*b, loc, lhs, rhs);
  default:
    return max(lhs, rhs);
  }
}

void SizeBuilder::bind(StringRef name, Value value, OpBuilder &at) {
  bound[name] = value;
  current = &at;
}

bool SizeBuilder::isBoundLater(const DimExpr &size) const {
  if (bound.empty())
    return false;
  SmallVector<std::string> names;
  size.collectSymbols(names);
  return llvm::any_of(names, [&](StringRef name) { return bound.contains(name); });
}

Value SizeBuilder::build(const DimExpr &size) {
  if (std::optional<int64_t> value = size.constant())
    return constant(*value);
  if (DimExpr plain = size.plain(); plain != size)
    return build(plain);
  bool isLater = isBoundLater(size);
  llvm::SaveAndRestore place(b, isLater ? current : &start);
  if (isLater)
    return buildSum(size);
  Value &known = values[size.str()];
  if (!known) {
    Value sum = buildSum(size);
    values[size.str()] = sum;
    return sum;
  }
  return known;
}

Value SizeBuilder::buildProduct(Value product, const DimExpr::Monomial &factors) {
  for (const DimExpr::Atom &atom : factors) {
    // Another sum may have built it already.
    Value factor = values.lookup(atom.text);
    if (!factor)
      factor = buildAtom(atom);
    if (b == &start)
      values[atom.text] = factor;
    product = multiply(product, factor);
  }
  return product;
}

/// Remainders are computed as such: unlike the differences that they are, they do not overflow.
Value SizeBuilder::buildSum(const DimExpr &size) {
  RemainderSum terms = splitRemainders(size);
  Value sum = constant(0);
  for (const RemainderTerm &term : terms.remainders) {
    Value rest = buildDivision(build(*term.quotient.lhs), constant(term.divisor),
                               /*remainder=*/true);
    sum = add(sum, buildProduct(multiply(constant(term.coefficient), rest), term.others));
  }
  for (auto [factors, coefficient] : terms.products)
    sum = add(sum, buildProduct(constant(coefficient), *factors));
  return add(sum, constant(terms.constant));
}

} // namespace tfc::host
