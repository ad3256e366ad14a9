//===- Pads.cpp - Images padded with their own elements -------------------===//
//
// An image that is padded with its own elements, mirrored or repeated, is a concatenation for each
// axis, and a pass over the image for each of them. Several of them are one gather.
//
//===----------------------------------------------------------------------===//

#include "compiler/simplify/Pads.h"
#include "dialects/dfg/Devices.h"
#include "dialects/dfg/Dfg.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tfc::dfg;

/// A gather copies runs of at least so many elements, and reads an index for each. There are at
/// most so many indices, which are a constant.
static constexpr int64_t kRunElements = 32, kMostIndices = 1 << 17;

namespace {
/// The positions along one axis of `source` from which a value takes its elements.
struct Selection {
  Value source;
  SmallVector<int64_t> positions;
};

/// A concatenation that selects along its axis.
struct Pad {
  int64_t axis;
  Selection selection;
};
} // namespace

/// Returns true if a slice takes everything along all axes but one.
static bool slicesAlong(SliceOp slice, int64_t axis) {
  Shape shape = shapeOf(slice.getX().getType());
  Shape starts(slice.getStarts().getExprs()), sizes(slice.getSizes().getExprs());
  std::optional<ArrayRef<int64_t>> steps = slice.getSteps();
  return llvm::all_of(llvm::seq<int64_t>(shape.size()), [&](int64_t i) {
    return i == axis ||
           (starts[i].isConstant(0) && sizes[i] == shape[i] && (!steps || (*steps)[i] == 1));
  });
}

/// Follows a value through slices and repetitions along an axis; none if a position is not a
/// constant.
static std::optional<Selection> followSelection(Value value, int64_t axis) {
  std::optional<int64_t> size = shapeOf(value.getType())[axis].constant();
  if (!size || *size > kMostIndices)
    return std::nullopt;
  Selection selection{value, llvm::to_vector(llvm::seq<int64_t>(*size))};
  while (true) {
    Operation *op = selection.source.getDefiningOp();
    if (auto slice = dyn_cast_or_null<SliceOp>(op); slice && slicesAlong(slice, axis)) {
      std::optional<int64_t> start = slice.getStarts().getExprs()[axis].constant();
      if (!start)
        return std::nullopt;
      int64_t step = slice.getSteps() ? (*slice.getSteps())[axis] : 1;
      for (int64_t &position : selection.positions)
        position = *start + position * step;
      selection.source = slice.getX();
      continue;
    }
    if (auto reverse = dyn_cast_or_null<ReverseOp>(op)) {
      Shape shape = shapeOf(reverse.getType());
      SmallVector<int64_t> axes = reducedAxes(reverse.getAxisAttr(), shape.size());
      std::optional<int64_t> length = shape[axis].constant();
      if (axes.size() != 1 || axes.front() != axis || !length)
        return selection;
      for (int64_t &position : selection.positions)
        position = *length - 1 - position;
      selection.source = reverse.getX();
      continue;
    }
    if (auto broadcast = dyn_cast_or_null<BroadcastOp>(op)) {
      Shape from = shapeOf(broadcast.getX().getType()), to = shapeOf(broadcast.getType());
      if (from.size() != to.size() || !from[axis].isConstant(1))
        return selection;
      from[axis] = to[axis];
      if (from != to)
        return selection;
      llvm::fill(selection.positions, 0);
      selection.source = broadcast.getX();
      continue;
    }
    return selection;
  }
}

/// Returns a concatenation as a selection, if all parts are of one value.
static std::optional<Pad> matchPad(ConcatOp op) {
  int64_t axis = *normalizeAxis(op.getAxis(), shapeOf(op.getType()).size());
  Pad pad{axis, {}};
  for (Value part : op.getXs()) {
    std::optional<Selection> selection = followSelection(part, axis);
    if (selection && selection->positions.empty())
      continue;
    if (!selection || (pad.selection.source && pad.selection.source != selection->source))
      return std::nullopt;
    pad.selection.source = selection->source;
    pad.selection.positions.append(selection->positions);
    if (int64_t(pad.selection.positions.size()) > kMostIndices)
      return std::nullopt;
  }
  return pad.selection.source ? std::optional(pad) : std::nullopt;
}

/// Returns true if the operation may take a part of an image.
static bool isPart(Operation *op) { return isa<BroadcastOp>(op) || isa<ReverseOp, SliceOp>(op); }

