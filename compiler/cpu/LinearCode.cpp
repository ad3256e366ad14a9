// Straight-line code of products with constant matrices.

#include "compiler/cpu/LinearCode.h"
#include "compiler/cpu/ContractionMicro.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cmath>

using namespace mlir;
using namespace tfc::cpu;

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

LinearCode::Number LinearCode::add(double factor, Number x, Number y) {
  steps.push_back({factor, x, y});
  return Number(columns + int64_t(steps.size()) - 1);
}

/// Returns a sum as a product: with a factor of 1 where that saves a multiplication.
LinearCode::Product LinearCode::sum(ArrayRef<Product> products) {
  if (products.empty())
    return {1, kZero};
  const Product *first = llvm::find_if(products, [](auto &p) { return p.factor == 1; });
  if (first == products.end())
    first = products.begin();
  Number total = first->value;
  for (const Product &product : products)
    if (&product != first)
      total = add(product.factor / first->factor, product.value, total);
  return {first->factor, total};
}

LinearCode::Number LinearCode::scaled(Product product) {
  if (product.value == kZero || product.factor == 1)
    return product.value;
  return add(product.factor, product.value, kZero);
}

/// Two rows that are the sum of `equal` and `opposite`, and their difference.
void LinearCode::addPair(ArrayRef<Product> equal, ArrayRef<Product> opposite, size_t row,
                         size_t other) {
  Product rest = sum(opposite);
  Number total = scaled(sum(equal));
  if (rest.value == kZero) {
    results[row] = results[other] = total;
  } else if (total == kZero) {
    results[row] = scaled(rest);
    results[other] = scaled({-rest.factor, rest.value});
  } else {
    results[row] = add(rest.factor, rest.value, total);
    results[other] = add(-rest.factor, rest.value, total);
  }
}

/// Replaces pairs of columns that differ in signs only by their sum and difference, where more rows
/// read both than these take.
void LinearCode::pairColumns(MutableArrayRef<Products> rows) {
  for (Number a = 0; a < columns; ++a)
    for (Number b = a + 1; b < columns; ++b) {
      int64_t sums = 0, differences = 0, others = 0;
      for (const Products &row : rows) {
        const Product *inA = llvm::find_if(row, [&](auto &p) { return p.value == a; });
        const Product *inB = llvm::find_if(row, [&](auto &p) { return p.value == b; });
        bool hasA = inA != row.end(), hasB = inB != row.end();
        if (hasA != hasB || (hasA && std::abs(inA->factor) != std::abs(inB->factor)))
          ++others;
        else if (hasA)
          ++(inA->factor == inB->factor ? sums : differences);
      }
      if (others > 0 || sums + differences <= (sums > 0) + (differences > 0))
        continue;
      Number sum = sums ? add(1, b, a) : kZero, difference = differences ? add(-1, b, a) : kZero;
      for (Products &row : rows) {
        Product *inA = llvm::find_if(row, [&](auto &p) { return p.value == a; });
        if (inA == row.end())
          continue;
        Product *inB = llvm::find_if(row, [&](auto &p) { return p.value == b; });
        inA->value = inA->factor == inB->factor ? sum : difference;
        row.erase(inB);
      }
      break;
    }
}

LinearCode::LinearCode(ArrayRef<double> matrix, int64_t columns) : columns(columns) {
  SmallVector<Products> rows(matrix.size() / columns);
  for (auto [i, factor] : llvm::enumerate(matrix))
    if (factor != 0)
      rows[i / columns].push_back({factor, Number(i % columns)});
  pairColumns(rows);
  results.assign(rows.size(), kZero);
  auto differInSigns = [](const Products &a, const Products &b) {
    return llvm::equal(a, b, [](const Product &x, const Product &y) {
      return x.value == y.value && std::abs(x.factor) == std::abs(y.factor);
    });
  };
  SmallVector<bool> isDone(rows.size());
  for (size_t row = 0; row < rows.size(); ++row) {
    if (isDone[row])
      continue;
    size_t other = row + 1;
    while (other < rows.size() && (isDone[other] || !differInSigns(rows[row], rows[other])))
      ++other;
    if (other == rows.size()) {
      results[row] = scaled(sum(rows[row]));
      continue;
    }
    isDone[other] = true;
    Products equal, opposite;
    for (auto [mine, its] : llvm::zip_equal(rows[row], rows[other]))
      (mine.factor == its.factor ? equal : opposite).push_back(mine);
    addPair(equal, opposite, row, other);
  }
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

SmallVector<Value> LinearCode::emit(OpBuilder &b, Location loc, const Target &target,
                                    ArrayRef<Value> terms) const {
  auto type = cast<VectorType>(terms.front().getType());
  auto splat = [&](double value) -> Value {
    auto element = b.getFloatAttr(type.getElementType(), value);
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, element));
  };
  SmallVector<Value> values(terms);
  for (auto [factor, x, y] : steps) {
    Value result;
    if (y == kZero)
      result = arith::MulFOp::create(b, loc, splat(factor), values[x]);
    else if (factor == 1)
      result = arith::AddFOp::create(b, loc, values[y], values[x]);
    else if (factor == -1)
      result = arith::SubFOp::create(b, loc, values[y], values[x]);
    else
      result = multiplyAdd(b, loc, target, splat(factor), values[x], values[y]);
    values.push_back(result);
  }
  SmallVector<Value> rows;
  for (Number number : results)
    rows.push_back(number == kZero ? splat(0) : values[number]);
  return rows;
}
