//===- Attention.cpp - Scores that are not stored -------------------------===//
//
// Runs before groups are formed. Values with the shape of the scores stay inside of kernels, so
// each kernel has operations of its own that compute them: those of the gradient are copies.
//
//===----------------------------------------------------------------------===//

#include "compiler/fusion/Attention.h"
#include "compiler/fusion/Grouping.h"
#include "compiler/fusion/RepeatMasks.h"
#include "dialects/dfg/Dfg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tfc::dfg;
using namespace tfc::fusion;

/// Matrices with fewer rows or columns are no tiles: the kernel would store its scores all the
/// same.
static constexpr int64_t kLeastExtent = 16;

namespace {

/// A product of which one factor is computed from the scores.
struct Product {
  MatmulOp op;
  unsigned factor; // the number of that operand

  MatmulOp matmul() const { return op; }
  Value scores() const { return matmul()->getOperand(factor); }
  Value other() const { return matmul()->getOperand(1 - factor); }
  Value result() const { return matmul().getResult(); }
  /// Returns true if it sums along the last axis of the scores, along which softmax runs.
  bool sumsRows() const {
    return factor == 0 ? !matmul().getTransposeLhs() : matmul().getTransposeRhs();
  }
};

/// The operations of a block that compute a value from products, all of the shape of the scores,
/// and the sums and maxima of their rows.
struct Slice {
  llvm::SetVector<Operation *> scores, rows;

  void append(const Slice &other) {
    scores.insert_range(other.scores);
    rows.insert_range(other.rows);
  }
};

/// The maximum and the sum of the rows of a softmax.
struct Softmax {
  MaxOp max;
  SumOp sum;
};

/// Products that share scores, and all that computes these: nothing else reads them.
struct Attention {
  SmallVector<Product> products;
  Slice slice;
  Softmax softmax;
};

class AttentionFinder {
public:
  AttentionFinder(Block &block, const AttentionLimits &limits, AttentionKernels &kernels)
      : block(block), repeated(block), limits(limits), kernels(kernels) {}

  void run();

private:
  Slice sliceOf(Value value, Operation *reader) const;
  std::vector<Attention> find();
  bool isClosed(const Attention &attention) const;
  void form(const Attention &attention);
  void addKernel(ArrayRef<Operation *> members);
  bool canJoin(ArrayRef<Product> group, const Product &product) const;
  void repeat(ArrayRef<Product> products, const Attention &attention, ArrayRef<Product> forward);
  void mapRows(const Slice &slice, const Attention &attention, ArrayRef<Product> forward,
               OpBuilder &b, IRMapping &mapping);
  Value rowsBefore(Operation *op, OpBuilder &b) const;
  Slice withoutRows(Value value, const Attention &attention) const;
  bool canMoveTo(const Product &product, Operation *op) const;

  Block &block;
  RepeatedOps repeated;
  const AttentionLimits &limits;
  AttentionKernels &kernels;
  unsigned count = 0;
  DenseMap<Operation *, Value> rows; // what kernels use for sums of rows
};

} // namespace

//===----------------------------------------------------------------------===//
// Recognition
//===----------------------------------------------------------------------===//

bool tfc::fusion::isOfRows(Operation *op) {
  auto max = dyn_cast<MaxOp>(op);
  auto sum = dyn_cast<SumOp>(op);
  if (!(max && max.getKeepDims()) && !(sum && sum.getKeepDims()))
    return false;
  int64_t rank = cast<RankedTensorType>(op->getOperand(0).getType()).getRank();
  SmallVector<int64_t> axes = reducedAxes(max ? max.getAxisAttr() : sum.getAxisAttr(), rank);
  return axes.size() == 1 && axes.front() == rank - 1;
}

