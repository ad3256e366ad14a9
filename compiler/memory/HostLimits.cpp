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

static SmallVector<DimExpr> limitsOf(EntryOp entry) {
  auto limits = entry->getAttrOfType<DimsAttr>(kLimitsAttr);
  return limits ? SmallVector<DimExpr>(limits.getExprs()) : SmallVector<DimExpr>();
}

/// The most bits for which all sizes are in range if no name has more; 0 if there are none.
static unsigned safeBits(ArrayRef<DimExpr> sizes) {
  for (unsigned bits = llvm::Log2_64(kMaxTensorBytes); bits > 0; --bits) {
    auto largest = [&](StringRef) { return (uint64_t(1) << bits) - 1; };
    if (llvm::all_of(sizes, [&](const DimExpr &size) {
          return largestMagnitude(size, largest) <= uint64_t(kMaxTensorBytes);
        }))
      return bits;
  }
  return 0;
}

/// Builds a function (ptr symbols) -> i1 that computes all sizes and tells whether they are in
/// range.
static LLVM::LLVMFuncOp buildLimitsFunction(HostModule &host, EntryOp entry, StringRef run,
                                            ArrayRef<std::string> names, ArrayRef<DimExpr> limits) {
  OpBuilder b(entry.getContext());
  Location loc = entry.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto function = host.addFunction(run + "_limits", b.getI1Type(), pointer, loc);
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
    note(LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::sgt, size,
                              sizes.constant(kMaxTensorBytes)));
    note(LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::slt, size,
                              sizes.constant(-kMaxTensorBytes)));
  }
  if (Value overflowed = sizes.overflowed())
    note(overflowed);
  Value none = LLVM::ConstantOp::create(b, loc, b.getBoolAttr(true));
  LLVM::ReturnOp::create(b, loc, LLVM::XOrOp::create(b, loc, isLarge, none).getResult());
  return function;
}

void RunFunction::checkLimits() {
  SmallVector<DimExpr> limits = limitsOf(entry);
  if (limits.empty())
    return;
  SmallVector<std::string> used;
  for (const DimExpr &limit : limits)
    limit.collectSymbols(used);
  Value all;
  for (StringRef name : used) {
    Value value = sizes->build(DimExpr::symbol(name));
    all = all ? LLVM::OrOp::create(b, loc, all, value).getResult() : value;
  }
  std::vector<std::string> names;
  for (const SymbolInfo &symbol : info.symbols)
    names.push_back(symbol.name);
  Block *next = addBlock(), *slow = addBlock();
  Value small = sizes->constant(int64_t(1) << safeBits(limits));
  Value isSmall = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ult, all, small);
  LLVM::CondBrOp::create(b, loc, isSmall, next, {}, slow, {},
                         std::pair<uint32_t, uint32_t>(1 << 20, 1));
  b.setInsertionPointToEnd(slow);
  auto check = buildLimitsFunction(host, entry, function.getName(), names, limits);
  Value isOk = LLVM::CallOp::create(b, loc, check, field(Field::Symbols)).getResult();
  used.truncate(std::min<size_t>(used.size(), 4));
  std::string text = "no memory holds the tensors of this call";
  SmallVector<Value> values;
  for (StringRef name : used) {
    text += ((values.empty() ? ": " : ", ") + name + " is %lld").str();
    values.push_back(sizes->build(DimExpr::symbol(name)));
  }
  failUnless(isOk, TFC_OUT_OF_MEMORY, text, values);
  LLVM::BrOp::create(b, loc, ValueRange(), next);
  b.setInsertionPointToEnd(next);
}
