// Emits sorts: by rank for short lines, by radix for long ones, and by repeated selection if only a
// few of the first keys are wanted. Results are positions; keys are not returned.

#include "compiler/kernels/ContractionForm.h"
#include "compiler/kernels/Polynomial.h"
#include "compiler/kernels/emit/SpecialEmitter.h"
#include "dialects/linalg_ext/LinalgExt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tfc::kernels;
using namespace tfc::linalg_ext;

/// Up to this number of keys, each is compared with all others: that needs no tables and is
/// vectorized.
static constexpr int64_t kFew = 128;
/// Number of values of a digit, which is a byte.
static constexpr int64_t kDigits = 256;

/// Returns the number of candidates that are sorted at once to keep `limit` of them: the more
/// candidates, the fewer sorts, and up to 128 a sort is cheap.
static int64_t capacityFor(int64_t limit) {
  return limit <= 16 ? 64 : limit <= 64 ? 128 : llvm::alignTo(2 * limit + 64, 64);
}

/// Returns how many of the first keys are selected in several steps, or std::nullopt if all keys
/// are sorted, which costs about as much as selecting a sixteenth of them.
static std::optional<int64_t> selectionOf(KernelShapes &shapes, SortOp op) {
  std::optional<int64_t> wanted = constantOf(shapes.shapeOf(op.getPlaces())[op.getDimension()]);
  std::optional<int64_t> count = constantOf(shapes.shapeOf(op.getKeys())[op.getDimension()]);
  if (wanted.value_or(0) > 0 && (!count || 16 * *wanted <= *count))
    return wanted;
  return std::nullopt;
}

/// Returns the number of records that are sorted at once.
static AffineExpr roomOf(KernelShapes &shapes, SortOp op) {
  if (std::optional<int64_t> limit = selectionOf(shapes, op))
    return getAffineConstantExpr(capacityFor(*limit), op.getContext());
  return normalize(shapes.shapeOf(op.getKeys())[op.getDimension()]);
}

/// Keys and positions in two halves, between which they are moved, and a counter for each value of
/// each digit.
SmallVector<Workspace> tfc::kernels::workspaceOf(KernelShapes &shapes, Operation *op) {
  auto sort = dyn_cast<SortOp>(op);
  if (!sort)
    return {};
  Type key = sort.getKeyType(), place = sort.getPlaceType();
  AffineExpr records = normalize(roomOf(shapes, sort) * 2);
  int64_t counts = sort.getKeyType().getWidth() / 8 * kDigits;
  return {
      {key, records}, {place, records}, {place, getAffineConstantExpr(counts, op->getContext())}};
}

namespace {

/// Sorts lines in a workspace with two halves for keys and their positions: the records in one half
/// are sorted into the other. The sort is stable.
class LineSorter {
public:
  LineSorter(KernelEmitter &e, SortOp op)
      : e(e), b(e.builder()), loc(e.loc()), op(op), keys(e.workspace(op)[0]),
        olds(e.workspace(op)[1]), counts(e.workspace(op)[2]), limit(selectionOf(e.shapes(), op)),
        room(roomOf(e.shapes(), op)),
        lanes(
            e.target().lanes(std::max(op.getKeyType().getWidth(), op.getPlaceType().getWidth()))) {}

  /// Sorts the line at `indices`, the indices of the other dimensions.
  void emit(ArrayRef<AffineExpr> indices);

private:
  using Values = SmallVector<Value>;
  using Body = function_ref<Values(Value, Values)>;
  using Branch = function_ref<Values()>;
  /// The candidates of a selection: where they begin, how many there are, and the bound that
  /// further keys must be less than, if there is one yet.
  struct Found {
    Value base, count, bound, isBounded;
  };

  Value fill(ArrayRef<AffineExpr> line, Value length);
  Value select(ArrayRef<AffineExpr> line, Value length);
  Found selectVector(ArrayRef<AffineExpr> line, Value length, Value at, const Found &found);
  Value countLanes(Value mask);
  void append(Value hits, Value key, Value at, const Found &found);
  Found keepFirst(const Found &found);
  void storePlaces(ArrayRef<AffineExpr> line, Value base, Value length);

  Value sort(Value base, Value count);
  Value sortByRank(Value base, Value count);
  Value sortByDigits(Value base, Value count);
  void countDigits(Value base, Value count);
  Value sortByDigit(Value digit, Value base, Value count);
  void sumCounts(Value digit);
  void moveRecords(Value digit, Value base, Value to, Value count);
  Value digitPlace(Value digit, Value key);

  AffineExpr at(Value index) { return e.addSymbol(index); }
  AffineExpr at(Value base, Value index) { return at(base) + at(index); }
  SmallVector<AffineExpr> placeIn(ArrayRef<AffineExpr> line, AffineExpr position);
  Value other(Value base) { return sub(index(room), base); }

