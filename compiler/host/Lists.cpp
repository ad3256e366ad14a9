// Builds operations on lists, and the growth of the chunks that store lists and tapes.

#include "compiler/host/Lists.h"
#include "dialects/dfg/SizeLimits.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;
using namespace tfc::host;

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

Value Chunks::data(unsigned number) {
  Value chunks = addresses.field(rt::Field::Chunks);
  return rt::ChunkOp::create(context.b, context.loc, chunks, number);
}

void Chunks::grow(unsigned number, Value bytes) {
  context.module.useChunk(number);
  Value chunks = addresses.field(rt::Field::Chunks);
  rt::GrowOp::create(context.b, context.loc, context.frame, chunks, number, bytes);
}

void tfc::host::writeElement(Value to, Value element, Scalars &scalars, Copies &copies) {
  if (isRegister(element))
    scalars.store(scalars.get(element), to);
  else
    copies.copy(to, rootOf(element));
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

/// Returns the number of chunks that the plan uses for tapes and lists.
static unsigned countChunks(EntryOp entry) {
  auto tapes = entry->getAttrOfType<ArrayAttr>(rt::kTapesAttr);
  unsigned count = tapes ? tapes.size() : 0;
  entry.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (auto chunk = dyn_cast_or_null<rt::ChunkAttr>(memoryOf(result)))
        count = std::max(count, chunk.getNumber() + 1);
  });
  return count;
}

Lists::Lists(Context &context, SizeBuilder &sizes, Addresses &addresses, Scalars &scalars,
             Copies &copies, Chunks &chunks)
    : context(context), sizes(sizes), addresses(addresses), scalars(scalars), copies(copies),
      chunks(chunks), chunkCount(countChunks(context.entry)) {}

static RankedTensorType elementOf(Value list) {
  return cast<ListType>(list.getType()).getElementType();
}

unsigned Lists::chunkOf(Value list) {
  if (auto chunk = dyn_cast_or_null<rt::ChunkAttr>(memoryOf(list)))
    return chunk.getNumber();
  Operation *op = list.getDefiningOp();
  context.error(op ? op : list.getParentBlock()->getParentOp())
      << "expects a chunk for a list, which 'tfc-allocate-arena' assigns";
  return 0;
}

Value Lists::bytesOfElements(Value count, Type element) {
  return arith::MulIOp::create(context.b, context.loc, count, sizes.build(bytesOf(element)));
}

Value Lists::bytesOfList(Value list) { return bytesOfElements(lengthOf(list), elementOf(list)); }

Value Lists::lengthOf(Value list) {
  if (isListView(list)) {
    Value tensor = list.getDefiningOp<ListUnstackOp>().getX();
    return sizes.build(shapeOf(tensor.getType()).front());
  }
  return lengths.lookup(list);
}

Value Lists::dataOf(Value list) {
  if (isListView(list))
    return addresses.of(rootOf(list));
  return chunks.data(chunkOf(list));
}

void Lists::copyList(Value list, unsigned chunk) {
  if (!isListView(list) && chunkOf(list) == chunk)
    return;
  ++context.counts.copies;
  Value bytes = bytesOfList(list);
  chunks.grow(chunk, bytes);
  context.move(chunks.data(chunk), dataOf(list), bytes);
}

