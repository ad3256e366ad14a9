#include "frontend/text/PrintImpl.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace llvm;
using namespace mlir;

namespace tfc::text {

LogicalResult GraphPrinter::failWithoutText(Operation &op) {
  return op.emitError("'") << op.getName() << "' has no text in the graph language [no-text]";
}

std::string GraphPrinter::targets(Operation &op) {
  return op.getNumResults() ? define(op) + " = " : std::string();
}

/// The statements of a block, one level deeper, and what it yields.
LogicalResult GraphPrinter::printBlock(Block &block) {
  indent += "  ";
  for (Operation &op : block.without_terminator())
    if (failed(printStatement(op)))
      return failure();
  if (ValueRange values = block.getTerminator()->getOperands(); !values.empty())
    os << indent << "yield " << operandList(values) << '\n';
  indent.resize(indent.size() - 2);
  return success();
}

LogicalResult GraphPrinter::printIf(dfg::IfOp op) {
  os << indent << targets(*op) << "if " << use(op.getCondition()) << " {\n";
  if (failed(printBlock(op.getThenBlock())))
    return failure();
  if (op.getNumResults() || op.getElseBlock().getOperations().size() > 1) {
    os << indent << "} else {\n";
    if (failed(printBlock(op.getElseBlock())))
      return failure();
  }
  os << indent << "}\n";
  return success();
}

LogicalResult GraphPrinter::printWhile(dfg::WhileOp op) {
  std::string carried;
  for (auto [i, init] : enumerate(op.getInits())) {
    std::string name = nameFor(op.getBodyBlock().getArgument(i));
    names[op.getConditionBlock().getArgument(i)] = name;
    carried += (i ? ", " : " with ") + name + " = " + use(init);
  }
  // The condition is one expression.
  for (Operation &step : op.getConditionBlock().without_terminator()) {
    std::optional<std::string> text = expression(step);
    if (!text || step.getNumResults() != 1 || isa<dfg::AssignOp>(step))
      return failWithoutText(step);
    names[step.getResult(0)] = "(" + *text + ")";
  }
  if (std::optional<StringRef> recompute = op.getRecompute())
    os << indent << "@recompute(\"" << *recompute << "\")\n";
  std::string condition = use(op.getCondition().getCondition());
  os << indent << targets(*op) << "while " << condition << carried << " {\n";
  if (failed(printBlock(op.getBodyBlock())))
    return failure();
  os << indent << "}\n";
  return success();
}

LogicalResult GraphPrinter::printDataflow(dfg::DataflowOp op) {
  os << indent << targets(*op) << "dataflow {\n";
  // Names may be used before they are bound.
  for (Operation &nested : op.getBody().front())
    for (Value result : nested.getResults())
      if (!result.use_empty() && !isa<dfg::TokenType>(result.getType()))
        nameFor(result);
  for (auto node : op.getBody().front().getOps<dfg::NodeOp>())
    if (!node.getDone().use_empty() && !node.getResults().empty()) {
      Value first = node.getResult(0);
      names[node.getDone()] = names.count(first) ? use(first) : nameFor(first);
    }
  if (failed(printBlock(op.getBody().front())))
    return failure();
  os << indent << "}\n";
  return success();
}

/// An operation with control edges.
LogicalResult GraphPrinter::printNode(dfg::NodeOp op) {
  Block &body = op.getBody().front();
  bool isOne = body.getOperations().size() == 2 && !op.getAlways() &&
               body.getTerminator()->getOperands() == body.front().getResults();
  bool isNamed = op.getDone().use_empty() || !op.getResults().empty();
  std::optional<std::string> text = isOne && isNamed ? expression(body.front()) : std::nullopt;
  if (!text || !StringRef(*text).ends_with(")"))
    return failWithoutText(*op);
  os << indent;
  std::string bound;
  for (Value result : op.getResults())
    bound += (bound.empty() ? "" : ", ") + (names.count(result) ? use(result) : std::string("_"));
  text->pop_back();
  os << bound << (bound.empty() ? "" : " = ") << *text;
  if (!op.getAfter().empty())
    os << ", after: [" << operandList(op.getAfter()) << "]";
  os << ")\n";
  return success();
}

//===----------------------------------------------------------------------===//
// Queues
//===----------------------------------------------------------------------===//

void GraphPrinter::printQueue(dfg::QueueOp queue) {
  os << "queue " << quoteName(queue.getSymName()) << ": (";
  for (auto [i, type] : enumerate(queue.getTensorTypes()))
    os << (i ? ", " : "") << quoteName(cast<StringAttr>(queue.getNames()[i]).getValue()) << ": "
       << typeText(type);
  os << ") = " << queue.getKind() << "_queue(capacity: " << queue.getCapacity();
  if (queue.getKind() == "shuffle")
    os << ", min_ready: " << queue.getMinReady() << ", seed: " << int64_t(queue.getSeed());
  os << ")\n";
}

std::optional<std::string> GraphPrinter::queueAccess(Operation &op) {
  auto text = [&](StringRef name, StringRef queue, const std::string &rest) {
    return (name + "(" + quoteName(queue) + (rest.empty() ? "" : ", ") + rest + ")").str();
  };
  auto countOf = [](dfg::DimsAttr count) { return sizeText(count.getExprs().front()); };
  using Text = std::optional<std::string>;
  return llvm::TypeSwitch<Operation *, Text>(&op)
      .Case([&](dfg::EnqueueOp put) -> Text {
        return text("enqueue", put.getQueue(), operandList(put.getValues()));
      })
      .Case([&](dfg::EnqueueManyOp put) -> Text {
        return text("enqueue_many", put.getQueue(), operandList(put.getValues()));
      })
      .Case([&](dfg::DequeueOp take) -> Text { return text("dequeue", take.getQueue(), ""); })
      .Case([&](dfg::DequeueManyOp take) -> Text {
        return text("dequeue_many", take.getQueue(), countOf(take.getCount()));
      })
      .Case([&](dfg::DequeueUpToOp take) -> Text {
        return text("dequeue_up_to", take.getQueue(), countOf(take.getCount()));
      })
      .Case([&](dfg::QueueSizeOp ask) -> Text { return text("size", ask.getQueue(), ""); })
      .Case([&](dfg::QueueCloseOp close) -> Text {
        return text("close", close.getQueue(),
                    close.getCancelPending() ? "cancel_pending: true" : "");
      })
      .Default([](Operation *) -> Text { return std::nullopt; });
}

} // namespace tfc::text