/// Leaves out what is not computed from a product, as masks: several attentions may share it.
static Slice madeFromProducts(const Slice &slice) {
  SmallVector<Operation *> ops(slice.scores.getArrayRef());
  ops.append(slice.rows.begin(), slice.rows.end());
  Slice result;
  for (Operation *op : inOrder(ops)) {
    bool isMade = isa<MatmulOp>(op) || llvm::any_of(op->getOperands(), [&](Value operand) {
                    Operation *maker = operand.getDefiningOp();
                    return maker && (result.scores.contains(maker) || result.rows.contains(maker));
                  });
    if (isMade)
      (slice.rows.contains(op) ? result.rows : result.scores).insert(op);
  }
  return result;
}

/// Collects what computes a value of the scores' shape; values of other kinds are operands.
Slice AttentionFinder::sliceOf(Value value, Operation *reader) const {
  Slice slice;
  Shape shape = shapeOf(value.getType());
  SmallVector<Value> work{value};
  while (!work.empty()) {
    Value next = work.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op || op->getBlock() != &block || repeated.contains(op) || !canShareKernel(op, reader) ||
        Grouping::staysInHost(op))
      continue;
    bool isScore = shapeOf(next.getType()) == shape;
    if (isScore && isa<MatmulOp>(op)) {
      slice.scores.insert(op);
    } else if (isScore && isa<ScalarOpInterface>(op)) {
      if (slice.scores.insert(op))
        llvm::append_range(work, op->getOperands());
    } else if (isOfRows(op) && shapeOf(op->getOperand(0).getType()) == shape) {
      if (slice.rows.insert(op))
        work.push_back(op->getOperand(0));
    }
  }
  return madeFromProducts(slice);
}

/// Finds the softmax of a slice: exp(x - max(x)), divided by its sum.
static std::optional<Softmax> softmaxOf(const Slice &slice, bool takesDouble) {
  Softmax softmax;
  for (Operation *op : slice.rows)
    if (auto max = dyn_cast<MaxOp>(op)) {
      if (softmax.max)
        return std::nullopt;
      softmax.max = max;
    }
  if (!softmax.max)
    return std::nullopt;
  for (Operation *op : slice.rows) {
    auto sum = dyn_cast<SumOp>(op);
    auto exp = sum ? sum.getX().getDefiningOp<ExpOp>() : ExpOp();
    auto difference = exp ? exp->getOperand(0).getDefiningOp<SubOp>() : SubOp();
    if (!difference || difference.getRhs() != softmax.max.getResult() ||
        difference.getLhs() != softmax.max->getOperand(0))
      continue;
    bool isMaximum =
        llvm::all_of(softmax.max->getUsers(), [&](Operation *user) { return user == difference; });
    bool divides = llvm::all_of(sum->getUsers(), [&](Operation *user) {
      auto quotient = dyn_cast<DivOp>(user);
      return quotient && quotient.getLhs() == exp.getResult();
    });
    Type type = elementTypeOf(sum.getType());
    bool isTaken = type.isF32() || (takesDouble && type.isF64());
    if (!isMaximum || !divides || !difference->hasOneUse() || !isTaken)
      return std::nullopt;
    softmax.sum = sum;
    return softmax;
  }
  return std::nullopt;
}

/// Groups the products whose slices have operations in common.
std::vector<Attention> AttentionFinder::find() {
  SmallVector<std::pair<Product, Slice>> found;
  llvm::EquivalenceClasses<Operation *> classes;
  for (auto op : block.getOps<MatmulOp>())
    for (unsigned factor : {0u, 1u}) {
      Product product{op, factor};
      Slice slice = sliceOf(product.scores(), op);
      if (slice.scores.empty())
        continue;
      for (Operation *other : slice.scores)
        classes.unionSets(slice.scores.front(), other);
      found.push_back({product, std::move(slice)});
    }
  llvm::MapVector<Operation *, Attention> byClass;
  for (auto &[product, slice] : found) {
    Attention &attention = byClass[classes.getLeaderValue(slice.scores.front())];
    attention.products.push_back(product);
    attention.slice.append(slice);
  }
  std::vector<Attention> result;
  llvm::SmallDenseSet<Operation *> products;
  for (auto &[leader, attention] : byClass)
    if (std::optional<Softmax> softmax = softmaxOf(attention.slice, limits.takesDouble)) {
      attention.softmax = *softmax;
      bool areOwn = llvm::none_of(attention.products, [&](const Product &product) {
        return products.contains(product.op);
      });
      if (!areOwn || !isClosed(attention))
        continue;
      for (const Product &product : attention.products)
        products.insert(product.op);
      result.push_back(std::move(attention));
    }
  return result;
}

