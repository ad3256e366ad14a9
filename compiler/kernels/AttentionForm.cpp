//===- AttentionForm.cpp - Products of scores -----------------------------===//
//
// Finds how the loops of the products and reductions of a kernel relate to the dimensions of the
// scores, and whether rows may be divided by their sum at the end, as online softmax does (Milakov
// and Gimelshein, "Online normalizer calculation for softmax", 2018).
//
//===----------------------------------------------------------------------===//

#include "compiler/kernels/AttentionForm.h"
#include "compiler/kernels/Polynomial.h"
#include "compiler/kernels/Schedule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tfc::kernels;

SmallVector<unsigned> AttentionProduct::loops(ArrayRef<unsigned> dims) const {
  SmallVector<unsigned> result;
  for (unsigned dim : dims)
    if (loopOf[dim])
      result.push_back(*loopOf[dim]);
  return result;
}

AffineExpr AttentionForm::extentOf(ArrayRef<unsigned> dims) const {
  AffineExpr extent = getAffineConstantExpr(1, sizes.front().getContext());
  for (unsigned dim : dims)
    extent = extent * sizes[dim];
  return normalize(extent);
}

//===----------------------------------------------------------------------===//
// Values of bodies
//===----------------------------------------------------------------------===//

namespace {

/// The values of bodies, followed through parallel generics to the operations that compute them.
/// The maps of all operations that read scores are the identity on their dimensions.
class Values {
public:
  explicit Values(const AttentionForm &form) : form(form) {}

  bool findSoftmax();
  bool dividesOnce(const AttentionProduct &product);

private:
  Value resolve(Value value) const;
  Value input(linalg::GenericOp reduction) const;
  bool dependsOnRows(Value value);
  std::optional<int> quotientOf(Value value);

  const AttentionForm &form;
  Value max, sum, exponential; // of the softmax; the last is in a body
  DenseMap<Value, bool> dependent;
};

} // namespace

/// Returns the value that a body's argument is: what a parallel generic yields, or the result of
/// another operation or an argument of the kernel.
Value Values::resolve(Value value) const {
  while (auto argument = dyn_cast<BlockArgument>(value)) {
    auto reader = dyn_cast<linalg::GenericOp>(argument.getOwner()->getParentOp());
    if (!reader)
      return value;
    value = reader->getOperand(argument.getArgNumber());
    auto producer = value.getDefiningOp<linalg::GenericOp>();
    if (!producer || producer.getNumReductionLoops() != 0)
      return value;
    value =
        producer.getBody()->getTerminator()->getOperand(cast<OpResult>(value).getResultNumber());
  }
  return value;
}

/// Returns what a reduction combines with its accumulator.
Value Values::input(linalg::GenericOp reduction) const {
  Operation *combiner = combinerOf(reduction, 0);
  BlockArgument accumulator = reduction.getRegionOutputArgs()[0];
  return resolve(combiner->getOperand(combiner->getOperand(0) == accumulator));
}

/// Finds a maximum of rows and the sum of exponentials of differences from it, which are all that
/// reads the maximum.
bool Values::findSoftmax() {
  if (form.rowOps.size() != 2)
    return false;
  linalg::GenericOp maximum = form.rowOps[0], total = form.rowOps[1];
  if (!isa<arith::MaximumFOp>(combinerOf(maximum, 0)) || !isa<arith::AddFOp>(combinerOf(total, 0)))
    return false;
  max = maximum->getResult(0);
  sum = total->getResult(0);
  exponential = input(total);
  auto exp = exponential.getDefiningOp<math::ExpOp>();
  auto difference = exp ? resolve(exp.getOperand()).getDefiningOp<arith::SubFOp>() : nullptr;
  if (!difference || resolve(difference.getRhs()) != max ||
      resolve(difference.getLhs()) != input(maximum))
    return false;
  auto isOnlyUse = [](Operation *op) { return op->hasOneUse(); };
  for (OpOperand &use : max.getUses()) {
    auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (!reader)
      continue; // it is a result
    for (Operation *user : reader.getMatchingBlockArgument(&use).getUsers())
      if (user != difference)
        return false;
  }
  // The difference is read only by the exponential, in the same body or in another.
  if (!isOnlyUse(difference))
    return false;
  if (auto yield = dyn_cast<linalg::YieldOp>(*difference->user_begin()))
    return yield->getParentOp()->hasOneUse();
  return true;
}

