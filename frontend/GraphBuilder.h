#pragma once

#include "dialects/dfg/Dfg.h"
#include "mlir/IR/BuiltinOps.h"

namespace tfc {

/// A feed or fetch of an entry.
struct EntryValue {
  std::string name;
  mlir::RankedTensorType type;
  mlir::Location location;
};

/// What an entry is besides its body.
struct EntryHeader {
  std::string name;
  std::vector<EntryValue> feeds;
  /// Named dimensions in order of first appearance, with the largest legal value of some.
  std::vector<std::string> symbols;
  std::vector<std::pair<std::string, int64_t>> bounds;
  /// Facts that each call must satisfy, in the language's text.
  std::vector<std::string> where;
  std::string doc;
  /// Assigns every variable its initial value instead of being a function of the model.
  bool isInitializer = false;
};

/// Builds modules of the dfg dialect; the only code of the frontend that creates operations.
/// Result types are inferred. Errors go to the location that was given.
class GraphBuilder {
public:
  explicit GraphBuilder(mlir::ModuleOp module);

  mlir::MLIRContext *getContext() { return builder.getContext(); }
  mlir::ModuleOp getModule() { return module; }
  /// The number of operations that were created so far; one with several results counts as many.
  uint64_t getOperationCount() const { return counter.count; }

  /// Creates `dfg.<op>` in the current entry; its inputs are checked and its result types inferred.
  mlir::FailureOr<mlir::Operation *> create(llvm::StringRef op, mlir::ValueRange operands,
                                            llvm::ArrayRef<mlir::NamedAttribute> attributes,
                                            mlir::Location location);

  /// From now on constants and sizes, and what `createOutside` makes, stand in front of `op`, in
  /// whose region the rest goes; null ends it.
  void hoistBefore(mlir::Operation *op) { hoistPlace = op; }
  /// As `create`, for what depends on nothing inside.
  mlir::FailureOr<mlir::Operation *> createOutside(llvm::StringRef op, mlir::ValueRange operands,
                                                   llvm::ArrayRef<mlir::NamedAttribute> attributes,
                                                   mlir::Location location);

  mlir::Value constant(mlir::ElementsAttr value, mlir::Location location);
  /// A scalar constant. The number must fit the element type; floats round.
  mlir::Value scalar(double value, mlir::Type elementType, mlir::Location location);
  mlir::Value scalar(int64_t value, mlir::Type elementType, mlir::Location location);
  /// The value of a size, as a scalar.
  mlir::Value size(const dfg::DimExpr &value, mlir::Type elementType, mlir::Location location);

  void createVariable(llvm::StringRef name, mlir::RankedTensorType type, bool isFrozen,
                      llvm::StringRef formerly, mlir::Location location);
  mlir::Value read(llvm::StringRef variable, mlir::RankedTensorType type, mlir::Location location);
  /// `value` must have the variable's type.
  mlir::Value assign(llvm::StringRef variable, mlir::Value value, mlir::Location location);
  /// Fails the call unless `condition` holds.
  void check(mlir::Value condition, llvm::StringRef message, dfg::Failure status,
             mlir::Location location);
  /// Lets `name` be the size `count` from here on, which is at most `bound`.
  mlir::Operation *bindSize(mlir::Value count, llvm::StringRef name, const dfg::DimExpr &bound,
                            mlir::Location location);
  /// The gradients of the scalar `y`. For positions in `sparse` two results: indices and rows.
  mlir::Operation *gradients(mlir::Value y, mlir::ValueRange xs, llvm::ArrayRef<int64_t> sparse,
                             mlir::Location location);

  //===--- Branches and loops (GraphBuilderControl.cpp) -------------------===//

  /// Where operations go: the end of this block, or a place in it.
  mlir::Block *currentBlock() { return builder.getInsertionBlock(); }
  mlir::OpBuilder::InsertPoint position() { return builder.saveInsertionPoint(); }
  void restore(mlir::OpBuilder::InsertPoint point) { builder.restoreInsertionPoint(point); }
  void toEnd(mlir::Block &block) { builder.setInsertionPointToEnd(&block); }
  void toStart(mlir::Block &block) { builder.setInsertionPointToStart(&block); }
  void before(mlir::Operation *op) { builder.setInsertionPoint(op); }

