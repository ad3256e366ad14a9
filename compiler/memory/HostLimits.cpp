//===- HostLimits.cpp - Calls whose tensors no memory holds ---------------===//
//
// An entry lists the sizes and byte counts that its bounds do not limit. A call
// refuses values of its names for which one of them is too large, before it
// computes with them. Where all names are small nothing has to be computed for
// that: one comparison tells.
//
//===----------------------------------------------------------------------===//

#include "compiler/memory/RunFunction.h"
#include "dialects/dfg/SizeLimits.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;
using namespace tfc::memory;

static SmallVector<DimExpr> limitsOf(EntryOp entry, const SizeLimit &limit) {
  auto limits = entry->getAttrOfType<DimsAttr>(limit.attribute);
  return limits ? SmallVector<DimExpr>(limits.getExprs()) : SmallVector<DimExpr>();
}

/// The most bits for which all sizes are at most `most` if no name has more; 0 if there are none.
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

/// Builds a function (ptr symbols) -> i1 that computes all sizes and tells whether they are in
/// range.
static LLVM::LLVMFuncOp buildLimitsFunction(HostModule &host, EntryOp entry, StringRef name,
                                            ArrayRef<std::string> names, ArrayRef<DimExpr> limits,
                                            int64_t most) {
  OpBuilder b(entry.getContext());
  Location loc = entry.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto function = host.addFunction(name, b.getI1Type(), pointer, loc);
  function.setNoInline(true); // of the rare case
  Block *body = function.addEntryBlock(b);
  b.setInsertionPointToStart(body);
  SizeBuilder sizes(b, loc, body->getArgument(0), names);
  sizes.watchOverflow();
  Value isLarge;
  auto note = [&](Value flag) {
    isLarge = isLarge ? LLVM::OrOp::create(b, loc, isLarge, flag).getResult() : flag;
  };
  for (const DimExpr &limit : limits) {
    Value size = sizes.build(limit);
    note(LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::sgt, size, sizes.constant(most)));
    note(LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::slt, size, sizes.constant(-most)));
  }
  if (Value overflowed = sizes.overflowed())
    note(overflowed);
  Value none = LLVM::ConstantOp::create(b, loc, b.getBoolAttr(true));
  LLVM::ReturnOp::create(b, loc, LLVM::XOrOp::create(b, loc, isLarge, none).getResult());
  return function;
}

/// Fails the call if one of the expressions is beyond a limit.
void RunFunction::checkLimit(const SizeLimit &limit, tfc_status status, StringRef text) {
  SmallVector<DimExpr> limits = limitsOf(entry, limit);
  if (limits.empty())
    return;
  std::vector<std::string> names;
  for (const SymbolInfo &symbol : info.symbols)
    names.push_back(symbol.name);
  std::string name =
      (function.getName() + limit.attribute.drop_front(StringRef("tfc").size())).str();
  std::replace(name.begin(), name.end(), '.', '_');
  auto check = buildLimitsFunction(host, entry, name, names, limits, limit.most);
  Value isOk = LLVM::CallOp::create(b, loc, check, field(Field::Symbols)).getResult();
  failWithSizesUnless(isOk, status, text, limits);
}

void RunFunction::checkLimits() {
  SmallVector<std::string> used;
  unsigned bits = 63;
  auto collect = [&](const SizeLimit &limit) {
    SmallVector<DimExpr> limits = limitsOf(entry, limit);
    bits = std::min(bits, safeBits(limits, limit.most));
    for (const DimExpr &size : limits)
      size.collectSymbols(used);
  };
  collect(kMemoryLimit);
  for (const SizeLimit &limit : kNumberLimits)
    collect(limit);
  Value all;
  for (StringRef name : used) {
    Value value = sizes->build(DimExpr::symbol(name));
    all = all ? LLVM::OrOp::create(b, loc, all, value).getResult() : value;
  }
  if (!all)
    return;
  Block *next = addBlock(), *slow = addBlock();
  Value small = sizes->constant(int64_t(1) << bits);
  Value isSmall = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ult, all, small);
  LLVM::CondBrOp::create(b, loc, isSmall, next, {}, slow, {},
                         std::pair<uint32_t, uint32_t>(1 << 20, 1));
  b.setInsertionPointToEnd(slow);
  checkLimit(kMemoryLimit, TFC_OUT_OF_MEMORY, "no memory holds the tensors of this call");
  for (const SizeLimit &limit : kNumberLimits)
    checkLimit(limit, TFC_OUT_OF_RANGE, misfitMessage(limit));
  LLVM::BrOp::create(b, loc, ValueRange(), next);
  b.setInsertionPointToEnd(next);
}
