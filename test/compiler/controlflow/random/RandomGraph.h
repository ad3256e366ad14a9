//===- RandomGraph.h - Random control flow --------------------------------===//

#pragma once

#include "Interpreters.h"

namespace tfc::controlflow::test {

/// Makes a function `f` with one `dfg.dataflow` of random nodes; equal seeds make equal functions.
mlir::OwningOpRef<mlir::ModuleOp> makeRandomGraph(mlir::MLIRContext *context, unsigned seed);

/// Arguments for it.
std::vector<Tensor> makeArguments(mlir::func::FuncOp function, unsigned seed);

/// The function `f` of a module.
mlir::func::FuncOp functionOf(mlir::ModuleOp module);

/// Runs the stage; returns its errors.
std::string structureGraph(mlir::ModuleOp module);

/// Runs the stage on a copy of `module` and both forms on some arguments; returns the difference,
/// or an empty string. A graph that the stage refuses is a difference, too, unless `mayFail`.
std::string compareForms(mlir::ModuleOp module, bool mayFail = false);

/// Connects some operands to other values of their type, so that most graphs become invalid.
void mutate(mlir::ModuleOp module, unsigned seed);

/// Removes parts of the graph as long as `compareForms` finds a difference.
void shrink(mlir::ModuleOp module);

} // namespace tfc::controlflow::test
