// Creates the operations of a module by name, for all readers of graphs.
#pragma once

#include "frontend/ResourceBuilder.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace tfc {

/// A feed or fetch of an entry.
struct EntryValue {
  std::string name;
  mlir::RankedTensorType type;
  mlir::Location location;
};

/// Bounds of sizes by name, in the order of the names.
using SizeBounds = llvm::MapVector<std::string, int64_t, llvm::StringMap<unsigned>>;

/// The header of an entry.
struct EntryHeader {
  std::string name;
  std::vector<EntryValue> feeds;
  /// Named dimensions in order of first appearance, with the largest valid value of some.
  std::vector<std::string> symbols;
  SizeBounds bounds;
  /// Facts that each call must satisfy; `addFact` adds one unless it is there.
  std::vector<dfg::Fact> where;
  llvm::StringSet<> stated;
  bool addFact(const dfg::Fact &fact);
  /// Facts `name == size` that have replaced the name in all types.
  std::vector<dfg::Fact> solved;
  std::string doc;
  /// Assigns every variable its initial value instead of being a function of the model.
  bool isInitializer = false;

  /// The header of the entry that assigns the initial values.
  static EntryHeader initializer();
};

/// Builds modules of the dfg dialect; the only code of the frontend that creates operations. Result
/// types are inferred. Errors are reported at the given location.
class GraphBuilder {
public:
  explicit GraphBuilder(mlir::ModuleOp module);

  mlir::MLIRContext *getContext() { return builder.getContext(); }
  mlir::ModuleOp getModule() { return module; }
  /// Creates variables, tapes and queues, and the operations on them.
  ResourceBuilder &getResources() { return resources; }
  /// The number of operations created so far; an operation with several results counts once for
  /// each.
  uint64_t getOperationCount() const { return listener.count; }

  /// From now on, operations and declarations get these attributes, which say where they shall be.
  void setPlacement(llvm::ArrayRef<mlir::NamedAttribute> attributes) {
    listener.placement.assign(attributes.begin(), attributes.end());
  }
  llvm::ArrayRef<mlir::NamedAttribute> getPlacement() const { return listener.placement; }

  /// Creates `dfg.<op>` in the current entry; its inputs are checked and its result types inferred.
  mlir::FailureOr<mlir::Operation *> create(llvm::StringRef op, mlir::ValueRange operands,
                                            llvm::ArrayRef<mlir::NamedAttribute> attributes,
                                            mlir::Location location);

  /// From now on constants, sizes and the results of `createOutside` are created before `op`, in
  /// whose region all other operations are created; null ends this.
  void hoistBefore(mlir::Operation *op) { hoistPlace = op; }
  /// Like `create`, for operations that do not depend on values inside.
  mlir::FailureOr<mlir::Operation *> createOutside(llvm::StringRef op, mlir::ValueRange operands,
                                                   llvm::ArrayRef<mlir::NamedAttribute> attributes,
                                                   mlir::Location location);

  /// Creates an operation whose result types and regions a file declares. Nothing is checked;
  /// `checkDeclared` does that once the operations around it exist.
  mlir::Operation *createDeclared(const mlir::OperationState &state) {
    return builder.create(state);
  }
  /// Checks an operation as `create` does, and that it returns what its definition says.
  static llvm::LogicalResult checkDeclared(mlir::Operation *op);

  mlir::Value constant(mlir::ElementsAttr value, mlir::Location location);
  /// A scalar constant. The number must fit the element type; floats round.
  mlir::Value scalar(double value, mlir::Type elementType, mlir::Location location);
  mlir::Value scalar(int64_t value, mlir::Type elementType, mlir::Location location);
  /// The value of a size, as a scalar.
  mlir::Value size(const dfg::DimExpr &value, mlir::Type elementType, mlir::Location location);

