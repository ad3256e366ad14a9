//===- WinogradVariables.cpp - Trained convolutions, with fewer products --===//
//
// Computes convolutions whose weights change from call to call, and the gradients of weights, by
// Winograd's algorithm (Lavin and Gray, "Fast algorithms for convolutional neural networks", 2016).
// With d, a tile of an image, w, the taps, and y, the results of the tile, the algorithm is
// y = A' ((G w G') * (B' d B)) A, where ' is a transpose and * multiplies element by element, so
// the gradient of w is G' ((A dy A') * (B' d B)) G. The elements are summed over channels, or over
// tiles, by a product of matrices for each of them. compiler/cpu/WinogradEmitter.cpp has constant
// weights, which it transforms at compile time.
//
//===----------------------------------------------------------------------===//

#include "compiler/simplify/OnCpu.h"
#include "compiler/simplify/Passes.h"
#include "dialects/dfg/Build.h"
#include "dialects/dfg/ConvolutionOps.h"
#include "dialects/dfg/Devices.h"
#include "dialects/dfg/WindowOps.h"
#include "dialects/dfg/WinogradMatrices.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;

namespace tfc {
#define GEN_PASS_DEF_WINOGRADVARIABLES
#include "compiler/simplify/Passes.h.inc"
} // namespace tfc

/// The results of a tile along an axis.
static constexpr int64_t kResults = 4;

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

namespace {
/// A product over the windows of an image.
struct Convolution {
  ContractOp op;
  bool isOfWeights; // the gradient of the weights
  Value image;      // without zeros around it
  int64_t taps;
  int64_t low[2] = {};          // zeros before its rows and columns
  int64_t count, rows, columns; // images, and windows in each
  int64_t channels, features;

  static std::optional<Convolution> match(ContractOp op);
  int64_t tileRows() const { return llvm::divideCeil(rows, kResults); }
  int64_t tileColumns() const { return llvm::divideCeil(columns, kResults); }
  bool isWorthIt() const;

private:
  bool readWindows(WindowsOp windows);
};
} // namespace

static bool areAll(std::optional<ArrayRef<int64_t>> numbers, int64_t wanted) {
  return !numbers || llvm::all_of(*numbers, [&](int64_t n) { return n == wanted; });
}

/// Finds the image and the zeros around it; returns false if the windows are not those of the
/// algorithm.
bool Convolution::readWindows(WindowsOp windows) {
  auto type = cast<RankedTensorType>(windows.getType());
  if (!type.hasStaticShape() || type.getRank() != 6 || !type.getElementType().isF32() ||
      !areAll(windows.getStride(), 1) || !areAll(windows.getDilation(), 1) ||
      !windows.getValue().isZero())
    return false;
  ArrayRef<int64_t> shape = type.getShape();
  count = shape[0], rows = shape[1], columns = shape[2], taps = shape[3], channels = shape[5];
  if (shape[4] != taps || (taps != 3 && taps != 5))
    return false;
  auto addLow = [&](ArrayRef<DimExpr> starts, unsigned first) {
    for (unsigned axis : {0u, 1u}) {
      std::optional<int64_t> start = starts[first + axis].constant();
      if (!start || *start < 0)
        return false;
      low[axis] += *start;
    }
    return true;
  };
  image = windows.getX();
  if (auto inside = windows.getLow(); inside && !addLow(inside->getExprs(), 0))
    return false;
  auto place = image.getDefiningOp<PlaceOp>();
  if (place && areAll(place.getSteps(), 1) && place.getValue().isZero()) {
    SmallVector<DimExpr> starts = place.getStarts().getExprs();
    if (starts.size() == 4 && starts[0].isConstant(0) && starts[3].isConstant(0) &&
        addLow(starts, 1))
      image = place.getX();
  }
  return cast<RankedTensorType>(image.getType()).hasStaticShape();
}

std::optional<Convolution> Convolution::match(ContractOp op) {
  StringRef labels = op.getLabels();
  Convolution c;
  c.op = op;
  c.isOfWeights = labels == "n o0 o1 k0 k1 c, n o0 o1 f -> k0 k1 c f";
  if (!c.isOfWeights && labels != "n o0 o1 k0 k1 c, k0 k1 c f -> n o0 o1 f" &&
      labels != "n o0 o1 k0 k1 f, k0 k1 f c -> n o0 o1 c")
    return std::nullopt;
  auto windows = op.getLhs().getDefiningOp<WindowsOp>();
  if (!windows || !isOnCpu(op) || op.getRhs().getDefiningOp<ConstantOp>() ||
      !c.readWindows(windows))
    return std::nullopt;
  c.features = cast<RankedTensorType>(op.getType()).getShape().back();
  return c.isWorthIt() ? std::optional(c) : std::nullopt;
}

