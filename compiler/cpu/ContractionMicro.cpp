// The innermost loops of a contraction, which accumulate a register tile. Knows pointers and
// strides only, not the operation that is being emitted.

#include "compiler/cpu/ContractionMicro.h"
#include "compiler/kernels/emit/ProductEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tfc::cpu {

/// Tiles that share a prefetch, if their number is unknown: there are at least so many.
static constexpr int64_t kUnknownTiles = 2;

static Value offsetPointer(OpBuilder &b, Location loc, Value pointer, Type elementType,
                           Value offset) {
  Value wide = arith::IndexCastOp::create(b, loc, b.getI64Type(), offset);
  return LLVM::GEPOp::create(b, loc, pointer.getType(), elementType, pointer, ValueRange{wide});
}

Value advance(OpBuilder &b, Location loc, Value pointer, Type elementType, Value index,
              const Stride &stride) {
  if (stride.isFixed() && stride.fixed == 0)
    return pointer;
  if (!stride.isFixed() || stride.fixed != 1) {
    Value factor = stride.dynamic;
    if (!factor)
      factor = arith::ConstantIndexOp::create(b, loc, stride.fixed);
    index = arith::MulIOp::create(b, loc, index, factor);
  }
  return offsetPointer(b, loc, pointer, elementType, index);
}

Value advance(OpBuilder &b, Location loc, Value pointer, Type elementType, int64_t index,
              const Stride &stride) {
  if (index == 0 || (stride.isFixed() && stride.fixed == 0))
    return pointer;
  if (!stride.isFixed())
    return advance(b, loc, pointer, elementType, arith::ConstantIndexOp::create(b, loc, index),
                   stride);
  return offsetPointer(b, loc, pointer, elementType,
                       arith::ConstantIndexOp::create(b, loc, index * stride.fixed));
}

unsigned elementBytes(Type type) { return (type.getIntOrFloatBitWidth() + 7) / 8; }

Value loadLanes(OpBuilder &b, Location loc, Value pointer, Type elementType, int64_t lanes,
                Value mask, Type alignedAs) {
  // 16-bit floats are loaded as integers: on processors without them, LLVM would call library
  // functions to extract the lanes.
  bool isShort = isa<FloatType>(elementType) && elementType.getIntOrFloatBitWidth() == 16;
  auto type = VectorType::get({lanes}, isShort ? Type(b.getI16Type()) : elementType);
  unsigned alignment = elementBytes(alignedAs ? alignedAs : elementType);
  Value value;
  if (mask)
    value =
        LLVM::MaskedLoadOp::create(b, loc, type, pointer, mask, zeroOf(b, loc, type), alignment);
  else
    value = LLVM::LoadOp::create(b, loc, type, pointer, alignment);
  if (isShort)
    value = arith::BitcastOp::create(b, loc, VectorType::get({lanes}, elementType), value);
  return value;
}

void storeLanes(OpBuilder &b, Location loc, Value value, Value pointer) {
  LLVM::StoreOp::create(b, loc, value, pointer, elementBytes(getElementTypeOrSelf(value)));
}

Value multiplyAdd(OpBuilder &b, Location loc, const Target &target, Value lhs, Value rhs,
                  Value sum) {
  if (isa<FloatType>(getElementTypeOrSelf(sum)) && target.hasFma)
    return LLVM::FMAOp::create(b, loc, lhs, rhs, sum);
  if (isa<FloatType>(getElementTypeOrSelf(sum)))
    return arith::AddFOp::create(b, loc, sum, arith::MulFOp::create(b, loc, lhs, rhs));
  return arith::AddIOp::create(b, loc, sum, arith::MulIOp::create(b, loc, lhs, rhs));
}

