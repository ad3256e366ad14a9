//===- Reference.h - The oracle: what a graph means, op by op -------------===//
//
// Executes the dfg form with plain loops: everything from what the frontend
// makes to what fusion leaves. It shares nothing with the compiled path but the
// dialect's definitions (types, attributes, shapes, gradients of single
// operations), so that the two can be compared.
//
//   Instance oracle(module);
//   if (Status status = oracle.initialize(); !status.isOk()) ...
//   std::vector<Tensor> fetches;
//   Status status = oracle.call("train", feeds, fetches);
//
// Fetches have an error bound for each element (Tensor.h): a compiled model is
// wrong where it differs by more (`findDifference`).
//
//===----------------------------------------------------------------------===//

#pragma once

#include "compiler/reference/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include <functional>
#include <memory>
#include <string>

namespace tfc::reference {

/// How a call ended. The codes are those of the compiled call's status of the same name.
struct Status {
  enum class Code {
    Ok,
    InvalidArgument,
    OutOfRange,
    NotFound,
    FailedPrecondition,
    OutOfMemory,
    Closed,
    Internal, // the oracle cannot execute the module
  };

  Code code = Code::Ok;
  std::string message;
  /// False where a number that decided about the way of the call (a branch, a check) is
  /// undetermined: a compiled call may rightly end otherwise.
  bool isDetermined = true;

  bool isOk() const { return code == Code::Ok; }
};

/// An operation that has just run.
struct Execution {
  mlir::Operation *op;
  /// One per result; null for what is no tensor or dead.
  llvm::ArrayRef<const Tensor *> results;
  /// Numbers of the iterations of the loops around it, outermost first.
  llvm::ArrayRef<int64_t> iterations;
  /// Goes on with another value of a result.
  llvm::function_ref<void(unsigned, Tensor)> replace;
};

struct Options {
  /// The module comes from behind the simplify stage: operations are total, and a `dfg.check`
  /// stands for what made a call fail.
  bool checksAreApart = false;
  /// A loop that runs longer ends the call.
  int64_t mostIterations = 1 << 20;
  /// Called behind each operation, those of gradients included, in the order of execution.
  std::function<void(const Execution &)> onExecuted;
  /// Unless null, gradients are compared with differences; called with what is wrong.
  std::function<void(const std::string &)> onWrongGradient;
  /// Called where data are invalid for an operation, with how the call ends if anything depends on
  /// the results. If nothing does, a compiled call may still end like that.
  std::function<void(const Status &)> onRefused;
};

/// The variables and queues of a module, and calls of its entries.
class Instance {
public:
  /// Variables are zeros until `initialize`. The module must outlive this and stay as it is.
  explicit Instance(mlir::ModuleOp module, Options options = {});
  ~Instance();

  /// Runs the entry that gives variables their initial values, if there is one.
  Status initialize();

  /// Calls an entry. A call that fails leaves the variables as they were.
  Status call(llvm::StringRef entry, llvm::ArrayRef<Tensor> feeds, std::vector<Tensor> &fetches);

  /// Null if there is no such variable.
  const Tensor *getVariable(llvm::StringRef name) const;
  void setVariable(llvm::StringRef name, Tensor value);

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation;
};

/// An element that no correct evaluation gives.
struct Difference {
  int64_t index; // row-major
  double expected, got;
  double ulps, allowedUlps; // distance of the two, and the most that would do
};

/// How close comparisons came to finding a difference.
struct Agreement {
  int64_t values = 0, undetermined = 0; // the former include the latter
  /// Of the element that is nearest to its bound.
  double ulps = 0, allowedUlps = 0;

  /// Counts an element that is that far away.
  void note(double distance, double allowed);
  void add(const Agreement &other);
};

/// Compares with what a compiled model computed: `got(i)` gives element i, or `integer(i)` where
/// the dtype is an integer or bool. NaN agrees with NaN. The first element that differs, or
/// nothing; `agreement`, unless null, counts the others.
std::optional<Difference> findDifference(const Tensor &expected,
                                         llvm::function_ref<double(int64_t)> got,
                                         llvm::function_ref<int64_t(int64_t)> integer,
                                         Agreement *agreement = nullptr);

/// Distance of two numbers of a float dtype in units in the last place of the larger one.
double ulpsBetween(mlir::Type elementType, double a, double b);

} // namespace tfc::reference