/// Multiply-adds in the time in which a transformed element is computed, written and read.
static constexpr int64_t kElementCost = 32;

/// Compares the time that multiplications take with that of the transforms.
bool Convolution::isWorthIt() const {
  int64_t tile = taps + kResults - 1, matrix = channels * features;
  int64_t tiles = count * tileRows() * tileColumns();
  int64_t products = tile * tile * tiles * matrix;
  int64_t transforms = kElementCost * tile * tile * (tiles * (channels + features) + matrix);
  return products + transforms < count * rows * columns * taps * taps * matrix;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

namespace {
/// Creates the operations that replace a convolution.
class Replacement {
public:
  explicit Replacement(Convolution c)
      : c(c), transforms(c.taps, kResults), listener(c.op), b(c.op, &listener), loc(c.op.getLoc()),
        rows(c.tileRows()), columns(c.tileColumns()) {}

  Value build();

private:
  int64_t imagesOfBlock() const;
  Value results(Value image, Value weights);
  Value products(Value image, Value gradient);
  Value inBlocks(int64_t blocks, Value init, ValueRange tensors,
                 function_ref<Value(Value, ValueRange)> step);
  Value tilesOf(Value image, ArrayRef<int64_t> low, int64_t size);
  Value elements(Value image);
  Value matrix(ArrayRef<double> elements, int64_t columns);

  DimsAttr dims(ArrayRef<int64_t> sizes) {
    return DimsAttr::get(b.getContext(), llvm::to_vector_of<DimExpr>(sizes));
  }
  Value contract(Value lhs, Value rhs, StringRef labels) {
    return ContractOp::create(b, loc, lhs, rhs, b.getStringAttr(labels));
  }

  Convolution c;
  WinogradMatrices transforms;
  PlacementListener listener;
  OpBuilder b;
  Location loc;
  int64_t rows, columns;
};
} // namespace

/// The factors with which both axes of a tile are multiplied: element (r, s, a, b) is that of the
/// matrix at (r, a) times that at (s, b).
Value Replacement::matrix(ArrayRef<double> elements, int64_t columns) {
  int64_t rows = int64_t(elements.size()) / columns;
  SmallVector<float> products;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t s = 0; s < rows; ++s)
      for (int64_t a = 0; a < columns; ++a)
        for (int64_t b = 0; b < columns; ++b)
          products.push_back(float(elements[r * columns + a]) * float(elements[s * columns + b]));
  auto type = RankedTensorType::get({rows, rows, columns, columns}, b.getF32Type());
  return ConstantOp::create(b, loc, DenseElementsAttr::get(type, ArrayRef(products)));
}

/// The tiles of `size` x `size` elements of an image, as far apart as their results.
Value Replacement::tilesOf(Value image, ArrayRef<int64_t> low, int64_t size) {
  int64_t overlap = size - kResults;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(image.getType()).getShape();
  FloatAttr zero = b.getF64FloatAttr(0);
  DimsAttr padded =
      dims({shape[0], kResults * rows + overlap, kResults * columns + overlap, shape[3]});
  image = PlaceOp::create(b, loc, image, dims({0, low[0], low[1], 0}), padded, DenseI64ArrayAttr(),
                          zero);
  return WindowsOp::create(b, loc, image, dims({size, size}),
                           b.getDenseI64ArrayAttr({kResults, kResults}),
                           b.getDenseI64ArrayAttr({1, 1}), dims({rows, columns}), DimsAttr(), zero);
}

/// B' d B.
Value Replacement::elements(Value image) {
  Value tiles = tilesOf(image, c.low, transforms.size);
  return contract(matrix(transforms.ofElements, transforms.size), tiles,
                  "p q a b, n i j a b c -> p q n i j c");
}

/// The results of some images, for transformed weights.
Value Replacement::results(Value image, Value weights) {
  int64_t count = cast<RankedTensorType>(image.getType()).getDimSize(0);
  Value products = contract(elements(image), weights, "p q n i j c, p q c f -> p q n i j f");
  Value sums = contract(matrix(transforms.ofResults, transforms.size), products,
                        "r s p q, p q n i j f -> n i r j s f");
  Value all =
      reshapeTo(b, sums, dims({count, kResults * rows, kResults * columns, c.features}).getExprs());
  if (c.rows == kResults * rows && c.columns == kResults * columns)
    return all;
  return SliceOp::create(b, loc, all, dims({0, 0, 0, 0}),
                         dims({count, c.rows, c.columns, c.features}), DenseI64ArrayAttr());
}

/// The gradient of the transformed weights that some images contribute.
Value Replacement::products(Value image, Value gradient) {
  Value results =
      contract(matrix(transforms.ofResults, transforms.size), tilesOf(gradient, {0, 0}, kResults),
               "r s p q, n i j r s f -> p q n i j f");
  return contract(elements(image), results, "p q n i j c, p q n i j f -> p q c f");
}

