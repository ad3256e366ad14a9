// Emits convolutions that are computed by transforms. The plan says what a unit computes.

#include "compiler/cpu/WinogradEmitter.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tfc::cpu {

/// Returns a stride of at least `elements` floats that is an odd number of cache lines.
static int64_t oddLines(int64_t elements) {
  constexpr int64_t kLineFloats = 64 / sizeof(float);
  return (llvm::divideCeil(elements, kLineFloats) | 1) * kLineFloats;
}

WinogradEmitter::WinogradEmitter(KernelEmitter &emitter, const Target &target,
                                 const ContractionNest &nest, const ContractionPlan &plan,
                                 const ContractionForm &form, const ImageConvolution &convolution)
    : LoopEmitter(emitter), emitter(emitter), target(target), nest(nest), plan(plan),
      winograd(*plan.winograd), form(form), convolution(convolution),
      ofRows(convolution.rows.matrices()), ofColumns(convolution.columns.matrices()),
      elementsStride(oddLines(winograd.tiles * winograd.channels)),
      productsStride(oddLines(winograd.tiles * winograd.panels * columns())),
      productsRow(winograd.panels * columns()) {}

void WinogradEmitter::emit(Value begin, Value end) {
  elements = stackMemory(b, loc, form.computeType, convolution.tileElements() * elementsStride);
  products = stackMemory(b, loc, form.computeType, convolution.tileElements() * productsStride);
  forLoop(toIndex(begin), toIndex(end), 1, [&](Value unit) { emitUnit(unit); });
}

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

/// Units of the same tiles follow each other.
void WinogradEmitter::emitUnit(Value unit) {
  int64_t panels = llvm::divideCeil(convolution.features, columns());
  int64_t groups = llvm::divideCeil(panels, winograd.panels);
  auto [block, part] = divide(unit, llvm::divideCeil(groups, winograd.groups));
  firstTile = mul(block, winograd.tiles);
  tileCount = minimum(constant(winograd.tiles), sub(constant(convolution.tiles()), firstTile));
  Value firstGroup = mul(part, winograd.groups);
  Value count = minimum(constant(winograd.groups), sub(constant(groups), firstGroup));
  if (winograd.channels >= convolution.channels)
    transformElements(constant(0), constant(convolution.channels));
  forLoop(constant(0), count, 1, [&](Value number) {
    Value first = mul(add(firstGroup, number), winograd.panels);
    emitGroup({first, minimum(constant(winograd.panels), sub(constant(panels), first))});
  });
}

void WinogradEmitter::emitGroup(const Group &group) {
  int64_t channels = convolution.channels;
  if (winograd.channels >= channels) {
    multiply(group, nullptr, constant(channels));
  } else {
    Value zero = zeroOf(b, loc, VectorType::get({plan.lanes}, form.computeType));
    forLoop(constant(0), constant(convolution.tileElements() * productsStride), plan.lanes,
            [&](Value i) { storeLanes(b, loc, zero, at(products, i)); });
    forLoop(constant(0), constant(channels), winograd.channels, [&](Value first) {
      Value count = minimum(constant(winograd.channels), sub(constant(channels), first));
      transformElements(first, count);
      multiply(group, first, count);
    });
  }
  storeResults(group);
}

WinogradEmitter::Tile WinogradEmitter::tileAt(Value number) {
  auto [rest, column] = divide(number, convolution.columns.tiles());
  auto [image, row] = divide(rest, convolution.rows.tiles());
  return {image, mul(row, convolution.rows.tileResults),
          mul(column, convolution.columns.tileResults)};
}

//===----------------------------------------------------------------------===//
// Elements of the image
//===----------------------------------------------------------------------===//

Value WinogradEmitter::elementAt(Value element, Value tile, Value channel) {
  Value index = add(mul(element, elementsStride), mul(tile, winograd.channels));
  return at(elements, add(index, channel));
}

void WinogradEmitter::transformElements(Value firstChannel, Value channels) {
  forLoop(constant(0), tileCount, 1,
          [&](Value number) { transformTile(number, firstChannel, channels); });
}