/// Returns true if a value is made of matrices of floats that products take as tiles.
static bool isTiled(Value value, bool takesDouble) {
  auto type = cast<RankedTensorType>(value.getType());
  auto isLarge = [](int64_t size) { return ShapedType::isDynamic(size) || size >= kLeastExtent; };
  Type element = type.getElementType();
  return isa<FloatType>(element) && (takesDouble || !element.isF64()) && type.getRank() >= 2 &&
         llvm::all_of(type.getShape().take_back(2), isLarge);
}

/// The columns of a product, 0 if their number is known only when it runs.
static int64_t columnsOf(const Product &product) {
  auto type = cast<RankedTensorType>(product.result().getType());
  return std::max<int64_t>(type.getDimSize(type.getRank() - 1 - product.factor), 0);
}

/// The number of terms that a product sums, the largest number if it is known only when it runs.
static int64_t depthOf(MatmulOp op) {
  auto type = cast<RankedTensorType>(op.getLhs().getType());
  int64_t depth = type.getDimSize(type.getRank() - (op.getTransposeLhs() ? 2 : 1));
  return ShapedType::isDynamic(depth) ? std::numeric_limits<int64_t>::max() : depth;
}

/// Returns true if there are enough scores for tiles, and nothing else reads them.
bool AttentionFinder::isClosed(const Attention &attention) const {
  auto type = cast<RankedTensorType>(attention.products.front().scores().getType());
  bool isMany =
      attention.products.size() > 1 || llvm::any_of(attention.slice.scores, [&](Operation *op) {
        return llvm::any_of(op->getOperands(),
                            [&](Value operand) { return isMaskOfPositions(operand, repeated); });
      });
  int64_t least = isMany ? limits.leastOfMany : limits.leastScores;
  if (type.hasStaticShape() && type.getNumElements() < least)
    return false;
  ArrayRef<int64_t> matrix = type.getShape().take_back(2);
  if (!ShapedType::isDynamicShape(matrix) && matrix[0] * matrix[1] < limits.leastOfMatrix)
    return false;
  auto isTiled = [&](Value value) { return ::isTiled(value, limits.takesDouble); };
  for (const Product &product : attention.products)
    if (!isTiled(product.scores()) || !isTiled(product.other()) || columnsOf(product) == 0 ||
        columnsOf(product) > limits.mostDepth)
      return false;
  // The same units multiply all factors of one type.
  Type factorType;
  for (Operation *op : attention.slice.scores)
    if (auto product = dyn_cast<MatmulOp>(op)) {
      Type type = elementTypeOf(op->getOperand(0).getType());
      if (!llvm::all_of(op->getOperands(), isTiled) || (factorType && factorType != type) ||
          depthOf(product) > limits.mostDepth)
        return false;
      factorType = type;
    }
  llvm::SmallDenseSet<Operation *> products;
  for (const Product &product : attention.products)
    if (!products.insert(product.op).second || attention.slice.scores.contains(product.op))
      return false; // both factors are scores, or the result is one
  return llvm::all_of(attention.slice.scores, [&](Operation *op) {
    return llvm::all_of(op->getUsers(), [&](Operation *user) {
      return attention.slice.scores.contains(user) || attention.slice.rows.contains(user) ||
             products.contains(user);
    });
  });
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

void AttentionFinder::addKernel(ArrayRef<Operation *> members) {
  SmallVector<Operation *> all(members);
  if (limits.repeatsMasks)
    repeatMasks(repeated, all);
  for (Operation *op : all)
    kernels[op] = count;
  ++count;
}

static bool isBetweenFloats(CastOp op) {
  return isa<FloatType>(getElementTypeOrSelf(op->getOperand(0).getType())) &&
         isa<FloatType>(getElementTypeOrSelf(op.getType()));
}

/// The factors whose product a value is, apart from rounding; those of a selection that is zero
/// otherwise, and divisors, are represented by the operation's other operand.
static void collectFactors(Value value, SmallVectorImpl<std::pair<Value, unsigned>> &factors) {
  enum { Plain, Divisor, Condition };
  SmallVector<Value> work{value};
  while (!work.empty()) {
    Value next = work.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (auto cast = dyn_cast_or_null<CastOp>(op); cast && isBetweenFloats(cast)) {
      work.push_back(cast->getOperand(0));
    } else if (isa_and_nonnull<MulOp>(op)) {
      llvm::append_range(work, op->getOperands());
    } else if (auto quotient = dyn_cast_or_null<DivOp>(op);
               quotient && shapeOf(quotient.getRhs().getType()).empty()) {
      factors.push_back({quotient.getRhs(), Divisor});
      work.push_back(quotient.getLhs());
    } else if (auto select = dyn_cast_or_null<SelectOp>(op);
               select && matchPattern(select->getOperand(2), m_AnyZeroFloat())) {
      factors.push_back({select->getOperand(0), Condition});
      work.push_back(select->getOperand(1));
    } else {
      factors.push_back({next, Plain});
    }
  }
}

/// Removes each of `some` from `all`; returns false if one is not there.
static bool removeFactors(SmallVectorImpl<std::pair<Value, unsigned>> &all,
                          ArrayRef<std::pair<Value, unsigned>> some) {
  for (const auto &factor : some) {
    auto *place = llvm::find(all, factor);
    if (place == all.end())
      return false;
    all.erase(place);
  }
  return true;
}

/// The gradient of softmax sums g * p along rows, where g is the gradient of p. If `forward` makes
/// y = f * p * v, g is f * dy * transpose(v), and the sum is that of dy * y. Returns dy, or null.
static Value gradientOf(SumOp sum, const Product &forward) {
  SmallVector<std::pair<Value, unsigned>> factors, own;
  collectFactors(sum.getX(), factors);
  collectFactors(forward.scores(), own);
  if (!removeFactors(factors, own) || factors.size() != 1)
    return {};
  auto product = factors.front().first.getDefiningOp<MatmulOp>();
  bool isGradient = product && !product.getTransposeLhs() && product.getRhs() == forward.other() &&
                    forward.factor == 0 &&
                    product.getTransposeRhs() != forward.matmul().getTransposeRhs() &&
                    product.getLhs().getType() == forward.result().getType();
  return isGradient ? product.getLhs() : Value();
}

/// Returns the slice of a value up to the rows of the softmax and others, which are operands.
Slice AttentionFinder::withoutRows(Value value, const Attention &attention) const {
  Slice slice;
  SmallVector<Value> work{value};
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (op && attention.slice.rows.contains(op))
      slice.rows.insert(op);
    else if (op && attention.slice.scores.contains(op) && slice.scores.insert(op) &&
             !isa<MatmulOp>(op))
      llvm::append_range(work, op->getOperands());
  }
  return slice;
}

