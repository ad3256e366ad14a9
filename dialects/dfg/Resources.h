// The resources of the effects of the dialect's operations, one for each kind; a symbol identifies
// the variable, tape, queue or dataset.
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

/// The files of a dataset, which are only read.
struct DatasetResource : mlir::SideEffects::Resource::Base<DatasetResource> {
  llvm::StringRef getName() final { return "dataset"; }
};

/// The feeds of the processes that call together.
struct FeedResource : mlir::SideEffects::Resource::Base<FeedResource> {
  llvm::StringRef getName() final { return "feed"; }
};

/// The messages between the partitions of an entry, of all slots: their order is fixed.
struct MessageResource : mlir::SideEffects::Resource::Base<MessageResource> {
  llvm::StringRef getName() final { return "message"; }
};

/// Keeps the binding of a size in place, although it has no result.
struct SizeResource : mlir::SideEffects::Resource::Base<SizeResource> {
  llvm::StringRef getName() final { return "size"; }
};

} // namespace tfc::dfg
