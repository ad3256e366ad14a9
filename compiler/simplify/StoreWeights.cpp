//===- StoreWeights.cpp - Constants of fewer bits -------------------------===//
//
// Stores the constant factors of products as bf16, or as i8 with a scale for each channel, from
// which they are converted where a product reads them: a product with few rows takes as long as
// reading its weights. Sums are those of f32. The scale of a channel makes its largest element 127,
// and multiplies the results of the product (weight-only quantisation, as in Dettmers et al.,
// "LLM.int8()", 2022, without their outliers).
//
//===----------------------------------------------------------------------===//

#include "compiler/simplify/OnCpu.h"
#include "compiler/simplify/Passes.h"
#include "dialects/dfg/Build.h"
#include "dialects/dfg/ConvolutionOps.h"
#include "dialects/dfg/ElementData.h"
#include "dialects/dfg/Labels.h"
#include "dialects/dfg/WindowOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include <cmath>

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;

namespace tfc {
#define GEN_PASS_DEF_STOREWEIGHTS
#include "compiler/simplify/Passes.h.inc"
} // namespace tfc

/// Smaller constants stay as they are.
static constexpr int64_t kLeastElements = 1024;

namespace {
/// For each axis of some weights, the axis of a result that indexes it; -1 for those that are
/// summed.
using ResultAxes = SmallVector<int64_t>;

/// An operand that reads weights, perhaps transposed, and can read them as other numbers.
struct Use {
  OpOperand *operand;
  ResultAxes axes;
};

/// Weights, and all that reads them.
struct Weights {
  ConstantOp constant;
  SmallVector<Use> uses;

  static std::optional<Weights> match(ConstantOp constant);
  ElementsAttr elements() const { return ConstantOp(constant).getValue(); }
  RankedTensorType type() const { return cast<RankedTensorType>(elements().getType()); }
  std::optional<SmallVector<int64_t>> channelAxes() const;

private:
  bool collect(Value value, ArrayRef<int64_t> origins);
};
} // namespace

//===----------------------------------------------------------------------===//
// Uses
//===----------------------------------------------------------------------===//

/// The axes of the result of a product for those of its operand.
static std::optional<ResultAxes> resultAxes(Operation *product, unsigned operand) {
  int64_t rank = cast<RankedTensorType>(product->getOperand(operand).getType()).getRank();
  int64_t resultRank = cast<RankedTensorType>(product->getResult(0).getType()).getRank();
  ResultAxes axes;
  if (auto contract = dyn_cast<ContractOp>(product)) {
    // Convolutions read their weights many times, and may transform them.
    if (contract.getLhs().getDefiningOp<WindowsOp>())
      return std::nullopt;
    Einsum einsum;
    (void)readEinsum(std::nullopt, "contract", contract.getLabels(), product->getOperandTypes(),
                     /*takesDiagonals=*/false, einsum);
    for (const std::string &name : einsum.inputs[operand]) {
      const auto *it = llvm::find(einsum.output, name);
      axes.push_back(it == einsum.output.end() ? -1 : it - einsum.output.begin());
    }
    return axes;
  }
  auto matmul = dyn_cast<MatmulOp>(product);
  if (!matmul)
    return std::nullopt;
  for (int64_t i = 0; i < rank; ++i)
    axes.push_back(resultRank - rank + i);
  bool isTransposed = operand == 0 ? matmul.getTransposeLhs() : matmul.getTransposeRhs();
  // The matrix has rows and columns of the result, and the others are summed.
  int64_t own = (operand == 0) != isTransposed ? rank - 2 : rank - 1;
  int64_t summed = own == rank - 1 ? rank - 2 : rank - 1;
  axes[own] = operand == 0 ? resultRank - 2 : resultRank - 1;
  axes[summed] = -1;
  return axes;
}

/// `origins` are the axes of the weights that those of `value` are.
bool Weights::collect(Value value, ArrayRef<int64_t> origins) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (!isOnCpu(user))
      return false;
    if (auto transpose = dyn_cast<TransposeOp>(user)) {
      SmallVector<int64_t> moved;
      for (int64_t axis : transpose.getPermutationVector())
        moved.push_back(origins[axis]);
      if (!collect(transpose, moved))
        return false;
      continue;
    }
    Use found{&use, ResultAxes(origins.size(), -1)};
    auto gather = dyn_cast<GatherOp>(user);
    if (gather && use.getOperandNumber() == 0 && value == constant.getResult()) {
      found.axes[gather.getAxis()] = 0;
    } else {
      std::optional<ResultAxes> axes = resultAxes(user, use.getOperandNumber());
      if (!axes)
        return false;
      for (auto [axis, origin] : llvm::zip_equal(*axes, origins))
        found.axes[origin] = axis;
    }
    uses.push_back(found);
  }
  return true;
}

