// The axes of products with constant weights, and numbers for their channels.

#include "compiler/simplify/QuantizedProduct.h"
#include "dialects/dfg/ConvolutionOps.h"
#include "dialects/dfg/Labels.h"
#include <cmath>

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;

std::optional<Product> Product::match(Operation *op, unsigned weightsOperand) {
  Product product{op, weightsOperand, {}};
  auto rankOf = [](Value value) { return cast<RankedTensorType>(value.getType()).getRank(); };
  int64_t resultRank = rankOf(op->getResult(0)), rank = rankOf(op->getOperand(weightsOperand));
  if (auto contract = dyn_cast<ContractOp>(op)) {
    Einsum einsum;
    (void)readEinsum(std::nullopt, "contract", contract.getLabels(), op->getOperandTypes(),
                     /*takesDiagonals=*/false, einsum);
    for (const std::string &name : einsum.inputs[weightsOperand]) {
      const auto *it = llvm::find(einsum.output, name);
      product.axes.push_back(it == einsum.output.end() ? -1 : it - einsum.output.begin());
    }
    if (!einsum.output.empty())
      product.isMatrix =
          llvm::is_contained(product.axes, resultRank - 1) &&
          !llvm::is_contained(einsum.inputs[1 - weightsOperand], einsum.output.back());
    return product;
  }
  auto matmul = dyn_cast<MatmulOp>(op);
  if (!matmul || weightsOperand != 1)
    return std::nullopt;
  for (int64_t i = 0; i < rank; ++i)
    product.axes.push_back(resultRank - rank + i);
  bool isTransposed = matmul.getTransposeRhs();
  product.axes[isTransposed ? rank - 1 : rank - 2] = -1;
  product.axes[isTransposed ? rank - 2 : rank - 1] = resultRank - 1;
  product.isMatrix = true;
  return product;
}

std::optional<Channels> Channels::of(const Product &product, const QuantizedWeights &weights) {
  auto type = cast<RankedTensorType>(product.op->getOperand(product.weightsOperand).getType());
  auto resultType = cast<RankedTensorType>(product.op->getResult(0).getType());
  Channels channels;
  channels.shape.assign(resultType.getRank(), 1);
  for (auto [axis, result] : llvm::enumerate(product.axes))
    if (result >= 0)
      channels.shape[result] = type.getDimSize(axis);
  SmallVector<int64_t> strides(resultType.getRank(), 1);
  for (int64_t i = resultType.getRank(); i-- > 1;)
    strides[i - 1] = strides[i] * channels.shape[i];
  int64_t count = ShapedType::getNumElements(channels.shape);
  channels.sums.assign(count, 0);
  channels.magnitudes.assign(count, 0);
  channels.scales.assign(count, 0);
  SmallVector<int64_t> at(type.getRank(), 0);
  int64_t channel = 0;
  for (size_t i = 0; i < weights.elements.size(); ++i) {
    int64_t element = weights.elements[i];
    channels.sums[channel] += element;
    channels.magnitudes[channel] += std::abs(element);
    float &scale = channels.scales[channel];
    if (scale != 0 && scale != weights.scales[i])
      return std::nullopt;
    scale = weights.scales[i];
    for (int64_t axis = type.getRank(); axis-- > 0;) {
      int64_t step = product.axes[axis] < 0 ? 0 : strides[product.axes[axis]];
      channel += step;
      if (++at[axis] < type.getDimSize(axis))
        break;
      channel -= step * type.getDimSize(axis);
      at[axis] = 0;
    }
  }
  return channels;
}

template <typename T>
Value tfc::channelConstant(OpBuilder &b, Location loc, ArrayRef<int64_t> shape, Type element,
                           const std::vector<T> &numbers) {
  auto type = RankedTensorType::get(shape, element);
  if (element.isF32()) {
    SmallVector<float> floats(numbers.begin(), numbers.end());
    return ConstantOp::create(b, loc, DenseElementsAttr::get(type, ArrayRef(floats)));
  }
  SmallVector<int32_t> integers(numbers.begin(), numbers.end());
  return ConstantOp::create(b, loc, DenseElementsAttr::get(type, ArrayRef(integers)));
}

template Value tfc::channelConstant(OpBuilder &, Location, ArrayRef<int64_t>, Type,
                                    const std::vector<float> &);
template Value tfc::channelConstant(OpBuilder &, Location, ArrayRef<int64_t>, Type,
                                    const std::vector<int64_t> &);

Value tfc::weightsConstant(OpBuilder &b, Location loc, RankedTensorType type,
                           ArrayRef<int32_t> elements, bool isFloat) {
  if (isFloat) {
    SmallVector<float> floats(elements.begin(), elements.end());
    auto floatType = RankedTensorType::get(type.getShape(), b.getF32Type());
    return ConstantOp::create(b, loc, DenseElementsAttr::get(floatType, ArrayRef(floats)));
  }
  SmallVector<int8_t> bytes(elements.begin(), elements.end());
  auto byteType = RankedTensorType::get(type.getShape(), b.getI8Type());
  return ConstantOp::create(b, loc, DenseElementsAttr::get(byteType, ArrayRef(bytes)));
}

std::optional<std::vector<int64_t>> tfc::levelsOf(ArrayRef<float> bias, ArrayRef<float> scales) {
  std::vector<int64_t> levels;
  for (auto [number, scale] : llvm::zip_equal(bias, scales)) {
    double level = double(number) / double(scale), nearest = std::nearbyint(level);
    if (!(std::abs(level - nearest) <= std::abs(nearest) * 0x1p-22) ||
        std::abs(nearest) > double(1 << 30))
      return std::nullopt;
    levels.push_back(int64_t(nearest));
  }
  return levels;
}