  /// Starts a branch without results, and ends it with those that its regions yield.
  dfg::IfOp beginIf(mlir::Value condition, mlir::Location location);
  dfg::IfOp finishIf(dfg::IfOp op, mlir::ValueRange onTrue, mlir::ValueRange onFalse);
  /// Starts a loop; its blocks take `inits` and values that are added to both before it ends.
  dfg::WhileOp beginWhile(mlir::ValueRange inits, mlir::Location location);
  void condition(mlir::Value value, mlir::Location location);
  /// Ends it: `added` are the first values of what was added, `next` those of the next iteration.
  dfg::WhileOp finishWhile(dfg::WhileOp op, mlir::ValueRange added, mlir::ValueRange next,
                           std::optional<dfg::DimExpr> trips, llvm::StringRef recompute);
  dfg::DataflowOp beginDataflow(mlir::Location location);
  dfg::DataflowOp finishDataflow(dfg::DataflowOp op, mlir::ValueRange values,
                                 llvm::ArrayRef<std::string> names);
  /// Makes a node behind `after` of `ops`, in their order, that yields `values`.
  dfg::NodeOp createNode(llvm::ArrayRef<mlir::Operation *> ops, mlir::ValueRange after, bool always,
                         mlir::ValueRange values, mlir::Location location);
  /// Puts `op` into a node behind `after`; its results are those of `op` and the token.
  dfg::NodeOp wrapInNode(mlir::Operation *op, mlir::ValueRange after);

  //===--- Tapes ----------------------------------------------------------===//

  void createTape(llvm::StringRef name, mlir::RankedTensorType type, mlir::Location location);
  void push(llvm::StringRef tape, mlir::Value value, mlir::Location location);
  mlir::Value pop(llvm::StringRef tape, mlir::RankedTensorType type, mlir::Location location);

  //===--- Queues ---------------------------------------------------------===//

  void createQueue(llvm::StringRef name, llvm::ArrayRef<mlir::Type> components,
                   llvm::ArrayRef<std::string> names, llvm::StringRef kind, int64_t capacity,
                   int64_t minReady, int64_t seed, mlir::Location location);
  void enqueue(llvm::StringRef queue, mlir::ValueRange values, bool isMany,
               mlir::Location location);
  mlir::Operation *dequeue(llvm::StringRef queue, mlir::TypeRange types, mlir::Location location);
  /// `isUpTo`: fewer where the queue is closed; the first result is their number.
  mlir::Operation *dequeueMany(llvm::StringRef queue, mlir::TypeRange types,
                               const dfg::DimExpr &count, bool isUpTo, mlir::Location location);
  mlir::Value queueSize(llvm::StringRef queue, mlir::Location location);
  void closeQueue(llvm::StringRef queue, bool cancelsPending, mlir::Location location);

  //===--- Entries --------------------------------------------------------===//

  /// Starts an entry; operations go to its end until `finishEntry` or `dropEntry`.
  dfg::EntryOp beginEntry(const EntryHeader &header, mlir::Location location);
  /// Replaces the bounds and facts of the current entry by those of `header`.
  void setFacts(const EntryHeader &header);
  void finishEntry(llvm::ArrayRef<EntryValue> results, mlir::ValueRange values,
                   mlir::Location location);
  /// Removes the entry that was begun, after errors.
  void dropEntry();
  dfg::EntryOp currentEntry() { return entry; }

private:
  void toHoistPlace();
  /// Puts the builder after the declarations so far, before the first entry.
  void toDeclarations();

  struct OperationCounter : mlir::OpBuilder::Listener {
    void notifyOperationInserted(mlir::Operation *op,
                                 mlir::OpBuilder::InsertPoint before) override {
      count += before.isSet() ? 0 : std::max(op->getNumResults(), 1u);
    }
    uint64_t count = 0;
  };

  mlir::ModuleOp module;
  OperationCounter counter;
  mlir::OpBuilder builder;
  dfg::EntryOp entry;
  mlir::Operation *hoistPlace = nullptr;
  /// The last variable or queue; modules may declare hundreds of thousands.
  mlir::Operation *lastDeclaration = nullptr;
};

/// Element types by their names in the language; null for another name.
mlir::Type elementTypeByName(mlir::MLIRContext *context, llvm::StringRef name);

} // namespace tfc
