//===- HostLists.cpp - Lists and tapes --------------------------------------===//
//
// The length of a list is a register, its elements are at the start of its
// chunk. Positions are looked at here once more, because an operation may run
// before the check that belongs to it.
//
//===----------------------------------------------------------------------===//

#include "compiler/memory/RunFunction.h"
#include "dialects/dfg/HostForm.h"
#include "dialects/dfg/SizeLimits.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;
using namespace tfc::memory;

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

Value RunFunction::chunkField(unsigned chunk, bool isSize) {
  Value &place = chunkFields[{chunk, isSize}];
  if (!place)
    place = LLVM::GEPOp::create(top, loc, pointer, b.getI64Type(), field(Field::Chunks),
                                ArrayRef<LLVM::GEPArg>{int32_t(2 * chunk + isSize)});
  return place;
}

Value RunFunction::chunkData(unsigned chunk) {
  return LLVM::LoadOp::create(b, loc, pointer, chunkField(chunk, /*isSize=*/false));
}

/// Makes the chunk long enough, at the builder's place.
void RunFunction::reserve(unsigned chunk, Value bytes) {
  Value room = LLVM::LoadOp::create(b, loc, b.getI64Type(), chunkField(chunk, /*isSize=*/true));
  Value isEnough = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::sle, bytes, room);
  Block *grow = addBlock(), *next = addBlock();
  LLVM::CondBrOp::create(b, loc, isEnough, next, {}, grow, {},
                         std::pair<uint32_t, uint32_t>(1 << 20, 1));
  b.setInsertionPointToEnd(grow);
  Type i32 = b.getI32Type();
  auto function = host.runtime("tfc_rt_grow", i32, {pointer, i32, b.getI64Type()});
  Value arguments[] = {frame, constant32(chunk), bytes};
  returnUnlessOk(LLVM::CallOp::create(b, loc, function, arguments).getResult());
  LLVM::BrOp::create(b, loc, ValueRange(), next);
  b.setInsertionPointToEnd(next);
}

/// Runs `then` only if the condition holds.
void RunFunction::runIf(Value condition, function_ref<void()> then) {
  Block *on = addBlock(), *next = addBlock();
  LLVM::CondBrOp::create(b, loc, condition, on, next);
  b.setInsertionPointToEnd(on);
  then();
  LLVM::BrOp::create(b, loc, ValueRange(), next);
  b.setInsertionPointToEnd(next);
}

