// What operations of the dialect have effects on, one resource a kind; a symbol tells which of
// them.
#pragma once

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tfc::dfg {

struct VariableResource : mlir::SideEffects::Resource::Base<VariableResource> {
  llvm::StringRef getName() final { return "variable"; }
};

struct TapeResource : mlir::SideEffects::Resource::Base<TapeResource> {
  llvm::StringRef getName() final { return "tape"; }
};

struct QueueResource : mlir::SideEffects::Resource::Base<QueueResource> {
  llvm::StringRef getName() final { return "queue"; }
};

/// Keeps the binding of a size where it is, though nothing reads a result of it.
struct SizeResource : mlir::SideEffects::Resource::Base<SizeResource> {
  llvm::StringRef getName() final { return "size"; }
};

} // namespace tfc::dfg
