//===- Cpu.h - Features of the processor ----------------------------------===//

#pragma once

#include <stddef.h>

namespace tfc::runtime {

/// The first "+name" in `features` (LLVM's names, comma separated) that this processor or its
/// system lacks, copied to `missing`; returns false if there is none. Names that are not in the
/// table count as present: they are tuning flags, or instructions that LLVM never selects on its
/// own.
bool findMissingFeature(const char *features, char *missing, size_t capacity);

/// Returns true if this processor has the feature; false for names that the table does not know.
bool hasFeature(const char *name);

} // namespace tfc::runtime
