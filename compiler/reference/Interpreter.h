//===- Interpreter.h - Executing regions of the dfg dialect ---------------===//

#pragma once

#include "compiler/reference/Reference.h"
#include "compiler/reference/Registry.h"
#include "mlir/IR/SymbolTable.h"
#include <deque>
#include <map>

namespace tfc::reference {

using TensorRef = std::shared_ptr<const Tensor>;

/// One value at run time: a tensor, a list of tensors, or, with neither, a token. Gradients
/// identify values by the address of their datum.
struct Datum {
  TensorRef tensor;
  std::vector<TensorRef> list;
  /// The failure of the call if anything depends on this value: invalid data of an unused operation
  /// do not fail the call.
  std::shared_ptr<const Status> failure;
};
using DatumRef = std::shared_ptr<const Datum>; // null: dead

using SizesRef = std::shared_ptr<const Sizes>;

/// An executed operation, for gradients. Without an operation the output, which has the type, is
/// the input.
struct Record {
  mlir::Operation *op;
  llvm::SmallVector<DatumRef> inputs, outputs;
  mlir::Type type;
  SizesRef sizes; // when it was executed: an iteration of a loop may bind other ones
};

struct Queue {
  using Element = std::vector<TensorRef>;
  std::vector<Element> elements; // in the order of their arrival; a shuffling queue swaps some
  uint64_t draws = 0;
  bool isClosed = false;
};

/// The state that outlives calls.
struct State {
  std::map<std::string, DatumRef> variables;
  std::map<std::string, Queue> queues;
};

Status::Code codeOf(dfg::Failure failure);

class Interpreter;

/// Executes operations that are not functions of tensors; registered by class, like in `Registry`.
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

/// Operations of which gradients consist, kept for a call.
class Scratch;

/// One call: the values of its operations, and its view of the variables.
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
  /// Binds values to others, which count as new values.
  void forward(mlir::ValueRange to, llvm::ArrayRef<DatumRef> from);
  /// Binds the results of `op`, which depend on `inputs`, and calls the listener.
  void publish(mlir::Operation *op, llvm::ArrayRef<DatumRef> inputs,
               llvm::SmallVector<DatumRef> outputs);
  static DatumRef make(Tensor tensor);

  /// The results of `op` for other data; nothing is recorded, reported or bound. Invalid data do
  /// not fail the call.
  llvm::FailureOr<llvm::SmallVector<DatumRef>> repeat(mlir::Operation *op,
                                                      llvm::ArrayRef<DatumRef> inputs);

  /// The number in a scalar on which the control flow of the call depends.
  int64_t decide(mlir::Value value, bool &isDetermined);
  /// The same if only the result of `op` depends on it.
  const Tensor &tensor(mlir::Value value) const { return *get(value)->tensor; }

  //===--- Failure --------------------------------------------------------===//

  llvm::LogicalResult fail(Status::Code code, const llvm::Twine &message);
  /// Fails if one of the data does not exist because of earlier invalid data.
  llvm::LogicalResult require(llvm::ArrayRef<DatumRef> data);
  /// Records that an operation has invalid data: the failure propagates to operations that depend
  /// on the results.
  void refuse(mlir::Operation *op, llvm::ArrayRef<DatumRef> inputs);
  /// The message of a call in which the data of an operation are invalid.
  std::string messageOf(dfg::CheckedOpInterface op, llvm::ArrayRef<DatumRef> inputs);
  /// The text of a message, whose values are computed by operations that `build` creates.
  std::string fill(llvm::function_ref<dfg::Message(mlir::OpBuilder &)> build);
  const Status &getStatus() const { return status; }
  /// While it exists, the control flow of the call, and so everything that it computes, is
  /// undetermined.
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
  /// Makes variables that a region assigns undetermined: it may have run or not.
  void blur(mlir::Region &region);

  //===--- State of operations ----------------------------------------===//

  mlir::SymbolTable &symbols;
  const Options &options;
  State &state;
  Sizes sizes;
  /// A copy of the sizes for records.
  SizesRef getSizes();
  /// Executes what follows with the sizes of a record.
  void setSizes(const SizesRef &other);
  void bindSize(llvm::StringRef name, int64_t value);
  std::map<std::string, std::vector<DatumRef>> tapes;
  llvm::SmallVector<int64_t> iterations;
  /// The executed operations, if there are gradients.
  std::vector<Record> records;
  bool isRecording = false;
  /// True while operations are executed again with other data.
  bool isRepeating = false;
  /// True while operations of a gradient are executed, which are total.
  bool isInGradient = false;
  std::unique_ptr<Scratch> scratch;

  /// The number of elements that the operations have read and written so far, or an upper bound of
  /// it, where an operation itself counts as some. It is only counted if it is limited; operations
  /// beyond the limit fail.
  double work = 0;
  std::optional<double> mostWork;
  /// Counts operations that are about to be visited, apart from their elements.
  llvm::LogicalResult countVisits(size_t operations);

  /// Reports the results of `op` to the listener, which may replace them.
  void notify(mlir::Operation *op);

private:
  llvm::LogicalResult evaluate(mlir::Operation *op);
  /// Counts the elements of `op`, which is about to run.
  llvm::LogicalResult countElements(mlir::Operation *op);
  llvm::LogicalResult addWork(double amount);

  llvm::DenseMap<mlir::Value, DatumRef> environment;
  SizesRef copiedSizes; // null if they have changed
  Status status;
  int undetermined = 0;
};

/// Binds the named sizes of an entry from the shapes of its feeds, and checks bounds and facts.
Status bindSizes(dfg::EntryOp entry, llvm::ArrayRef<Tensor> feeds, Sizes &sizes);

} // namespace tfc::reference