  Values forLoop(Value lower, Value upper, int64_t step, Values carried, Body body);
  Values ifElse(Value condition, TypeRange types, Branch yes, Branch no);

  Value index(AffineExpr expr) { return e.indexValue(expr); }
  Value index(int64_t value) { return e.indexConstant(value); }
  Value key(const APInt &value) {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(op.getKeyType(), value));
  }
  Value placeNumber(int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(op.getPlaceType(), value));
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, loc, x, y); }
  Value smaller(Value x, Value y) { return arith::MinSIOp::create(b, loc, x, y); }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  }
  /// Casts between `index` and other integers, or vectors of them.
  Value cast(Value value, Type type) {
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      type = VectorType::get(vector.getShape(), type);
    return arith::IndexCastOp::create(b, loc, type, value);
  }

  KernelEmitter &e;
  OpBuilder &b;
  Location loc;
  SortOp op;
  const Buffer keys, olds, counts;
  std::optional<int64_t> limit; // number of first keys to select; empty if all are sorted
  AffineExpr room;              // records in a half
  int64_t lanes;
};

} // namespace

SmallVector<AffineExpr> LineSorter::placeIn(ArrayRef<AffineExpr> line, AffineExpr position) {
  SmallVector<AffineExpr> place(line);
  place.insert(place.begin() + op.getDimension(), position);
  return place;
}

LineSorter::Values LineSorter::forLoop(Value lower, Value upper, int64_t step, Values carried,
                                       Body body) {
  auto loop = scf::ForOp::create(b, loc, lower, upper, index(step), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  KernelEmitter::Scope scope(e);
  Values results = body(loop.getInductionVar(), Values(loop.getRegionIterArgs()));
  if (!carried.empty())
    scf::YieldOp::create(b, loc, results);
  return Values(loop.getResults());
}

LineSorter::Values LineSorter::ifElse(Value condition, TypeRange types, Branch yes, Branch no) {
  auto branch = scf::IfOp::create(b, loc, types, condition, /*withElseRegion=*/bool(no));
  auto fillBlock = [&](Block *block, Branch make) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(block);
    KernelEmitter::Scope scope(e);
    Values results = make();
    if (!types.empty())
      scf::YieldOp::create(b, loc, results);
  };
  fillBlock(branch.thenBlock(), yes);
  if (no)
    fillBlock(branch.elseBlock(), no);
  return Values(branch.getResults());
}

//===--- sorting records --------------------------------------------------===//

/// Sorts the records from `base` on and returns where the sorted records begin.
Value LineSorter::sort(Value base, Value count) {
  auto byRank = [&] { return Values{sortByRank(base, count)}; };
  auto byDigits = [&] { return Values{sortByDigits(base, count)}; };
  if (auto most = dyn_cast<AffineConstantExpr>(room))
    return most.getValue() <= kFew ? byRank()[0] : byDigits()[0];
  Value isFew = compare(arith::CmpIPredicate::sle, count, index(kFew));
  return ifElse(isFew, b.getIndexType(), byRank, byDigits)[0];
}

/// Moves each record to the position given by the number of records that precede it in the order.
Value LineSorter::sortByRank(Value base, Value count) {
  Value to = other(base);
  forLoop(index(0), count, lanes, {}, [&](Value first, Values) -> Values {
    Value mask = e.tailMask(first, count, lanes);
    LoopDim dim = e.addDim(first);
    KernelEmitter::VectorMode mode(e, dim, lanes, mask);
    Value key = e.loadAt(keys, at(base) + dim), old = e.loadAt(olds, at(base) + dim);
    Value number = cast(e.indexValue(dim), op.getPlaceType());
    Value ranks = e.broadcast(placeNumber(0)), step = e.broadcast(placeNumber(1));
    ranks = forLoop(index(0), count, 1, {ranks}, [&](Value i, Values carried) -> Values {
      Value one = e.broadcast(e.loadAt(keys, at(base, i)));
      Value isLess = compare(arith::CmpIPredicate::ult, one, key);
      Value isEqual = compare(arith::CmpIPredicate::eq, one, key);
      Value place = e.broadcast(cast(i, op.getPlaceType()));
      Value isFirst = compare(arith::CmpIPredicate::slt, place, number);
      Value isTied = arith::AndIOp::create(b, loc, isEqual, isFirst);
      Value isBefore = arith::OrIOp::create(b, loc, isLess, isTied);
      Value next = add(carried[0], step);
      return {arith::SelectOp::create(b, loc, isBefore, next, carried[0])};
    })[0];
    ranks = cast(ranks, b.getIndexType());
    e.storeAt(keys, at(to) + at(ranks), key);
    e.storeAt(olds, at(to) + at(ranks), old);
    return {};
  });
  return to;
}