/// Copies operations to the place of a builder, in their order.
static SmallVector<Operation *> copy(ArrayRef<Operation *> ops, OpBuilder &b, IRMapping &mapping) {
  SmallVector<Operation *> copies;
  for (Operation *op : inOrder(ops))
    copies.push_back(b.clone(*op, mapping));
  return copies;
}

/// Returns what an earlier kernel uses for sums of rows if that is there already, else null.
Value AttentionFinder::rowsBefore(Operation *op, OpBuilder &b) const {
  Value made = rows.lookup(op);
  bool isThere = made && made.getDefiningOp()->isBeforeInBlock(&*b.getInsertionPoint());
  return isThere ? made : Value();
}

/// Computes the sums of rows that a slice reads and the softmax has not: from the result of the
/// forward product, or by a kernel of their own.
void AttentionFinder::mapRows(const Slice &slice, const Attention &attention,
                              ArrayRef<Product> forward, OpBuilder &b, IRMapping &mapping) {
  for (Operation *op : inOrder(slice.rows.getArrayRef())) {
    if (op == attention.softmax.max || op == attention.softmax.sum)
      continue;
    if (Value made = rowsBefore(op, b)) {
      mapping.map(op->getResult(0), made);
      continue;
    }
    for (const Product &product : forward) {
      auto sum = dyn_cast<SumOp>(op);
      Value gradient = sum ? gradientOf(sum, product) : Value();
      if (!gradient || !product.matmul()->isBeforeInBlock(&*b.getInsertionPoint()))
        continue;
      auto converted = [&](Value value) -> Value {
        Type type = getElementTypeOrSelf(sum.getType());
        if (getElementTypeOrSelf(value.getType()) == type)
          return value;
        auto cast = CastOp::create(b, op->getLoc(), value, TypeAttr::get(type));
        placeLike(op, cast);
        return cast.getResult();
      };
      auto terms = MulOp::create(b, op->getLoc(), converted(gradient), converted(product.result()));
      placeLike(op, terms);
      IRMapping operand;
      operand.map(op->getOperand(0), terms.getResult());
      mapping.map(op->getResult(0), b.clone(*op, operand)->getResult(0));
      break;
    }
    if (mapping.contains(op->getResult(0))) {
      rows[op] = mapping.lookup(op->getResult(0));
      continue;
    }
    Slice own = withoutRows(op->getOperand(0), attention);
    IRMapping inner;
    mapRows(own, attention, forward, b, inner);
    SmallVector<Operation *> members = copy(own.scores.getArrayRef(), b, inner);
    members.push_back(b.clone(*op, inner));
    rows[op] = members.back()->getResult(0);
    mapping.map(op->getResult(0), rows[op]);
    addKernel(members);
  }
}

