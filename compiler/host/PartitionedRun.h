//===- PartitionedRun.h - Entries on several devices ----------------------===//

#pragma once

#include "compiler/host/Context.h"

namespace tfc::host {

/// Builds `tfc_entry_<number>_run` of an entry on several devices: it checks the sizes of the call
/// and then runs the partitions, `partitions`, in functions of their own.
void buildPartitionedRun(HostModule &module, llvm::ArrayRef<dfg::EntryOp> partitions,
                         const EntryInfo &info, unsigned number, HostCounts &counts);

} // namespace tfc::host