Value RunFunction::compare(LLVM::ICmpPredicate predicate, Value lhs, Value rhs) {
  return LLVM::ICmpOp::create(b, loc, predicate, lhs, rhs);
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

static RankedTensorType elementOf(Value list) {
  return cast<ListType>(list.getType()).getElementType();
}

/// Bytes of `count` elements.
Value RunFunction::bytesOfElements(Value count, Type element) {
  return LLVM::MulOp::create(b, loc, count, sizes->build(bytesOf(element)));
}

Value RunFunction::lengthOf(Value list) {
  if (isListView(list)) {
    Value tensor = list.getDefiningOp<ListUnstackOp>().getX();
    return sizes->build(shapeOf(tensor.getType()).front());
  }
  return lengths.lookup(list);
}

Value RunFunction::dataOf(Value list) {
  if (isListView(list))
    return pointerTo(rootOf(list.getDefiningOp<ListUnstackOp>().getX()));
  return chunkData(lists.chunkOf(list));
}

/// Copies a list into another chunk, unless it is there.
void RunFunction::copyList(Value list, unsigned to) {
  if (!isListView(list) && lists.chunkOf(list) == to)
    return;
  ++counts.copies;
  Value bytes = bytesOfElements(lengthOf(list), elementOf(list));
  reserve(to, bytes);
  LLVM::MemcpyOp::create(b, loc, chunkData(to), dataOf(list), bytes, /*isVolatile=*/false);
}

/// Brings the lists that a body yields into the chunks of the loop. Those that change places go by
/// way of chunks of their own.
void RunFunction::copyYieldedLists(WhileOp op) {
  SmallVector<std::pair<Value, unsigned>> moves;
  llvm::SmallDenseSet<unsigned> targets;
  for (auto [value, result] : llvm::zip_equal(op.getYield().getValues(), op.getResults())) {
    if (!isa<ListType>(result.getType()))
      continue;
    unsigned to = lists.chunkOf(result);
    if (!isListView(value) && lists.chunkOf(value) == to)
      continue;
    moves.push_back({value, to});
    targets.insert(to);
  }
  bool isCyclic = llvm::any_of(moves, [&](auto &move) {
    return !isListView(move.first) && targets.contains(lists.chunkOf(move.first));
  });
  if (!isCyclic) {
    for (auto [value, to] : moves)
      copyList(value, to);
    return;
  }
  for (auto [i, move] : llvm::enumerate(moves))
    copyList(move.first, lists.getChunkCount() + i);
  for (auto [i, move] : llvm::enumerate(moves))
    copyBytes(lists.getChunkCount() + i, move.second,
              bytesOfElements(lengthOf(move.first), elementOf(move.first)));
  host.requireChunks(lists.getChunkCount() + moves.size());
}

/// Copies the start of one chunk into another.
void RunFunction::copyBytes(unsigned from, unsigned to, Value bytes) {
  reserve(to, bytes);
  LLVM::MemcpyOp::create(b, loc, chunkData(to), chunkData(from), bytes, /*isVolatile=*/false);
}

void RunFunction::create(ListCreateOp op) {
  Value zero = sizes->constant(0);
  Value length = LLVM::SMaxOp::create(b, loc, positionOf(op.getSize()), zero);
  Value stride = sizes->build(bytesOf(elementOf(op.getList())));
  // More than any memory holds, and far from an overflow; the size of a list is an i32.
  Value limit = LLVM::SDivOp::create(b, loc, sizes->constant(kMaxTensorBytes),
                                     LLVM::SMaxOp::create(b, loc, stride, sizes->constant(1)));
  limit = LLVM::SMinOp::create(b, loc, limit, sizes->constant(INT32_MAX));
  failUnless(compare(LLVM::ICmpPredicate::sle, length, limit), TFC_OUT_OF_MEMORY,
             "no memory for a list of %lld elements", {length});
  Value bytes = LLVM::MulOp::create(b, loc, length, stride);
  unsigned chunk = lists.chunkOf(op.getList());
  reserve(chunk, bytes);
  Value filler = LLVM::ConstantOp::create(b, loc, b.getI8IntegerAttr(0));
  LLVM::MemsetOp::create(b, loc, chunkData(chunk), filler, bytes, /*isVolatile=*/false);
  lengths[op.getList()] = length;
}

void RunFunction::unstack(ListUnstackOp op) {
  if (isListView(op.getList()))
    return;
  unsigned chunk = lists.chunkOf(op.getList());
  Value bytes = sizes->build(bytesOf(op.getX().getType()));
  reserve(chunk, bytes);
  LLVM::MemcpyOp::create(b, loc, chunkData(chunk), pointerTo(rootOf(op.getX())), bytes,
                         /*isVolatile=*/false);
  lengths[op.getList()] = sizes->build(shapeOf(op.getX().getType()).front());
}

/// A position outside gives zeros.
void RunFunction::read(ListReadOp op) {
  Value index = positionOf(op.getIndex()), to = pointerTo(op.getValue());
  Type element = op.getValue().getType();
  Value bytes = sizes->build(bytesOf(element));
  // As unsigned numbers, negative positions are beyond the length too.
  Value isInside = compare(LLVM::ICmpPredicate::ult, index, lengthOf(op.getList()));
  Block *inside = addBlock(), *outside = addBlock(), *next = addBlock();
  LLVM::CondBrOp::create(b, loc, isInside, inside, outside);
  b.setInsertionPointToEnd(outside);
  Value filler = LLVM::ConstantOp::create(b, loc, b.getI8IntegerAttr(0));
  LLVM::MemsetOp::create(b, loc, to, filler, bytes, /*isVolatile=*/false);
  LLVM::BrOp::create(b, loc, ValueRange(), next);
  b.setInsertionPointToEnd(inside);
  Value from = offset(dataOf(op.getList()), bytesOfElements(index, element));
  LLVM::MemcpyOp::create(b, loc, to, from, bytes, /*isVolatile=*/false);
  LLVM::BrOp::create(b, loc, ValueRange(), next);
  b.setInsertionPointToEnd(next);
}

void RunFunction::write(ListWriteOp op) {
  unsigned chunk = lists.chunkOf(op.getResult());
  copyList(op.getList(), chunk);
  Value length = lengthOf(op.getList()), index = positionOf(op.getIndex());
  Value one = sizes->constant(1);
  Value isInside = compare(LLVM::ICmpPredicate::ule, index, length);
  Type element = op.getValue().getType();
  runIf(isInside, [&] {
    Value end = bytesOfElements(LLVM::AddOp::create(b, loc, index, one), element);
    reserve(chunk, end);
    writeElement(offset(chunkData(chunk), bytesOfElements(index, element)), op.getValue());
  });
  Value grown = LLVM::SMaxOp::create(b, loc, length, LLVM::AddOp::create(b, loc, index, one));
  lengths[op.getResult()] = LLVM::SelectOp::create(b, loc, isInside, grown, length);
}

/// Stores a register or copies a tensor.
void RunFunction::writeElement(Value to, Value element) {
  if (isRegister(element))
    store(scalarOf(element), to);
  else
    copy(to, nullptr, rootOf(element));
}

void RunFunction::stack(ListStackOp op) {
  Value wanted = sizes->build(op.getSize().getExprs().front());
  Value length = LLVM::SMinOp::create(b, loc, lengthOf(op.getList()), wanted);
  Value bytes = bytesOfElements(length, elementOf(op.getList()));
  LLVM::MemcpyOp::create(b, loc, pointerTo(op.getX()), dataOf(op.getList()), bytes,
                         /*isVolatile=*/false);
}

void RunFunction::measure(ListSizeOp op) {
  setScalar(op.getSize(), LLVM::TruncOp::create(b, loc, b.getI32Type(), lengthOf(op.getList())));
}

//===----------------------------------------------------------------------===//
// Tapes
//===----------------------------------------------------------------------===//

/// Empties the tapes, and makes room for those whose largest length is known.
void RunFunction::startTapes() {
  for (TapeOp tape : lists.getTapes()) {
    Value length =
        LLVM::AllocaOp::create(top, loc, pointer, b.getI64Type(),
                               LLVM::ConstantOp::create(top, loc, b.getI32IntegerAttr(1)));
    tapeLengths[tape] = length;
    LLVM::StoreOp::create(top, loc, sizes->constant(0), length);
    if (std::optional<DimsAttr> capacity = tape.getCapacity()) {
      DimExpr most = info.atMost(capacity->getExprs().front());
      Value count = sizes->max(sizes->build(most), sizes->constant(0));
      Value bytes = sizes->build(info.atMost(bytesOf(tape.getTensorType())));
      reserve(lists.chunkOf(tape), LLVM::MulOp::create(b, loc, count, bytes));
    }
  }
}

/// Calls the function that wants to see the value.
void RunFunction::show(PushOp op, IntegerAttr number) {
  auto address = host.getModule()->getAttrOfType<IntegerAttr>(kProbeAttr);
  Type i64 = b.getI64Type();
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {i64, pointer, i64});
  Value function = LLVM::IntToPtrOp::create(b, loc, pointer,
                                            LLVM::ConstantOp::create(b, loc, address).getResult());
  Value arguments[] = {function, LLVM::ConstantOp::create(b, loc, number).getResult(),
                       pointerTo(rootOf(op.getValue())),
                       sizes->build(bytesOf(op.getValue().getType()))};
  LLVM::CallOp::create(b, loc, type, arguments);
}