/// Divides tensors along their first axis, and calls `step` with a value that a loop carries and
/// the blocks of an iteration. Returns the last value.
Value Replacement::inBlocks(int64_t blocks, Value init, ValueRange tensors,
                            function_ref<Value(Value, ValueRange)> step) {
  SmallVector<Value> lists;
  for (Value tensor : tensors) {
    SmallVector<int64_t> shape(cast<RankedTensorType>(tensor.getType()).getShape());
    shape.front() /= blocks;
    shape.insert(shape.begin(), blocks);
    lists.push_back(ListUnstackOp::create(b, loc, reshapeTo(b, tensor, dims(shape).getExprs())));
  }
  Value zero = scalar(b, loc, b.getI32Type(), 0);
  auto loop = WhileOp::create(b, loc, ValueRange{zero, init});
  loop.setTripsAttr(dims({blocks}));
  if (Attribute device = c.op->getAttr(kDeviceAttr))
    loop->setAttr(kHomesAttr, b.getArrayAttr({device, device}));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(&loop.getConditionBlock());
  Value count = scalar(b, loc, b.getI32Type(), double(blocks));
  ConditionOp::create(b, loc,
                      LessOp::create(b, loc, loop.getConditionBlock().getArgument(0), count));
  b.setInsertionPointToEnd(&loop.getBodyBlock());
  Value number = loop.getBodyBlock().getArgument(0);
  SmallVector<Value> parts{number};
  for (Value list : lists)
    parts.push_back(ListReadOp::create(b, loc, list, number));
  Value next = step(loop.getBodyBlock().getArgument(1), parts);
  YieldOp::create(b, loc,
                  ValueRange{AddOp::create(b, loc, number, scalarLike(b, number, 1)), next});
  return loop.getResult(1);
}

/// The bytes of transformed elements and products of a block, so that they stay in a cache.
static constexpr int64_t kBlockBytes = int64_t(1) << 20;
/// A block has at least so many times the bytes of transformed weights, which each block reads, or
/// to which it adds.
static constexpr int64_t kReuse = 2;

/// Chooses how many images a block has, a divisor of their number.
int64_t Replacement::imagesOfBlock() const {
  int64_t tiles = rows * columns, lines = c.channels + c.features;
  int64_t bytes = transforms.size * transforms.size * tiles * lines * int64_t(sizeof(float));
  int64_t reused = llvm::divideCeil(kReuse * c.channels * c.features, lines * tiles);
  int64_t images = std::clamp<int64_t>(std::max(kBlockBytes / bytes, reused), 1, c.count);
  while (c.count % images)
    --images;
  return images;
}

Value Replacement::build() {
  int64_t tile = transforms.size, images = imagesOfBlock();
  int64_t blocks = c.count / images;
  Value ofTaps = matrix(transforms.ofTaps, c.taps), other = c.op.getRhs();
  if (!c.isOfWeights) {
    Value weights = contract(ofTaps, other, "p q k l, k l c f -> p q c f");
    if (blocks == 1)
      return results(c.image, weights);
    Value list = ListCreateOp::create(b, loc, scalar(b, loc, b.getI32Type(), double(blocks)),
                                      dims({images, c.rows, c.columns, c.features}), TypeAttr());
    list = inBlocks(blocks, list, c.image, [&](Value carried, ValueRange parts) -> Value {
      return ListWriteOp::create(b, loc, carried, parts[0], results(parts[1], weights));
    });
    Value stacked = ListStackOp::create(b, loc, list, dims({blocks}), UnitAttr());
    return reshapeTo(b, stacked, dims({c.count, c.rows, c.columns, c.features}).getExprs());
  }
  Value sums;
  if (blocks == 1) {
    sums = products(c.image, other);
  } else {
    auto type = RankedTensorType::get({tile, tile, c.channels, c.features}, b.getF32Type());
    sums = inBlocks(blocks, filled(b, loc, type, 0), {c.image, other},
                    [&](Value carried, ValueRange parts) -> Value {
                      return AddOp::create(b, loc, carried, products(parts[1], parts[2]));
                    });
  }
  return contract(ofTaps, sums, "p q k l, p q c f -> k l c f");
}

namespace {
struct WinogradVariablesPass : tfc::impl::WinogradVariablesBase<WinogradVariablesPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<ContractOp> products;
    getOperation().walk([&](ContractOp op) { products.push_back(op); });
    for (ContractOp op : products)
      if (std::optional<Convolution> c = Convolution::match(op)) {
        op.replaceAllUsesWith(Replacement(*c).build());
        op.erase();
      }
  }
};
} // namespace
