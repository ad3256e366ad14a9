//===- View.cpp - Parts of tensors, and tensors made of parts -------------===//
//
// Evaluates slices, padding, concatenation and other copies of elements by mapping the positions of
// one side to those of the other.
//
//===----------------------------------------------------------------------===//

#include "compiler/reference/Registry.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc::reference {

static int64_t stepOf(std::optional<ArrayRef<int64_t>> steps, int64_t axis) {
  return steps ? (*steps)[axis] : 1;
}

static int64_t offsetOf(ArrayRef<int64_t> place, ArrayRef<int64_t> shape) {
  int64_t offset = 0;
  for (auto [position, size] : llvm::zip_equal(place, shape))
    offset = offset * size + position;
  return offset;
}

/// Sets each element of the result to the element of the operand at the position to which `from`
/// maps its own.
static void copyFrom(Call &call, llvm::function_ref<void(SmallVectorImpl<int64_t> &)> from) {
  int64_t i = 0;
  for (Positions at(call.result().getShape()); !at.done(); at.next(), ++i) {
    SmallVector<int64_t> place(*at);
    from(place);
    call.result().copy(i, call.operand(), offsetOf(place, call.operand().getShape()));
  }
}

/// The position after `position` steps from `start`, saturated at 64 bits.
static int64_t along(int64_t start, int64_t position, int64_t step) {
  __int128 place = __int128(position) * step + start;
  return std::clamp<__int128>(place, INT64_MIN, INT64_MAX);
}

/// Returns true if the first and last position of a slice are inside; an empty slice may start at
/// the end.
static bool isInside(int64_t start, int64_t size, int64_t step, int64_t extent) {
  int64_t last = along(start, size - 1, step);
  return size >= 0 && (step < 0 ? last >= 0 && start < extent : start >= 0 && last < extent);
}

static void slice(SliceOp op, Call &call) {
  SmallVector<int64_t> starts = call.sizes(op.getStarts()), sizes = call.sizes(op.getSizes());
  for (int64_t axis = 0; axis < call.operand().getRank(); ++axis)
    if (!op.getSizes().getExprs()[axis].isConstant(0) &&
        !isInside(starts[axis], sizes[axis], stepOf(op.getSteps(), axis),
                  call.operand().getShape()[axis]))
      return call.refuse();
  copyFrom(call, [&](SmallVectorImpl<int64_t> &place) {
    for (auto [axis, position] : llvm::enumerate(place))
      position = along(starts[axis], position, stepOf(op.getSteps(), axis));
  });
}

/// Fills the result with a constant and stores each element of the operand at the position to which
/// `to` maps its own, unless that is outside.
static void placeIn(Call &call, double value,
                    llvm::function_ref<void(SmallVectorImpl<int64_t> &)> to) {
  Tensor &result = call.result();
  for (int64_t i = 0; i < result.size(); ++i)
    result.setConstant(i, value);
  int64_t i = 0;
  for (Positions at(call.operand().getShape()); !at.done(); at.next(), ++i) {
    SmallVector<int64_t> place(*at);
    to(place);
    bool fits = llvm::all_of(llvm::zip_equal(place, result.getShape()), [](auto pair) {
      auto [position, size] = pair;
      return position >= 0 && position < size;
    });
    if (fits)
      result.copy(offsetOf(place, result.getShape()), call.operand(), i);
  }
}

static void place(PlaceOp op, Call &call) {
  SmallVector<int64_t> starts = call.sizes(op.getStarts());
  placeIn(call, op.getValue().convertToDouble(), [&](SmallVectorImpl<int64_t> &place) {
    for (auto [axis, position] : llvm::enumerate(place))
      position = along(starts[axis], position, stepOf(op.getSteps(), axis));
  });
}

static void pad(PadOp op, Call &call) {
  SmallVector<int64_t> low = call.sizes(op.getLow()), high = call.sizes(op.getHigh());
  if (llvm::any_of(llvm::concat<int64_t>(low, high), [](int64_t size) { return size < 0; }))
    return call.refuse();
  placeIn(call, op.getValue().convertToDouble(), [&](SmallVectorImpl<int64_t> &place) {
    for (auto [axis, position] : llvm::enumerate(place))
      position += low[axis];
  });
}

static void reverse(ReverseOp op, Call &call) {
  ArrayRef<int64_t> shape = call.operand().getShape();
  copyFrom(call, [&](SmallVectorImpl<int64_t> &place) {
    for (int64_t given : op.getAxis()) {
      int64_t axis = *normalizeAxis(given, shape.size());
      place[axis] = shape[axis] - 1 - place[axis];
    }
  });
}

static void tile(TileOp, Call &call) {
  copyFrom(call, [&](SmallVectorImpl<int64_t> &place) {
    for (auto [position, size] : llvm::zip_equal(place, call.operand().getShape()))
      position %= size;
  });
}

/// Expand and squeeze: the same elements in the same order.
template <typename Op> static void addReshaping(Registry &registry) {
  registry.add<Op>([](Op, Call &call) {
    SmallVector<int64_t> shape(call.result().getShape());
    call.result() = call.operand().reshaped(shape);
  });
}

//===----------------------------------------------------------------------===//
// Several tensors
//===----------------------------------------------------------------------===//

static void concat(ConcatOp op, Call &call) {
  Tensor &result = call.result();
  int64_t axis = *normalizeAxis(op.getAxis(), result.getRank()), start = 0;
  for (const Tensor *part : call.getOperands()) {
    int64_t i = 0;
    for (Positions at(part->getShape()); !at.done(); at.next(), ++i) {
      SmallVector<int64_t> place(*at);
      place[axis] += start;
      result.copy(offsetOf(place, result.getShape()), *part, i);
    }
    start += part->getShape()[axis];
  }
}

static void stack(StackOp op, Call &call) {
  Tensor &result = call.result();
  int64_t axis = *normalizeAxis(op.getAxis(), result.getRank()), i = 0;
  for (Positions at(result.getShape()); !at.done(); at.next(), ++i) {
    SmallVector<int64_t> place(*at);
    place.erase(place.begin() + axis);
    const Tensor &part = call.operand(at[axis]);
    result.copy(i, part, offsetOf(place, part.getShape()));
  }
}

static void split(SplitOp op, Call &call) {
  const Tensor &x = call.operand();
  int64_t axis = *normalizeAxis(op.getAxis(), x.getRank()), start = 0;
  for (unsigned n = 0; n < op->getNumResults(); ++n) {
    Tensor &part = call.result(n);
    int64_t i = 0;
    for (Positions at(part.getShape()); !at.done(); at.next(), ++i) {
      SmallVector<int64_t> place(*at);
      place[axis] += start;
      part.copy(i, x, offsetOf(place, x.getShape()));
    }
    start += part.getShape()[axis];
  }
}

void addView(Registry &registry) {
  registry.add<SliceOp>(slice);
  registry.add<PlaceOp>(place);
  registry.add<PadOp>(pad);
  registry.add<ReverseOp>(reverse);
  addReshaping<ExpandOp>(registry);
  addReshaping<SqueezeOp>(registry);
  registry.add<TileOp>(tile);
  registry.add<ConcatOp>(concat);
  registry.add<StackOp>(stack);
  registry.add<SplitOp>(split);
}

} // namespace tfc::reference