/// Transforms the columns of a tile, then its rows. Elements beyond the image, which only results
/// that do not exist need, are those at its end.
void WinogradEmitter::transformTile(Value number, Value firstChannel, Value channels) {
  Tile tile = tileAt(add(firstTile, number));
  auto indicesFrom = [&](Value first, const ImageAxis &axis) {
    SmallVector<AffineExpr> all;
    AffineExpr start = emitter.addDim(first);
    bool isInside = axis.tileResults * (axis.tiles() - 1) + axis.tileSize() <= axis.size;
    for (int64_t i = 0; i < axis.tileSize(); ++i)
      all.push_back(isInside ? start + i
                             : emitter.addDim(minimum(add(first, i), constant(axis.size - 1))));
    return all;
  };
  SmallVector<AffineExpr> rows = indicesFrom(tile.row, convolution.rows);
  SmallVector<AffineExpr> columns = indicesFrom(tile.column, convolution.columns);
  AffineExpr image = emitter.addDim(tile.image);
  auto emitVector = [&](Value channel, Value mask) {
    KernelEmitter::Scope scope(emitter);
    LoopDim dim = emitter.addDim(add(firstChannel, channel));
    KernelEmitter::VectorMode mode(emitter, dim, plan.lanes, mask);
    SmallVector<Vectors> half(rows.size());
    for (AffineExpr column : columns) {
      Vectors line;
      for (AffineExpr row : rows) {
        SmallVector<AffineExpr> indices{image, row, column, dim};
        if (!convolution.hasRows)
          indices.erase(indices.begin() + 1);
        line.push_back(emitter.broadcast(emitter.element(convolution.image, indices)));
      }
      for (auto [p, value] : llvm::enumerate(ofRows.ofElements.emit(b, loc, target, line)))
        half[p].push_back(value);
    }
    int64_t element = 0;
    for (const Vectors &line : half)
      for (Value value : ofColumns.ofElements.emit(b, loc, target, line))
        storeLanes(b, loc, value, elementAt(constant(element++), number, channel));
  };
  forVectors(channels, convolution.channels % plan.lanes, emitVector);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void WinogradEmitter::forEachPanel(const Group &group, function_ref<void(const Panel &)> body) {
  int64_t whole = convolution.features / columns(), rest = convolution.features % columns();
  int64_t vectors = llvm::divideCeil(rest, plan.lanes), last = rest % plan.lanes;
  auto emitRest = [&](Value number) {
    body({number, vectors, rest, last ? firstLanes(plan.lanes, constant(last)) : Value()});
  };
  forLoop(constant(0), group.panels, 1, [&](Value number) {
    auto emitWhole = [&] { body({number, winograd.vectors, columns(), Value()}); };
    if (rest == 0)
      return emitWhole();
    if (whole == 0)
      return emitRest(number);
    Value isWhole = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                          add(group.firstPanel, number), constant(whole));
    ifElse(isWhole, emitWhole, [&] { emitRest(number); });
  });
}

/// Multiplies channels [firstChannel, firstChannel + channels); without a first one, these are all
/// and products need not be added.
void WinogradEmitter::multiply(const Group &group, Value firstChannel, Value channels) {
  int64_t rows = winograd.rows, rest = winograd.tiles % rows, whole = winograd.tiles - rest;
  forLoop(constant(0), constant(convolution.tileElements()), 1, [&](Value element) {
    forEachPanel(group, [&](const Panel &panel) {
      // The last rows of a unit with fewer tiles are not used.
      if (whole > 0)
        forLoop(constant(0), minimum(tileCount, constant(whole)), rows, [&](Value row) {
          emitRows(group, panel, element, row, rows, firstChannel, channels);
        });
      if (rest == 0)
        return;
      Value hasRest =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt, tileCount, constant(whole));
      ifElse(
          hasRest,
          [&] { emitRows(group, panel, element, constant(whole), rest, firstChannel, channels); },
          nullptr);
    });
  });
}

Value WinogradEmitter::productAt(Value element, Value tile, Value column) {
  return at(products, add(add(mul(element, productsStride), mul(tile, productsRow)), column));
}

/// The weights of a panel from a channel on. Packed ones are panel by panel, and in a panel element
/// by element.
Value WinogradEmitter::weightsAt(const Group &group, const Panel &panel, Value element,
                                 Value channel) {
  Value pointer = emitter.buffer(convolution.weights)->pointer;
  Value column = mul(add(group.firstPanel, panel.number), columns());
  if (!plan.isPacked) {
    Value index = add(mul(element, convolution.channels), channel);
    return at(pointer, add(mul(index, convolution.features), column));
  }
  // Matrices of the same channels follow each other.
  Value index = add(mul(channel, convolution.tileElements()), mul(element, matrixChannels()));
  return at(pointer, add(mul(column, convolution.tileElements() * convolution.channels),
                         mul(index, panel.width)));
}