std::optional<Weights> Weights::match(ConstantOp constant) {
  Weights weights{constant, {}};
  auto type = dyn_cast<RankedTensorType>(constant.getType());
  if (!type || !type.getElementType().isF32() || type.getRank() < 2 ||
      type.getNumElements() < kLeastElements)
    return std::nullopt;
  bool isRead = weights.collect(constant, llvm::to_vector(llvm::seq(type.getRank())));
  return isRead && !weights.uses.empty() ? std::optional(weights) : std::nullopt;
}

/// The axes that no product sums, if they are the same for all uses and an index can choose a
/// scale.
std::optional<SmallVector<int64_t>> Weights::channelAxes() const {
  std::optional<SmallVector<int64_t>> channels;
  for (const Use &use : uses) {
    auto gather = dyn_cast<GatherOp>(use.operand->getOwner());
    if (gather && (gather.getAxis() != 0 || gather.getOutside() != Outside::Fail))
      return std::nullopt;
    SmallVector<int64_t> own;
    for (auto [axis, result] : llvm::enumerate(use.axes))
      if (result >= 0)
        own.push_back(axis);
    if (channels && *channels != own)
      return std::nullopt;
    channels = own;
  }
  return channels;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static float elementAt(ArrayRef<char> data, int64_t i) {
  float value;
  memcpy(&value, data.data() + i * int64_t(sizeof(value)), sizeof(value));
  return value;
}

/// The number of the channel of each element, in the order of the elements.
static void forEachChannel(ArrayRef<int64_t> shape, ArrayRef<int64_t> channels,
                           llvm::function_ref<void(int64_t, int64_t)> visit) {
  SmallVector<int64_t> strides(shape.size(), 0), at(shape.size(), 0);
  int64_t count = 1;
  for (int64_t axis : llvm::reverse(channels)) {
    strides[axis] = count;
    count *= shape[axis];
  }
  int64_t elements = ShapedType::getNumElements(shape), channel = 0;
  for (int64_t i = 0; i < elements; ++i) {
    visit(i, channel);
    for (size_t axis = shape.size(); axis-- > 0;) {
      channel += strides[axis];
      if (++at[axis] < shape[axis])
        break;
      channel -= strides[axis] * shape[axis];
      at[axis] = 0;
    }
  }
}

/// Null if an element is not finite.
static ElementsAttr storeBytes(const Weights &weights, ArrayRef<int64_t> channels,
                               SmallVectorImpl<float> &scales) {
  ArrayRef<int64_t> shape = weights.type().getShape();
  int64_t count = 1;
  for (int64_t axis : channels)
    count *= shape[axis];
  scales.assign(count, 0);
  auto stored = weights.type().clone(IntegerType::get(weights.type().getContext(), 8));
  ElementsAttr bytes =
      rewriteElements(weights.elements(), stored, [&](ArrayRef<char> from, char *to) {
        forEachChannel(shape, channels, [&](int64_t i, int64_t channel) {
          float size = std::abs(elementAt(from, i));
          scales[channel] = std::isnan(size) ? size : std::max(scales[channel], size);
        });
        for (float &scale : scales)
          scale = scale > 0 ? scale / 127 : scale == 0 ? 1 : scale;
        forEachChannel(shape, channels, [&](int64_t i, int64_t channel) {
          float level = std::nearbyint(elementAt(from, i) / scales[channel]);
          to[i] = static_cast<char>(std::clamp(std::isnan(level) ? 0 : level, -127.f, 127.f));
        });
      });
  return llvm::all_of(scales, [](float s) { return std::isfinite(s); }) ? bytes : ElementsAttr();
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// The scales of `channels` as a tensor that is broadcast to a result of some rank: `axes` are
/// those of the result for the axes of the weights.
static Value scaleOf(OpBuilder &b, Location loc, const Weights &weights, ArrayRef<int64_t> channels,
                     ArrayRef<int64_t> axes, int64_t rank, ArrayRef<float> scales) {
  SmallVector<int64_t> shape(rank, 1), strides(rank, 0);
  int64_t stride = 1;
  for (int64_t axis : llvm::reverse(channels)) {
    shape[axes[axis]] = weights.type().getDimSize(axis);
    strides[axes[axis]] = stride;
    stride *= weights.type().getDimSize(axis);
  }
  SmallVector<float> ordered;
  SmallVector<int64_t> at(rank, 0);
  for (size_t i = 0; i < scales.size(); ++i) {
    int64_t from = 0;
    for (int64_t axis = 0; axis < rank; ++axis)
      from += at[axis] * strides[axis];
    ordered.push_back(scales[from]);
    for (int64_t axis = rank; axis-- > 0 && ++at[axis] == shape[axis];)
      at[axis] = 0;
  }
  auto type = RankedTensorType::get(shape, b.getF32Type());
  return ConstantOp::create(b, loc, DenseElementsAttr::get(type, ArrayRef(ordered)));
}

/// The rows that a gather takes of stored weights, as f32.
static Value gatherRows(OpBuilder &b, GatherOp gather, Value stored, ArrayRef<float> scales) {
  Location loc = gather.getLoc();
  Value rows = GatherOp::create(b, loc, stored, gather.getIndices(), gather.getAxisAttr(),
                                gather.getOutsideAttr());
  rows = CastOp::create(b, loc, rows, b.getF32Type());
  if (scales.empty())
    return rows;
  auto type = RankedTensorType::get({int64_t(scales.size())}, b.getF32Type());
  Value all = ConstantOp::create(b, loc, DenseElementsAttr::get(type, scales));
  Value own = GatherOp::create(b, loc, all, gather.getIndices());
  Shape shape = shapeOf(own.getType());
  shape.resize(shapeOf(rows.getType()).size(), DimExpr(1));
  return MulOp::create(b, loc, rows, reshapeTo(b, own, shape));
}

/// Lets all uses read the stored numbers. There are scales if these are bytes.
static void replace(Weights &weights, ElementsAttr elements, ArrayRef<int64_t> channels,
                    ArrayRef<float> scales) {
  OpBuilder at(weights.constant);
  Value stored = ConstantOp::create(at, weights.constant.getLoc(), elements);
  copyPlacement(weights.constant, stored.getDefiningOp());
  for (Use &use : weights.uses) {
    Operation *user = use.operand->getOwner();
    PlacementListener listener(user);
    OpBuilder b(user, &listener);
    if (auto gather = dyn_cast<GatherOp>(user)) {
      gather.replaceAllUsesWith(gatherRows(b, gather, stored, scales));
      gather.erase();
      continue;
    }
    // Next to its reader, also in a loop: the product converts what it reads.
    IRMapping mapping;
    mapping.map(weights.constant.getResult(),
                CastOp::create(b, user->getLoc(), stored, b.getF32Type()).getResult());
    Value factor = use.operand->get();
    SmallVector<Operation *> views;
    for (Value v = factor; v != weights.constant.getResult(); v = v.getDefiningOp()->getOperand(0))
      views.push_back(v.getDefiningOp());
    for (Operation *view : llvm::reverse(views))
      b.clone(*view, mapping);
    use.operand->set(mapping.lookup(factor));
    if (scales.empty())
      continue;
    b.setInsertionPointAfter(user);
    Value product = user->getResult(0);
    int64_t rank = cast<RankedTensorType>(product.getType()).getRank();
    Value scale = scaleOf(b, user->getLoc(), weights, channels, use.axes, rank, scales);
    auto scaled = MulOp::create(b, user->getLoc(), product, scale);
    product.replaceAllUsesExcept(scaled, scaled);
  }
  for (Operation *user : llvm::make_early_inc_range(weights.constant->getUsers()))
    if (isOpTriviallyDead(user))
      user->erase();
}

/// Constants that are read in another shape alone have this shape.
static ConstantOp withShapeOfReaders(ConstantOp constant) {
  auto reshape = constant->use_empty() ? ReshapeOp() : dyn_cast<ReshapeOp>(*constant->user_begin());
  auto type = reshape ? dyn_cast<RankedTensorType>(reshape.getType()) : RankedTensorType();
  auto isAlike = [&](Operation *user) {
    return isa<ReshapeOp>(user) && user->getResult(0).getType() == type;
  };
  if (!type || !type.hasStaticShape() || !llvm::all_of(constant->getUsers(), isAlike))
    return constant;
  ElementsAttr elements;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(constant.getValue()))
    elements = DenseResourceElementsAttr::get(type, resource.getRawHandle());
  else if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue()))
    elements = dense.reshape(type);
  else
    return constant;
  OpBuilder b(constant);
  auto reshaped = ConstantOp::create(b, constant.getLoc(), elements);
  copyPlacement(constant, reshaped);
  for (Operation *user : llvm::to_vector(constant->getUsers())) {
    user->replaceAllUsesWith(reshaped);
    user->erase();
  }
  constant.erase();
  return reshaped;
}

namespace {
struct StoreWeightsPass : tfc::impl::StoreWeightsBase<StoreWeightsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<ConstantOp> constants;
    getOperation().walk([&](ConstantOp op) { constants.push_back(op); });
    for (ConstantOp constant : constants)
      if (std::optional<Weights> weights = Weights::match(withShapeOfReaders(constant)))
        store(*weights);
  }

private:
  void store(Weights &weights) {
    SmallVector<float> scales;
    if (std::optional<SmallVector<int64_t>> channels = weights.channelAxes(); bytes && channels)
      if (ElementsAttr elements = storeBytes(weights, *channels, scales))
        return replace(weights, elements, *channels, scales);
    if (ElementsAttr elements = roundToBfloat(weights.elements()))
      replace(weights, elements, {}, {});
  }
};
} // namespace
