//===- Roles.h - What part an operation plays in a kernel -----------------===//
//
// Fusion asks for roles, never for names. An operation without a role and
// without `ScalarOpInterface` becomes a kernel of its own.
//
//===----------------------------------------------------------------------===//

#ifndef TFC_DIALECTS_DFG_ROLES_H
#define TFC_DIALECTS_DFG_ROLES_H

#include "mlir/IR/OpDefinition.h"

namespace tfc::dfg {

/// The result is the operand read at other positions, or a function of the position alone: it costs
/// nothing where it is read, so every reader computes it.
template <typename Op>
class ViewRole : public mlir::OpTrait::TraitBase<Op, ViewRole> {};

/// Each element of the result is computed by itself, from elements anywhere in the operands.
template <typename Op>
class ParallelRole : public mlir::OpTrait::TraitBase<Op, ParallelRole> {};

/// Reduces `x` over `axis` (all axes where it is not given).
template <typename Op>
class ReductionRole : public mlir::OpTrait::TraitBase<Op, ReductionRole> {};

/// A sum of products whose result elementwise operations may follow before it is stored.
template <typename Op>
class ContractionRole : public mlir::OpTrait::TraitBase<Op, ContractionRole> {};

} // namespace tfc::dfg

#endif // TFC_DIALECTS_DFG_ROLES_H
