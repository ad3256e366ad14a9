// Sizes on their way from one tensor to another: reshapes, slices, concatenations.

#include "frontend/tensorflow/SizeEvaluators.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

using dfg::DimExpr;

static Results evaluateIdentity(NodeBuilder &node) {
  auto inputs = knownInputs(node);
  return inputs && inputs->size() == 1 ? one(*inputs->front()) : Results();
}

static Results evaluatePack(NodeBuilder &node) {
  auto inputs = knownInputs(node);
  if (!inputs || inputs->empty() || node.node.number("axis") != 0)
    return std::nullopt;
  SizeTensor result{inputs->front()->elementType, inputs->front()->shape, {}};
  for (const SizeTensor *input : *inputs) {
    if (input->shape != inputs->front()->shape ||
        result.values.size() + input->values.size() > kMaxSizes)
      return std::nullopt;
    llvm::append_range(result.values, input->values);
  }
  result.shape.insert(result.shape.begin(), inputs->size());
  return one(std::move(result));
}

static Results evaluateUnpack(NodeBuilder &node) {
  auto inputs = knownInputs(node);
  if (!inputs || inputs->size() != 1 || node.node.number("axis") != 0 || !inputs->front()->rank())
    return std::nullopt;
  const SizeTensor &x = *inputs->front();
  int64_t count = x.shape.front();
  if (count == 0)
    return std::nullopt;
  SmallVector<SizeTensor> results;
  size_t width = x.values.size() / count;
  for (int64_t i = 0; i < count; ++i)
    results.push_back({x.elementType, SmallVector<int64_t>(ArrayRef(x.shape).drop_front()),
                       SmallVector<DimExpr>(ArrayRef(x.values).slice(i * width, width))});
  return results;
}

/// Along the first axis.
static Results evaluateConcat(NodeBuilder &node) {
  auto inputs = knownInputs(node);
  if (!inputs || inputs->size() < 2)
    return std::nullopt;
  bool isAxisFirst = node.node.op == "Concat";
  const SizeTensor *axis = isAxisFirst ? inputs->front() : inputs->back();
  ArrayRef<const SizeTensor *> parts = *inputs;
  parts = isAxisFirst ? parts.drop_front() : parts.drop_back();
  int64_t rank = parts.front()->rank();
  if (rank == 0 || axis->values.size() != 1 ||
      !(axis->values[0].isConstant(0) || axis->values[0].isConstant(-rank)))
    return std::nullopt;
  SizeTensor result{parts.front()->elementType, parts.front()->shape, {}};
  result.shape.front() = 0;
  for (const SizeTensor *part : parts) {
    if (part->rank() != rank ||
        ArrayRef(part->shape).drop_front() != ArrayRef(result.shape).drop_front() ||
        result.values.size() + part->values.size() > kMaxSizes)
      return std::nullopt;
    result.shape.front() += part->shape.front();
    llvm::append_range(result.values, part->values);
  }
  return one(std::move(result));
}

static Results evaluateReshape(NodeBuilder &node) {
  auto shape = node.numInputs() == 2 ? numbersAt(node, 1) : std::nullopt;
  const SizeTensor *x = shape ? node.sizes(0) : nullptr;
  if (!x || llvm::count(*shape, -1) > 1)
    return std::nullopt;
  int64_t count = 1;
  for (int64_t size : *shape)
    if (size != -1 && (size < 0 || __builtin_mul_overflow(count, size, &count)))
      return std::nullopt;
  for (int64_t &size : *shape)
    if (size == -1)
      size = count ? int64_t(x->values.size()) / count : 0;
  if (countOf(*shape) != int64_t(x->values.size()))
    return std::nullopt;
  return one({x->elementType, *shape, x->values});
}