/// Returns true if all readers of `value`, through views, are the concatenation.
static bool isReadOnlyBy(Value value, ConcatOp op) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    return user == op || (isPart(user) && isReadOnlyBy(user->getResult(0), op));
  });
}

/// Returns true if the concatenation is padded along another axis.
static bool isPaddedAgain(ConcatOp op) {
  SmallVector<Operation *> users(op->getUsers());
  while (!users.empty()) {
    Operation *user = users.pop_back_val();
    if (auto outer = dyn_cast<ConcatOp>(user)) {
      std::optional<Pad> pad = matchPad(outer);
      if (pad && pad->selection.source == op.getResult() && isReadOnlyBy(op, outer))
        return true;
    } else if (isPart(user)) {
      llvm::append_range(users, user->getUsers());
    }
  }
  return false;
}

namespace {
/// A pad of a pad along adjacent axes is a gather of runs along these axes.
struct GatherPads : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConcatOp op, PatternRewriter &rewriter) const override {
    Value x = op;
    SmallVector<Pad> pads = takePads(x);
    if (pads.size() < 2 || isPaddedAgain(op))
      return failure();
    llvm::sort(pads, [](const Pad &a, const Pad &b) { return a.axis < b.axis; });
    Shape from = shapeOf(x.getType());
    int64_t first = pads.front().axis, run = 1;
    for (const DimExpr &size : ArrayRef(from).drop_front(pads.back().axis + 1))
      run *= size.constant().value_or(0);
    if (run < kRunElements)
      return failure();
    SmallVector<int32_t> indices{0};
    int64_t extent = 1;
    for (auto [i, pad] : llvm::enumerate(pads)) {
      std::optional<int64_t> size = from[first + i].constant();
      int64_t count = indices.size() * pad.selection.positions.size();
      if (pad.axis != first + int64_t(i) || !size || count > kMostIndices)
        return failure();
      extent *= *size;
      SmallVector<int32_t> next;
      for (int32_t index : indices)
        for (int64_t position : pad.selection.positions)
          next.push_back(index * *size + position);
      indices = std::move(next);
    }
    if (extent > std::numeric_limits<int32_t>::max())
      return failure();
    rewriter.replaceOp(op, gather(rewriter, op, x, first, pads.size(), extent, indices));
    return success();
  }

private:
  /// Returns the pads of a value, the last one first, as far as nothing else reads them, and
  /// replaces the value by what they pad.
  static SmallVector<Pad> takePads(Value &value) {
    SmallVector<Pad> pads;
    while (auto op = value.getDefiningOp<ConcatOp>()) {
      std::optional<Pad> pad = matchPad(op);
      if (!pad)
        break;
      value = pad->selection.source;
      ArrayRef<int64_t> positions = pad->selection.positions;
      bool isWhole = shapeOf(value.getType())[pad->axis].isConstant(int64_t(positions.size()));
      if (!isWhole || !llvm::equal(positions, llvm::seq<int64_t>(positions.size())))
        pads.push_back(*pad);
      if (auto inner = value.getDefiningOp<ConcatOp>(); inner && !isReadOnlyBy(inner, op))
        break;
    }
    return pads;
  }

  /// Gathers from `x` along `count` axes from `axis` on, which become one of `extent` elements.
  static Value gather(PatternRewriter &b, ConcatOp op, Value x, int64_t axis, size_t count,
                      int64_t extent, ArrayRef<int32_t> indices) {
    Location loc = op.getLoc();
    auto merged = [&](Shape shape, int64_t size) {
      shape.erase(shape.begin() + axis, shape.begin() + axis + count);
      shape.insert(shape.begin() + axis, DimExpr(size));
      return shape;
    };
    auto placed = [&](Operation *created) {
      copyPlacement(op, created);
      return created->getResult(0);
    };
    auto type = RankedTensorType::get({int64_t(indices.size())}, b.getI32Type());
    Value list = placed(ConstantOp::create(b, loc, DenseIntElementsAttr::get(type, indices)));
    Shape flat = merged(shapeOf(x.getType()), extent);
    x = placed(ReshapeOp::create(b, loc, x, DimsAttr::get(b.getContext(), flat)));
    x = placed(GatherOp::create(b, loc, x, list, b.getI64IntegerAttr(axis)));
    return placed(
        ReshapeOp::create(b, loc, x, DimsAttr::get(b.getContext(), shapeOf(op.getType()))));
  }
};
} // namespace

void tfc::addPadPatterns(RewritePatternSet &patterns) {
  patterns.add<GatherPads>(patterns.getContext());
}