void WinogradEmitter::emitRows(const Group &group, const Panel &panel, Value element, Value row,
                               int64_t rows, Value firstChannel, Value channels) {
  KernelEmitter::Scope scope(emitter);
  Value first = firstChannel ? firstChannel : constant(0);
  MicroTile tile{{rows, panel.vectors}, plan.lanes, form.computeType, {}, {}, {}, {}};
  tile.a = {
      elementAt(element, row, constant(0)), form.computeType, {winograd.channels, {}}, nullptr};
  tile.b = {weightsAt(group, panel, element, first), form.computeType, {}, nullptr};
  int64_t stride = plan.isPacked ? panel.width : convolution.features;
  tile.loops.push_back({channels, {1, {}}, {stride, {}}});
  if (plan.isPacked) {
    // The next matrix of the panel.
    int64_t tiles = llvm::divideCeil(winograd.tiles, winograd.rows);
    tile.prefetch =
        sharePrefetch(b, loc, target, matrixChannels() * panel.width, panel.width, form.computeType,
                      divide(row, winograd.rows).first, constant(tiles));
  }
  tile.masks.assign(panel.vectors, Value());
  tile.masks.back() = panel.mask;
  auto place = [&](int64_t i, int64_t v) {
    return productAt(element, add(row, i), add(mul(panel.number, columns()), v * plan.lanes));
  };
  Vectors initial;
  for (int64_t i = 0; firstChannel && i < rows; ++i)
    for (int64_t v = 0; v < panel.vectors; ++v)
      initial.push_back(load(place(i, v)));
  Vectors sums = emitMicroTile(b, loc, target, tile, initial);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t v = 0; v < panel.vectors; ++v)
      storeLanes(b, loc, sums[i * panel.vectors + v], place(i, v));
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void WinogradEmitter::storeResults(const Group &group) {
  forLoop(constant(0), tileCount, 1, [&](Value number) { storeTile(group, number); });
}

void WinogradEmitter::storeTile(const Group &group, Value number) {
  Tile tile = tileAt(add(firstTile, number));
  Value firstFeature = mul(group.firstPanel, columns());
  Value count =
      minimum(mul(group.panels, columns()), sub(constant(convolution.features), firstFeature));
  auto emitVector = [&](Value column, Value mask) {
    KernelEmitter::Scope scope(emitter);
    LoopDim feature = emitter.addDim(add(firstFeature, column));
    KernelEmitter::VectorMode mode(emitter, feature, plan.lanes, mask);
    storeVector(tile, feature, productAt(constant(0), number, column));
  };
  forVectors(count, convolution.features % plan.lanes, emitVector);
}

/// Emits `body` for the vectors of `count` elements, of which `rest` are in none that is full, if
/// they are among these.
void WinogradEmitter::forVectors(Value count, int64_t rest, function_ref<void(Value, Value)> body) {
  Value whole = rest == 0 ? count : mul(divide(count, plan.lanes).first, plan.lanes);
  forLoop(constant(0), whole, plan.lanes, [&](Value first) { body(first, nullptr); });
  if (rest == 0)
    return;
  Value hasRest = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, whole, count);
  ifElse(hasRest, [&] { body(whole, firstLanes(plan.lanes, constant(rest))); }, nullptr);
}

/// Emits `body` for result `first + number` along an axis, if there is one.
void WinogradEmitter::ifExists(Value first, int64_t number, const ImageAxis &axis,
                               function_ref<void()> body) {
  int64_t last = axis.results % axis.tileResults;
  if (last == 0 || number < last)
    return body();
  Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, add(first, number),
                                       constant(axis.results));
  ifElse(exists, body, nullptr);
}

/// Stores the results of one vector of features of a tile.
void WinogradEmitter::storeVector(const Tile &tile, AffineDimExpr feature, Value pointer) {
  int64_t height = convolution.rows.tileSize(), width = convolution.columns.tileSize();
  SmallVector<Vectors> half(convolution.rows.tileResults);
  for (int64_t q = 0; q < width; ++q) {
    Vectors column;
    for (int64_t p = 0; p < height; ++p)
      column.push_back(load(at(pointer, constant((p * width + q) * productsStride))));
    for (auto [r, value] : llvm::enumerate(ofRows.ofResults.emit(b, loc, target, column)))
      half[r].push_back(value);
  }
  AffineExpr image = emitter.addDim(tile.image), row = emitter.addDim(tile.row);
  AffineExpr column = emitter.addDim(tile.column), zero = emitter.constantExpr(0);
  for (auto [r, line] : llvm::enumerate(half)) {
    Vectors sums = ofColumns.ofResults.emit(b, loc, target, line);
    ifExists(tile.row, int64_t(r), convolution.rows, [&, r = int64_t(r)] {
      for (auto [s, sum] : llvm::enumerate(sums))
        ifExists(tile.column, int64_t(s), convolution.columns, [&, s = int64_t(s), sum = sum] {
          SmallVector<AffineExpr> point{image, row + r, column + s, feature};
          if (!convolution.hasRows)
            point.erase(point.begin() + 1);
          point.resize(form.loopSizes.size(), zero);
          storeProduct(emitter, nest, form, point, sum);
        });
    });
  }
}

} // namespace tfc::cpu