/// Returns true if a value is computed from the maximum or the sum of rows.
bool Values::dependsOnRows(Value value) {
  value = resolve(value);
  if (value == max || value == sum)
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || !isa<linalg::GenericOp>(op->getParentOp()))
    return false;
  if (auto known = dependent.find(value); known != dependent.end())
    return known->second;
  bool depends =
      llvm::any_of(op->getOperands(), [&](Value operand) { return dependsOnRows(operand); });
  dependent[value] = depends;
  return depends;
}

/// Returns the number of times that a value is divided by the sum: 1 for an exponential divided by
/// it and scaled by values that do not depend on it, 0 for such an exponential without a division;
/// none for other values.
std::optional<int> Values::quotientOf(Value value) {
  value = resolve(value);
  if (value == exponential)
    return 0;
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto quotient = dyn_cast<arith::DivFOp>(op)) {
    std::optional<int> count = quotientOf(quotient.getLhs());
    if (count && resolve(quotient.getRhs()) == sum)
      return *count + 1;
    return dependsOnRows(quotient.getRhs()) ? std::nullopt : count;
  }
  if (isa<arith::MulFOp>(op))
    for (unsigned scaled : {0u, 1u})
      if (!dependsOnRows(op->getOperand(1 - scaled)))
        return quotientOf(op->getOperand(scaled));
  if (auto select = dyn_cast<arith::SelectOp>(op);
      select && !dependsOnRows(select.getCondition())) {
    auto isZero = [&](Value other) {
      Value resolved = resolve(other);
      return matchPattern(resolved, m_AnyZeroFloat());
    };
    if (isZero(select.getFalseValue()))
      return quotientOf(select.getTrueValue());
    if (isZero(select.getTrueValue()))
      return quotientOf(select.getFalseValue());
  }
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::NegFOp>(op))
    return quotientOf(op->getOperand(0));
  return std::nullopt;
}

bool Values::dividesOnce(const AttentionProduct &product) {
  return quotientOf(product.form.a.root) == 1;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Sums and other reductions have values of their own; everything else is computed where it is
/// read.
static bool isReduction(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && generic.getNumReductionLoops() != 0;
}

namespace {

class Matcher {
public:
  explicit Matcher(KernelShapes &shapes) : shapes(shapes) {}

  std::optional<AttentionForm> match();

private:
  using LoopOfDim = SmallVector<std::optional<unsigned>>;

  bool classify();
  bool isScoreProduct(Operation *op) const {
    return llvm::any_of(form.scores, [&](const AttentionProduct &p) { return p.op == op; });
  }
  std::optional<LoopOfDim> loopsOfReader(linalg::GenericOp op);
  bool addScores(linalg::GenericOp op, ContractionForm own);
  bool addResult(linalg::GenericOp op, ContractionForm own);
  bool addRowOp(linalg::GenericOp op);
  bool setTerms(ArrayRef<unsigned> dims);
  bool chooseTerms();
  bool divideDims();
  bool addEpilogues();

  KernelShapes &shapes;
  AttentionForm form;
  std::vector<std::pair<linalg::GenericOp, ContractionForm>> products;
  SmallVector<linalg::GenericOp> readers;
  bool hasTerms = false;
  /// The dimensions along which each product with the scores sums.
  SmallVector<SmallVector<unsigned>> summed;
};

} // namespace

/// Divides the generics that sum or reduce; returns false if there is something else.
bool Matcher::classify() {
  for (Operation &op : shapes.kernel().getBody().front()) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic) {
      if (!isa<tensor::EmptyOp, tfc::kernel::ReturnOp>(op) &&
          !op.hasTrait<OpTrait::ConstantLike>() && !isa<arith::ArithDialect>(op.getDialect()))
        return false;
      continue;
    }
    if (generic.getNumReductionLoops() == 0)
      continue;
    if (llvm::is_contained(shapes.loopSizes(generic), AffineExpr()))
      return false; // reported by the schedule
    if (std::optional<ContractionForm> own = matchContraction(generic, shapes))
      products.push_back({generic, *own});
    else if (generic->getNumResults() == 1 && combinerOf(generic, 0))
      form.rowOps.push_back(generic);
    else
      return false;
  }
  return products.size() >= 1;
}

