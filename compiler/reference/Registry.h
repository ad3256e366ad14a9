//===- Registry.h - The evaluators of all operations ----------------------===//
//
// An evaluator computes the results of one execution of an operation from its
// operands with plain loops. There is a file per family, as in the dialect;
// Families.inc lists them. The interpreter executes operations that involve more
// than tensors: control flow, state, lists, tapes, queues, gradients, kernels.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "compiler/reference/Tensor.h"
#include "dialects/dfg/Dfg.h"
#include "llvm/ADT/StringMap.h"
#include <functional>

namespace tfc::reference {

/// Values of the named sizes of a call.
using Sizes = llvm::StringMap<int64_t>;

/// The value of a size; std::nullopt if a name in it is unknown, or an intermediate result exceeds
/// 64 bits.
std::optional<int64_t> knownSizeOf(const dfg::DimExpr &expr, const Sizes &sizes);

/// The value of a size; 0 if it cannot be computed, which happens only in calls that are refused.
int64_t sizeOf(const dfg::DimExpr &expr, const Sizes &sizes);

/// One execution of an operation on tensors.
class Call {
public:
  /// The results start as zeros of the result types' shapes, all exact.
  Call(mlir::Operation *op, llvm::ArrayRef<const Tensor *> operands, const Sizes &sizes);

  mlir::Operation *getOp() const { return op; }
  const Tensor &operand(unsigned i = 0) const { return *operands[i]; }
  llvm::ArrayRef<const Tensor *> getOperands() const { return operands; }
  Tensor &result(unsigned i = 0) { return results[i]; }
  std::vector<Tensor> takeResults() { return std::move(results); }

  /// The value of a size in this call.
  int64_t size(const dfg::DimExpr &expr) const { return sizeOf(expr, symbols); }
  llvm::SmallVector<int64_t> sizes(dfg::DimsAttr dims) const;
  llvm::SmallVector<int64_t> shapeOf(mlir::Type tensorType) const;

  /// Marks the data as invalid, for an operation with `CheckedOpInterface`: the call fails with the
  /// operation's message. The evaluator returns, or continues with arbitrary values.
  void refuse() { isRefused = true; }
  bool wasRefused() const { return isRefused; }

private:
  mlir::Operation *op;
  llvm::ArrayRef<const Tensor *> operands;
  const Sizes &symbols;
  std::vector<Tensor> results;
  bool isRefused = false;
};

class Registry {
public:
  using Evaluator = std::function<void(mlir::Operation *, Call &)>;

  /// `evaluate` is called as `evaluate(op, call)` with an `Op` and a `Call &`.
  template <typename Op, typename Evaluate> void add(Evaluate evaluate) {
    evaluators[Op::getOperationName()] = [evaluate](mlir::Operation *op, Call &call) {
      evaluate(mlir::cast<Op>(op), call);
    };
  }

  /// The evaluator of the operation of that name, as "dfg.exp"; null if there is none.
  const Evaluator *find(llvm::StringRef name) const;

private:
  llvm::StringMap<Evaluator> evaluators;
};

/// The evaluators of all families, created once.
const Registry &getRegistry();

/// Adds the evaluators of a family, one function for each.
#define TFC_FAMILY(NAME) void add##NAME(Registry &registry);
#include "compiler/reference/Families.inc"
#undef TFC_FAMILY

} // namespace tfc::reference
