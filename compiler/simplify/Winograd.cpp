//===- Winograd.cpp - Convolutions with fewer multiplications -------------===//
//
// Computes convolutions of 3 x 3 taps by F(4 x 4, 3 x 3): tiles of 6 x 6 elements and the weights
// are transformed, multiplied element by element, and summed over channels, which is a product of
// matrices for each of the 36 elements; the transposed transform makes 4 x 4 results of a tile.
// That takes a quarter of the multiplications (Lavin and Gray, "Fast algorithms for convolutional
// neural networks", 2016).
//
//===----------------------------------------------------------------------===//

#include "compiler/simplify/Passes.h"
#include "dialects/dfg/Build.h"
#include "dialects/dfg/ConvolutionOps.h"
#include "dialects/dfg/Devices.h"
#include "dialects/dfg/ElementData.h"
#include "dialects/dfg/WindowOps.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc {
#define GEN_PASS_DEF_WINOGRADCONVOLUTIONS
#include "compiler/simplify/Passes.h.inc"
} // namespace tfc

static constexpr int64_t kTaps = 3, kResults = 4, kTile = kTaps + kResults - 1;

// The matrices for the points 0, 1, -1, 2, -2 and infinity.
static constexpr float kOfElements[kTile][kTile] = {{4, 0, -5, 0, 1, 0},  {0, -4, -4, 1, 1, 0},
                                                    {0, 4, -4, -1, 1, 0}, {0, -2, -1, 2, 1, 0},
                                                    {0, 2, -1, -2, 1, 0}, {0, 4, 0, -5, 0, 1}};
static constexpr double kOfTaps[kTile][kTaps] = {{1. / 4, 0, 0},
                                                 {-1. / 6, -1. / 6, -1. / 6},
                                                 {-1. / 6, 1. / 6, -1. / 6},
                                                 {1. / 24, 1. / 12, 1. / 6},
                                                 {1. / 24, -1. / 12, 1. / 6},
                                                 {0, 0, 1}};
static constexpr float kOfResults[kResults][kTile] = {
    {1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}};

/// With fewer channels or features the transforms take longer than they save, and with fewer tiles
/// reading the weights does, of which there are four times as many.
static constexpr int64_t kLeastChannels = 32, kLeastTiles = 9;
/// The most bytes of transformed elements and products: more are in no cache.
static constexpr int64_t kMostBytes = int64_t(20) << 20;

namespace {
/// A convolution that can be computed in this way.
struct Convolution {
  WindowsOp windows;
  ConstantOp weights;
  Value image;                  // without zeros around it
  int64_t low[2] = {};          // zeros before its rows and columns
  int64_t count, rows, columns; // images, and results in each
  int64_t channels, features;

  static std::optional<Convolution> match(ContractOp op);
  int64_t tileRows() const { return llvm::divideCeil(rows, kResults); }
  int64_t tileColumns() const { return llvm::divideCeil(columns, kResults); }
  bool isWorthIt() const;
};
} // namespace

static bool areAll(std::optional<ArrayRef<int64_t>> numbers, int64_t wanted) {
  return !numbers || llvm::all_of(*numbers, [&](int64_t n) { return n == wanted; });
}

static bool isOnCpu(Operation *op) {
  auto device = op->getAttrOfType<DeviceAttr>(kDeviceAttr);
  return !device || device.getDevice().kind == "cpu";
}

std::optional<Convolution> Convolution::match(ContractOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  Convolution c;
  c.windows = op.getLhs().getDefiningOp<WindowsOp>();
  c.weights = op.getRhs().getDefiningOp<ConstantOp>();
  if (op.getLabels() != "n o0 o1 k0 k1 c, k0 k1 c f -> n o0 o1 f" || !c.windows || !c.weights ||
      !type.hasStaticShape() || !type.getElementType().isF32() || !isOnCpu(op))
    return std::nullopt;
  for (const DimExpr &size : c.windows.getSize().getExprs())
    if (!size.isConstant(kTaps))
      return std::nullopt;
  if (!areAll(c.windows.getStride(), 1) || !areAll(c.windows.getDilation(), 1) ||
      !c.windows.getValue().isZero())
    return std::nullopt;
  c.image = c.windows.getX();
  auto addLow = [&](ArrayRef<DimExpr> starts, unsigned first) {
    for (unsigned axis : {0u, 1u}) {
      std::optional<int64_t> start = starts[first + axis].constant();
      if (!start || *start < 0)
        return false;
      c.low[axis] += *start;
    }
    return true;
  };
  if (auto low = c.windows.getLow(); low && !addLow(low->getExprs(), 0))
    return std::nullopt;
  // Zeros around the image, which become those around tiles.
  auto place = c.image.getDefiningOp<PlaceOp>();
  if (place && areAll(place.getSteps(), 1) && place.getValue().isZero()) {
    SmallVector<DimExpr> starts = place.getStarts().getExprs();
    if (starts.size() == 4 && starts[0].isConstant(0) && starts[3].isConstant(0) &&
        addLow(starts, 1))
      c.image = place.getX();
  }
  ArrayRef<int64_t> result = type.getShape();
  c.count = result[0];
  c.rows = result[1];
  c.columns = result[2];
  c.features = result[3];
  c.channels = cast<RankedTensorType>(op.getRhs().getType()).getDimSize(2);
  return cast<RankedTensorType>(c.image.getType()).hasStaticShape() && c.isWorthIt()
             ? std::optional(c)
             : std::nullopt;
}