/// Returns the loops at which an operation reads the scores, the same for all products that they
/// are computed from; none if it reads none, or others.
std::optional<Matcher::LoopOfDim> Matcher::loopsOfReader(linalg::GenericOp op) {
  std::optional<LoopOfDim> loops;
  for (const Access &read : footprintOf(op, isReduction).reads) {
    if (!isScoreProduct(read.tensor.getDefiningOp()))
      continue;
    LoopOfDim own;
    for (AffineExpr index : read.indices) {
      auto dim = dyn_cast<AffineDimExpr>(index);
      if (!dim && index != getAffineConstantExpr(0, op.getContext()))
        return std::nullopt;
      own.push_back(dim ? std::optional<unsigned>(dim.getPosition()) : std::nullopt);
    }
    if (loops && *loops != own)
      return std::nullopt;
    loops = own;
  }
  return loops;
}

/// Returns true if a factor varies with one of some loops.
static bool dependsOn(linalg::GenericOp op, const ContractionFactor &factor,
                      ArrayRef<unsigned> loops) {
  llvm::BitVector own = loopsOf(op, factor);
  return llvm::any_of(loops, [&](unsigned loop) { return own[loop]; });
}

bool Matcher::addScores(linalg::GenericOp op, ContractionForm own) {
  AttentionProduct product{op, std::move(own), {}, {}};
  ArrayRef<AffineExpr> shape = shapes.shapeOf(op->getResult(0));
  if (form.scores.empty())
    form.sizes.assign(shape.begin(), shape.end());
  else if (ArrayRef(form.sizes) != shape)
    return false;
  for (AffineExpr result : op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResults()) {
    unsigned loop = cast<AffineDimExpr>(result).getPosition();
    bool isUnit = constantOf(product.form.loopSizes[loop]) == 1;
    product.loopOf.push_back(isUnit ? std::nullopt : std::optional<unsigned>(loop));
  }
  product.others.append(product.form.kOuter);
  product.others.append(product.form.k);
  form.scores.push_back(std::move(product));
  return true;
}

/// Records the dimensions along which scores are summed; they are the same for all readers.
bool Matcher::setTerms(ArrayRef<unsigned> dims) {
  if (!hasTerms)
    form.terms.assign(dims.begin(), dims.end());
  hasTerms = true;
  return ArrayRef(form.terms) == dims;
}

/// The dimensions of the scores that are among some loops.
static SmallVector<unsigned> dimsAmong(ArrayRef<std::optional<unsigned>> loopOf,
                                       ArrayRef<unsigned> loops) {
  SmallVector<unsigned> dims;
  for (auto [dim, loop] : llvm::enumerate(loopOf))
    if (loop && llvm::is_contained(loops, *loop))
      dims.push_back(dim);
  return dims;
}

