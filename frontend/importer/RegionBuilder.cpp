// Fills the regions of branches and loops, and checks what they yield. Both regions of an operation
// are always built, so that all errors are reported at once.

#include "frontend/importer/RegionBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc::importer {

bool isPredicate(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0 && tensor.getElementType().isInteger(1);
}

std::optional<SmallVector<Value>> RegionBuilder::fill(Block &block, Contents contents) {
  node.builder().toEnd(block);
  SmallVector<NodeValue> arguments(block.args_begin(), block.args_end());
  std::optional<SmallVector<NodeValue>> results = contents(arguments);
  if (!results)
    return std::nullopt;
  SmallVector<Value> values = node.valuesOf(*results);
  return is_contained(values, Value()) ? std::nullopt : std::optional(std::move(values));
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

bool RegionBuilder::checkCondition(Value condition) {
  if (isPredicate(condition.getType()))
    return true;
  node.error() << "expected a bool as the condition, but got " << node.describe(condition.getType())
               << " [operand]";
  return false;
}

bool RegionBuilder::checkBranches(ValueRange onTrue, ValueRange onFalse) {
  if (onTrue.size() != onFalse.size()) {
    node.error() << "expected branches with the same number of results, but got " << onTrue.size()
                 << " and " << onFalse.size() << " [branch-type]";
    return false;
  }
  bool areEqual = true;
  for (auto [i, lhs, rhs] : enumerate(onTrue, onFalse))
    if (lhs.getType() != rhs.getType()) {
      areEqual = false;
      node.error() << "expected branches with results of the same types, but result " << i << " is "
                   << node.describe(lhs.getType()) << " and " << node.describe(rhs.getType())
                   << " [branch-type]";
    }
  return areEqual;
}

bool RegionBuilder::checkCarried(ValueRange inits, ValueRange next) {
  if (inits.size() != next.size()) {
    node.error() << "expected a body with a result for each of the " << inits.size()
                 << " loop variables, but got " << next.size() << " [loop-type]";
    return false;
  }
  bool areEqual = true;
  for (auto [init, value] : zip(inits, next))
    if (init.getType() != value.getType()) {
      areEqual = false;
      node.error() << "expected a loop variable to keep its type " << node.describe(init.getType())
                   << ", but it becomes " << node.describe(value.getType()) << " [loop-type]";
    }
  return areEqual;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

Operation *RegionBuilder::buildIf(const NodeValue &condition, Contents onTrue, Contents onFalse) {
  Value value = node.valueOf(condition);
  if (!value || !checkCondition(value))
    return nullptr;
  return node.record([&]() -> Operation * {
    GraphBuilder &builder = node.builder();
    dfg::IfOp op = builder.beginIf(value, node.location());
    OpBuilder::InsertPoint after = builder.position();
    auto thenValues = fill(op.getThenBlock(), onTrue);
    auto elseValues = fill(op.getElseBlock(), onFalse);
    builder.restore(after);
    if (thenValues && elseValues && checkBranches(*thenValues, *elseValues))
      return builder.finishIf(op, *thenValues, *elseValues);
    op->erase();
    return nullptr;
  });
}

std::optional<SmallVector<Value>> RegionBuilder::fillLoop(dfg::WhileOp op, Contents condition,
                                                          Contents body, bool &isWhole) {
  auto goesOn = fill(op.getConditionBlock(), condition);
  isWhole = goesOn && goesOn->size() == 1 && checkCondition(goesOn->front());
  if (goesOn && goesOn->size() != 1)
    node.error() << "expected one result of the condition, but got " << goesOn->size()
                 << " [operand]";
  if (isWhole)
    node.builder().condition(goesOn->front(), node.location());
  return fill(op.getBodyBlock(), body);
}

Operation *RegionBuilder::buildWhile(ArrayRef<NodeValue> inits, Contents condition, Contents body) {
  SmallVector<Value> values = node.valuesOf(inits);
  if (is_contained(values, Value()))
    return nullptr;
  return node.record([&]() -> Operation * {
    GraphBuilder &builder = node.builder();
    dfg::WhileOp op = builder.beginWhile(values, node.location());
    OpBuilder::InsertPoint after = builder.position();
    bool isWhole;
    auto next = fillLoop(op, condition, body, isWhole);
    isWhole &= next && checkCarried(values, *next);
    if (isWhole)
      return builder.finishWhile(op, {}, *next, std::nullopt, std::nullopt);
    builder.restore(after);
    op->erase();
    return nullptr;
  });
}

Value RegionBuilder::addStack(dfg::WhileOp op, Value value, SmallVectorImpl<Value> &added) {
  GraphBuilder &builder = node.builder();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type) {
    node.error() << "expected a tensor to stack, but got " << node.describe(value.getType())
                 << " [operand]";
    return {};
  }
  OpBuilder::InsertPoint inside = builder.position();
  builder.before(op);
  Value none = builder.scalar(int64_t(0), IntegerType::get(node.context(), 64), node.location());
  auto list = builder.create("list_create", none,
                             {node.attrs.sizes("shape", dfg::shapeOf(type)),
                              node.attrs.type("dtype", type.getElementType())},
                             node.location());
  builder.restore(inside);
  if (failed(list))
    return {};
  added.push_back((*list)->getResult(0));
  op.getConditionBlock().addArgument(added.back().getType(), node.location());
  Value carried = op.getBodyBlock().addArgument(added.back().getType(), node.location());
  auto written = builder.create("list_write", {carried, op.getBodyBlock().getArgument(0), value},
                                {}, node.location());
  return succeeded(written) ? (*written)->getResult(0) : Value();
}

std::optional<SmallVector<NodeValue>> RegionBuilder::buildStackingWhile(ArrayRef<NodeValue> inits,
                                                                        Contents condition,
                                                                        Contents body,
                                                                        Trips trips) {
  SmallVector<Value> values = node.valuesOf(inits);
  if (is_contained(values, Value()))
    return std::nullopt;
  return node.record([&]() -> std::optional<SmallVector<NodeValue>> {
    GraphBuilder &builder = node.builder();
    dfg::WhileOp op = builder.beginWhile(values, node.location());
    OpBuilder::InsertPoint after = builder.position();
    bool isWhole;
    auto next = fillLoop(op, condition, body, isWhole);
    SmallVector<Value> added, stacked;
    if (next && next->size() > values.size()) {
      stacked.assign(next->begin() + values.size(), next->end());
      next->resize(values.size());
    }
    isWhole &= next && checkCarried(values, *next);
    for (Value value : stacked) {
      next->push_back(isWhole ? addStack(op, value, added) : Value());
      isWhole &= bool(next->back());
    }
    if (!isWhole) {
      builder.restore(after);
      op->erase();
      return std::nullopt;
    }
    op = builder.finishWhile(op, added, *next, std::nullopt, std::nullopt);
    SmallVector<NodeValue> results(op.getResults().take_front(values.size()));
    if (added.empty())
      return results;
    NamedAttribute size = node.attrs.sizes("size", trips(op.getResults()));
    for (Value list : op.getResults().drop_front(values.size())) {
      auto tensor = builder.create("list_stack", list, size, node.location());
      if (failed(tensor))
        return std::nullopt;
      results.push_back(NodeValue((*tensor)->getResult(0)));
    }
    return results;
  });
}

} // namespace tfc::importer
