// Builds the functions of an entry besides the one that runs it: the dimensions of its feeds and
// fetches, and the size of its arena.

#include "compiler/host/EntryFunctions.h"
#include "compiler/host/SizeBuilder.h"
#include "dialects/dfg/SizeLimits.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;
using namespace tfc::host;

static std::vector<std::string> symbolNames(const EntryInfo &info) {
  std::vector<std::string> names;
  for (const SymbolInfo &symbol : info.symbols)
    names.push_back(symbol.name);
  return names;
}

/// Writes the dimensions of `types` to `dims`. Dimensions that are too large, and all dimensions
/// after an overflow, become INT64_MIN.
static void storeDims(OpBuilder &b, Location loc, SizeBuilder &sizes, TypeRange types, Value dims,
                      function_ref<DimExpr(const DimExpr &)> sizeOf) {
  int32_t axis = 0;
  for (Type type : types)
    for (const DimExpr &size : shapeOf(type)) {
      Value place = LLVM::GEPOp::create(b, loc, dims.getType(), b.getI64Type(), dims,
                                        ArrayRef<LLVM::GEPArg>{axis++});
      Value dim = sizes.build(sizeOf(size));
      if (Value overflowed = sizes.overflowed()) {
        Value isLarge = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, dim,
                                              sizes.constant(kMaxTensorBytes));
        overflowed = arith::OrIOp::create(b, loc, overflowed, isLarge);
        dim = arith::SelectOp::create(b, loc, overflowed, sizes.constant(INT64_MIN), dim);
      }
      LLVM::StoreOp::create(b, loc, dim, place);
    }
  LLVM::ReturnOp::create(b, loc, ValueRange());
}

void tfc::host::buildShapesFunction(HostModule &module, EntryOp entry, const EntryInfo &info,
                                    unsigned number) {
  MLIRContext *context = entry.getContext();
  OpBuilder b(context);
  Location loc = entry.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(context);
  auto function = module.addEntryFunction(number, "shapes", LLVM::LLVMVoidType::get(context),
                                          {pointer, pointer}, loc);
  Block *body = function.addEntryBlock(b);
  b.setInsertionPointToStart(body);
  SizeBuilder sizes(b, loc, body->getArgument(0), symbolNames(info));
  SmallVector<Type> types(entry.getArgumentTypes());
  llvm::append_range(types, entry.getResultTypes());
  // Without limits to check, the bounds of the names bound all sizes.
  if (!entry.getLimitedSizes(SizeUse::Memory).empty())
    sizes.watchOverflow();
  storeDims(b, loc, sizes, types, body->getArgument(1),
            [&](const DimExpr &size) { return info.atMost(size); });
}

void tfc::host::buildFoundFunction(HostModule &module, EntryOp entry, const EntryInfo &info,
                                   unsigned number) {
  if (info.found.empty())
    return;
  MLIRContext *context = entry.getContext();
  OpBuilder b(context);
  Location loc = entry.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(context);
  auto function = module.addEntryFunction(number, "found", LLVM::LLVMVoidType::get(context),
                                          {pointer, pointer, pointer}, loc);
  Block *body = function.addEntryBlock(b);
  b.setInsertionPointToStart(body);
  SizeBuilder sizes(b, loc, body->getArgument(0), symbolNames(info));
  for (auto [i, name] : llvm::enumerate(info.found)) {
    Value place = LLVM::GEPOp::create(b, loc, pointer, b.getI64Type(), body->getArgument(1),
                                      ArrayRef<LLVM::GEPArg>{int32_t(i)});
    sizes.bind(name, LLVM::LoadOp::create(b, loc, b.getI64Type(), place), b);
  }
  storeDims(b, loc, sizes, entry.getResultTypes(), body->getArgument(2),
            [](const DimExpr &size) { return size; });
}

void tfc::host::buildArenaFunction(HostModule &module, EntryOp entry, const EntryInfo &info,
                                   unsigned number, StringRef name, rt::ArenaAttr arena) {
  OpBuilder b(entry.getContext());
  Location loc = entry.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto function = module.addEntryFunction(number, name, b.getI64Type(), pointer, loc);
  Block *body = function.addEntryBlock(b);
  b.setInsertionPointToStart(body);
  SizeBuilder sizes(b, loc, body->getArgument(0), symbolNames(info));
  sizes.watchOverflow();
  Value total = sizes.constant(0);
  for (auto [count, unit] : llvm::zip_equal(arena.getCounts(), arena.getUnits().getExprs())) {
    Value size = sizes.build(unit);
    if (!unit.constant())
      size = sizes.max(size, sizes.constant(0));
    total = sizes.add(total, sizes.multiply(sizes.constant(count), size));
  }
  if (Value overflowed = sizes.overflowed())
    total = arith::SelectOp::create(b, loc, overflowed, sizes.constant(-1), total);
  LLVM::ReturnOp::create(b, loc, total);
}
