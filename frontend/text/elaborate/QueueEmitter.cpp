// Declares queues and creates the operations on them. Queues are created in the initializer but
// used in entries, so it keeps both sides together.
#include "frontend/text/elaborate/QueueEmitter.h"

#include "frontend/text/elaborate/Placer.h"
#include "frontend/text/elaborate/RandomDraws.h"
#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/elaborate/StaticStage.h"
#include "frontend/text/elaborate/TensorEmitter.h"
#include "frontend/text/elaborate/TypeEvaluator.h"

using namespace llvm;

namespace tfc::text {

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

/// `fifo_queue(capacity: 64)` and the like; false after an error.
bool QueueEmitter::evalQueueKind(const ast::QueueDecl &decl, Queue &queue) {
  const auto *call = dyn_cast<ast::CallExpr>(decl.init);
  const auto *callee = call ? dyn_cast<ast::NameExpr>(call->callee) : nullptr;
  StringRef word = callee ? callee->name : "";
  auto kind = word.consume_back("_queue") ? dfg::symbolizeQueueKind(word) : std::nullopt;
  if (!kind) {
    reporter
        .error(decl.init->range, "bad-queue",
               "a queue is a fifo_queue, a shuffle_queue or a priority_queue")
        .help("as in fifo_queue(capacity: 64)");
    return false;
  }
  queue.kind = *kind;
  bool isShuffle = kind == dfg::QueueKind::Shuffle, ok = true;
  for (const ast::Arg &arg : call->args) {
    StringRef label = arg.label.text;
    int64_t *target = label == "capacity"                 ? &queue.capacity
                      : label == "min_ready" && isShuffle ? &queue.minReady
                      : label == "seed" && isShuffle      ? &queue.seed
                                                          : nullptr;
    if (!target) {
      Diagnostic &diagnostic = reporter.error(
          arg.label ? arg.label.range : arg.range, "unknown-argument", "'{}' has no parameter{}",
          callee->name, arg.label ? " '" + label.str() + "'" : std::string(" without a name"));
      reporter.suggest(diagnostic, label, {"capacity", "min_ready", "seed"});
      ok = false;
      continue;
    }
    std::optional<int64_t> value = staticStage.evalStaticInt(arg.value);
    ok &= value.has_value();
    *target = value.value_or(1);
  }
  if (ok && (queue.capacity < 1 || queue.minReady < 0 || queue.minReady > queue.capacity)) {
    reporter.error(decl.init->range, "bad-queue",
                   queue.capacity < 1 ? "a queue has a capacity of at least 1"
                                      : "'min_ready' must be between 0 and the capacity");
    return false;
  }
  return ok;
}

Entity QueueEmitter::declareQueue(const ast::QueueDecl &decl, const LetName &name,
                                  std::shared_ptr<Activation> declaring) {
  SaveAndRestore<Activation *> inner(context.activation, declaring.get());
  Queue queue{name.path,
              {},
              {},
              dfg::QueueKind::Fifo,
              0,
              0,
              seedOf(name.path),
              name.order,
              &decl,
              reporter.locate(decl.name.range)};
  queue.placement = placer.read(decl.annotations, name.placement);
  bool ok = evalQueueKind(decl, queue);
  if (queue.kind != dfg::QueueKind::Shuffle)
    queue.seed = 0;
  ok &= typeEvaluator.evalFields(decl.fields, "bad-queue", "elements of a queue", queue.names,
                                 queue.components);
  mlir::Type priority = dfg::tensorOf({}, mlir::IntegerType::get(context.mlir, 64));
  if (ok && queue.kind == dfg::QueueKind::Priority &&
      (queue.components.empty() || queue.components.front() != priority)) {
    reporter.error(decl.name.range, "bad-queue",
                   "the first component of a priority queue is its priority, an i64");
    ok = false;
  }
  if (ok && queue.components.empty()) {
    reporter.error(decl.name.range, "bad-queue", "elements of a queue have at least one component");
    ok = false;
  }
  if (!ok)
    return Poison();
  context.program.queues.push_back(std::move(queue));
  return Entity(&context.program.queues.back());
}

void QueueEmitter::createQueues() {
  for (Queue *queue : inOrder(context.program.queues)) {
    SmallVector<mlir::Type> types(queue->components.begin(), queue->components.end());
    placer.in(queue->placement, [&] {
      context.builder.getResources().createQueue(queue->path, types, queue->names, queue->kind,
                                                 queue->capacity, queue->minReady, queue->seed,
                                                 queue->location);
    });
  }
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The values of the components of a queue, by position or name; empty after an error.
SmallVector<mlir::Value> QueueEmitter::queueValues(const Queue &queue, ArrayRef<Argument> args,
                                                   bool isMany, const ast::CallExpr &call) {
  std::vector<const Argument *> given(queue.names.size());
  size_t next = 0;
  for (const Argument &arg : args) {
    size_t place = arg.label ? find(queue.names, arg.label.text) - queue.names.begin() : next++;
    if (place >= given.size() || given[place]) {
      Diagnostic &diagnostic = reporter.error(
          arg.label ? arg.label.range : arg.range, "queue-element",
          arg.label && place >= given.size()
              ? "'" + queue.path + "' has no component '" + arg.label.text + "'"
              : "an element of '" + queue.path + "' has " + Twine(given.size()) + " components");
      SmallVector<StringRef> names(queue.names.begin(), queue.names.end());
      reporter.suggest(diagnostic, arg.label.text, names);
      return {};
    }
    given[place] = &arg;
  }
  SmallVector<mlir::Value> values;
  std::optional<dfg::DimExpr> count;
  for (auto [i, argument] : enumerate(given)) {
    if (!argument) {
      reporter.error(call.range, "missing-argument", "an element of '{}' needs '{}'", queue.path,
                     queue.names[i]);
      return {};
    }
    mlir::RankedTensorType component = queue.components[i];
    mlir::Value value =
        tensorEmitter.toTensor(argument->value, component.getElementType(), argument->range);
    if (!value)
      return {};
    dfg::Shape expectedShape = dfg::shapeOf(component), shape = dfg::shapeOf(value.getType());
    if (isMany && !count && !shape.empty())
      count = shape.front();
    if (isMany)
      expectedShape.insert(expectedShape.begin(), count.value_or(dfg::DimExpr::symbol("n")));
    mlir::Type wanted = dfg::tensorOf(expectedShape, component.getElementType());
    if (value.getType() != wanted) {
      reporter
          .error(argument->range, "queue-element", "'{}' of '{}' is {} here, but got {}",
                 queue.names[i], queue.path, dfg::toText(wanted), dfg::toText(value.getType()))
          .note(queue.decl->name.range, "declared here");
      return {};
    }
    values.push_back(value);
  }
  return values;
}

Entity QueueEmitter::enqueue(const Queue &queue, ArrayRef<Argument> args, bool isMany,
                             const ast::CallExpr &call) {
  SmallVector<mlir::Value> values = queueValues(queue, args.drop_front(), isMany, call);
  if (values.empty())
    return Poison();
  context.builder.getResources().enqueue(queue.path, values, isMany, reporter.locate(call.range));
  return Entity(Nothing{});
}

Entity QueueEmitter::callEnqueue(const Queue &queue, ArrayRef<Argument> args,
                                 const ast::CallExpr &call) {
  return enqueue(queue, args, /*isMany=*/false, call);
}

Entity QueueEmitter::callEnqueueMany(const Queue &queue, ArrayRef<Argument> args,
                                     const ast::CallExpr &call) {
  return enqueue(queue, args, /*isMany=*/true, call);
}

Entity QueueEmitter::dequeue(const Queue &queue, ArrayRef<Argument> args, bool isUpTo,
                             const ast::CallExpr &call) {
  bool isOne = args.size() == 1;
  std::optional<dfg::DimExpr> count;
  if (!isOne) {
    count = args[1].value.asDim();
    if (!count)
      return reporter.fail(
          args[1].range, "not-static",
          "the number of elements that '{}' takes must be known when the call starts, but got {}",
          isUpTo ? "dequeue_up_to" : "dequeue_many", args[1].value.describe());
  }
  SmallVector<mlir::Type> types;
  std::vector<std::string> names;
  if (isUpTo) {
    types.push_back(dfg::tensorOf({}, mlir::IntegerType::get(context.mlir, 32)));
    names.push_back("number");
  }
  for (auto [component, field] : zip(queue.components, queue.names)) {
    dfg::Shape shape = dfg::shapeOf(component);
    if (count)
      shape.insert(shape.begin(), *count);
    types.push_back(dfg::tensorOf(shape, component.getElementType()));
    names.push_back(field);
  }
  mlir::Operation *op =
      isOne ? context.builder.getResources().dequeue(queue.path, types, reporter.locate(call.range))
            : context.builder.getResources().dequeueMany(queue.path, types, *count, isUpTo,
                                                         reporter.locate(call.range));
  if (op->getNumResults() == 1)
    return Entity(mlir::Value(op->getResult(0)));
  std::vector<Entity> values;
  for (mlir::Value result : op->getResults())
    values.push_back(Entity(result));
  return Entity::group(std::move(values), std::move(names));
}

Entity QueueEmitter::callDequeue(const Queue &queue, ArrayRef<Argument> args,
                                 const ast::CallExpr &call) {
  return dequeue(queue, args, /*isUpTo=*/false, call);
}

Entity QueueEmitter::callDequeueMany(const Queue &queue, ArrayRef<Argument> args,
                                     const ast::CallExpr &call) {
  return dequeue(queue, args, /*isUpTo=*/false, call);
}

Entity QueueEmitter::callDequeueUpTo(const Queue &queue, ArrayRef<Argument> args,
                                     const ast::CallExpr &call) {
  return dequeue(queue, args, /*isUpTo=*/true, call);
}

Entity QueueEmitter::callSize(const Queue &queue, ArrayRef<Argument>, const ast::CallExpr &call) {
  return Entity(context.builder.getResources().queueSize(queue.path, reporter.locate(call.range)));
}

Entity QueueEmitter::callClose(const Queue &queue, ArrayRef<Argument> args,
                               const ast::CallExpr &call) {
  const bool *cancels = args.size() == 2 ? args[1].value.get<bool>() : nullptr;
  if (args.size() == 2 && !cancels)
    return reporter.fail(args[1].range, "static-type",
                         "'cancel_pending' is a bool known at compile time, but got {}",
                         args[1].value.describe());
  context.builder.getResources().closeQueue(queue.path, cancels && *cancels,
                                            reporter.locate(call.range));
  return Entity(Nothing{});
}

} // namespace tfc::text
