// Chooses the blocks of attention kernels, and the register tiles of their products.

#include "compiler/cpu/AttentionPlan.h"
#include "compiler/kernels/Polynomial.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tfc::cpu {

/// The rows of blocks, from the largest; the most columns of a product; and the most rows of a
/// register tile.
static constexpr int64_t kBlocks[] = {128, 64, 32};
static constexpr int64_t kMostColumns = 256, kMostTileRows = 14;
/// The most bytes of blocks on the stack.
static constexpr int64_t kMostStack = 768 << 10;
/// The estimated operations of a score between the products.
static constexpr int64_t kOperationsOfScore = 32;
/// Estimate for sizes that are not known at compile time.
static constexpr int64_t kTypicalSize = 256;

int64_t othersOf(const AttentionProduct &product) {
  return constantOf(normalize(product.form.extentOf(product.others))).value_or(0);
}

bool takesAttention(const AttentionForm &form) {
  Type type = form.scores.front().form.computeType;
  auto fits = [&](const AttentionProduct &product) {
    int64_t others = othersOf(product);
    return product.form.computeType == type && product.others.size() == 1 && others > 0 &&
           others <= kMostColumns;
  };
  auto isOfType = [&](linalg::GenericOp op) {
    return getElementTypeOrSelf(op->getResult(0).getType()) == type;
  };
  if (!(type.isF32() || type.isF64()) || !llvm::all_of(form.scores, fits) ||
      !llvm::all_of(form.results, fits) || !llvm::all_of(form.rowOps, isOfType))
    return false;
  if (!form.sumsRows())
    return true;
  // Sums along terms grow in the result, block by block.
  auto canGrow = [&](const AttentionProduct &product, const ContractionNest &nest) {
    return product.sumsRows || (nest.storesProduct && nest.epilogues.empty() && isOfType(nest.op));
  };
  return form.rowOps.empty() &&
         llvm::all_of(llvm::zip_equal(form.results, form.nests),
                      [&](auto pair) { return canGrow(std::get<0>(pair), std::get<1>(pair)); });
}

int64_t AttentionPlan::strideOf(int64_t columns) const { return (vectorsOf(columns) | 1) * lanes; }

/// Chooses a tile of whole vectors: no product has a narrower panel at its end.
static RegisterTile chooseTile(const Target &target, int64_t vectors, int64_t depth) {
  RegisterTile best;
  double least = 0;
  for (int64_t wide = 1; wide <= vectors; ++wide)
    for (int64_t rows = 1; vectors % wide == 0 && rows <= kMostTileRows; ++rows) {
      if (rows * wide + wide + 1 > target.vectorRegisters)
        break;
      double cycles = tileCycles(target, {rows, wide}, depth) / double(rows * wide);
      if (least == 0 || cycles < least) {
        least = cycles;
        best = {rows, wide};
      }
    }
  return best;
}

/// The elements on the stack for blocks of so many rows.
static int64_t elementsOf(const AttentionPlan &plan, int64_t block) {
  int64_t count = std::max(plan.form->scores.size(), plan.form->results.size());
  int64_t elements = count * block * plan.strideOf(block);
  for (const AttentionProduct &product : plan.form->scores)
    elements += block * plan.strideOf(othersOf(product)) + othersOf(product) * plan.strideOf(block);
  for (const AttentionProduct &product : plan.form->results)
    elements += 2 * block * plan.strideOf(othersOf(product));
  return elements;
}

AttentionPlan::AttentionPlan(const Target &target, const AttentionForm &form) : form(&form) {
  int64_t bits = type().getIntOrFloatBitWidth();
  lanes = std::max<int64_t>(1, target.lanes(bits));
  for (int64_t size : kBlocks) {
    block = llvm::alignTo(size, lanes);
    if (elementsOf(*this, block) * bits / 8 <= std::min(target.l2Bytes / 4 * 3, kMostStack))
      break;
  }
  int64_t operations = kOperationsOfScore;
  for (const AttentionProduct &product : form.scores) {
    scores.push_back(chooseTile(target, vectorsOf(block), othersOf(product)));
    operations += 2 * othersOf(product);
  }
  for (const AttentionProduct &product : form.results) {
    results.push_back(chooseTile(target, vectorsOf(othersOf(product)), block));
    operations += 2 * othersOf(product);
  }
  AffineExpr batch = form.extentOf(form.batch), rows = form.extentOf(form.rows);
  units = form.sumsRows() ? batch : normalize(batch * rows.ceilDiv(block));
  int64_t rowsOfUnit = constantOf(rows).value_or(kTypicalSize);
  if (!form.sumsRows())
    rowsOfUnit = std::min(rowsOfUnit, block);
  unitOperations =
      rowsOfUnit * constantOf(form.extentOf(form.terms)).value_or(kTypicalSize) * operations;
}

} // namespace tfc::cpu
