//===- Save.cpp - Saving all variables ------------------------------------===//
//
// Writes the variables of this process, to the file of a checkpoint or to a shard of one.
// Safetensors.cpp writes the header, and OutputFile.cpp replaces files.
//
//===----------------------------------------------------------------------===//

#include "runtime/Checkpoint.h"
#include "runtime/Crc32c.h"
#include "runtime/Safetensors.h"
#include "runtime/Shards.h"

#include <unistd.h>

using namespace tfc::runtime;

namespace {
/// One `save` of the variables that this process saves.
class Saver {
public:
  Saver(tfc_instance &instance, const char *path)
      : instance(instance), state(*instance.state), model(*state.model), path(path),
        header(state.allocator) {}

  tfc_status save();
  tfc_status saveTogether();

private:
  tfc_status outOfMemory() {
    return instance.fail(TFC_OUT_OF_MEMORY, "not enough memory to save '%s'", path);
  }
  bool saves(int32_t variable) const {
    return !state.tasks.areUsed() || saverOf(instance, variable) == state.tasks.self();
  }
  bool orderBySize();
  tfc_status collect();
  bool writeVariables(OutputFile &file);
  tfc_status write(const char *to);

  tfc_instance &instance;
  State &state;
  const tfc_model &model;
  const char *path;
  Array<char> header;
  Block room, pointers, elsewhere;
  int32_t *order = nullptr, count = 0; // variables, as they are in the file
  void **values = nullptr;             // by variable
};
} // namespace

/// Larger elements first, so that every tensor is aligned to its element type without gaps.
bool Saver::orderBySize() {
  if (!room.reserve(state.allocator, model.variable_count * 2 * sizeof(uint32_t)))
    return false;
  order = reinterpret_cast<int32_t *>(room.data());
  for (int32_t bytes = 8; bytes > 0; bytes /= 2)
    for (int32_t i = 0; i < model.variable_count; ++i)
      if (saves(i) && dtypeInfo(model.variables[i].dtype)->bytes == bytes)
        order[count++] = i;
  return true;
}

/// Finds the values, of which those on devices are copied to the host, and makes the header.
tfc_status Saver::collect() {
  bool reserved =
      orderBySize() && pointers.reserve(state.allocator, model.variable_count * sizeof(void *));
  values = reinterpret_cast<void **>(pointers.data());
  for (int32_t i = 0; reserved && i < model.variable_count; ++i)
    values[i] = state.variables[i];
  if (!reserved || !allocateVariables(state, Place::Elsewhere, elsewhere, values))
    return outOfMemory();
  Message message;
  auto *checksums = reinterpret_cast<uint32_t *>(order + model.variable_count);
  for (int32_t i = 0; i < count; ++i) {
    int32_t variable = order[i];
    tfc_status status = gpuOf(state, model.variables[variable])
                            ? readVariable(state, variable, values[variable], message)
                            : checkVariable(state, variable, message);
    if (status)
      return instance.fail(status, "cannot save '%s': %s", path, message.c_str());
    checksums[variable] = extendCrc32c(0, values[variable], model.variables[variable].bytes);
  }
  return writeHeader(model, order, count, checksums, header) ? TFC_OK : outOfMemory();
}

bool Saver::writeVariables(OutputFile &file) {
  if (!file.write(header.begin(), header.size()))
    return false;
  for (int32_t i = 0; i < count; ++i)
    if (!file.write(values[order[i]], model.variables[order[i]].bytes))
      return false;
  return true;
}

tfc_status Saver::write(const char *to) {
  return writeFile(instance, to, [&](OutputFile &file) { return writeVariables(file); });
}

tfc_status Saver::save() {
  StateLock lock(state, StateLock::Hold::Shared);
  tfc_status status = collect();
  return status ? status : write(path);
}

/// Writes a shard of each process, and then the index. If a process fails before that, the shards
/// are removed, and what was there before remains.
tfc_status Saver::saveTogether() {
  OperationLock lock(instance, StateLock::Hold::Shared);
  tfc_status status = lock.status();
  char shard[PATH_MAX] = "";
  Block names;
  size_t nameBytes = NAME_MAX + 1;
  if (status == TFC_OK && !names.reserve(state.allocator, state.tasks.count() * nameBytes))
    status = outOfMemory();
  if (status == TFC_OK && !nameShard(instance, path, shard))
    status = instance.fail(TFC_IO_ERROR, "cannot write '%s': the name is too long", path);
  if (status == TFC_OK)
    status = collect();
  if (status == TFC_OK)
    status = write(shard);
  const char *text = status ? instance.message.c_str() : baseOf(shard);
  status =
      state.tasks.exchange(instance, 1, status, text, names.data(), names.data() ? nameBytes : 0);
  bool decides = state.tasks.self() == instance.tasks.decider();
  if (status != TFC_OK) {
    // A process that has heard nothing does not know whether the index names its shard.
    if (*shard && (status != TFC_TASK_LOST || decides))
      unlink(shard);
    return status;
  }
  if (decides) {
    status = checkShards(instance, path, names.data());
    if (status == TFC_OK)
      status = writeIndex(instance, path, names.data());
    // The others do not begin the next checkpoint before this.
    if (status == TFC_OK)
      removeOldShards(instance, path, names.data());
  }
  status = state.tasks.exchange(instance, 2, status, instance.message.c_str());
  if (status != TFC_OK && status != TFC_TASK_LOST)
    unlink(shard); // there is no index for it
  return status;
}

extern "C" tfc_status tfc_instance_save(tfc_instance *instance, const char *path) {
  tfc_status status = checkPath(instance, path);
  if (!beginsTogether(instance, Tasks::Save, path, status))
    return status ? status : Saver(*instance, path).save();
  return status ? failTogether(*instance, status) : Saver(*instance, path).saveTogether();
}