static Results evaluateExpandDims(NodeBuilder &node) {
  std::optional<int64_t> axis = node.numInputs() == 2 ? numberAt(node, 1) : std::nullopt;
  const SizeTensor *x = axis ? node.sizes(0) : nullptr;
  if (!x || *axis < -x->rank() - 1 || *axis > x->rank())
    return std::nullopt;
  SizeTensor result = *x;
  result.shape.insert(result.shape.begin() + (*axis < 0 ? *axis + x->rank() + 1 : *axis), 1);
  return one(std::move(result));
}

static Results evaluateSqueeze(NodeBuilder &node) {
  const SizeTensor *x = node.numInputs() == 1 ? node.sizes(0) : nullptr;
  if (!x || x->values.size() != 1 || !node.node.attr("squeeze_dims").numbers.empty())
    return std::nullopt;
  return scalarOf(x->elementType, x->values.front());
}

static Results evaluateFill(NodeBuilder &node) {
  auto shape = node.numInputs() == 2 ? numbersAt(node, 0) : std::nullopt;
  const SizeTensor *value = shape ? node.sizes(1) : nullptr;
  if (!value || value->values.size() != 1 ||
      llvm::any_of(*shape, [](int64_t s) { return s < 0; }) || countOf(*shape) > kMaxSizes)
    return std::nullopt;
  return one(
      {value->elementType, *shape, SmallVector<DimExpr>(countOf(*shape), value->values.front())});
}

template <int64_t value> static Results evaluateLike(NodeBuilder &node) {
  const SizeTensor *x = node.numInputs() == 1 ? node.sizes(0) : nullptr;
  if (!x)
    return std::nullopt;
  return one({x->elementType, x->shape, SmallVector<DimExpr>(x->values.size(), DimExpr(value))});
}

static Results evaluateRange(NodeBuilder &node) {
  if (node.numInputs() != 3)
    return std::nullopt;
  auto start = numberAt(node, 0), limit = numberAt(node, 1), step = numberAt(node, 2);
  if (!start || !limit || !step || *step == 0)
    return std::nullopt;
  SmallVector<DimExpr> values;
  for (int64_t i = *start; *step > 0 ? i < *limit : i > *limit;) {
    if (int64_t(values.size()) == kMaxSizes)
      return std::nullopt;
    values.push_back(i);
    if (__builtin_add_overflow(i, *step, &i))
      break;
  }
  return vectorOf(node.sizes(0)->elementType, values);
}

static Results evaluateGather(NodeBuilder &node) {
  const SizeTensor *x = node.numInputs() >= 2 ? node.sizes(0) : nullptr;
  const SizeTensor *places = x ? node.sizes(1) : nullptr;
  auto indices = places ? places->constants() : std::nullopt;
  if (!indices || x->rank() != 1 || node.node.number("batch_dims") != 0)
    return std::nullopt;
  SizeTensor result{x->elementType, places->shape, {}};
  for (int64_t index : *indices) {
    if (index < 0 || index >= x->shape.front())
      return std::nullopt;
    result.values.push_back(x->values[index]);
  }
  return one(std::move(result));
}

static Results evaluateSlice(NodeBuilder &node) {
  const SizeTensor *x = node.numInputs() == 3 ? node.sizes(0) : nullptr;
  auto begin = x ? numberAt(node, 1) : std::nullopt, size = x ? numberAt(node, 2) : std::nullopt;
  if (!begin || !size || x->rank() != 1)
    return std::nullopt;
  int64_t whole = x->shape.front();
  if (*begin < 0 || *begin > whole)
    return std::nullopt;
  int64_t count = *size == -1 ? whole - *begin : *size;
  if (count < 0 || count > whole - *begin)
    return std::nullopt;
  return vectorOf(x->elementType, ArrayRef(x->values).slice(*begin, count));
}

