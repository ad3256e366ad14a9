// Checks sizes and byte counts that the bounds of an entry do not limit. A call refuses values of
// its names for which one of them is too large, before it computes with them. In the common case, a
// single comparison shows that all names are small enough.

#include "compiler/host/Checks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;
using namespace tfc::host;

/// Returns the largest number of bits such that all sizes are at most `most` if no name has more
/// bits, or 0 if there is no such number.
static unsigned safeBits(ArrayRef<DimExpr> sizes, int64_t most) {
  for (unsigned bits = llvm::Log2_64(kMaxTensorBytes); bits > 0; --bits) {
    auto largest = [&](StringRef) { return (uint64_t(1) << bits) - 1; };
    if (llvm::all_of(sizes, [&](const DimExpr &size) {
          return largestMagnitude(size, largest) <= uint64_t(most);
        }))
      return bits;
  }
  return 0;
}

/// Builds a function (ptr symbols) -> i1 that computes all sizes and returns true if they are in
/// range. It is rarely called.
static LLVM::LLVMFuncOp buildLimitsFunction(Context &context, StringRef name,
                                            ArrayRef<DimExpr> limits, int64_t most) {
  OpBuilder b(context.entry.getContext());
  Location loc = context.loc;
  auto function = context.module.addFunction(name, b.getI1Type(), context.pointer, loc);
  function.setNoInline(true);
  function.setPassthroughAttr(b.getStrArrayAttr({"cold"}));
  Block *body = function.addEntryBlock(b);
  b.setInsertionPointToStart(body);
  SizeBuilder sizes(b, loc, body->getArgument(0), context.symbolNames());
  sizes.watchOverflow();
  Value isLarge;
  auto note = [&](Value flag) {
    isLarge = isLarge ? arith::OrIOp::create(b, loc, isLarge, flag).getResult() : flag;
  };
  auto compare = [&](arith::CmpIPredicate predicate, Value size, int64_t limit) {
    return arith::CmpIOp::create(b, loc, predicate, size, sizes.constant(limit));
  };
  for (const DimExpr &limit : limits) {
    Value size = sizes.build(limit);
    note(compare(arith::CmpIPredicate::sgt, size, most));
    note(compare(arith::CmpIPredicate::slt, size, -most));
  }
  if (Value overflowed = sizes.overflowed())
    note(overflowed);
  Value all = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  LLVM::ReturnOp::create(b, loc, arith::XOrIOp::create(b, loc, isLarge, all).getResult());
  return function;
}

/// Fails the call if one of the expressions exceeds the limit.
void Checks::checkLimit(const SizeLimit &limit, rt::Status status, StringRef text) {
  SmallVector<DimExpr> limits = context.entry.getLimitedSizes(limit.use);
  if (limits.empty())
    return;
  std::string name = (context.function.getName() + "_limits").str();
  if (limit.use != SizeUse::Memory)
    name += ("_" + stringifySizeUse(limit.use)).str();
  LLVM::LLVMFuncOp check = buildLimitsFunction(context, name, limits, limit.most);
  Value isOk = LLVM::CallOp::create(context.b, context.loc, check, symbols).getResult();
  checkSizes(isOk, status, text, limits);
}

void Checks::checkLimits() {
  NameSet used;
  unsigned bits = 63;
  auto collect = [&](const SizeLimit &limit) {
    SmallVector<DimExpr> limits = context.entry.getLimitedSizes(limit.use);
    bits = std::min(bits, safeBits(limits, limit.most));
    for (const DimExpr &size : limits)
      size.collectSymbols(used);
  };
  collect(kMemoryLimit);
  for (const SizeLimit &limit : kNumberLimits)
    collect(limit);
  Value all;
  for (StringRef name : used) {
    Value value = sizes.build(DimExpr::symbol(name));
    all = all ? arith::OrIOp::create(context.b, context.loc, all, value).getResult() : value;
  }
  if (!all)
    return;
  Value end = sizes.constant(int64_t(1) << bits);
  context.branch(context.compare(arith::CmpIPredicate::uge, all, end), [&] {
    checkLimit(kMemoryLimit, rt::Status::OutOfMemory,
               "the tensors of this call do not fit in memory");
    for (const SizeLimit &limit : kNumberLimits)
      checkLimit(limit, rt::Status::OutOfRange, "a size " + misfitText(limit));
  });
}