Value multiplyPairs(OpBuilder &b, Location loc, const Target &target, Value lhs, Value rhs,
                    Value sum) {
  auto type = cast<VectorType>(sum.getType());
  auto factors = VectorType::get({type.getNumElements() * PairSteps::kGroup}, b.getBF16Type());
  for (Value *factor : {&lhs, &rhs})
    if (factor->getType() != factors)
      *factor = vector::BitCastOp::create(b, loc, factors, *factor);
  int64_t bits = type.getNumElements() * type.getElementTypeBitWidth();
  std::string name = target.isArm ? "llvm.aarch64.neon.bfdot.v4f32.v8bf16"
                                  : "llvm.x86.avx512bf16.dpbf16ps." + std::to_string(bits);
  return LLVM::CallIntrinsicOp::create(b, loc, type, b.getStringAttr(name),
                                       ValueRange{sum, lhs, rhs})
      .getResult(0);
}

Value joinPairs(OpBuilder &b, Location loc, ArrayRef<Value> steps) {
  Value words;
  for (auto [i, step] : llvm::enumerate(steps)) {
    auto type = cast<VectorType>(step.getType()), wide = type.clone(b.getI32Type());
    Value bits = arith::BitcastOp::create(b, loc, type.clone(b.getI16Type()), step);
    Value word = arith::ExtUIOp::create(b, loc, wide, bits);
    if (!words) {
      words = word;
      continue;
    }
    auto distance = DenseElementsAttr::get(wide, b.getI32IntegerAttr(16 * int32_t(i)));
    Value shift = arith::ConstantOp::create(b, loc, distance);
    words = arith::OrIOp::create(b, loc, words, arith::ShLIOp::create(b, loc, word, shift));
  }
  return words;
}

Value zeroOf(OpBuilder &b, Location loc, Type type) {
  return arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
}

namespace {

/// Emits the loop nest along k of one register tile. With several sets of accumulators, the
/// innermost loop is unrolled by their number; the remainder loop uses the first set.
class MicroEmitter {
public:
  MicroEmitter(OpBuilder &b, Location loc, const Target &target, const MicroTile &tile)
      : b(b), loc(loc), tile(tile), target(target), sets(accumulatorSets(target, tile.shape)) {}

  SmallVector<Value> run(ValueRange initial) {
    SmallVector<Value> sums(initial);
    sums.resize(initial.size() * sets, zeroOf(b, loc, initial.front().getType()));
    sums = nest(0, tile.a.pointer, tile.b.pointer, sums);
    SmallVector<Value> joined(ArrayRef(sums).take_front(initial.size()));
    for (size_t i = initial.size(); i < sums.size(); ++i) {
      Value &sum = joined[i % initial.size()];
      sum = addValues(b, loc, sum, sums[i]);
    }
    return joined;
  }

private:
  SmallVector<Value> nest(unsigned level, Value pointerA, Value pointerB, ValueRange sums) {
    if (level + 1 == tile.loops.size())
      return innermost(pointerA, pointerB, sums);
    const ReductionLoop &loop = tile.loops[level];
    return loopFrom(zero(), loop.count, 1, sums, [&](Value k, ValueRange carried) {
      return nest(level + 1, advance(b, loc, pointerA, tile.a.elementType, k, loop.a),
                  advance(b, loc, pointerB, tile.b.elementType, k, loop.b), carried);
    });
  }

  using LoopBody = function_ref<SmallVector<Value>(Value, ValueRange)>;

  Value zero() { return arith::ConstantIndexOp::create(b, loc, 0); }

  SmallVector<Value> loopFrom(Value begin, Value end, int64_t step, ValueRange carried,
                              LoopBody body) {
    Value stepValue = arith::ConstantIndexOp::create(b, loc, step);
    auto loop = scf::ForOp::create(b, loc, begin, end, stepValue, carried);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> next = body(loop.getInductionVar(), loop.getRegionIterArgs());
    scf::YieldOp::create(b, loc, next);
    return llvm::to_vector(ValueRange(loop.getResults()));
  }