static Results evaluateStridedSlice(NodeBuilder &node) {
  const SizeTensor *x = node.numInputs() == 4 ? node.sizes(0) : nullptr;
  if (!x || x->rank() != 1)
    return std::nullopt;
  auto slice = resolveStridedSlice(node, DimExpr(x->shape.front()), 1);
  if (!slice)
    return std::nullopt;
  SizeTensor result{x->elementType, {}, x->values};
  for (const StridedSlice::Axis &axis : slice->axes) {
    if (axis.input < 0) {
      result.shape.push_back(1);
      continue;
    }
    result.values.clear();
    auto start = axis.start.constant(), size = axis.size.constant();
    if (!start || !size)
      return std::nullopt;
    int64_t last = 0, count = x->shape.front();
    bool isFar = __builtin_mul_overflow(*size - 1, axis.step, &last) ||
                 __builtin_add_overflow(*start, last, &last);
    if (*size > 0 && (isFar || *start < 0 || *start >= count || last < 0 || last >= count))
      return std::nullopt;
    for (int64_t i = 0; i < *size; ++i)
      result.values.push_back(x->values[*start + i * axis.step]);
    if (!axis.isRemoved)
      result.shape.push_back(*size);
  }
  return one(std::move(result));
}

static Results evaluateInvertPermutation(NodeBuilder &node) {
  auto places = node.numInputs() == 1 ? numbersAt(node, 0) : std::nullopt;
  if (!places)
    return std::nullopt;
  SmallVector<DimExpr> inverse(places->size(), DimExpr(0));
  for (auto [i, place] : enumerate(*places)) {
    if (place < 0 || place >= int64_t(places->size()))
      return std::nullopt;
    inverse[place] = i;
  }
  return vectorOf(node.sizes(0)->elementType, inverse);
}

/// Where each part begins in the whole.
static Results evaluateConcatOffset(NodeBuilder &node) {
  auto inputs = knownInputs(node);
  if (!inputs || inputs->size() < 2 || inputs->front()->values.size() != 1)
    return std::nullopt;
  std::optional<int64_t> axis = inputs->front()->values.front().constant();
  SmallVector<SizeTensor> results;
  DimExpr offset = 0;
  for (const SizeTensor *shape : ArrayRef(*inputs).drop_front()) {
    int64_t rank = shape->values.size();
    if (!axis || *axis < -rank || *axis >= rank)
      return std::nullopt;
    int64_t place = *axis < 0 ? *axis + rank : *axis;
    SizeTensor result{shape->elementType, shape->shape, SmallVector<DimExpr>(rank, DimExpr(0))};
    result.values[place] = offset;
    offset = offset + shape->values[place];
    results.push_back(std::move(result));
  }
  return results;
}

/// The axes over which the gradients of two broadcast operands are summed.
static Results evaluateBroadcastGradientArgs(NodeBuilder &node) {
  auto inputs = knownInputs(node);
  if (!inputs || inputs->size() != 2)
    return std::nullopt;
  ArrayRef<DimExpr> a = (*inputs)[0]->values, b = (*inputs)[1]->values;
  int64_t rank = std::max(a.size(), b.size());
  auto sizeAt = [&](ArrayRef<DimExpr> shape, int64_t axis) {
    int64_t place = axis - (rank - int64_t(shape.size()));
    return place < 0 ? DimExpr(1) : shape[place];
  };
  SmallVector<DimExpr> first, second;
  for (int64_t axis = 0; axis < rank; ++axis) {
    DimExpr x = sizeAt(a, axis), y = sizeAt(b, axis);
    if (x == y && !x.isConstant(1))
      continue;
    // Of two ones both are summed, which changes nothing.
    if (x.isConstant(1))
      first.push_back(axis);
    if (y.isConstant(1))
      second.push_back(axis);
  }
  Type type = inputs->front()->elementType;
  return SmallVector<SizeTensor>{{type, {int64_t(first.size())}, first},
                                 {type, {int64_t(second.size())}, second}};
}

static Results evaluateBroadcastArgs(NodeBuilder &node) {
  auto inputs = knownInputs(node);
  if (!inputs || inputs->size() != 2)
    return std::nullopt;
  auto shape = dfg::broadcastShapes((*inputs)[0]->values, (*inputs)[1]->values);
  return shape ? vectorOf(inputs->front()->elementType, *shape) : Results();
}