bool Matcher::addResult(linalg::GenericOp op, ContractionForm own) {
  std::optional<LoopOfDim> loops = loopsOfReader(op);
  if (!loops)
    return false;
  AttentionProduct product{op, std::move(own), *loops, {}};
  // The scores are the factor that reads another product.
  auto reads = [&](const ContractionFactor &factor) {
    return llvm::any_of(factor.inputs, [&](unsigned input) {
      Value tensor = op.getDpsInputOperand(input)->get();
      SmallVector<Value> work{tensor};
      while (!work.empty()) {
        Operation *maker = work.pop_back_val().getDefiningOp();
        if (maker && isScoreProduct(maker))
          return true;
        if (auto generic = dyn_cast_or_null<linalg::GenericOp>(maker))
          llvm::append_range(work, generic.getInputs());
      }
      return false;
    });
  };
  if (reads(product.form.b))
    std::swap(product.form.a, product.form.b);
  if (reads(product.form.b))
    return false;
  SmallVector<unsigned> reductions(product.form.kOuter);
  reductions.append(product.form.k);
  SmallVector<unsigned> terms = dimsAmong(product.loopOf, reductions);
  if (terms.size() != reductions.size())
    return false;
  summed.push_back(std::move(terms));
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (!llvm::is_contained(product.loopOf, loop) && constantOf(product.form.loopSizes[loop]) != 1)
      product.others.push_back(loop);
  // Its columns are loops of the other factor alone.
  if (product.others.empty() || dependsOn(op, product.form.a, product.others))
    return false;
  form.results.push_back(std::move(product));
  return true;
}

bool Matcher::addRowOp(linalg::GenericOp op) {
  std::optional<LoopOfDim> loops = loopsOfReader(op);
  if (!loops)
    return false;
  SmallVector<unsigned> reductions;
  for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray()))
    if (type == utils::IteratorType::reduction)
      reductions.push_back(loop);
  SmallVector<unsigned> terms = dimsAmong(*loops, reductions);
  if (terms.size() != reductions.size() || !setTerms(terms))
    return false;
  form.rowLoops.push_back(std::move(*loops));
  return true;
}

/// Chooses the terms: those of the reductions of rows if there are any, else the dimensions along
/// which all products sum, or those of two kinds that include the last one.
bool Matcher::chooseTerms() {
  for (ArrayRef<unsigned> dims : summed)
    if (!hasTerms && (llvm::is_contained(dims, form.sizes.size() - 1) || llvm::all_equal(summed)) &&
        !setTerms(dims))
      return false;
  for (auto [product, dims] : llvm::zip_equal(form.results, summed))
    product.sumsRows = ArrayRef(form.terms) != ArrayRef(dims);
  return hasTerms;
}

/// Dimensions are rows if the factors of terms do not vary with them.
bool Matcher::divideDims() {
  for (unsigned dim = 0; dim < form.sizes.size(); ++dim) {
    if (llvm::is_contained(form.terms, dim))
      continue;
    auto isShared = [&](const AttentionProduct &product) {
      return !product.loopOf[dim] || !dependsOn(product.op, product.form.b, {*product.loopOf[dim]});
    };
    bool isRow = constantOf(form.sizes[dim]) != 1 && llvm::all_of(form.scores, isShared) &&
                 llvm::all_of(form.results, [&](const AttentionProduct &product) {
                   return product.sumsRows || isShared(product);
                 });
    (isRow ? form.rows : form.batch).push_back(dim);
  }
  // Products that sum along rows do so along all of them, and their other factor has no terms.
  for (auto [product, dims] : llvm::zip_equal(form.results, summed))
    if (product.sumsRows && (ArrayRef(dims) != ArrayRef(form.rows) ||
                             dependsOn(product.op, product.form.b, product.loops(form.terms))))
      return false;
  return !form.rows.empty() && !form.terms.empty();
}

/// Returns the index into a product's tensor for each loop of an operation that reads an element of
/// it at each point; none if it reads something else that the kernel sums, or other elements.
static std::optional<SmallVector<unsigned>> epilogueLoops(linalg::GenericOp op, Value product) {
  std::optional<SmallVector<unsigned>> loops;
  for (const Access &read : footprintOf(op, isReduction).reads) {
    Operation *maker = read.tensor.getDefiningOp();
    if (!maker || !isReduction(maker))
      continue;
    SmallVector<unsigned> own;
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
      auto *place = llvm::find(read.indices, getAffineDimExpr(loop, op.getContext()));
      if (place == read.indices.end())
        return std::nullopt;
      own.push_back(place - read.indices.begin());
    }
    bool isOther = read.tensor != product || read.indices.size() != own.size();
    if (isOther || (loops && *loops != own))
      return std::nullopt;
    loops = std::move(own);
  }
  return loops;
}

