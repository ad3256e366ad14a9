#include "compiler/cpu/NestEmitter.h"
#include "compiler/cpu/Polynomial.h"
#include "dialects/linalg_ext/LinalgExt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc::cpu;
using namespace tfc::linalg_ext;

namespace {

/// Sorts one line of tuples where it lies in the results' memory, as a heap: no scratch, and n log n
/// comparisons in the worst case.
class LineSorter {
public:
  LineSorter(KernelEmitter &e, SortOp op, ArrayRef<AffineExpr> line, Value length)
      : e(e), b(e.builder()), loc(e.loc()), op(op), line(line), length(length) {}

  void emit();

private:
  using Tuple = SmallVector<Value>;

  AffineExpr offset(const Buffer &memory, Value position);
  Tuple load(Value position);
  void store(Value position, const Tuple &tuple);
  Value isBefore(const Tuple &x, const Tuple &y);
  void siftDown(Value root, Value end);
  Value largerChild(Value child, Value end);

  Value constant(int64_t value) { return e.indexConstant(value); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value subtract(Value x, Value y) { return arith::SubIOp::create(b, loc, x, y); }
  Value isLess(Value x, Value y) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, y);
  }

  KernelEmitter &e;
  OpBuilder &b;
  Location loc;
  SortOp op;
  ArrayRef<AffineExpr> line; // indices of the other dimensions
  Value length;
};

} // namespace

AffineExpr LineSorter::offset(const Buffer &memory, Value position) {
  SmallVector<AffineExpr> place(line);
  place.insert(place.begin() + op.getDimension(), e.addSymbol(position));
  AffineExpr sum = e.constantExpr(0);
  for (auto [index, stride] : llvm::zip(place, memory.strides))
    sum = sum + index * stride;
  return normalize(sum);
}

LineSorter::Tuple LineSorter::load(Value position) {
  Tuple tuple;
  for (Value result : op.getSorted()) {
    const Buffer &memory = *e.buffer(result);
    tuple.push_back(e.loadAt(memory, offset(memory, position)));
  }
  return tuple;
}

void LineSorter::store(Value position, const Tuple &tuple) {
  for (auto [result, value] : llvm::zip(op.getSorted(), tuple)) {
    const Buffer &memory = *e.buffer(result);
    e.storeAt(memory, offset(memory, position), value);
  }
}

Value LineSorter::isBefore(const Tuple &x, const Tuple &y) {
  SmallVector<Value> arguments;
  for (auto [a, b] : llvm::zip(x, y))
    arguments.append({a, b});
  return e.inlineRegion(op.getBefore(), arguments);
}

/// The child, or its right sibling if that is inside and comes after it.
Value LineSorter::largerChild(Value child, Value end) {
  Value sibling = add(child, constant(1));
  auto branch = scf::IfOp::create(b, loc, TypeRange{b.getIndexType()}, isLess(sibling, end),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  {
    KernelEmitter::Scope scope(e);
    Value isAfter = isBefore(load(child), load(sibling));
    scf::YieldOp::create(b, loc, arith::SelectOp::create(b, loc, isAfter, sibling, child).getResult());
  }
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, child);
  return branch.getResult(0);
}

/// Exchanges the element at `root` with the larger of its children until it comes after both.
void LineSorter::siftDown(Value root, Value end) {
  auto childOf = [&](Value parent) {
    return add(arith::MulIOp::create(b, loc, parent, constant(2)), constant(1));
  };
  Type index = b.getIndexType();
  auto loop = scf::WhileOp::create(b, loc, TypeRange{index}, ValueRange{root});
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, {index}, {loc});
  Value parent = before->getArgument(0);
  scf::ConditionOp::create(b, loc, isLess(childOf(parent), end), ValueRange{parent});

  Block *after = b.createBlock(&loop.getAfter(), {}, {index}, {loc});
  parent = after->getArgument(0);
  KernelEmitter::Scope scope(e);
  Value child = largerChild(childOf(parent), end);
  Tuple upper = load(parent), lower = load(child);
  Value isWrong = isBefore(upper, lower);
  auto branch = scf::IfOp::create(b, loc, isWrong, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(branch.thenBlock());
    KernelEmitter::Scope innerScope(e);
    store(parent, lower);
    store(child, upper);
  }
  scf::YieldOp::create(b, loc, arith::SelectOp::create(b, loc, isWrong, child, end).getResult());
}

/// The first half of the steps makes a heap, from its last parent to the root; each later one moves
/// the root behind the rest and mends the heap. With a limit there are so many later ones.
void LineSorter::emit() {
  Value zero = constant(0), one = constant(1);
  Value parents = arith::DivUIOp::create(b, loc, length, constant(2));
  Value moves = subtract(length, one);
  if (std::optional<int64_t> limit = op.getLimit())
    moves = arith::MinSIOp::create(b, loc, moves, constant(*limit));
  Value steps = add(parents, moves);
  auto loop = scf::ForOp::create(b, loc, zero, steps, one);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  KernelEmitter::Scope scope(e);
  Value step = loop.getInductionVar();
  Value isBuilding = isLess(step, parents);
  Value root = arith::SelectOp::create(b, loc, isBuilding,
                                       subtract(subtract(parents, one), step), zero);
  Value last = subtract(subtract(add(parents, length), one), step);
  Value end = arith::SelectOp::create(b, loc, isBuilding, length, last);
  auto branch = scf::IfOp::create(b, loc, isBuilding, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(branch.elseBlock());
    KernelEmitter::Scope innerScope(e);
    Tuple first = load(zero), final = load(last);
    store(zero, final);
    store(last, first);
  }
  siftDown(root, end);
}

void tfc::cpu::emitSort(KernelEmitter &e, SortOp op) {
  OpBuilder &b = e.builder();
  SmallVector<AffineExpr> sizes(e.shapes().shapeOf(op.getSorted().front()));
  unsigned dimension = op.getDimension();
  AffineExpr length = sizes[dimension];
  sizes.erase(sizes.begin() + dimension);
  SmallVector<AffineExpr> indices;
  forEachPoint(e, sizes, indices, [&] {
    auto loop = scf::ForOp::create(b, e.loc(), e.indexConstant(0), e.indexValue(length),
                                   e.indexConstant(1));
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      KernelEmitter::Scope scope(e);
      SmallVector<AffineExpr> place(indices);
      place.insert(place.begin() + dimension, e.addDim(loop.getInductionVar()));
      for (auto [input, result] : llvm::zip(op.getInputs(), op.getSorted()))
        e.store(result, place, e.element(input, place));
    }
    LineSorter(e, op, indices, e.indexValue(length)).emit();
  });
}
