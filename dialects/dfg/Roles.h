//===- Roles.h - The part of an operation in kernels, graphs and hosts ----===//
//
// Passes query roles, never names. An operation with neither a role in kernels nor
// `ScalarOpInterface` becomes a separate kernel.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/OpDefinition.h"

namespace tfc::dfg {

/// The result is the operand read at other positions, or a function of the position alone:
/// computing it costs nothing, so every reader does.
template <typename Op> class ViewRole : public mlir::OpTrait::TraitBase<Op, ViewRole> {};

/// Each element of the result is an element of the first operand, and none occurs twice.
template <typename Op> class SelectionRole : public mlir::OpTrait::TraitBase<Op, SelectionRole> {};

/// Each element of the result is computed independently, from elements anywhere in the operands.
template <typename Op> class ParallelRole : public mlir::OpTrait::TraitBase<Op, ParallelRole> {};

/// Reduces `x` over `axis`, or over all axes if it is absent.
template <typename Op> class ReductionRole : public mlir::OpTrait::TraitBase<Op, ReductionRole> {};

/// A sum of products. Elementwise operations on the result may be applied before it is stored.
template <typename Op>
class ContractionRole : public mlir::OpTrait::TraitBase<Op, ContractionRole> {};

/// Routes a value in the graph form, without computation: the control flow of a `dfg.dataflow`.
template <typename Op> class RoutingRole : public mlir::OpTrait::TraitBase<Op, RoutingRole> {};

/// The result exists before the first step of the host function, in memory that the call does not
/// write.
template <typename Op> class SourceRole : public mlir::OpTrait::TraitBase<Op, SourceRole> {};

/// The result has the memory of an operand, so no step computes it.
template <typename Op> class AliasRole : public mlir::OpTrait::TraitBase<Op, AliasRole> {};

/// The host function has a step for the operation.
template <typename Op> class StepRole : public mlir::OpTrait::TraitBase<Op, StepRole> {};

/// Declares a function or a part of the state of the model. The functions that run entries replace
/// it.
template <typename Op>
class DeclarationRole : public mlir::OpTrait::TraitBase<Op, DeclarationRole> {};

/// The result is the first operand with some elements changed. Called on a variable of the graph
/// language, the operation changes the variable.
template <typename Op> class UpdateRole : public mlir::OpTrait::TraitBase<Op, UpdateRole> {};

/// Takes scalar operands from registers of the host function; other operations read them from
/// memory.
template <typename Op>
class RegisterReaderRole : public mlir::OpTrait::TraitBase<Op, RegisterReaderRole> {};

} // namespace tfc::dfg