static Results evaluateDynamicStitch(NodeBuilder &node) {
  auto inputs = knownInputs(node);
  if (!inputs || inputs->empty() || inputs->size() % 2)
    return std::nullopt;
  size_t count = inputs->size() / 2;
  std::map<int64_t, DimExpr> merged;
  for (size_t i = 0; i < count; ++i) {
    auto places = (*inputs)[i]->constants();
    const SizeTensor &data = *(*inputs)[count + i];
    if (!places || places->size() != data.values.size())
      return std::nullopt;
    for (auto [place, value] : zip(*places, data.values))
      merged[place] = value;
  }
  SmallVector<DimExpr> values;
  for (auto &[place, value] : merged) {
    if (place != int64_t(values.size()))
      return std::nullopt;
    values.push_back(value);
  }
  return vectorOf((*inputs)[count]->elementType, values);
}

static Results evaluateTile(NodeBuilder &node) {
  const SizeTensor *x = node.numInputs() == 2 ? node.sizes(0) : nullptr;
  auto repeats = x ? numberAt(node, 1) : std::nullopt;
  if (!repeats || x->rank() != 1 || *repeats < 0 || *repeats * x->rank() > kMaxSizes)
    return std::nullopt;
  SmallVector<DimExpr> values;
  for (int64_t i = 0; i < *repeats && int64_t(values.size()) <= kMaxSizes; ++i)
    llvm::append_range(values, x->values);
  return vectorOf(x->elementType, values);
}

static Results evaluateArraySize(NodeBuilder &node) {
  auto array = node.arrayAt(0);
  if (!array)
    return std::nullopt;
  NodeBuilder maker(node.entry, array->array);
  const SizeTensor *size =
      maker.node.op == "TensorArrayV3" && !maker.flag("dynamic_size") ? maker.sizes(0) : nullptr;
  return size ? one(*size) : Results();
}

/// What is pushed is the same in each iteration.
static Results evaluatePop(NodeBuilder &node) {
  auto pushed = node.edge(0) ? node.entry.handles.pushed(*node.edge(0)) : std::nullopt;
  if (!pushed || node.entry.fed.count(*pushed))
    return std::nullopt;
  const auto &known = node.entry.states[pushed->node].sizes;
  return pushed->output < known.size() && known[pushed->output] ? one(*known[pushed->output])
                                                                : Results();
}

const StringMap<Evaluator> &movingEvaluators() {
  static const StringMap<Evaluator> kEvaluators{
      {"Identity", evaluateIdentity},
      {"StopGradient", evaluateIdentity},
      {"Pack", evaluatePack},
      {"Unpack", evaluateUnpack},
      {"Concat", evaluateConcat},
      {"ConcatV2", evaluateConcat},
      {"Reshape", evaluateReshape},
      {"ExpandDims", evaluateExpandDims},
      {"Squeeze", evaluateSqueeze},
      {"Fill", evaluateFill},
      {"ZerosLike", evaluateLike<0>},
      {"OnesLike", evaluateLike<1>},
      {"Range", evaluateRange},
      {"Gather", evaluateGather},
      {"GatherV2", evaluateGather},
      {"Slice", evaluateSlice},
      {"StridedSlice", evaluateStridedSlice},
      {"Tile", evaluateTile},
      {"InvertPermutation", evaluateInvertPermutation},
      {"ConcatOffset", evaluateConcatOffset},
      {"BroadcastGradientArgs", evaluateBroadcastGradientArgs},
      {"BroadcastArgs", evaluateBroadcastArgs},
      {"DynamicStitch", evaluateDynamicStitch},
      {"StackPopV2", evaluatePop},
      {"TensorArraySizeV3", evaluateArraySize},
  };
  return kEvaluators;
}

} // namespace tfc::tensorflow
