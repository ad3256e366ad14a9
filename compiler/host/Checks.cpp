// Builds the checks of a call: facts of the entry, and conditions on its data. Limits of sizes are
// in Limits.cpp.

#include "compiler/host/Checks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;
using namespace tfc::host;

void Checks::checkSizes(Value condition, rt::Status status, StringRef text,
                        ArrayRef<DimExpr> used) {
  SmallVector<std::string> names;
  for (const DimExpr &size : used)
    size.collectSymbols(names);
  names.truncate(std::min(names.size(), kMaxMessageValues));
  std::string message = escapeFormat(text);
  SmallVector<Value> values;
  for (StringRef name : names) {
    message += (values.empty() ? ": " : ", ") + escapeFormat(name) + " is %lld";
    values.push_back(sizes.build(DimExpr::symbol(name)));
  }
  rt::CheckOp::create(context.b, context.loc, context.frame, condition, status, message, values,
                      /*position=*/ValueRange());
}

/// Returns whether a comparison holds, and whether one of its sides overflows; the latter is null
/// if that is impossible.
std::pair<Value, Value> Checks::compare(arith::CmpIPredicate predicate, const DimExpr &lhs,
                                        const DimExpr &rhs) {
  auto largest = [&](StringRef name) -> uint64_t {
    return context.info.boundsOf(name).second.value_or(INT64_MAX);
  };
  if (largestMagnitude(lhs, largest) <= INT64_MAX && largestMagnitude(rhs, largest) <= INT64_MAX)
    return {context.compare(predicate, sizes.build(lhs), sizes.build(rhs)), {}};
  SizeBuilder exact(context.b, context.loc, symbols, context.symbolNames());
  exact.watchOverflow();
  Value holds = context.compare(predicate, exact.build(lhs), exact.build(rhs));
  return {holds, exact.overflowed()};
}

static arith::CmpIPredicate predicateOf(Comparison comparison) {
  switch (comparison) {
  case Comparison::Equal:
    return arith::CmpIPredicate::eq;
  case Comparison::NotEqual:
    return arith::CmpIPredicate::ne;
  case Comparison::Less:
    return arith::CmpIPredicate::slt;
  case Comparison::LessEqual:
    return arith::CmpIPredicate::sle;
  case Comparison::Greater:
    return arith::CmpIPredicate::sgt;
  case Comparison::GreaterEqual:
    return arith::CmpIPredicate::sge;
  }
  llvm_unreachable("an unknown comparison");
}

void Checks::checkFact(const Fact &fact) {
  std::string text = fact.strWithSite();
  auto [condition, overflowed] = compare(predicateOf(fact.comparison), fact.lhs, fact.rhs);
  if (overflowed) {
    Value one = arith::ConstantOp::create(context.b, context.loc, context.b.getBoolAttr(true));
    checkSizes(arith::XOrIOp::create(context.b, context.loc, overflowed, one),
               rt::Status::InvalidArgument, text + " cannot be computed in 64 bits",
               {fact.lhs, fact.rhs});
  }
  checkSizes(condition, rt::Status::InvalidArgument, text + " does not hold", {fact.lhs, fact.rhs});
}

static rt::Status statusOf(Failure failure) {
  switch (failure) {
  case Failure::OutOfRange:
    return rt::Status::OutOfRange;
  case Failure::InvalidArgument:
    return rt::Status::InvalidArgument;
  case Failure::FailedPrecondition:
    return rt::Status::FailedPrecondition;
  }
  llvm_unreachable("a status without a number");
}

void Checks::check(Value condition, ArrayRef<Value> values, CheckOp op) {
  ++context.counts.checks;
  SmallVector<Value> position;
  if (std::optional<ArrayRef<int32_t>> numbers = op.getNumbers()) {
    assert(numbers->size() == context.iterations.size() + 1 && "expected a number for each loop");
    for (auto [number, iteration] : llvm::zip(*numbers, context.iterations))
      position.append({context.constant(number), iteration});
    position.push_back(context.constant(numbers->back()));
  }
  rt::CheckOp::create(context.b, context.loc, context.frame, condition, statusOf(op.getStatus()),
                      op.getFormat(), values, position);
}
