// Declares variables, tapes, queues and datasets, and creates the operations on them.
#pragma once

#include "dialects/dfg/Dfg.h"
#include "mlir/IR/BuiltinOps.h"

namespace tfc {

/// Declares state that outlives a step or an entry (variables, tapes, queues) and datasets, and
/// creates the operations on it. Declarations precede the first entry; operations are created at
/// the insertion point of `builder`.
class ResourceBuilder {
public:
  ResourceBuilder(mlir::ModuleOp module, mlir::OpBuilder &builder)
      : module(module), builder(builder) {}

  //===--- Variables ------------------------------------------------------===//

  void createVariable(llvm::StringRef name, mlir::RankedTensorType type, bool isFrozen,
                      llvm::StringRef formerly, mlir::Location location, dfg::SliceAttr slice = {});
  mlir::Value read(llvm::StringRef variable, mlir::RankedTensorType type, mlir::Location location);
  /// `value` must have the variable's type.
  mlir::Value assign(llvm::StringRef variable, mlir::Value value, mlir::Location location);

  //===--- Tapes ----------------------------------------------------------===//

  void createTape(llvm::StringRef name, mlir::RankedTensorType type, mlir::Location location);
  void push(llvm::StringRef tape, mlir::Value value, mlir::Location location);
  mlir::Value pop(llvm::StringRef tape, mlir::RankedTensorType type, mlir::Location location);

  //===--- Queues ---------------------------------------------------------===//

  void createQueue(llvm::StringRef name, llvm::ArrayRef<mlir::Type> components,
                   llvm::ArrayRef<std::string> names, dfg::QueueKind kind, int64_t capacity,
                   int64_t minReady, int64_t seed, mlir::Location location);
  void enqueue(llvm::StringRef queue, mlir::ValueRange values, bool isMany,
               mlir::Location location);
  mlir::Operation *dequeue(llvm::StringRef queue, mlir::TypeRange types, mlir::Location location);
  /// `isUpTo`: fewer if the queue is closed; the first result is their number.
  mlir::Operation *dequeueMany(llvm::StringRef queue, mlir::TypeRange types,
                               const dfg::DimExpr &count, bool isUpTo, mlir::Location location);
  mlir::Value queueSize(llvm::StringRef queue, mlir::Location location);
  void closeQueue(llvm::StringRef queue, bool cancelsPending, mlir::Location location);

  //===--- Datasets -------------------------------------------------------===//

  void createDataset(llvm::StringRef name, llvm::ArrayRef<mlir::Type> components,
                     llvm::ArrayRef<std::string> names, dfg::DatasetFormat format,
                     llvm::ArrayRef<std::string> paths, int64_t skip, mlir::Location location);
  /// `next` may be null.
  mlir::Operation *readRows(llvm::StringRef dataset, mlir::TypeRange types, mlir::Value rows,
                            mlir::Value next, mlir::Location location);
  mlir::Value datasetSize(llvm::StringRef dataset, mlir::Location location);

private:
  /// Moves the insertion point after the declarations so far, before the first entry.
  void toDeclarations();

  mlir::ModuleOp module;
  mlir::OpBuilder &builder;
  /// The last declaration; modules may declare hundreds of thousands.
  mlir::Operation *lastDeclaration = nullptr;
};

} // namespace tfc
