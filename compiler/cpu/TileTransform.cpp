// Recognition of transforms of tiles, and their code.

#include "compiler/cpu/TileTransform.h"
#include "compiler/cpu/ContractionMicro.h"
#include "compiler/cpu/LinearCode.h"
#include "compiler/cpu/LoopEmitter.h"
#include "compiler/kernels/emit/ProductEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace tfc::cpu;

/// The most terms and results: their number is that of loads and stores in the code.
static constexpr int64_t kMostElements = 64;
/// Results that are stored in turn. With more, their cache lines displace each other where they are
/// a power of two apart, as planes of transformed elements often are.
static constexpr int64_t kMostStreams = 16;
/// The points of a group, whose values are kept between the two multiplications.
static constexpr int64_t kGroup = 8;

//===----------------------------------------------------------------------===//
// Recognition
//===----------------------------------------------------------------------===//

int64_t TileTransform::terms() const {
  int64_t count = 1;
  for (const Matrix &matrix : matrices)
    count *= matrix.columns;
  return count;
}

int64_t TileTransform::results() const {
  int64_t count = 1;
  for (const Matrix &matrix : matrices)
    count *= matrix.rows;
  return count;
}

namespace {
/// A constant with an axis for each loop in it.
struct ConstantFactor {
  SmallVector<unsigned> loops;
  SmallVector<int64_t> shape;
  SmallVector<float> elements;

  float at(ArrayRef<int64_t> indices) const {
    int64_t position = 0;
    for (auto [index, size] : llvm::zip_equal(indices, shape))
      position = position * size + index;
    return elements[position];
  }
};
} // namespace

static std::optional<ConstantFactor> readConstant(linalg::GenericOp op, unsigned input) {
  OpOperand *operand = op.getDpsInputOperand(input);
  DenseElementsAttr value;
  if (!matchPattern(operand->get(), m_Constant(&value)) || value.isSplat() ||
      !value.getElementType().isF32())
    return std::nullopt;
  ConstantFactor factor;
  for (AffineExpr index : op.getMatchingIndexingMap(operand).getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(index);
    if (!dim || llvm::is_contained(factor.loops, dim.getPosition()))
      return std::nullopt;
    factor.loops.push_back(dim.getPosition());
  }
  llvm::append_range(factor.shape, value.getType().getShape());
  llvm::append_range(factor.elements, value.getValues<float>());
  return factor;
}

/// Writes a constant with two axes of rows and two of columns, which are positions in its shape, as
/// a product of two matrices, if it is one.
static bool factorize(const ConstantFactor &constant, ArrayRef<unsigned> rows,
                      ArrayRef<unsigned> columns,
                      SmallVectorImpl<TileTransform::Matrix> &matrices) {
  SmallVector<int64_t> largest(constant.shape.size()), index(constant.shape.size());
  auto forEach = [&](function_ref<void()> body) {
    for (size_t i = 0; i < constant.elements.size(); ++i) {
      int64_t rest = int64_t(i);
      for (size_t axis = constant.shape.size(); axis-- > 0; rest /= constant.shape[axis])
        index[axis] = rest % constant.shape[axis];
      body();
    }
  };
  forEach([&] {
    if (std::abs(constant.at(index)) > std::abs(constant.at(largest)))
      largest = index;
  });
  double scale = constant.at(largest);
  for (size_t i = 0; i < rows.size(); ++i) {
    TileTransform::Matrix matrix{constant.loops[rows[i]],
                                 constant.loops[columns[i]],
                                 constant.shape[rows[i]],
                                 constant.shape[columns[i]],
                                 {}};
    SmallVector<int64_t> at = largest;
    for (at[rows[i]] = 0; at[rows[i]] < matrix.rows; ++at[rows[i]])
      for (at[columns[i]] = 0; at[columns[i]] < matrix.columns; ++at[columns[i]])
        matrix.elements.push_back(float(constant.at(at) / (i == 0 ? 1 : scale)));
    matrices.push_back(std::move(matrix));
  }
  bool isProduct = scale != 0;
  forEach([&] {
    double product = 1;
    for (size_t i = 0; i < rows.size(); ++i)
      product *= matrices[i].at(index[rows[i]], index[columns[i]]);
    isProduct &= std::abs(product - constant.at(index)) <= 1e-6 * std::abs(product);
  });
  if (!isProduct)
    matrices.clear();
  return isProduct;
}

