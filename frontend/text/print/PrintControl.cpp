// Holds the part of the printer for operations that contain others: branches, loops and dataflow
// blocks; also queues.
#include "frontend/text/Refusals.h"
#include "frontend/text/print/PrintImpl.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace llvm;
using namespace mlir;

namespace tfc::text {

static void suggestRegions(InFlightDiagnostic &error) {
  error.attachNote() << "--stop-after=controlflow writes branches and loops in place of this form";
}

LogicalResult GraphPrinter::failWithoutText(Operation &op) {
  InFlightDiagnostic error = op.emitError("'");
  error << op.getName() << "' cannot be written in the graph language [no-text]";
  if (isa<dfg::NodeOp>(op))
    suggestRegions(error);
  return error;
}

/// Fails if the language refuses the operation.
LogicalResult GraphPrinter::checkMeaning(Operation &op) {
  if (std::optional<Refusal> refusal = findMeaninglessConstants(&op, op.getName().stripDialect()))
    return op.emitError(refusal->text) << ", which the graph language refuses [no-text]";
  return success();
}

std::string GraphPrinter::targets(ValueRange results) {
  return results.empty() ? std::string() : names.define(results) + " = ";
}

/// Prints the statements of a block, indented, and its yield.
LogicalResult GraphPrinter::printBlock(Block &block, unsigned skippedYields) {
  indent += "  ";
  for (Operation &op : block.without_terminator())
    if (failed(printStatement(op)))
      return failure();
  ValueRange values = block.getTerminator()->getOperands().drop_front(skippedYields);
  if (!values.empty())
    *os << indent << "yield " << names.use(values) << '\n';
  indent.resize(indent.size() - 2);
  return success();
}

LogicalResult GraphPrinter::printIf(dfg::IfOp op) {
  *os << indent << targets(op->getResults()) << "if " << names.use(op.getCondition()) << " {\n";
  if (failed(printBlock(op.getThenBlock())))
    return failure();
  if (op.getNumResults() || op.getElseBlock().getOperations().size() > 1) {
    *os << indent << "} else {\n";
    if (failed(printBlock(op.getElseBlock())))
      return failure();
  }
  *os << indent << "}\n";
  return success();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// The bound of a range, from a constant or a size.
static std::optional<dfg::DimExpr> boundOf(Value value) {
  if (auto size = value.getDefiningOp<dfg::SizeOp>())
    return size.getValue().getExprs().front();
  auto constant = value.getDefiningOp<dfg::ConstantOp>();
  auto dense = constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue()) : nullptr;
  if (!dense || dense.getType().getRank() != 0)
    return std::nullopt;
  return dfg::DimExpr(dense.getSplatValue<APInt>().getSExtValue());
}

/// The operation that adds 1 to the index of a loop for its next iteration, or null.
static dfg::AddOp stepOf(dfg::WhileOp op) {
  auto step = op.getYield().getValues().front().getDefiningOp<dfg::AddOp>();
  bool isStep =
      step && step->hasOneUse() && step->getOperand(0) == op.getBodyBlock().getArgument(0);
  return isStep && boundOf(step->getOperand(1)) == dfg::DimExpr(1) ? step : dfg::AddOp();
}

/// Returns true if the loop is the form of `for i in first..last` with bounds known when the call
/// starts, which only a range can express.
bool GraphPrinter::isRange(dfg::WhileOp op) {
  Block &condition = op.getConditionBlock();
  if (!op.getTrips() || op.getInits().empty() || !op.getResult(0).use_empty() ||
      condition.getOperations().size() != 2 || !stepOf(op))
    return false;
  auto less = dyn_cast<dfg::LessOp>(condition.front());
  if (!less || less->getOperand(0) != condition.getArgument(0) ||
      op.getCondition().getCondition() != less->getResult(0))
    return false;
  std::optional<dfg::DimExpr> first = boundOf(op.getInits().front());
  std::optional<dfg::DimExpr> last = boundOf(less->getOperand(1));
  if (!first || !first->constant() || !last)
    return false;
  bool isWide = !isInt<32>(*first->constant()) || !isInt<32>(last->constant().value_or(0));
  if (!dfg::elementTypeOf(op.getInits().front().getType()).isSignlessInteger(isWide ? 64 : 32))
    return false;
  dfg::DimExpr trips = op.getTrips()->getExprs().front();
  return trips == *last - *first || trips == dfg::DimExpr::max(*last - *first, 0);
}

/// Finds the bounds and steps that ranges imply, so that they are not printed separately.
void GraphPrinter::findImplied() {
  module.walk([&](dfg::WhileOp op) {
    if (!isRange(op))
      return;
    dfg::AddOp step = stepOf(op);
    implied.insert(step);
    Value limit = op.getConditionBlock().front().getOperand(1);
    for (Value bound : {step->getOperand(1), op.getInits().front(), limit})
      if (bound.hasOneUse())
        implied.insert(bound.getDefiningOp());
  });
}

LogicalResult GraphPrinter::printFor(dfg::WhileOp op) {
  std::string carried;
  std::string index = names.create(op.getBodyBlock().getArgument(0));
  for (auto [i, init] : enumerate(op.getInits().drop_front()))
    carried += (i ? ", " : " with ") + names.create(op.getBodyBlock().getArgument(i + 1)) + " = " +
               names.use(init);
  auto bound = [&](Value value) { return names.size(*boundOf(value)); };
  *os << indent << targets(op.getResults().drop_front()) << "for " << index << " in "
      << bound(op.getInits().front()) << ".." << bound(op.getConditionBlock().front().getOperand(1))
      << carried << " {\n";
  if (failed(printBlock(op.getBodyBlock(), /*skippedYields=*/1)))
    return failure();
  *os << indent << "}\n";
  return success();
}

LogicalResult GraphPrinter::printWhile(dfg::WhileOp op) {
  if (std::optional<dfg::Recompute> recompute = op.getRecompute())
    *os << indent << "@recompute(" << quoteString(stringifyRecompute(*recompute)) << ")\n";
  if (isRange(op))
    return printFor(op);
  if (neverEnds(op))
    return op.emitError("this loop never ends once it begins, which the graph language refuses "
                        "[no-text]");
  std::string carried;
  for (auto [i, init] : enumerate(op.getInits())) {
    std::string name = names.create(op.getBodyBlock().getArgument(i));
    names.set(op.getConditionBlock().getArgument(i), name);
    carried += (i ? ", " : " with ") + name + " = " + names.use(init);
  }
  std::string condition;
  if (failed(printCondition(op, condition)))
    return failure();
  *os << indent << targets(op->getResults()) << "while " << condition << carried << " {\n";
  if (failed(printBlock(op.getBodyBlock())))
    return failure();
  *os << indent << "}\n";
  return success();
}

LogicalResult GraphPrinter::printDataflow(dfg::DataflowOp op) {
  bool isOrdered = true;
  findUnorderedEffects(op, [&](const UnorderedEffects &effects) {
    InFlightDiagnostic error = effects.second->emitError("this and another use of '");
    error << effects.name
          << "', which one of them changes, have an order that no value or control edge "
             "expresses, which the graph language requires [no-text]";
    error.attachNote(effects.first->getLoc()) << "the other one";
    suggestRegions(error);
    return isOrdered = false;
  });
  if (!isOrdered)
    return failure();
  *os << indent << targets(op->getResults()) << "dataflow {\n";
  // Names may be used before they are bound.
  for (Operation &nested : op.getBody().front())
    for (Value result : nested.getResults())
      if (!result.use_empty() && !isa<dfg::TokenType>(result.getType()))
        names.create(result);
  for (auto node : op.getBody().front().getOps<dfg::NodeOp>())
    if (!node.getDone().use_empty() && !node.getResults().empty()) {
      Value first = node.getResult(0);
      names.set(node.getDone(), names.has(first) ? names.use(first) : names.create(first));
    }
  if (failed(printBlock(op.getBody().front())))
    return failure();
  *os << indent << "}\n";
  return success();
}

/// An operation with control edges.
LogicalResult GraphPrinter::printNode(dfg::NodeOp op) {
  Block &body = op.getBody().front();
  bool isOne = body.getOperations().size() == 2 && !op.getAlways() &&
               body.getTerminator()->getOperands() == body.front().getResults();
  bool isNamed = op.getDone().use_empty() || !op.getResults().empty();
  std::optional<std::string> text = isOne && isNamed ? expression(body.front()) : std::nullopt;
  bool isGroup = text && StringRef(*text).ends_with(")[0]");
  StringRef call = text ? StringRef(*text).drop_back(isGroup ? 3 : 0) : "";
  if (!call.consume_back(")"))
    return failWithoutText(*op);
  if (failed(checkMeaning(body.front())))
    return failure();
  *os << indent << placement(body.front());
  std::string bound;
  for (Value result : op.getResults())
    bound +=
        (bound.empty() ? "" : ", ") + (names.has(result) ? names.use(result) : std::string("_"));
  *os << bound << (bound.empty() ? "" : " = ") << call;
  if (!op.getAfter().empty())
    *os << ", after: [" << names.use(op.getAfter()) << "]";
  *os << (isGroup ? ")[0]\n" : ")\n");
  return success();
}

//===----------------------------------------------------------------------===//
// Queues
//===----------------------------------------------------------------------===//

/// The components of an element or a row.
std::string GraphPrinter::fieldsText(ArrayAttr fields, ArrayRef<RankedTensorType> types) {
  std::string text = "(";
  for (auto [i, type] : enumerate(types))
    text +=
        (i ? ", " : "") + quoteName(cast<StringAttr>(fields[i]).getValue()) + ": " + typeText(type);
  return text + ")";
}

void GraphPrinter::printQueue(dfg::QueueOp queue) {
  *os << placement(*queue) << "queue " << quoteName(queue.getSymName()) << ": "
      << fieldsText(queue.getNames(), queue.getTensorTypes()) << " = "
      << stringifyQueueKind(queue.getKind()) << "_queue(capacity: " << queue.getCapacity();
  if (queue.getKind() == dfg::QueueKind::Shuffle)
    *os << ", min_ready: " << queue.getMinReady() << ", seed: " << int64_t(queue.getSeed());
  *os << ")\n";
}

void GraphPrinter::printDataset(dfg::DatasetOp dataset) {
  *os << "dataset " << quoteName(dataset.getSymName()) << ": "
      << fieldsText(dataset.getNames(), dataset.getTensorTypes()) << " = "
      << stringifyDatasetFormat(dataset.getFormat()) << "(";
  for (auto [i, path] : enumerate(dataset.getPaths().getAsValueRange<StringAttr>()))
    *os << (i ? ", " : "") << quoteString(path);
  if (dataset.getSkip() != 0)
    *os << ", skip: " << int64_t(dataset.getSkip());
  *os << ")\n";
}

std::optional<std::string> GraphPrinter::queueAccess(Operation &op) {
  auto text = [&](StringRef name, StringRef queue, const std::string &rest) {
    return (names.function(name) + "(" + names.state(queue, declarations) +
            (rest.empty() ? "" : ", ") + rest + ")");
  };
  auto countOf = [&](dfg::DimsAttr count) { return names.size(count.getExprs().front()); };
  using Text = std::optional<std::string>;
  return llvm::TypeSwitch<Operation *, Text>(&op)
      .Case([&](dfg::EnqueueOp put) -> Text {
        return text("enqueue", put.getQueue(), names.use(put.getValues()));
      })
      .Case([&](dfg::EnqueueManyOp put) -> Text {
        return text("enqueue_many", put.getQueue(), names.use(put.getValues()));
      })
      .Case([&](dfg::DequeueOp take) -> Text { return text("dequeue", take.getQueue(), ""); })
      .Case([&](dfg::DequeueManyOp take) -> Text {
        return text("dequeue_many", take.getQueue(), countOf(take.getCount()));
      })
      .Case([&](dfg::DequeueUpToOp take) -> Text {
        return text("dequeue_up_to", take.getQueue(), countOf(take.getCount()));
      })
      .Case([&](dfg::QueueSizeOp ask) -> Text { return text("size", ask.getQueue(), ""); })
      .Case([&](dfg::ReadRowsOp read) -> Text {
        std::string rest = names.use(read.getRows());
        if (read.getNext())
          rest += ", next: " + names.use(read.getNext());
        Text call = text("read_rows", read.getDataset(), rest);
        return read->getNumResults() == 1 ? *call + "[0]" : call; // of a group
      })
      .Case([&](dfg::DatasetSizeOp ask) -> Text { return text("size", ask.getDataset(), ""); })
      .Case([&](dfg::QueueCloseOp close) -> Text {
        return text("close", close.getQueue(),
                    close.getCancelPending() ? "cancel_pending: true" : "");
      })
      .Default([](Operation *) -> Text { return std::nullopt; });
}

} // namespace tfc::text