  SmallVector<Value> innermost(Value pointerA, Value pointerB, ValueRange sums) {
    if (tile.pairs && tile.pairs->whole)
      return innermostPairs(pointerA, pointerB, sums);
    if (!tile.bytes)
      return innermost(tile.loops.back(), pointerA, pointerB, sums);
    constexpr int64_t kGroup = ByteSteps::kGroup;
    int64_t rest = tile.bytes->steps % kGroup, whole = tile.bytes->steps - rest;
    SmallVector<Value> all(sums);
    if (whole > 0) {
      ReductionLoop loop{arith::ConstantIndexOp::create(b, loc, whole / kGroup),
                         {kGroup, {}},
                         {kGroup * tile.bytes->columns, {}}};
      all = innermost(loop, pointerA, pointerB, sums);
    }
    if (rest == 0)
      return all;
    pointerA = advance(b, loc, pointerA, tile.a.elementType, whole, {1, {}});
    pointerB = advance(b, loc, pointerB, tile.b.elementType, whole, {tile.bytes->columns, {}});
    llvm::copy(byteStep(pointerA, pointerB, ArrayRef(all).take_front(sums.size() / sets), rest),
               all.begin());
    return all;
  }

  /// Emits the loop over words of two steps, and the step that may be left.
  SmallVector<Value> innermostPairs(Value pointerA, Value pointerB, ValueRange sums) {
    const ReductionLoop &loop = tile.loops.back();
    SmallVector<Value> all =
        innermost({tile.pairs->whole, loop.a, loop.b}, pointerA, pointerB, sums);
    SmallVector<Value> first =
        loopFrom(tile.pairs->whole, loop.count, 1, ArrayRef(all).take_front(sums.size() / sets),
                 [&](Value k, ValueRange carried) {
                   return pairStep(advance(b, loc, pointerA, tile.a.elementType, k, loop.a),
                                   advance(b, loc, pointerB, tile.b.elementType, k, loop.b),
                                   carried, /*isWhole=*/false);
                 });
    llvm::copy(first, all.begin());
    return all;
  }

  SmallVector<Value> innermost(const ReductionLoop &loop, Value pointerA, Value pointerB,
                               ValueRange sums) {
    size_t count = sums.size() / sets;
    auto steps = [&](Value k, ValueRange carried, int64_t number) {
      Value a = advance(b, loc, pointerA, tile.a.elementType, k, loop.a);
      Value bs = advance(b, loc, pointerB, tile.b.elementType, k, loop.b);
      SmallVector<Value> next(carried);
      for (int64_t set = 0; set < number; ++set) {
        Value stepOfB = advance(b, loc, bs, tile.b.elementType, set, loop.b);
        prefetch(stepOfB);
        llvm::copy(step(advance(b, loc, a, tile.a.elementType, set, loop.a), stepOfB,
                        carried.slice(set * count, count)),
                   next.begin() + set * count);
      }
      return next;
    };
    auto oneStep = [&](Value k, ValueRange carried) { return steps(k, carried, 1); };
    if (sets == 1)
      return loopFrom(zero(), loop.count, 1, sums, oneStep);
    Value setCount = arith::ConstantIndexOp::create(b, loc, sets);
    Value rest = b.createOrFold<arith::RemUIOp>(loc, loop.count, setCount);
    Value end = b.createOrFold<arith::SubIOp>(loc, loop.count, rest);
    SmallVector<Value> all = loopFrom(zero(), end, sets, sums, [&](Value k, ValueRange carried) {
      return steps(k, carried, sets);
    });
    SmallVector<Value> first =
        loopFrom(end, loop.count, 1, ArrayRef(all).take_front(count), oneStep);
    llvm::copy(first, all.begin());
    return all;
  }