/// The length of a tape counts elements; bytes where their size may differ from one to the next, by
/// names that the region binds which pushes or pops.
Value RunFunction::tapeUnit(TapeOp tape) {
  DimExpr bytes = bytesOf(tape.getTensorType());
  return info.atMost(bytes) == bytes ? sizes->build(bytes) : sizes->constant(1);
}

Value RunFunction::tapeStep(TapeOp tape) {
  DimExpr bytes = bytesOf(tape.getTensorType());
  return info.atMost(bytes) == bytes ? sizes->constant(1) : sizes->build(bytes);
}

void RunFunction::push(PushOp op) {
  if (auto number = op->getAttrOfType<IntegerAttr>(kProbeAttr))
    return show(op, number);
  auto tape = host.getSymbols().lookup<TapeOp>(op.getTape());
  unsigned chunk = lists.chunkOf(tape);
  Value length = LLVM::LoadOp::create(b, loc, b.getI64Type(), tapeLengths.lookup(tape));
  Value next = LLVM::AddOp::create(b, loc, length, tapeStep(tape));
  Value unit = tapeUnit(tape);
  reserve(chunk, LLVM::MulOp::create(b, loc, next, unit));
  writeElement(offset(chunkData(chunk), LLVM::MulOp::create(b, loc, length, unit)), op.getValue());
  LLVM::StoreOp::create(b, loc, next, tapeLengths.lookup(tape));
}

void RunFunction::pop(PopOp op) {
  auto tape = host.getSymbols().lookup<TapeOp>(op.getTape());
  Value length = LLVM::LoadOp::create(b, loc, b.getI64Type(), tapeLengths.lookup(tape));
  Value last = LLVM::SubOp::create(b, loc, length, tapeStep(tape));
  failUnless(compare(LLVM::ICmpPredicate::sge, last, sizes->constant(0)), TFC_FAILED_PRECONDITION,
             "'" + op.getTape() + "' is empty", {});
  LLVM::StoreOp::create(b, loc, last, tapeLengths.lookup(tape));
  Value from =
      offset(chunkData(lists.chunkOf(tape)), LLVM::MulOp::create(b, loc, last, tapeUnit(tape)));
  LLVM::MemcpyOp::create(b, loc, pointerTo(op.getValue()), from,
                         sizes->build(bytesOf(op.getType())),
                         /*isVolatile=*/false);
}