/// If lists exchange their chunks, they are copied via additional chunks.
void Lists::copyYielded(WhileOp op) {
  SmallVector<std::pair<Value, unsigned>> moves;
  llvm::SmallDenseSet<unsigned> targets;
  for (auto [value, result] : llvm::zip_equal(op.getYield().getValues(), op.getResults())) {
    if (!isa<ListType>(result.getType()))
      continue;
    unsigned to = chunkOf(result);
    if (!isListView(value) && chunkOf(value) == to)
      continue;
    moves.push_back({value, to});
    targets.insert(to);
  }
  bool isCyclic = llvm::any_of(moves, [&](auto &move) {
    return !isListView(move.first) && targets.contains(chunkOf(move.first));
  });
  if (!isCyclic) {
    for (auto [value, to] : moves)
      copyList(value, to);
    return;
  }
  for (auto [i, move] : llvm::enumerate(moves))
    copyList(move.first, chunkCount + i);
  for (auto [i, move] : llvm::enumerate(moves)) {
    Value bytes = bytesOfList(move.first);
    chunks.grow(move.second, bytes);
    context.move(chunks.data(move.second), chunks.data(chunkCount + i), bytes);
  }
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Returns the maximum number of elements for which byte counts cannot overflow and the length fits
/// into an i32.
Value Lists::longest(Value elementBytes) {
  OpBuilder &b = context.b;
  Value stride = arith::MaxSIOp::create(b, context.loc, elementBytes, sizes.constant(1));
  Value most = arith::DivSIOp::create(b, context.loc, sizes.constant(kMaxTensorBytes), stride);
  return arith::MinSIOp::create(b, context.loc, most, sizes.constant(INT32_MAX));
}

void Lists::create(ListCreateOp op) {
  OpBuilder &b = context.b;
  Value length =
      arith::MaxSIOp::create(b, context.loc, scalars.position(op.getSize()), sizes.constant(0));
  Value stride = sizes.build(bytesOf(elementOf(op.getList())));
  rt::CheckOp::create(b, context.loc, context.frame,
                      context.compare(arith::CmpIPredicate::sle, length, longest(stride)),
                      rt::Status::OutOfMemory, "not enough memory for a list of %lld elements",
                      length, /*position=*/ValueRange());
  Value bytes = arith::MulIOp::create(b, context.loc, length, stride);
  unsigned chunk = chunkOf(op.getList());
  chunks.grow(chunk, bytes);
  context.fill(chunks.data(chunk), 0, bytes);
  setLength(op.getList(), length);
}

void Lists::unstack(ListUnstackOp op) {
  if (isListView(op.getList()))
    return;
  unsigned chunk = chunkOf(op.getList());
  Value bytes = sizes.build(bytesOf(op.getX().getType()));
  chunks.grow(chunk, bytes);
  context.move(chunks.data(chunk), addresses.of(rootOf(op.getX())), bytes);
  setLength(op.getList(), sizes.build(shapeOf(op.getX().getType()).front()));
}

/// Reads zero if the position is out of bounds.
void Lists::read(ListReadOp op) {
  Value index = scalars.position(op.getIndex()), to = addresses.of(op.getValue());
  Type element = op.getValue().getType();
  Value bytes = sizes.build(bytesOf(element));
  // As an unsigned number, a negative position is out of bounds, too.
  Value isInside = context.compare(arith::CmpIPredicate::ult, index, lengthOf(op.getList()));
  auto copyElement = [&] {
    Value from = context.offset(dataOf(op.getList()), bytesOfElements(index, element));
    context.move(to, from, bytes);
  };
  context.branch(isInside, copyElement, [&] { context.fill(to, 0, bytes); });
}

void Lists::write(ListWriteOp op) {
  OpBuilder &b = context.b;
  unsigned chunk = chunkOf(op.getResult());
  copyList(op.getList(), chunk);
  Value length = lengthOf(op.getList()), index = scalars.position(op.getIndex());
  Value isInside = context.compare(arith::CmpIPredicate::ule, index, length);
  Value next = arith::AddIOp::create(b, context.loc, index, sizes.constant(1));
  Type element = op.getValue().getType();
  context.branch(isInside, [&] {
    chunks.grow(chunk, bytesOfElements(next, element));
    Value to = context.offset(chunks.data(chunk), bytesOfElements(index, element));
    writeElement(to, op.getValue(), scalars, copies);
  });
  Value grown = arith::MaxSIOp::create(b, context.loc, length, next);
  setLength(op.getResult(), arith::SelectOp::create(b, context.loc, isInside, grown, length));
}

void Lists::stack(ListStackOp op) {
  Value wanted = sizes.build(op.getSize().getExprs().front());
  Value length = arith::MinSIOp::create(context.b, context.loc, lengthOf(op.getList()), wanted);
  Value bytes = bytesOfElements(length, elementOf(op.getList()));
  context.move(addresses.of(op.getX()), dataOf(op.getList()), bytes);
}

void Lists::measure(ListSizeOp op) {
  scalars.set(op.getSize(), arith::TruncIOp::create(context.b, context.loc, context.b.getI32Type(),
                                                    lengthOf(op.getList())));
}
