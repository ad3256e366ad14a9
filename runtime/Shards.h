//===- Shards.h - Checkpoints in several files ----------------------------===//
//
// The processes of a cluster write a file each, a shard, and the first one then an index in the
// form that Hugging Face's libraries use: `weight_map` names the file of each tensor, in the
// directory of the index. The index replaces the one before in one step, so a crash leaves one of
// them whole; shards that no index names any more are removed afterwards.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/Instance.h"

#include <limits.h>

namespace tfc::runtime {

/// The number of the process that saves a variable: that of its task, or the first one for those of
/// the process that calls.
int32_t saverOf(const tfc_instance &instance, int32_t variable);

/// A new name for the shard of a task of a checkpoint at `path`, in its directory. Returns false if
/// it would be too long.
bool nameShard(const tfc_instance &instance, const char *path, char (&shard)[PATH_MAX]);

/// The part of a path after its directory.
const char *baseOf(const char *path);

/// Returns TFC_OK if the files of all tasks, as for `writeIndex`, are those of one checkpoint in
/// one folder, which this process sees.
tfc_status checkShards(tfc_instance &instance, const char *path, const char *shards);

/// Writes the index; `shards` are the names of the files of all tasks, without their directory, of
/// NAME_MAX + 1 bytes each.
tfc_status writeIndex(tfc_instance &instance, const char *path, const char *shards);

/// Removes shards of the checkpoint at `path` other than these, and what killed processes have
/// left.
void removeOldShards(const tfc_instance &instance, const char *path, const char *shards);

/// The files that an index names, each once.
struct ShardNames {
  explicit ShardNames(const Allocator &allocator) : files(allocator) {}

  Block text; // of the index, in which the names are
  Array<const char *> files;
};

/// Parses an index of `bytes` characters in `names.text`, with a null after them.
tfc_status parseIndex(tfc_instance &instance, const char *path, size_t bytes, ShardNames &names);

} // namespace tfc::runtime