/// Makes a kernel of products that sum along the same axis of the scores, at the place of the
/// first.
void AttentionFinder::repeat(ArrayRef<Product> products, const Attention &attention,
                             ArrayRef<Product> forward) {
  Slice slice;
  for (const Product &product : products)
    slice.append(withoutRows(product.scores(), attention));
  OpBuilder b(products.front().op);
  IRMapping mapping;
  mapRows(slice, attention, forward, b, mapping);
  SmallVector<Operation *> members = copy(slice.scores.getArrayRef(), b, mapping);
  for (const Product &product : products) {
    Operation *op = product.op;
    op->setOperand(product.factor, mapping.lookup(product.scores()));
    if (op != products.front().op)
      op->moveAfter(members.back());
    members.push_back(op);
  }
  addKernel(members);
}

/// Returns the last check between two operations; the first of these if there is none.
static Operation *lastCheck(Operation *first, Operation *last) {
  Operation *check = first;
  for (Operation *op = first; op != last; op = op->getNextNode())
    if (isa<CheckOp>(op))
      check = op;
  return check;
}

/// Returns true if what a product needs, besides scores, is there before `op`.
bool AttentionFinder::canMoveTo(const Product &product, Operation *op) const {
  Slice slice = sliceOf(product.scores(), product.op);
  auto isThere = [&](Value value) {
    Operation *maker = value.getDefiningOp();
    return !maker || maker->getBlock() != &block || slice.scores.contains(maker) ||
           slice.rows.contains(maker) || maker->isBeforeInBlock(op);
  };
  return lastCheck(op, product.op) == op && isThere(product.other()) &&
         llvm::all_of(slice.scores, [&](Operation *score) {
           return llvm::all_of(score->getOperands(), isThere);
         });
}

/// Returns true if the kernel of some products may compute another one.
bool AttentionFinder::canJoin(ArrayRef<Product> group, const Product &product) const {
  int64_t columns = columnsOf(product);
  for (const Product &other : group)
    columns += columnsOf(other);
  // Sums along both axes are not complete at once: some of them grow in the results.
  Type type = elementTypeOf(product.result().getType());
  bool isLike = group.front().sumsRows() == product.sumsRows() ||
                (limits.joinsGradients && (type.isF32() || type.isF64()));
  return group.size() < limits.mostProducts && columns <= limits.mostColumns && isLike &&
         canMoveTo(product, group.front().op);
}

