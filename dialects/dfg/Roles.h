//===- Roles.h - What part an operation plays in kernels, graphs and hosts -===//
//
// Passes ask for roles, never for names. An operation without a role in kernels
// and without `ScalarOpInterface` becomes a kernel of its own.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mlir/IR/OpDefinition.h"

namespace tfc::dfg {

/// The result is the operand read at other positions, or a function of the position alone: it costs
/// nothing where it is read, so every reader computes it.
template <typename Op> class ViewRole : public mlir::OpTrait::TraitBase<Op, ViewRole> {};

/// Each element of the result is computed by itself, from elements anywhere in the operands.
template <typename Op> class ParallelRole : public mlir::OpTrait::TraitBase<Op, ParallelRole> {};

/// Reduces `x` over `axis` (all axes where it is not given).
template <typename Op> class ReductionRole : public mlir::OpTrait::TraitBase<Op, ReductionRole> {};

/// A sum of products whose result elementwise operations may follow before it is stored.
template <typename Op>
class ContractionRole : public mlir::OpTrait::TraitBase<Op, ContractionRole> {};

/// Decides in the graph form where a value goes, and computes nothing: the control flow of a
/// `dfg.dataflow`.
template <typename Op> class RoutingRole : public mlir::OpTrait::TraitBase<Op, RoutingRole> {};

/// The result is there before the first step of the host function: memory that the call does not
/// write.
template <typename Op> class SourceRole : public mlir::OpTrait::TraitBase<Op, SourceRole> {};

/// Takes scalar operands from registers of the host function, where others want them in memory.
template <typename Op>
class RegisterReaderRole : public mlir::OpTrait::TraitBase<Op, RegisterReaderRole> {};

} // namespace tfc::dfg
