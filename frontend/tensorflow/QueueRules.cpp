// Implements the rules of queues. A queue belongs to the module, so its node builds a declaration
// and no operation.

#include "frontend/tensorflow/NodeBuilder.h"

using namespace mlir;
using namespace llvm;

namespace tfc::tensorflow {

/// The capacity of queues that declare none.
static constexpr int64_t kUnbounded = 1 << 16;

/// Returns the types of a queue's components, or nothing if the graph does not specify them.
static std::vector<RankedTensorType> componentsOf(NodeBuilder &node) {
  std::vector<RankedTensorType> components;
  Type i64 = IntegerType::get(node.context(), 64);
  if (node.node.op == "PriorityQueueV2")
    components.push_back(RankedTensorType::get({}, i64));
  const std::vector<int64_t> &types = node.node.attr("component_types").numbers;
  const std::vector<PartialShape> &shapes = node.node.attr("shapes").shapes;
  for (size_t i = 0; i < types.size(); ++i) {
    Type element = elementTypeOf(node.context(), types[i]);
    if (!element || i >= shapes.size() || !shapes[i].isStatic())
      return {};
    components.push_back(RankedTensorType::get(shapes[i].sizes, element));
  }
  return components;
}

static Outcome buildQueue(NodeBuilder &node, const OpRule &rule) {
  std::string name = variableName(node.node);
  std::vector<RankedTensorType> components = componentsOf(node);
  if (components.empty())
    return node.fail("expected a queue that specifies the types and sizes of its components "
                     "[dynamic-shape]");
  if (!node.entry.symbols.claim<dfg::QueueOp>(name))
    return node.fail("the name '{}' is already in use [graph-file]", name);
  if (!node.entry.symbols.declare(name))
    return node.done();
  int64_t capacity = node.node.number("capacity", -1);
  std::vector<std::string> names;
  for (size_t i = 0; i < components.size(); ++i)
    names.push_back("component" + std::to_string(i));
  SmallVector<Type> types(components.begin(), components.end());
  node.builder().getResources().createQueue(
      name, types, names, *dfg::symbolizeQueueKind(rule.argument),
      capacity < 1 ? kUnbounded : capacity, node.node.number("min_after_dequeue"),
      node.node.number("seed"), node.location());
  return node.done();
}

/// Returns the queue's node, which input 0 refers to.
static const Node *queueAt(NodeBuilder &node) {
  std::optional<unsigned> resource = node.handle(0);
  if (!resource)
    return nullptr;
  const Node &queue = node.entry.graph.nodes[*resource];
  if (node.entry.symbols.isClaimed<dfg::QueueOp>(variableName(queue)))
    return &queue;
  node.error() << "its input 0 does not lead to a queue [graph-edge]";
  return nullptr;
}

/// Returns the queue's component types with an additional leading size.
static SmallVector<Type> typesWith(NodeBuilder &node, const Node &queue,
                                   std::optional<dfg::DimExpr> count) {
  SmallVector<Type> types;
  NodeBuilder maker(node.entry, node.entry.graph.byName.lookup(queue.name));
  for (RankedTensorType component : componentsOf(maker)) {
    dfg::Shape shape = dfg::shapeOf(component);
    if (count)
      shape.insert(shape.begin(), *count);
    types.push_back(dfg::tensorOf(shape, component.getElementType()));
  }
  return types;
}

/// `argument` names the dfg operation.
static Outcome buildEnqueue(NodeBuilder &node, const OpRule &rule) {
  const Node *queue = queueAt(node);
  SmallVector<Value> values;
  if (queue)
    values = node.valuesOf(node.allInputs(1));
  if (!queue || llvm::is_contained(values, Value()))
    return Outcome::Failed;
  std::optional<dfg::DimExpr> count;
  if (rule.argument == "enqueue_many") {
    dfg::Shape shape = values.empty() ? dfg::Shape() : dfg::shapeOf(values.front().getType());
    if (shape.empty())
      return node.fail("expected tensors with an axis to put into a queue [graph-edge]");
    count = shape.front();
  }
  SmallVector<Type> expected = typesWith(node, *queue, count);
  if (ValueRange(values).getTypes() != TypeRange(expected)) {
    std::string wanted, given;
    for (Type type : expected)
      wanted += (wanted.empty() ? "" : ", ") + dfg::toText(type);
    for (Value value : values)
      given += (given.empty() ? "" : ", ") + dfg::toText(value.getType());
    return node.fail("expected {} for the queue '{}', but got {} [operand]", wanted, queue->name,
                     given);
  }
  node.record([&] {
    node.builder().getResources().enqueue(variableName(*queue), values, count.has_value(),
                                          node.location());
  });
  return node.done();
}

static Outcome buildDequeue(NodeBuilder &node, const OpRule &) {
  const Node *queue = queueAt(node);
  if (!queue)
    return Outcome::Failed;
  SmallVector<Type> types = typesWith(node, *queue, std::nullopt);
  Operation *made = node.record([&] {
    return node.builder().getResources().dequeue(variableName(*queue), types, node.location());
  });
  return node.doneWith(made);
}

static Outcome buildDequeueMany(NodeBuilder &node, const OpRule &rule) {
  const Node *queue = queueAt(node);
  std::optional<dfg::Shape> count = queue ? node.dims(1) : std::nullopt;
  if (!count)
    return Outcome::Failed;
  if (count->size() != 1)
    return node.fail("expected one number of elements [graph-edge]");
  SmallVector<Type> types = typesWith(node, *queue, count->front());
  bool isUpTo = rule.argument == "dequeue_up_to";
  if (isUpTo)
    types.insert(types.begin(), RankedTensorType::get({}, IntegerType::get(node.context(), 32)));
  Operation *made = node.record([&] {
    return node.builder().getResources().dequeueMany(variableName(*queue), types, count->front(),
                                                     isUpTo, node.location());
  });
  return node.done(SmallVector<NodeValue>(made->getResults().drop_front(isUpTo)));
}

static Outcome buildSize(NodeBuilder &node, const OpRule &) {
  const Node *queue = queueAt(node);
  if (!queue)
    return Outcome::Failed;
  return node.done({node.record([&] {
    return node.builder().getResources().queueSize(variableName(*queue), node.location());
  })});
}

static Outcome buildClose(NodeBuilder &node, const OpRule &) {
  const Node *queue = queueAt(node);
  if (!queue)
    return Outcome::Failed;
  node.record([&] {
    node.builder().getResources().closeQueue(variableName(*queue),
                                             node.flag("cancel_pending_enqueues"), node.location());
  });
  return node.done();
}

static constexpr OpRule kRules[] = {
    {"FIFOQueueV2",
     "0 -> 1; component_types:types, shapes:shapes?, capacity:int?, shared_name:string?",
     buildQueue, "fifo", OpRule::Handle | OpRule::Declares},
    {"PaddingFIFOQueueV2",
     "0 -> 1; component_types:types, shapes:shapes?, capacity:int?, shared_name:string?",
     buildQueue, "fifo", OpRule::Handle | OpRule::Declares},
    {"RandomShuffleQueueV2",
     "0 -> 1; component_types:types, shapes:shapes?, capacity:int?, min_after_dequeue:int?, "
     "seed:int?, shared_name:string?",
     buildQueue, "shuffle", OpRule::Handle | OpRule::Declares},
    {"PriorityQueueV2",
     "0 -> 1; component_types:types?, shapes:shapes?, capacity:int?, shared_name:string?",
     buildQueue, "priority", OpRule::Handle | OpRule::Declares},
    {"QueueEnqueueV2", "Tcomponents+1 -> 0", buildEnqueue, "enqueue", OpRule::Effect},
    {"QueueEnqueueManyV2", "Tcomponents+1 -> 0", buildEnqueue, "enqueue_many", OpRule::Effect},
    {"QueueDequeueV2", "1 -> component_types", buildDequeue, "", OpRule::Effect},
    {"QueueDequeueManyV2", "2 -> component_types", buildDequeueMany, "dequeue_many",
     OpRule::Effect},
    {"QueueDequeueUpToV2", "2 -> component_types", buildDequeueMany, "dequeue_up_to",
     OpRule::Effect},
    {"QueueSizeV2", "1 -> 1", buildSize, "", OpRule::Effect},
    {"QueueCloseV2", "1 -> 0; cancel_pending_enqueues:bool?", buildClose, "", OpRule::Effect},
};

ArrayRef<OpRule> queueRules() { return kRules; }

} // namespace tfc::tensorflow