/// Moves an operation to the last one in the block that computes an operand, but not over a check:
/// sizes may rely on it.
static void moveUp(Operation *op) {
  Operation *last = nullptr;
  for (Value operand : op->getOperands())
    if (Operation *maker = operand.getDefiningOp(); maker && maker->getBlock() == op->getBlock())
      last = !last || last->isBeforeInBlock(maker) ? maker : last;
  if (last)
    op->moveAfter(lastCheck(last, op));
}

/// Returns true if the scores of a product are a softmax that is scaled, selected or rounded, by
/// nothing that is computed from scores: then the division can wait for the end of rows.
static bool dividesLast(const Product &product, const Attention &attention) {
  auto isApart = [&](Value value) {
    Operation *maker = value.getDefiningOp();
    return !maker ||
           !(attention.slice.scores.contains(maker) || attention.slice.rows.contains(maker));
  };
  Value value = product.scores();
  while (Operation *op = value.getDefiningOp()) {
    auto quotient = dyn_cast<DivOp>(op);
    if (quotient && quotient.getRhs().getDefiningOp() == attention.softmax.sum)
      return true;
    auto select = dyn_cast<SelectOp>(op);
    bool isZeroElse = select && matchPattern(select->getOperand(2), m_AnyZeroFloat());
    if (isa<CastOp, NegOp>(op) || (quotient && isApart(quotient.getRhs())))
      value = op->getOperand(0);
    else if (isa<MulOp>(op) && isApart(op->getOperand(1)))
      value = op->getOperand(0);
    else if (isa<MulOp>(op) && isApart(op->getOperand(0)))
      value = op->getOperand(1);
    else if (isZeroElse && isApart(select->getOperand(0)))
      value = select->getOperand(1);
    else
      return false;
  }
  return false;
}

void AttentionFinder::form(const Attention &attention) {
  SmallVector<Product> forward;
  std::vector<SmallVector<Product>> others;
  for (const Product &product : attention.products) {
    Slice slice = sliceOf(product.scores(), product.op);
    bool readsOnlySoftmax = llvm::all_of(slice.rows, [&](Operation *op) {
      return op == attention.softmax.max || op == attention.softmax.sum;
    });
    if (product.sumsRows() && readsOnlySoftmax && slice.rows.size() == 2) {
      if (!dividesLast(product, attention))
        return;
      forward.push_back(product);
      continue;
    }
    auto place =
        llvm::find_if(others, [&](ArrayRef<Product> group) { return canJoin(group, product); });
    (place == others.end() ? others.emplace_back() : *place).push_back(product);
  }
  if (forward.size() > limits.mostProducts)
    return;
  // If the gradient alone is wanted, a kernel makes the maximum and the sum.
  SumOp sum = attention.softmax.sum;
  Slice slice = sliceOf(sum.getX(), sum);
  slice.rows.insert(sum);
  for (const Product &product : forward)
    slice.append(sliceOf(product.scores(), product.op));
  SmallVector<Operation *> members(slice.scores.getArrayRef());
  members.append(slice.rows.begin(), slice.rows.end());
  for (const Product &product : forward)
    members.push_back(product.op);
  // The gradient may use the results.
  for (Operation *op : inOrder(members))
    moveUp(op);
  for (ArrayRef<Product> products : others)
    repeat(products, attention, forward);
  addKernel(members);
}

void AttentionFinder::run() {
  for (const Attention &attention : find())
    form(attention);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op)) {
      kernels.erase(&op);
      op.erase();
    }
}

AttentionLimits AttentionLimits::ofCpu() {
  AttentionLimits limits;
  limits.leastOfMany = 0;
  limits.leastOfMatrix = 64 * 64;
  limits.mostProducts = 3;
  limits.mostColumns = 512;
  limits.mostDepth = 256;
  limits.takesDouble = limits.joinsGradients = limits.repeatsMasks = true;
  return limits;
}

void tfc::fusion::formAttention(Block &block, const AttentionLimits &limits,
                                AttentionKernels &kernels) {
  AttentionFinder(block, limits, kernels).run();
}