std::optional<TileTransform> tfc::cpu::matchTransform(linalg::GenericOp op,
                                                      const ContractionForm &form) {
  if (form.a.inputs.size() != 1 || form.b.inputs.size() != 1 || form.converts(form.a) ||
      form.converts(form.b) || !form.computeType.isF32())
    return std::nullopt;
  std::optional<ConstantFactor> constant = readConstant(op, form.a.inputs.front());
  if (!constant || (constant->loops.size() != 2 && constant->loops.size() != 4))
    return std::nullopt;
  TileTransform transform;
  transform.operand = form.b.inputs.front();
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  llvm::BitVector ofOperand = loopsOf(op, form.b);
  SmallVector<unsigned> rows, columns;
  for (auto [axis, loop] : llvm::enumerate(constant->loops))
    (iterators[loop] == utils::IteratorType::reduction ? columns : rows).push_back(axis);
  if (rows.size() != columns.size() || columns.size() != op.getNumReductionLoops() ||
      llvm::any_of(rows, [&](unsigned axis) { return ofOperand.test(constant->loops[axis]); }) ||
      (!factorize(*constant, rows, columns, transform.matrices) &&
       !factorize(*constant, rows, llvm::to_vector(llvm::reverse(columns)), transform.matrices)) ||
      transform.terms() > kMostElements || transform.results() > kMostElements)
    return std::nullopt;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (loop != form.n && !llvm::is_contained(constant->loops, loop))
      transform.points.push_back(loop);
  return transform;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

namespace {
/// Emits products of matrices with vectors of registers.
class TransformEmitter : LoopEmitter {
public:
  TransformEmitter(KernelEmitter &emitter, const Target &target, const ContractionNest &nest,
                   const ContractionPlan &plan, const ContractionForm &form,
                   TileTransform transform)
      : LoopEmitter(emitter), emitter(emitter), target(target), nest(nest), plan(plan), form(form),
        transform(std::move(transform)) {
    for (const TileTransform::Matrix &matrix : this->transform.matrices)
      codes.emplace_back(llvm::to_vector_of<double>(matrix.elements), matrix.columns);
  }

  void emit(Value begin, Value end);

private:
  void openPoint(Value number);
  void emitPoint(LoopDim lane);
  void emitGroup(LoopDim lane, Value first, Value count);
  SmallVector<SmallVector<Value>> multiplyColumns();
  void emitRow(int64_t row, ArrayRef<Value> terms);
  Value halfPointer(Value number, int64_t row, int64_t column);
  Value term(ArrayRef<int64_t> columns);
  void store(ArrayRef<int64_t> rows, Value sum);
  SmallVector<Value> multiply(unsigned matrix, ArrayRef<Value> terms) {
    return codes[matrix].emit(b, loc, target, terms);
  }

  KernelEmitter &emitter;
  const Target &target;
  const ContractionNest &nest;
  const ContractionPlan &plan;
  const ContractionForm &form;
  TileTransform transform;
  /// The code of each matrix.
  SmallVector<LinearCode> codes;
  /// The products with the first matrix of a group of points, on the stack.
  Value half;
  /// The indices of the loops at the current point.
  SmallVector<AffineExpr> point;
};
} // namespace

/// The operand's elements of the current lanes at some columns of the matrices.
Value TransformEmitter::term(ArrayRef<int64_t> columns) {
  linalg::GenericOp op = nest.op;
  for (auto [matrix, column] : llvm::zip_equal(transform.matrices, columns))
    point[matrix.columnLoop] = emitter.constantExpr(column);
  OpOperand *operand = op.getDpsInputOperand(transform.operand);
  SmallVector<AffineExpr> indices;
  for (AffineExpr index : op.getMatchingIndexingMap(operand).getResults())
    indices.push_back(index.replaceDims(point));
  return emitter.broadcast(emitter.element(operand->get(), indices));
}

void TransformEmitter::store(ArrayRef<int64_t> rows, Value sum) {
  for (auto [matrix, row] : llvm::zip_equal(transform.matrices, rows)) {
    point[matrix.rowLoop] = emitter.constantExpr(row);
    point[matrix.columnLoop] = emitter.constantExpr(0);
  }
  tfc::kernels::storeProduct(emitter, nest, form, point, sum);
}

/// Multiplies each column of a tile with the first matrix; returns the rows of what results.
SmallVector<SmallVector<Value>> TransformEmitter::multiplyColumns() {
  const TileTransform::Matrix &first = transform.matrices.front();
  bool hasSecond = transform.matrices.size() == 2;
  SmallVector<SmallVector<Value>> rows(first.rows);
  for (int64_t column = 0; column < (hasSecond ? transform.matrices[1].columns : 1); ++column) {
    SmallVector<Value> terms;
    for (int64_t i = 0; i < first.columns; ++i)
      terms.push_back(hasSecond ? term({i, column}) : term({i}));
    for (auto [row, value] : llvm::enumerate(multiply(0, terms)))
      rows[row].push_back(value);
  }
  return rows;
}

/// Multiplies a row with the second matrix, if there is one, and stores the results.
void TransformEmitter::emitRow(int64_t row, ArrayRef<Value> terms) {
  if (transform.matrices.size() == 1)
    return store({row}, terms.front());
  for (auto [i, value] : llvm::enumerate(multiply(1, terms)))
    store({row, int64_t(i)}, value);
}

/// Sets the indices of the loops of points.
void TransformEmitter::openPoint(Value number) {
  for (unsigned loop : llvm::reverse(transform.points)) {
    Value index = number;
    if (loop != transform.points.front())
      std::tie(number, index) = divide(number, emitter.indexValue(form.loopSizes[loop]));
    point[loop] = emitter.addDim(index);
  }
}

void TransformEmitter::emitPoint(LoopDim lane) {
  point[form.n] = lane;
  for (auto [row, terms] : llvm::enumerate(multiplyColumns()))
    emitRow(int64_t(row), terms);
}

/// The place of a product with the first matrix.
Value TransformEmitter::halfPointer(Value number, int64_t row, int64_t column) {
  int64_t columns = transform.matrices[1].columns;
  Value position = mul(number, transform.matrices[0].rows * columns * plan.lanes);
  position = add(position, (row * columns + column) * plan.lanes);
  return advance(b, loc, half, b.getF32Type(), position, Stride{1, {}});
}

/// Emits a group of points: first the products with the first matrix, and then row by row, so that
/// the results of one row are stored together.
void TransformEmitter::emitGroup(LoopDim lane, Value first, Value count) {
  point[form.n] = lane;
  forLoop(constant(0), count, 1, [&](Value number) {
    openPoint(add(first, number));
    for (auto [row, values] : llvm::enumerate(multiplyColumns()))
      for (auto [column, value] : llvm::enumerate(values))
        storeLanes(b, loc, value, halfPointer(number, int64_t(row), int64_t(column)));
  });
  for (int64_t row = 0; row < transform.matrices[0].rows; ++row)
    forLoop(constant(0), count, 1, [&](Value number) {
      openPoint(add(first, number));
      SmallVector<Value> terms;
      for (int64_t column = 0; column < transform.matrices[1].columns; ++column)
        terms.push_back(loadLanes(b, loc, halfPointer(number, row, column), b.getF32Type(),
                                  plan.lanes, nullptr));
      emitRow(row, terms);
    });
}

void TransformEmitter::emit(Value begin, Value end) {
  begin = toIndex(begin);
  end = toIndex(end);
  bool isGrouped = transform.matrices.size() == 2 && transform.results() > kMostStreams;
  if (isGrouped)
    half = stackMemory(b, loc, b.getF32Type(),
                       kGroup * transform.matrices[0].rows * transform.matrices[1].columns *
                           plan.lanes);
  forLoop(begin, end, isGrouped ? kGroup : 1, [&](Value unit) {
    point.assign(form.loopSizes.size(), emitter.constantExpr(0));
    if (!isGrouped)
      openPoint(unit);
    Value count = isGrouped ? minimum(constant(kGroup), sub(end, unit)) : Value();
    emitter.laneLoop(form.nSize(), plan.lanes, [&](LoopDim lane) {
      if (isGrouped)
        emitGroup(lane, unit, count);
      else
        emitPoint(lane);
    });
  });
}

void tfc::cpu::emitTransform(KernelEmitter &emitter, const Target &target,
                             const ContractionNest &nest, const ContractionPlan &plan,
                             const ContractionForm &form, Value begin, Value end) {
  std::optional<TileTransform> transform = matchTransform(nest.op, form);
  TransformEmitter(emitter, target, nest, plan, form, *std::move(transform)).emit(begin, end);
}
