//===- EntryFunctions.h - Functions that describe an entry to the runtime -===//

#pragma once

#include "compiler/host/HostModule.h"
#include "compiler/pipeline/ModelInfo.h"
#include "dialects/rt/Rt.h"

namespace tfc::host {

/// Builds `tfc_entry_<number>_shapes`, which writes the dimensions of all feeds, then of all
/// fetches; data-dependent sizes count as their upper bounds.
void buildShapesFunction(HostModule &module, dfg::EntryOp entry, const EntryInfo &info,
                         unsigned number);

/// Builds `tfc_entry_<number>_found`, which writes the dimensions of the fetches of a call, given
/// the data-dependent sizes that it bound. Builds nothing for entries without such sizes.
void buildFoundFunction(HostModule &module, dfg::EntryOp entry, const EntryInfo &info,
                        unsigned number);

/// Builds `tfc_entry_<number>_<name>`, which returns the size of the arena of an entry, or of a
/// partition of it, in bytes, or -1 if it overflows.
void buildArenaFunction(HostModule &module, dfg::EntryOp entry, const EntryInfo &info,
                        unsigned number, llvm::StringRef name, rt::ArenaAttr arena);

} // namespace tfc::host
