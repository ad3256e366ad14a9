/// Declares queues and creates the operations on them.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class Placer;
class Reporter;
class StaticStage;
class TensorEmitter;
class TypeEvaluator;

/// Declares queues and creates the operations on them.
class QueueEmitter {
public:
  QueueEmitter(Context &context, Reporter &reporter, StaticStage &staticStage,
               TensorEmitter &tensorEmitter, TypeEvaluator &typeEvaluator, Placer &placer)
      : context(context), reporter(reporter), staticStage(staticStage),
        tensorEmitter(tensorEmitter), typeEvaluator(typeEvaluator), placer(placer) {}

  Entity declareQueue(const ast::QueueDecl &decl, const LetName &name,
                      std::shared_ptr<Activation> declaring);
  void createQueues();

  // Functions of queues. The first argument is the queue.
  Entity callEnqueue(const Queue &queue, llvm::ArrayRef<Argument> args, const ast::CallExpr &call);
  Entity callEnqueueMany(const Queue &queue, llvm::ArrayRef<Argument> args,
                         const ast::CallExpr &call);
  Entity callDequeue(const Queue &queue, llvm::ArrayRef<Argument> args, const ast::CallExpr &call);
  Entity callDequeueMany(const Queue &queue, llvm::ArrayRef<Argument> args,
                         const ast::CallExpr &call);
  Entity callDequeueUpTo(const Queue &queue, llvm::ArrayRef<Argument> args,
                         const ast::CallExpr &call);
  Entity callSize(const Queue &queue, llvm::ArrayRef<Argument> args, const ast::CallExpr &call);
  Entity callClose(const Queue &queue, llvm::ArrayRef<Argument> args, const ast::CallExpr &call);

private:
  bool evalQueueKind(const ast::QueueDecl &decl, Queue &queue);
  llvm::SmallVector<mlir::Value> queueValues(const Queue &queue, llvm::ArrayRef<Argument> args,
                                             bool isMany, const ast::CallExpr &call);
  Entity enqueue(const Queue &queue, llvm::ArrayRef<Argument> args, bool isMany,
                 const ast::CallExpr &call);
  /// Takes one element, or the number of elements in the second argument.
  Entity dequeue(const Queue &queue, llvm::ArrayRef<Argument> args, bool isUpTo,
                 const ast::CallExpr &call);

  Context &context;
  Reporter &reporter;
  StaticStage &staticStage;
  TensorEmitter &tensorEmitter;
  TypeEvaluator &typeEvaluator;
  Placer &placer;
};

} // namespace tfc::text
