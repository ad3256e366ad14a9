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
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::dfg;

namespace tfc {
#define GEN_PASS_DEF_WINOGRADVARIABLES
#include "compiler/simplify/Passes.h.inc"
} // namespace tfc

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

namespace {
/// An axis of an image; its results are windows.
struct Axis : WinogradAxis {
  int64_t low = 0; // zeros before the image
};

/// A product over the windows of an image.
struct Convolution {
  ContractOp op;
  bool isOfWeights;  // the gradient of the weights
  bool isTransposed; // weights have the features before the channels
  bool isReversed;   // windows are read from their ends
  Value image;       // without zeros around it
  SmallVector<Axis, 2> axes;
  int64_t count; // images
  int64_t channels, features;

  static std::optional<Convolution> match(ContractOp op);
  /// The product of a number of each axis.
  int64_t product(int64_t (*number)(const Axis &)) const {
    int64_t all = 1;
    for (const Axis &axis : axes)
      all *= number(axis);
    return all;
  }
  int64_t tiles() const {
    return product([](const Axis &axis) { return axis.tiles(); });
  }
  int64_t tileElements() const {
    return product([](const Axis &axis) { return axis.tileSize(); });
  }

private:
  bool readLabels();
  bool readWindows(WindowsOp windows);
  bool chooseTiles();
  double cost() const;
};
} // namespace

static bool areAll(std::optional<ArrayRef<int64_t>> numbers, int64_t wanted) {
  return !numbers || llvm::all_of(*numbers, [&](int64_t n) { return n == wanted; });
}

/// Returns names with the number of each axis, separated by blanks.
static std::string perAxis(ArrayRef<char> names, size_t axes) {
  SmallVector<std::string> labels;
  for (size_t axis = 0; axis < axes; ++axis)
    for (char name : names)
      labels.push_back((Twine(name) + Twine(axis)).str());
  return llvm::join(labels, " ");
}

/// Returns false if the product is none over windows.
bool Convolution::readLabels() {
  std::string o = perAxis('o', axes.size()), k = perAxis('k', axes.size());
  StringRef labels = op.getLabels();
  std::string windows = "n " + o + " " + k;
  isOfWeights = !isReversed && labels == windows + " c, n " + o + " f -> " + k + " c f";
  isTransposed = labels == windows + " f, " + k + " c f -> n " + o + " c";
  return isOfWeights || isTransposed || labels == windows + " c, " + k + " c f -> n " + o + " f" ||
         labels == windows + " f, " + k + " f c -> n " + o + " c";
}

/// Returns true if the result holds the whole tensor that is placed in it.
static bool isPlacedWhole(PlaceOp place) {
  ArrayRef<int64_t> from = cast<RankedTensorType>(place.getX().getType()).getShape();
  ArrayRef<int64_t> to = cast<RankedTensorType>(place.getType()).getShape();
  for (auto [start, size, whole] : llvm::zip_equal(place.getStarts().getExprs(), from, to)) {
    std::optional<int64_t> first = start.constant();
    if (!first || ShapedType::isDynamic(size) || ShapedType::isDynamic(whole) ||
        *first + size > whole)
      return false;
  }
  return true;
}

/// Finds the image and the zeros around it; returns false if the windows are not those of the
/// algorithm.
bool Convolution::readWindows(WindowsOp windows) {
  auto type = cast<RankedTensorType>(windows.getType());
  size_t rank = (type.getRank() - 2) / 2;
  if (!type.hasStaticShape() || (type.getRank() != 4 && type.getRank() != 6) ||
      !type.getElementType().isF32() || !areAll(windows.getStride(), 1) ||
      !areAll(windows.getDilation(), 1) || !windows.getValue().isZero())
    return false;
  ArrayRef<int64_t> shape = type.getShape();
  count = shape.front(), channels = shape.back();
  for (size_t axis = 0; axis < rank; ++axis)
    axes.push_back({{shape[1 + axis], shape[1 + rank + axis], /*tileResults=*/0}});
  auto addLow = [&](ArrayRef<DimExpr> starts) {
    for (auto [axis, expr] : llvm::zip_equal(axes, starts)) {
      std::optional<int64_t> start = expr.constant();
      if (!start || *start < 0)
        return false;
      axis.low += *start;
    }
    return true;
  };
  image = windows.getX();
  if (auto inside = windows.getLow(); inside && !addLow(inside->getExprs()))
    return false;
  auto place = image.getDefiningOp<PlaceOp>();
  if (place && areAll(place.getSteps(), 1) && place.getValue().isZero()) {
    SmallVector<DimExpr> starts = place.getStarts().getExprs();
    if (starts.size() == rank + 2 && starts.front().isConstant(0) && starts.back().isConstant(0) &&
        isPlacedWhole(place) && addLow(ArrayRef(starts).drop_front().drop_back()))
      image = place.getX();
  }
  return cast<RankedTensorType>(image.getType()).hasStaticShape();
}

