//===- Cpu.h - Does this processor have what the code needs? --------------===//

#pragma once

#include <stddef.h>

namespace tfc::runtime {

/// The first "+name" in `features` (LLVM's names, comma separated) that this processor or its
/// system lacks, copied to `missing`; false if there is none. Names that the table does not know
/// are taken as present: they are tuning flags or instructions that are never chosen unasked.
bool findMissingFeature(const char *features, char *missing, size_t capacity);

/// Whether this processor has the feature; false for names that the table does not know.
bool hasFeature(const char *name);

} // namespace tfc::runtime
