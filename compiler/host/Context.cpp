// Keeps the insertion points of a host function, and builds operations that all its builders need.

#include "compiler/host/Context.h"
#include "dialects/dfg/Partitions.h"
#include "dialects/rt/Rt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;
using namespace tfc::host;

Context::Context(HostModule &module, dfg::EntryOp entry, const EntryInfo &info, unsigned number,
                 StringRef name, HostCounts &counts)
    : module(module), entry(entry), info(info), counts(counts), b(entry.getContext()),
      start(entry.getContext()), loc(entry.getLoc()),
      pointer(LLVM::LLVMPointerType::get(entry.getContext())) {
  isRemote = dfg::isRemote(entry);
  function = module.addEntryFunction(number, name, b.getI32Type(), pointer, loc);
  Block *body = function.addEntryBlock(b);
  frame = body->getArgument(0);
  b.setInsertionPointToEnd(body);
  Value ok = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
  start.setInsertionPoint(ok.getDefiningOp());
  b.setInsertionPoint(LLVM::ReturnOp::create(b, loc, ok));
}

std::vector<std::string> Context::symbolNames() const {
  std::vector<std::string> names;
  for (const SymbolInfo &symbol : info.symbols)
    names.push_back(symbol.name);
  return names;
}

Value Context::constant(int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
}

Value Context::compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
  return arith::CmpIOp::create(b, loc, predicate, lhs, rhs);
}

Value Context::offset(Value base, Value bytes) {
  return LLVM::GEPOp::create(b, loc, pointer, b.getI8Type(), base, ArrayRef<LLVM::GEPArg>{bytes});
}

void Context::fill(Value to, int8_t byte, Value bytes) {
  if (isRemote) {
    rt::DeviceFillOp::create(b, loc, frame, to, byte, bytes);
    return;
  }
  Value filler = arith::ConstantOp::create(b, loc, b.getI8IntegerAttr(byte));
  LLVM::MemsetOp::create(b, loc, to, filler, bytes, /*isVolatile=*/false);
}

void Context::move(Value to, Value from, Value bytes) {
  if (isRemote) {
    rt::DeviceCopyOp::create(b, loc, frame, to, from, bytes);
    return;
  }
  LLVM::MemcpyOp::create(b, loc, to, from, bytes, /*isVolatile=*/false);
}

void Context::branch(Value condition, Build then, Build otherwise) {
  auto op = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/bool(otherwise));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  then();
  if (!otherwise)
    return;
  b.setInsertionPointToStart(op.elseBlock());
  otherwise();
}
