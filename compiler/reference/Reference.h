//===- Reference.h - The oracle: executing a graph op by op ---------------===//
//
// Executes modules in dfg form, from the frontend to fusion, with plain loops.
// It shares only the dialect's definitions (types, attributes, shapes,
// gradients of single operations) with the compiled path, so that the two can
// be compared.
//
//   Instance oracle(module);
//   if (Status status = oracle.initialize(); !status.isOk()) ...
//   std::vector<Tensor> fetches;
//   Status status = oracle.call("train", feeds, fetches);
//
// Fetches have an error bound for each element (Tensor.h): a compiled model is
// wrong if it differs by more (`findDifference`).
//
//===----------------------------------------------------------------------===//

#pragma once

#include "compiler/reference/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include <functional>
#include <memory>
#include <string>

namespace tfc::reference {

/// The result of a call. The codes correspond to the compiled call's status of the same name.
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
  /// False if the control flow of the call (a branch, a check) depended on an undetermined number:
  /// a compiled call may end differently.
  bool isDetermined = true;

  bool isOk() const { return code == Code::Ok; }
};

/// An operation that has just run.
struct Execution {
  mlir::Operation *op;
  /// One per result; null if it is not a tensor or dead.
  llvm::ArrayRef<const Tensor *> results;
  /// The iteration numbers of the enclosing loops, outermost first.
  llvm::ArrayRef<int64_t> iterations;
  /// Replaces the value of a result.
  llvm::function_ref<void(unsigned, Tensor)> replace;
};

struct Options {
  /// The module was written after the simplify stage: operations are total, and a `dfg.check` fails
  /// the call instead.
  bool checksAreApart = false;
  /// A loop that runs longer ends the call.
  int64_t mostIterations = 1 << 20;
  /// Called after each operation, including those of gradients, in the order of execution.
  std::function<void(const Execution &)> onExecuted;
  /// Unless null, gradients are compared with finite differences; called with an error message.
  std::function<void(const std::string &)> onWrongGradient;
  /// Called if data are invalid for an operation, with the status of the call if anything depends
  /// on the results. If nothing does, a compiled call may still end with that status.
  std::function<void(const Status &)> onRefused;
};

/// The variables and queues of a module, and calls of its entries.
class Instance {
public:
  /// Variables are zero until `initialize`. The module must outlive the instance and must not
  /// change.
  explicit Instance(mlir::ModuleOp module, Options options = {});
  ~Instance();

  /// Runs the entry that initialises the variables, if there is one.
  Status initialize();

  /// Calls an entry. A call that fails does not change the variables.
  Status call(llvm::StringRef entry, llvm::ArrayRef<Tensor> feeds, std::vector<Tensor> &fetches);

  /// Null if there is no such variable.
  const Tensor *getVariable(llvm::StringRef name) const;
  void setVariable(llvm::StringRef name, Tensor value);

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation;
};

/// An element that no correct evaluation computes.
struct Difference {
  int64_t index; // row-major
  double expected, got;
  double ulps, allowedUlps; // the distance, and the largest correct one
};

/// Statistics of comparisons without a difference.
struct Agreement {
  int64_t values = 0, undetermined = 0; // the former include the latter
  /// The distance of the element that is nearest to its bound.
  double ulps = 0, allowedUlps = 0;

  /// Counts an element with that distance.
  void note(double distance, double allowed);
  void add(const Agreement &other);
};

/// Compares with the results of a compiled model: `got(i)` returns element i, or `integer(i)` if
/// the dtype is an integer or bool. NaN agrees with NaN. Returns the first element that differs, if
/// any; `agreement`, unless null, counts the others.
std::optional<Difference> findDifference(const Tensor &expected,
                                         llvm::function_ref<double(int64_t)> got,
                                         llvm::function_ref<int64_t(int64_t)> integer,
                                         Agreement *agreement = nullptr);

/// The distance of two numbers of a float dtype in units in the last place of the larger one.
double ulpsBetween(mlir::Type elementType, double a, double b);

} // namespace tfc::reference