  /// The feed as the process of its device passes it.
  mlir::Operation *ownFeed(mlir::BlockArgument feed, mlir::Location location);
  /// Fails the call unless `condition` holds: the message says that `subject` does not hold, and
  /// shows the names in `sizes`.
  void check(mlir::Value condition, const llvm::Twine &subject, llvm::ArrayRef<dfg::DimExpr> sizes,
             dfg::Failure status, mlir::Location location);
  /// Binds the size `name`, for later operations, to `count`, which is at most `bound`.
  mlir::Operation *bindSize(mlir::Value count, llvm::StringRef name, const dfg::DimExpr &bound,
                            mlir::Location location);
  /// The gradients of the scalar `y`. For positions in `sparse` there are two results: indices and
  /// rows.
  mlir::Operation *gradients(mlir::Value y, mlir::ValueRange xs, llvm::ArrayRef<int64_t> sparse,
                             mlir::Location location);

  //===--- Branches and loops (GraphBuilderControl.cpp) -------------------===//

  /// The block in which operations are created, at its end or at another position.
  mlir::Block *currentBlock() { return builder.getInsertionBlock(); }
  mlir::OpBuilder::InsertPoint position() { return builder.saveInsertionPoint(); }
  void restore(mlir::OpBuilder::InsertPoint point) { builder.restoreInsertionPoint(point); }
  void toEnd(mlir::Block &block) { builder.setInsertionPointToEnd(&block); }
  void toStart(mlir::Block &block) { builder.setInsertionPointToStart(&block); }
  void before(mlir::Operation *op) { builder.setInsertionPoint(op); }

  /// Starts a branch without results; `finishIf` adds the results that its regions yield.
  dfg::IfOp beginIf(mlir::Value condition, mlir::Location location);
  dfg::IfOp finishIf(dfg::IfOp op, mlir::ValueRange onTrue, mlir::ValueRange onFalse);
  /// Starts a loop; its blocks take `inits`, and arguments may be added to both before it ends.
  dfg::WhileOp beginWhile(mlir::ValueRange inits, mlir::Location location);
  void condition(mlir::Value value, mlir::Location location);
  /// Ends it: `added` are the initial values of the added arguments, `next` those of the next
  /// iteration.
  dfg::WhileOp finishWhile(dfg::WhileOp op, mlir::ValueRange added, mlir::ValueRange next,
                           std::optional<dfg::DimExpr> trips,
                           std::optional<dfg::Recompute> recompute);
  dfg::DataflowOp beginDataflow(mlir::Location location);
  dfg::DataflowOp finishDataflow(dfg::DataflowOp op, mlir::ValueRange values,
                                 llvm::ArrayRef<std::string> names);
  /// Creates a node after `after` from `ops`, in their order, that yields `values`.
  dfg::NodeOp createNode(llvm::ArrayRef<mlir::Operation *> ops, mlir::ValueRange after, bool always,
                         mlir::ValueRange values, mlir::Location location);
  /// Moves `op` into a node after `after`, whose results are those of `op` and the token.
  dfg::NodeOp wrapInNode(mlir::Operation *op, mlir::ValueRange after);

  //===--- Entries --------------------------------------------------------===//

  /// Starts an entry; operations are created at its end until `finishEntry` or `dropEntry`.
  dfg::EntryOp beginEntry(const EntryHeader &header, mlir::Location location);
  /// Replaces the bounds and facts of the current entry by those of `header`.
  void setFacts(const EntryHeader &header);
  void finishEntry(llvm::ArrayRef<EntryValue> results, mlir::ValueRange values,
                   mlir::Location location);
  /// The same for an entry that ends with a `dfg.return`.
  void finishEntry(llvm::ArrayRef<EntryValue> results);
  /// Removes the current entry, after errors.
  void dropEntry();
  dfg::EntryOp currentEntry() { return entry; }

private:
  void toHoistPlace();

  /// Counts and places the operations that are created.
  struct Listener : mlir::OpBuilder::Listener {
    void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint before) override;
    uint64_t count = 0;
    llvm::SmallVector<mlir::NamedAttribute> placement;
  };

  mlir::ModuleOp module;
  Listener listener;
  mlir::OpBuilder builder;
  ResourceBuilder resources;
  dfg::EntryOp entry;
  mlir::Operation *hoistPlace = nullptr;
};

/// The element type of that name in the language; null if there is none.
mlir::Type elementTypeByName(mlir::MLIRContext *context, llvm::StringRef name);

} // namespace tfc