  /// Prefetches for a step that reads b at a pointer.
  void prefetch(Value pointer) {
    const Prefetch &part = tile.prefetch;
    if (part.lines == 0)
      return;
    Type address = b.getI64Type(), byte = b.getI8Type();
    Value begin = LLVM::PtrToIntOp::create(b, loc, address, tile.b.pointer);
    Value read =
        arith::SubIOp::create(b, loc, LLVM::PtrToIntOp::create(b, loc, address, pointer), begin);
    Value shift = arith::IndexCastOp::create(b, loc, address, part.shift);
    Value offset = arith::ShRUIOp::create(b, loc, read, shift);
    Value line = advance(b, loc, tile.b.pointer, byte, part.distance, {1, {}});
    line = LLVM::GEPOp::create(b, loc, pointer.getType(), byte, line, ValueRange{offset});
    for (int64_t i = 0; i < part.lines; ++i) {
      Value next = advance(b, loc, line, byte, i * kLineBytes, {1, {}});
      LLVM::Prefetch::create(b, loc, next, /*rw=*/0, /*hint=*/part.isNear ? 3 : 2, /*cache=*/1);
    }
  }

  /// Emits one step along k: an outer product of a column of a and a row of b.
  SmallVector<Value> step(Value pointerA, Value pointerB, ValueRange sums) {
    if (tile.bytes)
      return byteStep(pointerA, pointerB, sums, ByteSteps::kGroup);
    if (tile.pairs)
      return pairStep(pointerA, pointerB, sums, /*isWhole=*/true);
    SmallVector<Value> row, next;
    for (int64_t v = 0; v < tile.shape.vectors; ++v) {
      Value pointer = advance(b, loc, pointerB, tile.b.elementType, v * tile.lanes, Stride{1, {}});
      Value mask = tile.masks.empty() ? Value() : tile.masks[v];
      row.push_back(
          converted(tile.b, loadLanes(b, loc, pointer, tile.b.elementType, tile.lanes, mask)));
    }
    auto vectorType = VectorType::get({tile.lanes}, tile.computeType);
    for (int64_t i = 0; i < tile.shape.rows; ++i) {
      Value pointer = advance(b, loc, pointerA, tile.a.elementType, i, tile.a.across);
      Value scalar = LLVM::LoadOp::create(b, loc, tile.a.elementType, pointer,
                                          elementBytes(tile.a.elementType));
      Value factor = vector::BroadcastOp::create(b, loc, vectorType, converted(tile.a, scalar));
      for (int64_t v = 0; v < tile.shape.vectors; ++v)
        next.push_back(
            multiplyAdd(b, loc, target, factor, row[v], sums[i * tile.shape.vectors + v]));
    }
    return next;
  }

  /// The same for `count` steps of bytes.
  SmallVector<Value> byteStep(Value pointerA, Value pointerB, ValueRange sums, int64_t count) {
    ByteMultiplier multiplier(b, loc, target, *tile.bytes, tile.lanes);
    SmallVector<ByteMultiplier::Factor> row;
    SmallVector<Value> next;
    for (int64_t v = 0; v < tile.shape.vectors; ++v) {
      int64_t offset = v * tile.lanes * (count == ByteSteps::kGroup ? count : 1);
      Value pointer = advance(b, loc, pointerB, tile.b.elementType, offset, Stride{1, {}});
      row.push_back(multiplier.loadB(pointer, count, tile.masks.empty() ? Value() : tile.masks[v]));
    }
    for (int64_t i = 0; i < tile.shape.rows; ++i) {
      ByteMultiplier::Factor factor =
          multiplier.loadA(advance(b, loc, pointerA, tile.a.elementType, i, tile.a.across), count);
      for (int64_t v = 0; v < tile.shape.vectors; ++v)
        next.push_back(multiplier.add(factor, row[v], sums[i * tile.shape.vectors + v]));
    }
    return next;
  }