/// Returns true if a slice of windows reverses their taps alone.
static bool reversesTaps(SliceOp slice) {
  auto type = cast<RankedTensorType>(slice.getType());
  SmallVector<DimExpr> starts = slice.getStarts().getExprs();
  std::optional<ArrayRef<int64_t>> steps = slice.getSteps();
  if (!steps || !type.hasStaticShape() || type != slice.getX().getType() || type.getRank() % 2 != 0)
    return false;
  int64_t rank = (type.getRank() - 2) / 2;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    bool isTap = axis > rank && axis <= 2 * rank;
    if ((*steps)[axis] != (isTap ? -1 : 1) ||
        !starts[axis].isConstant(isTap ? type.getDimSize(axis) - 1 : 0))
      return false;
  }
  return true;
}

std::optional<Convolution> Convolution::match(ContractOp op) {
  Convolution c;
  c.op = op;
  auto slice = op.getLhs().getDefiningOp<SliceOp>();
  c.isReversed = slice && reversesTaps(slice);
  auto windows = (c.isReversed ? slice.getX() : op.getLhs()).getDefiningOp<WindowsOp>();
  if (!windows || !isOnCpu(op) || op.getRhs().getDefiningOp<ConstantOp>() ||
      !c.readWindows(windows) || !c.readLabels())
    return std::nullopt;
  c.features = cast<RankedTensorType>(op.getType()).getShape().back();
  return c.chooseTiles() ? std::optional(c) : std::nullopt;
}

/// Multiply-adds in the time in which a transformed element is computed, written and read.
static constexpr double kElementCost = 32;

/// Multiply-adds in the time that the algorithm takes.
double Convolution::cost() const {
  double tiles = double(count * this->tiles()), matrix = double(channels * features);
  double transformed = tiles * double(channels + features) + matrix;
  return double(tileElements()) * (tiles * matrix + kElementCost * transformed);
}

