//===- SharedHeads.cpp - Scores of heads that share keys ------------------===//
//
// Attention.cpp finds operations between products that have one shape.
//
//===----------------------------------------------------------------------===//

#include "compiler/fusion/SharedHeads.h"
#include "compiler/fusion/Grouping.h"
#include "dialects/dfg/Build.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tfc::dfg;
using namespace tfc::fusion;

namespace {

/// The shapes [..., g, r * t, s] of products and [..., g * r, t, s] of what is computed from them.
struct Shapes {
  Shape products, scores;
  int64_t factor; // r

  DimExpr heads() const { return scores[scores.size() - 3]; }
  DimExpr queries() const { return scores[scores.size() - 2]; }
  bool operator==(const Shapes &other) const {
    return products == other.products && scores == other.scores;
  }
};

class HeadMover {
public:
  HeadMover(Block &block, const Shapes &shapes) : block(block), shapes(shapes) {}

  /// Moves all that is computed from a product of these shapes, if nothing else reads it. Adds the
  /// reshapes of products that it removes to `moved`.
  void move(ReshapeOp start, llvm::SmallDenseSet<Operation *> &moved);

private:
  bool collect(ReshapeOp start);
  Value adapt(OpBuilder &b, Operation *reader, Value operand);

  Block &block;
  const Shapes &shapes;
  llvm::SetVector<Operation *> starts, ops, ends; // reshapes, what is between them, and reshapes
};

} // namespace

/// Returns the shapes if an operation reshapes a product to more heads.
static std::optional<Shapes> shapesOf(ReshapeOp op) {
  Shapes shapes{shapeOf(op.getX().getType()), shapeOf(op.getType()), 0};
  size_t rank = shapes.scores.size();
  if (rank < 3 || shapes.products.size() != rank || !op.getX().getDefiningOp<MatmulOp>())
    return std::nullopt;
  std::optional<int64_t> few = shapes.products[rank - 3].constant(),
                         many = shapes.heads().constant();
  if (!few || !many || *few == 0 || *many % *few != 0 || *many == *few)
    return std::nullopt;
  shapes.factor = *many / *few;
  bool isSplit = shapes.products[rank - 2] == shapes.queries() * DimExpr(shapes.factor) &&
                 shapes.products.back() == shapes.scores.back() &&
                 ArrayRef(shapes.products).drop_back(3) == ArrayRef(shapes.scores).drop_back(3);
  return isSplit ? std::optional(shapes) : std::nullopt;
}

/// Finds the operations; returns false if another one reads their values.
bool HeadMover::collect(ReshapeOp start) {
  SmallVector<Operation *> work{start};
  starts.insert(start);
  auto addOperand = [&](Value operand) {
    auto reshape = operand.getDefiningOp<ReshapeOp>();
    if (reshape && reshape->getBlock() == &block && shapesOf(reshape) == shapes &&
        starts.insert(reshape))
      work.push_back(reshape);
  };
  while (!work.empty()) {
    for (Operation *user : work.pop_back_val()->getUsers()) {
      if (user->getBlock() != &block || user->getNumResults() != 1 ||
          !isa<RankedTensorType>(user->getResult(0).getType()))
        return false;
      Shape shape = shapeOf(user->getResult(0).getType());
      if (isa<ReshapeOp>(user) && shape == shapes.products) {
        ends.insert(user);
        continue;
      }
      bool isScore = isa<ScalarOpInterface>(user) && shape == shapes.scores;
      if (!isScore && !isOfRows(user))
        return false;
      if (!ops.insert(user))
        continue;
      work.push_back(user);
      llvm::for_each(user->getOperands(), addOperand);
    }
  }
  return !ends.empty();
}

/// Returns an operand of other operations in the shape of products, or one that it broadcasts to.
Value HeadMover::adapt(OpBuilder &b, Operation *reader, Value operand) {
  Shape shape = shapeOf(operand.getType());
  size_t rank = shape.size();
  if (rank < 2)
    return operand;
  bool hasQueries = !shape[rank - 2].isConstant(1);
  bool hasHeads = rank >= 3 && !shape[rank - 3].isConstant(1);
  if (!hasQueries && !hasHeads)
    return operand;
  Shape outer(shape.begin(), shape.end() - std::min<size_t>(rank, 3));
  DimExpr few = hasHeads ? shapes.products[shapes.products.size() - 3] : DimExpr(1);
  // [..., heads, queries, keys], with a head of keys and those that it serves apart.
  auto with = [&](std::initializer_list<DimExpr> sizes) {
    Shape result(outer);
    result.append(sizes.begin(), sizes.end());
    result.push_back(shape.back());
    return result;
  };
  DimExpr served = hasHeads ? DimExpr(shapes.factor) : DimExpr(1);
  auto set = [&](Value next) {
    if (next != operand)
      placeLike(reader, next.getDefiningOp());
    operand = next;
  };
  set(reshapeTo(b, operand, with({few, served, shape[rank - 2]})));
  set(broadcastTo(b, operand, with({few, DimExpr(shapes.factor), shapes.queries()})));
  set(reshapeTo(b, operand, with({few, shapes.products[shapes.products.size() - 2]})));
  return operand;
}

void HeadMover::move(ReshapeOp start, llvm::SmallDenseSet<Operation *> &moved) {
  if (!collect(start))
    return;
  IRMapping mapping;
  for (Operation *op : starts)
    mapping.map(op->getResult(0), op->getOperand(0));
  SmallVector<Operation *> sorted = inOrder(ops.getArrayRef());
  for (Operation *op : sorted) {
    OpBuilder b(op);
    IRMapping operands;
    for (Value operand : op->getOperands())
      operands.map(operand,
                   mapping.contains(operand) ? mapping.lookup(operand) : adapt(b, op, operand));
    Value copy = b.clone(*op, operands)->getResult(0);
    Shape shape = shapes.products;
    if (isOfRows(op))
      shape.back() = DimExpr(1);
    copy.setType(tensorOf(shape, elementTypeOf(copy.getType())));
    mapping.map(op->getResult(0), copy);
  }
  for (Operation *end : ends)
    end->getResult(0).replaceAllUsesWith(mapping.lookup(end->getOperand(0)));
  for (Operation *end : ends)
    end->erase();
  for (Operation *op : llvm::reverse(sorted))
    op->erase();
  for (Operation *op : starts) {
    moved.insert(op);
    op->erase();
  }
}

void tfc::fusion::moveSharedHeads(Block &block) {
  SmallVector<std::pair<ReshapeOp, Shapes>> found;
  for (auto reshape : block.getOps<ReshapeOp>())
    if (std::optional<Shapes> shapes = shapesOf(reshape))
      found.push_back({reshape, *shapes});
  llvm::SmallDenseSet<Operation *> moved;
  for (auto &[reshape, shapes] : found)
    if (!moved.contains(reshape))
      HeadMover(block, shapes).move(reshape, moved);
}