bool Convolution::isWorthIt() const {
  int64_t tiles = count * tileRows() * tileColumns();
  int64_t bytes = kTile * kTile * tiles * (channels + features) * int64_t(sizeof(float));
  return channels >= kLeastChannels && features >= kLeastChannels && tiles >= kLeastTiles &&
         bytes <= kMostBytes;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// Element (p, q) of the transform of the taps of one channel and feature, which are `stride`
/// apart.
static double transformed(const char *taps, int64_t stride, int64_t p, int64_t q) {
  double sum = 0;
  for (int64_t a = 0; a < kTaps; ++a)
    for (int64_t b = 0; b < kTaps; ++b) {
      float tap;
      memcpy(&tap, taps + (a * kTaps + b) * stride, sizeof(tap));
      sum += kOfTaps[p][a] * kOfTaps[q][b] * static_cast<double>(tap);
    }
  return sum;
}

/// The weights as [6, 6, channels, features].
static ElementsAttr transformWeights(Convolution &c) {
  int64_t matrix = c.channels * c.features, stride = matrix * int64_t(sizeof(float));
  auto type = RankedTensorType::get({kTile, kTile, c.channels, c.features},
                                    elementTypeOf(c.weights.getType()));
  return rewriteElements(c.weights.getValue(), type, [&](ArrayRef<char> from, char *to) {
    for (int64_t p = 0; p < kTile; ++p)
      for (int64_t q = 0; q < kTile; ++q)
        for (int64_t i = 0; i < matrix; ++i, to += sizeof(float)) {
          const char *taps = from.data() + i * int64_t(sizeof(float));
          auto element = static_cast<float>(transformed(taps, stride, p, q));
          memcpy(to, &element, sizeof(element));
        }
  });
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

static Value matrixOf(OpBuilder &b, Location loc, const float *elements, int64_t rows) {
  auto type = RankedTensorType::get({rows, kTile}, b.getF32Type());
  ArrayRef<float> all(elements, rows * kTile);
  return ConstantOp::create(b, loc, DenseElementsAttr::get(type, all));
}

static void replace(ContractOp op, const Convolution &c, ElementsAttr weights) {
  PlacementListener listener(op);
  OpBuilder b(op, &listener);
  Location loc = op.getLoc();
  int64_t rows = c.tileRows(), columns = c.tileColumns();
  auto dims = [&](ArrayRef<int64_t> sizes) {
    return DimsAttr::get(b.getContext(), llvm::to_vector_of<DimExpr>(sizes));
  };
  auto contract = [&](Value lhs, Value rhs, StringRef labels) -> Value {
    return ContractOp::create(b, loc, lhs, rhs, b.getStringAttr(labels));
  };
  Value elements = matrixOf(b, loc, &kOfElements[0][0], kTile);
  Value results = matrixOf(b, loc, &kOfResults[0][0], kResults);
  FloatAttr zero = b.getF64FloatAttr(0);
  DimsAttr padded =
      dims({c.count, kResults * rows + kTaps - 1, kResults * columns + kTaps - 1, c.channels});
  Value image = PlaceOp::create(b, loc, c.image, dims({0, c.low[0], c.low[1], 0}), padded,
                                DenseI64ArrayAttr(), zero);
  Value tiles = WindowsOp::create(
      b, loc, image, dims({kTile, kTile}), b.getDenseI64ArrayAttr({kResults, kResults}),
      b.getDenseI64ArrayAttr({1, 1}), dims({rows, columns}), DimsAttr(), zero);
  Value half = contract(elements, tiles, "p a, n i j a b c -> n i j p b c");
  Value factors = contract(elements, half, "q b, n i j p b c -> p q n i j c");
  Value kernel = ConstantOp::create(b, loc, weights);
  Value products = contract(factors, kernel, "p q n i j c, p q c f -> p q n i j f");
  half = contract(results, products, "s q, p q n i j f -> p n i j s f");
  Value sums = contract(results, half, "r p, p n i j s f -> n i r j s f");
  Value all = reshapeTo(
      b, sums, dims({c.count, kResults * rows, kResults * columns, c.features}).getExprs());
  if (all.getType() != op.getType())
    all = SliceOp::create(b, loc, all, dims({0, 0, 0, 0}),
                          dims({c.count, c.rows, c.columns, c.features}), DenseI64ArrayAttr());
  op.replaceAllUsesWith(all);
  op.erase();
}

namespace {
struct WinogradConvolutionsPass : tfc::impl::WinogradConvolutionsBase<WinogradConvolutionsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<ContractOp> products;
    getOperation().walk([&](ContractOp op) { products.push_back(op); });
    for (ContractOp op : products)
      if (std::optional<Convolution> c = Convolution::match(op))
        if (ElementsAttr weights = transformWeights(*c))
          replace(op, *c, weights);
  }
};
} // namespace
