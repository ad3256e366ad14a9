//===- Interpreters.h - The meaning of a graph, in both of its forms ------===//
//
// Two small interpreters that share the meaning of single operations and nothing
// else. All elements are doubles.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/dfg/Dfg.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <map>
#include <set>

namespace tfc::controlflow::test {

using Tensor = std::vector<double>;

/// The random loops are shorter.
constexpr unsigned kMostIterations = 50;

/// The outcome of a call: its results, the names of those that were dead, and the effects on each
/// variable and queue in order.
struct Outcome {
  std::vector<Tensor> results;
  std::set<std::string> dead;
  std::map<std::string, std::vector<std::string>> effects;
  /// The reason why the call could not be finished.
  std::string failure;
};

/// The objects that operations with effects change.
struct State {
  std::map<std::string, Tensor> variables;
  Outcome *outcome;

  void log(mlir::StringRef name, mlir::StringRef event, const Tensor &value);
};

/// Computes an operation without control flow.
std::vector<Tensor> compute(mlir::Operation *op, const std::vector<Tensor> &operands, State &state);

std::string toText(const Tensor &tensor);

/// Calls a function that holds one `dfg.dataflow`, passing tokens: each operation runs when its
/// inputs are available, live or dead.
Outcome runTokens(mlir::func::FuncOp function, const std::vector<Tensor> &arguments);

/// Calls a function whose control flow is in regions.
Outcome runRegions(mlir::func::FuncOp function, const std::vector<Tensor> &arguments);

} // namespace tfc::controlflow::test