  /// The same for a word of two steps of bf16, or of one.
  SmallVector<Value> pairStep(Value pointerA, Value pointerB, ValueRange sums, bool isWhole) {
    bool isWordA = isWhole || tile.pairs->copiesA, isWordB = isWhole || tile.pairs->copiesB;
    Type word = b.getI32Type();
    int64_t width = isWordB && !tile.pairs->copiesB ? PairSteps::kGroup : 1;
    SmallVector<Value> row, next;
    for (int64_t v = 0; v < tile.shape.vectors; ++v) {
      Value pointer =
          advance(b, loc, pointerB, tile.b.elementType, v * tile.lanes * width, Stride{1, {}});
      Value mask = tile.masks.empty() ? Value() : tile.masks[v];
      Type type = isWordB ? word : tile.b.elementType;
      Value words = loadLanes(b, loc, pointer, type, tile.lanes, mask, tile.b.elementType);
      row.push_back(isWordB ? words : joinPairs(b, loc, words));
    }
    auto vectorType = VectorType::get({tile.lanes}, word);
    for (int64_t i = 0; i < tile.shape.rows; ++i) {
      Value pointer = advance(b, loc, pointerA, tile.a.elementType, i, tile.a.across);
      Value factor = LLVM::LoadOp::create(b, loc, isWordA ? word : Type(b.getI16Type()), pointer,
                                          elementBytes(tile.a.elementType));
      if (!isWordA)
        factor = arith::ExtUIOp::create(b, loc, word, factor);
      factor = vector::BroadcastOp::create(b, loc, vectorType, factor);
      for (int64_t v = 0; v < tile.shape.vectors; ++v)
        next.push_back(
            multiplyPairs(b, loc, target, factor, row[v], sums[i * tile.shape.vectors + v]));
    }
    return next;
  }

  Value converted(const TileSource &source, Value value) {
    return source.convert ? source.convert(value) : value;
  }

  OpBuilder &b;
  Location loc;
  const MicroTile &tile;
  const Target &target;
  int64_t sets;
};

} // namespace

Prefetch sharePrefetch(OpBuilder &b, Location loc, const Target &target, int64_t elements,
                       int64_t stepElements, Type type, Value number, Value count) {
  int64_t bytes = elementBytes(type), all = elements * bytes;
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  // The parts are a power of two. Tiles beyond it prefetch the last one again.
  Prefetch prefetch;
  Value wide = b.createOrFold<arith::IndexCastOp>(loc, b.getI64Type(), count);
  Value zeros = b.createOrFold<math::CountLeadingZerosOp>(loc, wide);
  zeros = b.createOrFold<arith::IndexCastOp>(loc, b.getIndexType(), zeros);
  prefetch.shift = b.createOrFold<arith::SubIOp>(loc, constant(63), zeros);
  Value parts = b.createOrFold<arith::ShLIOp>(loc, constant(1), prefetch.shift);
  int64_t fewest = getConstantIntValue(parts).value_or(kUnknownTiles);
  Value last = b.createOrFold<arith::SubIOp>(loc, parts, constant(1));
  Value part = b.createOrFold<arith::MinUIOp>(loc, number, last);
  Value start = b.createOrFold<arith::MulIOp>(loc, part, constant(all));
  start = b.createOrFold<arith::ShRUIOp>(loc, start, prefetch.shift);
  prefetch.lines = llvm::divideCeil(llvm::divideCeil(stepElements * bytes, kLineBytes), fewest);
  prefetch.distance = b.createOrFold<arith::AddIOp>(loc, start, constant(all));
  prefetch.isNear = all <= target.l1Bytes / 2;
  return prefetch;
}

SmallVector<Value> emitMicroTile(OpBuilder &b, Location loc, const Target &target,
                                 const MicroTile &tile, ValueRange initial) {
  SmallVector<Value> sums(initial);
  if (sums.empty())
    sums.assign(tile.shape.rows * tile.shape.vectors,
                zeroOf(b, loc, VectorType::get({tile.lanes}, tile.computeType)));
  return MicroEmitter(b, loc, target, tile).run(sums);
}

} // namespace tfc::cpu
