// Gives scores of heads that share keys the shape of their products.
#pragma once

#include "mlir/IR/Block.h"

namespace tfc::fusion {

/// Several heads of queries may have the keys of one: their products are [..., keys' heads, heads
/// for each * queries, keys], and what is computed from these, up to the products that read it,
/// [..., heads, queries, keys]. If nothing else reads the latter, it is computed in the shape of
/// the products, so that no operation between these is a reshape.
void moveSharedHeads(mlir::Block &block);

} // namespace tfc::fusion