/// Chooses the results of a tile; returns false if the definition is faster.
bool Convolution::chooseTiles() {
  double best = double(count * channels * features) *
                double(product([](const Axis &axis) { return axis.results * axis.taps; }));
  Convolution c = *this;
  bool isFaster = false;
  for (ArrayRef<int64_t> tiling : winogradTilings(llvm::to_vector_of<WinogradAxis>(axes))) {
    for (auto [axis, results] : llvm::zip_equal(c.axes, tiling))
      axis.tileResults = results;
    if (double cost = c.cost(); cost < best) {
      best = cost;
      axes = c.axes;
      isFaster = true;
    }
  }
  return isFaster;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

namespace {
/// Creates the operations that replace a convolution. Labels have a name for each axis: p for the
/// elements of a tile, a for those of an image in it, t for tiles, r for their results, and k for
/// taps.
class Replacement {
public:
  explicit Replacement(Convolution convolution)
      : c(std::move(convolution)), listener(c.op), b(c.op, &listener), loc(c.op.getLoc()) {
    for (const Axis &axis : c.axes)
      transforms.push_back(axis.matrices());
    for (const Axis &axis : c.axes)
      tiles.push_back(axis.tiles());
  }

  Value build();

private:
  int64_t imagesOfBlock() const;
  Value results(Value image, Value weights);
  Value products(Value image, Value gradient);
  Value inBlocks(int64_t blocks, Value init, ValueRange tensors,
                 function_ref<Value(Value, ValueRange)> step);
  enum class Tiles { OfImage, OfResults };
  Value tilesOf(Value image, Tiles kind);
  Value elements(Value image);
  Value matrix(SmallVector<double> WinogradMatrices::*elements, int64_t WinogradMatrices::*columns);

  DimsAttr dims(ArrayRef<int64_t> sizes) {
    return DimsAttr::get(b.getContext(), llvm::to_vector_of<DimExpr>(sizes));
  }
  Value contract(Value lhs, Value rhs, const std::string &labels) {
    return ContractOp::create(b, loc, lhs, rhs, b.getStringAttr(labels));
  }
  std::string label(char name) const { return perAxis({name}, c.axes.size()); }
  /// Returns `first`, a size of each axis, and `last`.
  SmallVector<int64_t> shape(ArrayRef<int64_t> first, int64_t (*size)(const Axis &),
                             ArrayRef<int64_t> last) const {
    SmallVector<int64_t> sizes(first);
    for (const Axis &axis : c.axes)
      sizes.push_back(size(axis));
    sizes.append(last.begin(), last.end());
    return sizes;
  }
  static int64_t resultsOf(const Axis &axis) { return axis.results; }
  static int64_t resultsOfTiles(const Axis &axis) { return axis.tileResults * axis.tiles(); }

  Convolution c;
  SmallVector<WinogradMatrices, 2> transforms;
  SmallVector<int64_t> tiles;
  PlacementListener listener;
  OpBuilder b;
  Location loc;
};
} // namespace

/// The factors with which all axes of a tile are multiplied: of two axes, element (r, s, a, b) is
/// that of the first matrix at (r, a) times that of the second at (s, b). For windows that are read
/// from their ends, the taps are so, too.
Value Replacement::matrix(SmallVector<double> WinogradMatrices::*elements,
                          int64_t WinogradMatrices::*columns) {
  SmallVector<float> products{1};
  SmallVector<int64_t> rowSizes, columnSizes;
  int64_t allColumns = 1;
  for (const WinogradMatrices &transform : transforms) {
    ArrayRef<double> matrix = transform.*elements;
    int64_t width = transform.*columns, height = int64_t(matrix.size()) / width;
    SmallVector<float> next;
    bool isReversed = c.isReversed && columns == &WinogradMatrices::taps;
    for (int64_t row = 0; row < int64_t(products.size()) / allColumns; ++row)
      for (int64_t r = 0; r < height; ++r)
        for (int64_t column = 0; column < allColumns; ++column)
          for (int64_t a = 0; a < width; ++a)
            next.push_back(products[row * allColumns + column] *
                           float(matrix[r * width + (isReversed ? width - 1 - a : a)]));
    products = std::move(next);
    allColumns *= width;
    rowSizes.push_back(height);
    columnSizes.push_back(width);
  }
  llvm::append_range(rowSizes, columnSizes);
  auto type = RankedTensorType::get(rowSizes, b.getF32Type());
  return ConstantOp::create(b, loc, DenseElementsAttr::get(type, ArrayRef(products)));
}

/// The tiles of an image, or of results, as far apart as their results.
Value Replacement::tilesOf(Value image, Tiles kind) {
  int64_t lines = cast<RankedTensorType>(image.getType()).getShape().back();
  int64_t count = cast<RankedTensorType>(image.getType()).getShape().front();
  SmallVector<int64_t> starts{0}, padded{count}, sizes, strides;
  for (const Axis &axis : c.axes) {
    sizes.push_back(kind == Tiles::OfImage ? axis.tileSize() : axis.tileResults);
    starts.push_back(kind == Tiles::OfImage ? axis.low : 0);
    padded.push_back(resultsOfTiles(axis) + sizes.back() - axis.tileResults);
    strides.push_back(axis.tileResults);
  }
  starts.push_back(0);
  padded.push_back(lines);
  FloatAttr zero = b.getF64FloatAttr(0);
  image = PlaceOp::create(b, loc, image, dims(starts), dims(padded), DenseI64ArrayAttr(), zero);
  return WindowsOp::create(b, loc, image, dims(sizes), b.getDenseI64ArrayAttr(strides),
                           b.getDenseI64ArrayAttr(SmallVector<int64_t>(sizes.size(), 1)),
                           dims(tiles), DimsAttr(), zero);
}

/// B' d B.
Value Replacement::elements(Value image) {
  std::string p = label('p'), a = label('a'), t = label('t');
  Value all = tilesOf(image, Tiles::OfImage);
  return contract(matrix(&WinogradMatrices::ofElements, &WinogradMatrices::size), all,
                  p + " " + a + ", n " + t + " " + a + " c -> " + p + " n " + t + " c");
}

/// The results of some images, for transformed weights.
Value Replacement::results(Value image, Value weights) {
  int64_t count = cast<RankedTensorType>(image.getType()).getDimSize(0);
  std::string p = label('p'), t = label('t'), transformed = p + " n " + t;
  Value products = contract(elements(image), weights,
                            transformed + " c, " + p + " c f -> " + transformed + " f");
  Value sums = contract(matrix(&WinogradMatrices::ofResults, &WinogradMatrices::size), products,
                        label('r') + " " + p + ", " + transformed + " f -> n " +
                            perAxis({'t', 'r'}, c.axes.size()) + " f");
  SmallVector<int64_t> whole = shape({count}, resultsOfTiles, {c.features});
  SmallVector<int64_t> wanted = shape({count}, resultsOf, {c.features});
  Value all = reshapeTo(b, sums, dims(whole).getExprs());
  if (whole == wanted)
    return all;
  return SliceOp::create(b, loc, all, dims(SmallVector<int64_t>(whole.size(), 0)), dims(wanted),
                         DenseI64ArrayAttr());
}

/// The gradient of the transformed weights that some images contribute.
Value Replacement::products(Value image, Value gradient) {
  std::string p = label('p'), r = label('r'), t = label('t'), transformed = p + " n " + t;
  Value results = contract(matrix(&WinogradMatrices::ofResults, &WinogradMatrices::size),
                           tilesOf(gradient, Tiles::OfResults),
                           r + " " + p + ", n " + t + " " + r + " f -> " + transformed + " f");
  return contract(elements(image), results,
                  transformed + " c, " + transformed + " f -> " + p + " c f");
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
  int64_t lines = c.channels + c.features;
  int64_t bytes = c.tileElements() * c.tiles() * lines * int64_t(sizeof(float));
  int64_t reused = llvm::divideCeil(kReuse * c.channels * c.features, lines * c.tiles());
  int64_t images = std::clamp<int64_t>(std::max(kBlockBytes / bytes, reused), 1, c.count);
  while (c.count % images)
    --images;
  return images;
}

Value Replacement::build() {
  int64_t images = imagesOfBlock(), blocks = c.count / images;
  std::string p = label('p'), k = label('k');
  Value ofTaps = matrix(&WinogradMatrices::ofTaps, &WinogradMatrices::taps);
  Value other = c.op.getRhs();
  if (!c.isOfWeights) {
    Value weights =
        contract(ofTaps, other,
                 p + " " + k + ", " + k + (c.isTransposed ? " f c" : " c f") + " -> " + p + " c f");
    if (blocks == 1)
      return results(c.image, weights);
    Value list = ListCreateOp::create(b, loc, scalar(b, loc, b.getI32Type(), double(blocks)),
                                      dims(shape({images}, resultsOf, {c.features})), TypeAttr());
    list = inBlocks(blocks, list, c.image, [&](Value carried, ValueRange parts) -> Value {
      return ListWriteOp::create(b, loc, carried, parts[0], results(parts[1], weights));
    });
    Value stacked = ListStackOp::create(b, loc, list, dims({blocks}), UnitAttr());
    return reshapeTo(b, stacked, dims(shape({c.count}, resultsOf, {c.features})).getExprs());
  }
  Value sums;
  if (blocks == 1) {
    sums = products(c.image, other);
  } else {
    auto tileSize = [](const Axis &axis) { return axis.tileSize(); };
    auto type =
        RankedTensorType::get(shape({}, tileSize, {c.channels, c.features}), b.getF32Type());
    sums = inBlocks(blocks, filled(b, loc, type, 0), {c.image, other},
                    [&](Value carried, ValueRange parts) -> Value {
                      return AddOp::create(b, loc, carried, products(parts[1], parts[2]));
                    });
  }
  return contract(ofTaps, sums, p + " " + k + ", " + p + " c f -> " + k + " c f");
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