/// A radix sort, least significant byte first. Digits that all keys have in common are skipped.
Value LineSorter::sortByDigits(Value base, Value count) {
  Value isMore = compare(arith::CmpIPredicate::sgt, count, index(1));
  return ifElse(
      isMore, b.getIndexType(),
      [&] {
        countDigits(base, count);
        return forLoop(index(0), index(op.getKeyType().getWidth() / 8), 1, {base},
                       [&](Value digit, Values carried) -> Values {
                         return {sortByDigit(digit, carried[0], count)};
                       });
      },
      [&] { return Values{base}; })[0];
}

/// Returns the index of the counter for a digit of a key.
Value LineSorter::digitPlace(Value digit, Value key) {
  Value bits = cast(arith::MulIOp::create(b, loc, digit, index(8)), op.getKeyType());
  Value rest = arith::ShRUIOp::create(b, loc, key, bits);
  unsigned width = op.getKeyType().getWidth();
  if (width > 8)
    rest = arith::AndIOp::create(b, loc, rest, this->key(APInt(width, kDigits - 1)));
  rest = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), rest);
  return add(arith::MulIOp::create(b, loc, digit, index(kDigits)), rest);
}

void LineSorter::countDigits(Value base, Value count) {
  int64_t digits = op.getKeyType().getWidth() / 8;
  Value zero = placeNumber(0);
  Value one = placeNumber(1);
  e.laneLoop(e.constantExpr(digits * kDigits), lanes,
             [&](LoopDim dim) { e.storeAt(counts, dim, e.broadcast(zero)); });
  forLoop(index(0), count, 1, {}, [&](Value i, Values) -> Values {
    Value key = e.loadAt(keys, at(base, i));
    for (int64_t digit = 0; digit < digits; ++digit) {
      AffineExpr place = at(digitPlace(index(digit), key));
      e.storeAt(counts, place, add(e.loadAt(counts, place), one));
    }
    return {};
  });
}

Value LineSorter::sortByDigit(Value digit, Value base, Value count) {
  Value first = e.loadAt(keys, at(base));
  Value like = cast(e.loadAt(counts, at(digitPlace(digit, first))), b.getIndexType());
  Value isCommon = compare(arith::CmpIPredicate::eq, like, count);
  return ifElse(
      isCommon, b.getIndexType(), [&] { return Values{base}; },
      [&] {
        Value to = other(base);
        sumCounts(digit);
        moveRecords(digit, base, to, count);
        return Values{to};
      })[0];
}

/// Replaces the counts of a digit by their exclusive prefix sums, where records with the digit
/// begin.
void LineSorter::sumCounts(Value digit) {
  Value from = arith::MulIOp::create(b, loc, digit, index(kDigits));
  Value zero = placeNumber(0);
  forLoop(index(0), index(kDigits), 1, {zero}, [&](Value i, Values carried) -> Values {
    Value count = e.loadAt(counts, at(from, i));
    e.storeAt(counts, at(from, i), carried[0]);
    return {add(carried[0], count)};
  });
}

void LineSorter::moveRecords(Value digit, Value base, Value to, Value count) {
  Value one = placeNumber(1);
  forLoop(index(0), count, 1, {}, [&](Value i, Values) -> Values {
    Value key = e.loadAt(keys, at(base, i)), old = e.loadAt(olds, at(base, i));
    AffineExpr counter = at(digitPlace(digit, key));
    Value next = e.loadAt(counts, counter);
    e.storeAt(counts, counter, add(next, one));
    Value place = add(to, cast(next, b.getIndexType()));
    e.storeAt(keys, at(place), key);
    e.storeAt(olds, at(place), old);
    return {};
  });
}

//===--- lines ------------------------------------------------------------===//

/// Sorts all keys of a line.
Value LineSorter::fill(ArrayRef<AffineExpr> line, Value length) {
  e.laneLoop(e.shapes().shapeOf(op.getKeys())[op.getDimension()], lanes, [&](LoopDim dim) {
    e.storeAt(keys, dim, e.broadcast(e.element(op.getKeys(), placeIn(line, dim))));
    e.storeAt(olds, dim, cast(e.indexValue(dim), op.getPlaceType()));
  });
  return sort(index(0), length);
}

/// Collects keys below the bound and, whenever the half is full, sorts the candidates and keeps the
/// first ones.
Value LineSorter::select(ArrayRef<AffineExpr> line, Value length) {
  Value isBounded = arith::ConstantOp::create(b, loc, b.getBoolAttr(false));
  Value zero = index(0);
  Values results = forLoop(zero, length, lanes,
                           {zero, zero, key(APInt::getZero(op.getKeyType().getWidth())), isBounded},
                           [&](Value at, Values carried) -> Values {
                             Found found{carried[0], carried[1], carried[2], carried[3]};
                             found = selectVector(line, length, at, found);
                             return {found.base, found.count, found.bound, found.isBounded};
                           });
  return sort(results[0], results[1]);
}

