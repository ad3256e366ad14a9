//===- EntryFunctions.h - What the runtime asks about an entry ------------===//

#pragma once

#include "compiler/host/HostModule.h"
#include "compiler/pipeline/ModelInfo.h"
#include "dialects/rt/Rt.h"

namespace tfc::host {

/// Builds `tfc_entry_<number>_shapes`, which writes the dimensions of all feeds, then of all
/// fetches; data-dependent sizes count as the most that they can be.
void buildShapesFunction(HostModule &module, dfg::EntryOp entry, const EntryInfo &info,
                         unsigned number);

/// Builds `tfc_entry_<number>_found`, which writes the dimensions that the fetches of a call had,
/// from the sizes that it found; nothing for an entry that finds none.
void buildFoundFunction(HostModule &module, dfg::EntryOp entry, const EntryInfo &info,
                        unsigned number);

/// Builds `tfc_entry_<number>_arena`, which returns the bytes of the arena, or -1 if they cannot be
/// counted.
void buildArenaFunction(HostModule &module, dfg::EntryOp entry, const EntryInfo &info,
                        unsigned number, rt::ArenaAttr arena);

} // namespace tfc::host
