// Builds operations on tapes, which store values of the forward loop for the backward loop. A tape
// changes in place, so its length is in stack memory and not in a register like that of a list.

#include "compiler/host/Tapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;
using namespace tfc::host;

void Tapes::start() {
  auto symbols = context.entry->getAttrOfType<ArrayAttr>(rt::kTapesAttr);
  if (!symbols)
    return;
  for (auto [chunk, symbol] : llvm::enumerate(symbols.getAsRange<FlatSymbolRefAttr>()))
    start(chunk, symbol);
}

void Tapes::start(unsigned chunk, FlatSymbolRefAttr symbol) {
  auto op = context.module.getSymbols().lookup<TapeOp>(symbol.getAttr());
  if (!op) {
    context.error(context.entry) << "expects " << symbol << " to be a tape";
    return;
  }
  OpBuilder &top = context.start;
  Value one = arith::ConstantOp::create(top, context.loc, top.getI32IntegerAttr(1));
  Value length = LLVM::AllocaOp::create(top, context.loc, context.pointer, top.getI64Type(), one);
  LLVM::StoreOp::create(top, context.loc, sizes.constant(0), length);
  tapes[symbol] = {op, chunk, length};
  std::optional<DimsAttr> capacity = op.getCapacity();
  if (!capacity)
    return;
  const EntryInfo &info = context.info;
  Value count = sizes.build(info.atMost(capacity->getExprs().front()));
  count = sizes.max(count, sizes.constant(0));
  Value bytes = sizes.build(info.atMost(bytesOf(op.getTensorType())));
  chunks.grow(chunk, arith::MulIOp::create(context.b, context.loc, count, bytes));
}

/// Returns the tape of a symbol, or null with an error if the plan has no chunk for it.
const Tapes::Tape *Tapes::find(Operation *user, FlatSymbolRefAttr symbol) {
  auto tape = tapes.find(symbol);
  if (tape != tapes.end())
    return &tape->second;
  context.error(user) << "expects a chunk for " << symbol << ", which 'tfc-allocate-arena' assigns";
  return nullptr;
}

/// Returns true if the length of a tape counts elements. It counts bytes if the size of elements
/// varies, because it depends on names that are bound in the region that pushes or pops them.
bool Tapes::countsElements(const Tape &tape) const {
  DimExpr bytes = bytesOf(const_cast<TapeOp &>(tape.op).getTensorType());
  return context.info.atMost(bytes) == bytes;
}

Value Tapes::unitOf(const Tape &tape) {
  return countsElements(tape) ? sizes.build(bytesOf(TapeOp(tape.op).getTensorType()))
                              : sizes.constant(1);
}

Value Tapes::stepOf(const Tape &tape) {
  return countsElements(tape) ? sizes.constant(1)
                              : sizes.build(bytesOf(TapeOp(tape.op).getTensorType()));
}

Value Tapes::lengthOf(const Tape &tape) {
  return LLVM::LoadOp::create(context.b, context.loc, context.b.getI64Type(), tape.length);
}

Value Tapes::placeAt(const Tape &tape, Value length) {
  Value bytes = arith::MulIOp::create(context.b, context.loc, length, unitOf(tape));
  return context.offset(chunks.data(tape.chunk), bytes);
}

void Tapes::push(PushOp op) {
  // Probes read memory of the host.
  if (op.getProbe() && context.isRemote)
    return;
  if (std::optional<ProbeAttr> probe = op.getProbe())
    return show(op, *probe);
  const Tape *tape = find(op, op.getTapeAttr());
  if (!tape)
    return;
  OpBuilder &b = context.b;
  Value length = lengthOf(*tape);
  Value next = arith::AddIOp::create(b, context.loc, length, stepOf(*tape));
  chunks.grow(tape->chunk, arith::MulIOp::create(b, context.loc, next, unitOf(*tape)));
  writeElement(placeAt(*tape, length), op.getValue(), scalars, copies);
  LLVM::StoreOp::create(b, context.loc, next, tape->length);
}

void Tapes::pop(PopOp op) {
  const Tape *tape = find(op, op.getTapeAttr());
  if (!tape)
    return;
  OpBuilder &b = context.b;
  Value last = arith::SubIOp::create(b, context.loc, lengthOf(*tape), stepOf(*tape));
  Value isThere = context.compare(arith::CmpIPredicate::sge, last, sizes.constant(0));
  rt::CheckOp::create(b, context.loc, context.frame, isThere, rt::Status::FailedPrecondition,
                      escapeFormat(("'" + op.getTape() + "' is empty").str()), ValueRange(),
                      /*position=*/ValueRange());
  LLVM::StoreOp::create(b, context.loc, last, tape->length);
  Value from = placeAt(*tape, last);
  context.move(addresses.of(op.getValue()), from, sizes.build(bytesOf(op.getType())));
}

/// Passes a pushed value to the probe function.
void Tapes::show(PushOp op, ProbeAttr probe) {
  DfgDialect::ProbeFunctionAttrHelper helper(context.b.getContext());
  IntegerAttr address = helper.getAttr(context.module.getModule());
  if (!address) {
    context.error(op) << "expects the address of a function in '" << helper.getName()
                      << "' of the module";
    return;
  }
  OpBuilder &b = context.b;
  Type i64 = b.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                          {i64, context.pointer, i64});
  Value function =
      LLVM::IntToPtrOp::create(b, context.loc, context.pointer, context.constant(address.getInt()));
  Value arguments[] = {function, context.constant(probe.getNumber()),
                       addresses.of(rootOf(op.getValue())),
                       sizes.build(bytesOf(op.getValue().getType()))};
  LLVM::CallOp::create(b, context.loc, type, arguments);
}