/// Assigns the other generics whose results are returned to the products whose elements they read,
/// each at its own position. Returns false if there are others.
bool Matcher::addEpilogues() {
  Operation *end = shapes.kernel().getBody().front().getTerminator();
  for (AttentionProduct &product : form.results) {
    ContractionNest &nest = form.nests.emplace_back();
    nest.op = product.op;
    nest.storesProduct = llvm::is_contained(product.op->getUsers(), end);
  }
  auto isKnown = [&](linalg::GenericOp op) {
    return llvm::is_contained(form.rowOps, op) ||
           llvm::any_of(form.nests, [&](const ContractionNest &nest) {
             return nest.op == op || llvm::is_contained(nest.epilogues, op);
           });
  };
  auto addTo = [](ContractionNest &nest, linalg::GenericOp op) {
    Value product = linalg::GenericOp(nest.op)->getResult(0);
    std::optional<SmallVector<unsigned>> loops = epilogueLoops(op, product);
    if (!loops)
      return false;
    nest.epilogues.push_back(op);
    nest.epilogueLoops.push_back(*loops);
    return true;
  };
  return llvm::all_of(end->getOperands(), [&](Value result) {
    auto op = result.getDefiningOp<linalg::GenericOp>();
    return op &&
           (isKnown(op) ||
            (op.getNumReductionLoops() == 0 &&
             llvm::any_of(form.nests, [&](ContractionNest &nest) { return addTo(nest, op); })));
  });
}

std::optional<AttentionForm> Matcher::match() {
  if (!classify())
    return std::nullopt;
  // Products that read no other ones make scores.
  std::vector<std::pair<linalg::GenericOp, ContractionForm>> others;
  for (auto &[op, own] : products) {
    bool readsReduction = llvm::any_of(footprintOf(op, isReduction).reads, [&](const Access &read) {
      Operation *maker = read.tensor.getDefiningOp();
      return maker && isReduction(maker);
    });
    if (readsReduction)
      others.push_back({op, own});
    else if (!addScores(op, own))
      return std::nullopt;
  }
  if (form.scores.empty() || (others.empty() && form.rowOps.empty()))
    return std::nullopt;
  for (auto &[op, own] : others)
    if (!addResult(op, own))
      return std::nullopt;
  for (linalg::GenericOp op : form.rowOps)
    if (!addRowOp(op))
      return std::nullopt;
  if (!chooseTerms())
    return std::nullopt;
  // The factor of rows comes first.
  for (AttentionProduct &product : form.scores) {
    SmallVector<unsigned> terms = product.loops(form.terms);
    if (dependsOn(product.op, product.form.a, terms))
      std::swap(product.form.a, product.form.b);
    if (dependsOn(product.op, product.form.a, terms))
      return std::nullopt;
  }
  if (!divideDims() || !addEpilogues())
    return std::nullopt;
  Values values(form);
  form.isSoftmax = values.findSoftmax();
  bool mayWait = !form.isSoftmax || llvm::all_of(form.results, [&](const AttentionProduct &p) {
    return values.dividesOnce(p);
  });
  // Other reductions are complete only after the last term.
  bool areEnds = form.isSoftmax || form.rowOps.empty() || form.results.empty();
  if (!form.isSoftmax)
    for (linalg::GenericOp op : form.rowOps)
      for (const Access &read : footprintOf(op, isReduction).reads)
        areEnds &= !llvm::is_contained(form.rowOps, read.tensor.getDefiningOp());
  if (!mayWait || !areEnds)
    return std::nullopt;
  form.endOfTerms = findEndOfTerms(form);
  return std::move(form);
}

std::optional<AttentionForm> tfc::kernels::matchAttention(KernelShapes &shapes) {
  return Matcher(shapes).match();
}
