//===- Interpreter.h - Executing regions of the dfg dialect ---------------===//

#pragma once

#include "compiler/reference/Reference.h"
#include "compiler/reference/Registry.h"
#include "mlir/IR/SymbolTable.h"
#include <deque>
#include <map>

namespace tfc::reference {

using TensorRef = std::shared_ptr<const Tensor>;

/// One value at run time: a tensor, a list of them, or, with neither, a token. Gradients tell
/// values apart by the address of their datum.
struct Datum {
  TensorRef tensor;
  std::vector<TensorRef> list;
  /// Why the call fails if anything depends on this: invalid data of an operation that nobody needs
  /// fails nothing.
  std::shared_ptr<const Status> failure;
};
using DatumRef = std::shared_ptr<const Datum>; // null: dead

/// What was executed, for gradients. Without an operation the output, of the type, is the input.
struct Record {
  mlir::Operation *op;
  llvm::SmallVector<DatumRef> inputs, outputs;
  mlir::Type type;
};

struct Queue {
  using Element = std::vector<TensorRef>;
  std::vector<Element> elements; // in the order of their arrival; a shuffled queue exchanges some
  uint64_t draws = 0;
  bool isClosed = false;
};

/// What outlives calls.
struct State {
  std::map<std::string, DatumRef> variables;
  std::map<std::string, Queue> queues;
};

Status::Code codeOf(dfg::Failure failure);

class Interpreter;

/// How operations are executed that are more than functions of tensors, by class, as `Registry`.
class Handlers {
public:
  using Handler = std::function<llvm::LogicalResult(mlir::Operation *, Interpreter &)>;

  template <typename Op> void add(llvm::LogicalResult (*handle)(Op, Interpreter &)) {
    handlers[Op::getOperationName()] = [handle](mlir::Operation *op, Interpreter &interpreter) {
      return handle(mlir::cast<Op>(op), interpreter);
    };
  }
  /// Null if there is none.
  const Handler *find(llvm::StringRef name) const;

private:
  llvm::StringMap<Handler> handlers;
};

const Handlers &getHandlers();
void addControl(Handlers &handlers);
void addDataflow(Handlers &handlers);
void addGradients(Handlers &handlers);
void addLists(Handlers &handlers);
void addQueues(Handlers &handlers);
void addRunTimeSizes(Handlers &handlers);
void addState(Handlers &handlers);
void addStructure(Handlers &handlers);

/// Operations that gradients are made of, kept for a call.
class Scratch;

/// One call: an environment, and the variables as the call sees them.
class Interpreter {
public:
  Interpreter(mlir::SymbolTable &symbols, const Options &options, State &state, Sizes sizes);
  ~Interpreter();

  /// Executes the operations of a block, except the last one.
  llvm::LogicalResult run(mlir::Block &block);
  llvm::LogicalResult run(mlir::Operation *op);

  //===--- Values ---------------------------------------------------------===//

  DatumRef get(mlir::Value value) const { return environment.lookup(value); }
  llvm::SmallVector<DatumRef> get(mlir::ValueRange values) const;
  /// Binds a value; null makes it dead.
  void set(mlir::Value value, DatumRef datum) { environment[value] = std::move(datum); }
  /// Binds values to others that count as new ones.
  void forward(mlir::ValueRange to, llvm::ArrayRef<DatumRef> from);
  /// Binds the results of `op`, which depend on `inputs`, and tells who listens.
  void publish(mlir::Operation *op, llvm::ArrayRef<DatumRef> inputs,
               llvm::SmallVector<DatumRef> outputs);
  static DatumRef make(Tensor tensor);

  /// What `op` gives for other data; nothing is recorded, told or bound. Invalid data fail nothing.
  llvm::FailureOr<llvm::SmallVector<DatumRef>> repeat(mlir::Operation *op,
                                                      llvm::ArrayRef<DatumRef> inputs);

  /// The number in a scalar; the call's way depends on it.
  int64_t decide(mlir::Value value, bool &isDetermined);
  /// The same where only the result of `op` depends on it.
  const Tensor &tensor(mlir::Value value) const { return *get(value)->tensor; }

  //===--- Failure --------------------------------------------------------===//

  llvm::LogicalResult fail(Status::Code code, const llvm::Twine &message);
  /// Fails if one of the data does not exist because of invalid data before it.
  llvm::LogicalResult require(llvm::ArrayRef<DatumRef> data);
  /// The failure of an operation on invalid data: it reaches who depends on the results.
  void refuse(mlir::Operation *op, llvm::ArrayRef<DatumRef> inputs);
  const Status &getStatus() const { return status; }
  /// From here on the way of the call is not determined; what it computes neither, up to the end of
  /// the scope.
  class UndeterminedScope {
  public:
    UndeterminedScope(Interpreter &interpreter, bool isUndetermined)
        : interpreter(interpreter), by(isUndetermined) {
      interpreter.undetermined += by;
    }
    ~UndeterminedScope() { interpreter.undetermined -= by; }

  private:
    Interpreter &interpreter;
    int by;
  };
  bool isUndetermined() const { return undetermined != 0; }
  /// Variables that operations in a region assign may have any value: it may have run or not.
  void blur(mlir::Region &region);

  //===--- What operations work on ----------------------------------------===//

  mlir::SymbolTable &symbols;
  const Options &options;
  State &state;
  Sizes sizes;
  std::map<std::string, std::vector<DatumRef>> tapes;
  llvm::SmallVector<int64_t> iterations;
  /// What was executed, if somebody asks for gradients.
  std::vector<Record> records;
  bool isRecording = false;
  /// Whether operations run once more, for what they would give.
  bool isRepeating = false;
  /// Whether operations run that gradients are made of: they are total.
  bool isInGradient = false;
  std::unique_ptr<Scratch> scratch;

  /// Tells who listens of the results of `op`, which may be others then.
  void notify(mlir::Operation *op);

private:
  llvm::LogicalResult evaluate(mlir::Operation *op);

  llvm::DenseMap<mlir::Value, DatumRef> environment;
  Status status;
  int undetermined = 0;
};

/// Binds the named sizes of an entry by the shapes of its feeds, and checks bounds and facts.
Status bindSizes(dfg::EntryOp entry, llvm::ArrayRef<Tensor> feeds, Sizes &sizes);

} // namespace tfc::reference