LineSorter::Found LineSorter::selectVector(ArrayRef<AffineExpr> line, Value length, Value at,
                                           const Found &found) {
  Value mask = e.tailMask(at, length, lanes);
  LoopDim dim = e.addDim(at);
  KernelEmitter::VectorMode mode(e, dim, lanes, mask);
  Value key = e.broadcast(e.element(op.getKeys(), placeIn(line, dim)));
  Value isBelow = compare(arith::CmpIPredicate::ult, key, e.broadcast(found.bound));
  Value isFree = arith::XOrIOp::create(b, loc, found.isBounded,
                                       arith::ConstantOp::create(b, loc, b.getBoolAttr(true)));
  Value hits = arith::OrIOp::create(b, loc, isBelow, e.broadcast(isFree));
  if (mask)
    hits = arith::AndIOp::create(b, loc, hits, mask);
  bool isVector = isa<VectorType>(hits.getType());
  Value isHit =
      isVector ? vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, hits) : hits;
  Type type = b.getIndexType();
  Values next = ifElse(
      isHit, {type, type, op.getKeyType(), b.getI1Type()},
      [&]() -> Values {
        append(hits, key, e.indexValue(dim), found);
        Found more = found;
        more.count = add(found.count, isVector ? countLanes(hits) : index(1));
        Value last = add(more.count, index(lanes));
        Value isFull = compare(arith::CmpIPredicate::sgt, last, index(room));
        return ifElse(
            isFull, {type, type, op.getKeyType(), b.getI1Type()},
            [&]() -> Values {
              KernelEmitter::VectorMode scalars(e, dim, 1, Value());
              Found kept = keepFirst(more);
              return {kept.base, kept.count, kept.bound, kept.isBounded};
            },
            [&]() -> Values { return {more.base, more.count, more.bound, more.isBounded}; });
      },
      [&]() -> Values { return {found.base, found.count, found.bound, found.isBounded}; });
  return {next[0], next[1], next[2], next[3]};
}

/// The number of lanes that a mask enables.
Value LineSorter::countLanes(Value mask) {
  Value ones = arith::ExtUIOp::create(b, loc, VectorType::get({lanes}, b.getI64Type()), mask);
  return cast(vector::ReductionOp::create(b, loc, vector::CombiningKind::ADD, ones),
              b.getIndexType());
}

/// Appends the records of the lanes in `hits` to the candidates.
void LineSorter::append(Value hits, Value key, Value at, const Found &found) {
  Value end = cast(add(found.base, found.count), b.getI64Type());
  auto write = [&](const Buffer &memory, Value values) {
    Value pointer =
        LLVM::GEPOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()), memory.elementType,
                            memory.pointer, ArrayRef<LLVM::GEPArg>{end});
    if (isa<VectorType>(hits.getType()))
      LLVM::masked_compressstore::create(b, loc, values, pointer, hits, ArrayAttr(), ArrayAttr());
    else
      LLVM::StoreOp::create(b, loc, values, pointer);
  };
  write(keys, key);
  write(olds, cast(at, op.getPlaceType()));
}

LineSorter::Found LineSorter::keepFirst(const Found &found) {
  Found kept;
  Value most = index(*limit);
  kept.base = sort(found.base, found.count);
  kept.count = smaller(found.count, most);
  kept.bound = e.loadAt(keys, at(kept.base) + *limit - 1);
  kept.isBounded = compare(arith::CmpIPredicate::eq, kept.count, most);
  return kept;
}

void LineSorter::storePlaces(ArrayRef<AffineExpr> line, Value base, Value length) {
  Value wanted = index(e.shapes().shapeOf(op.getPlaces())[op.getDimension()]);
  Value there = smaller(wanted, length);
  auto store = [&](Value i, Value place) { e.store(op.getPlaces(), placeIn(line, at(i)), place); };
  forLoop(index(0), there, 1, {}, [&](Value i, Values) -> Values {
    store(i, e.loadAt(olds, at(base, i)));
    return {};
  });
  Value zero = placeNumber(0);
  forLoop(there, wanted, 1, {}, [&](Value i, Values) -> Values {
    store(i, zero);
    return {};
  });
}

void LineSorter::emit(ArrayRef<AffineExpr> line) {
  Value length = index(e.shapes().shapeOf(op.getKeys())[op.getDimension()]);
  Value base = limit ? select(line, length) : fill(line, length);
  storePlaces(line, base, length);
}

void tfc::kernels::emitSortLine(KernelEmitter &e, SortOp op, ArrayRef<AffineExpr> line) {
  LineSorter(e, op).emit(line);
}
