//===- Shards.cpp - Checkpoints in several files --------------------------===//
//
// Names, lists and removes the files of a checkpoint of several processes. Checkpoint.cpp reads and
// writes their contents.
//
//===----------------------------------------------------------------------===//

#include "runtime/Shards.h"

#include "runtime/Checkpoint.h"
#include "runtime/Json.h"
#include "runtime/Safetensors.h"

#include <dirent.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

using namespace tfc::runtime;

int32_t tfc::runtime::saverOf(const tfc_instance &instance, int32_t variable) {
  const tfc_model &model = *instance.state->model;
  return Tasks::taskOf(instance.tasks, model.devices[model.variables[variable].device]);
}

const char *tfc::runtime::baseOf(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/// The last part of a shard's name: so many hexadecimal digits.
static constexpr int kDigits = 16;

bool tfc::runtime::nameShard(const tfc_instance &instance, const char *path,
                             char (&shard)[PATH_MAX]) {
  const Tasks &tasks = instance.state->tasks;
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  uint64_t unique = static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
  int length = snprintf(shard, sizeof(shard), "%s.%d-of-%d.%0*llx", path, tasks.self(),
                        tasks.count(), kDigits, static_cast<unsigned long long>(unique));
  return length < static_cast<int>(sizeof(shard)) && strlen(baseOf(shard)) <= NAME_MAX;
}

static bool skip(const char *&text, const char *characters, size_t least, size_t most) {
  size_t length = strspn(text, characters);
  text += length;
  return length >= least && length <= most;
}

/// Returns true if the first `bytes` of a name are that of a shard of a checkpoint of this name.
static bool isShardOf(const char *file, size_t bytes, const char *name) {
  const char *end = file + bytes;
  size_t length = strlen(name);
  if (strncmp(file, name, length) != 0 || file[length] != '.')
    return false;
  file += length + 1;
  constexpr char kNumber[] = "0123456789";
  if (!skip(file, kNumber, 1, 5) || strncmp(file, "-of-", 4) != 0)
    return false;
  file += 4;
  return skip(file, kNumber, 1, 5) && *file++ == '.' &&
         skip(file, "0123456789abcdef", kDigits, kDigits) && file == end;
}

void tfc::runtime::removeOldShards(const tfc_instance &instance, const char *path,
                                   const char *shards) {
  char directory[PATH_MAX];
  size_t length = baseOf(path) - path;
  if (length >= sizeof(directory))
    return;
  memcpy(directory, path, length);
  memcpy(directory + length, length ? "" : ".", length ? 1 : 2);
  DIR *entries = opendir(directory);
  while (dirent *entry = entries ? readdir(entries) : nullptr) {
    const char *file = entry->d_name;
    bool isOld = isShardOf(file, strlen(file), baseOf(path));
    for (int32_t task = 0; isOld && task < instance.state->tasks.count(); ++task)
      isOld = strcmp(shards + size_t(task) * (NAME_MAX + 1), file) != 0;
    if (isOld)
      unlinkat(dirfd(entries), file, 0);
    size_t prefix = temporaryPrefix(file);
    if (prefix && isShardOf(file, prefix, baseOf(path)))
      removeIfStale(dirfd(entries), file);
  }
  if (entries)
    closedir(entries);
}

tfc_status tfc::runtime::checkShards(tfc_instance &instance, const char *path, const char *shards) {
  const Tasks &tasks = instance.state->tasks;
  for (int32_t task = 0; task < tasks.count(); ++task) {
    const char *name = shards + size_t(task) * (NAME_MAX + 1);
    char file[PATH_MAX];
    int length =
        snprintf(file, sizeof(file), "%.*s%s", static_cast<int>(baseOf(path) - path), path, name);
    if (!isShardOf(name, strlen(name), baseOf(path)))
      return instance.fail(TFC_INVALID_ARGUMENT, "cannot save '%s': %s saves '%s' instead", path,
                           tasks.nameOf(task), name);
    if (length >= static_cast<int>(sizeof(file)) || access(file, F_OK) != 0)
      return instance.fail(TFC_IO_ERROR,
                           "cannot save '%s': '%s', the file of %s, is not in the same folder",
                           path, file, tasks.nameOf(task));
  }
  return TFC_OK;
}

//===- The index ----------------------------------------------------------===//

tfc_status tfc::runtime::writeIndex(tfc_instance &instance, const char *path, const char *shards) {
  const tfc_model &model = *instance.state->model;
  Array<char> text(instance.state->allocator);
  TextWriter writer(text);
  uint64_t bytes = 0;
  for (int32_t i = 0; i < model.variable_count; ++i)
    bytes += model.variables[i].bytes;
  writer.raw("{\"metadata\":{\"model\":\"");
  writer.escaped(model.name);
  writer.raw("\",\"total_size\":");
  writer.number(bytes);
  writer.raw("},\"weight_map\":{");
  for (int32_t i = 0; i < model.variable_count; ++i) {
    writer.raw(i ? ",\n\"" : "\n\"");
    writer.escaped(model.variables[i].name);
    writer.raw("\":\"");
    writer.escaped(shards + size_t(saverOf(instance, i)) * (NAME_MAX + 1));
    writer.raw("\"");
  }
  writer.raw("}}\n");
  if (!writer.complete)
    return instance.fail(TFC_OUT_OF_MEMORY, "not enough memory to save '%s'", path);
  return writeFile(instance, path,
                   [&](OutputFile &file) { return file.write(text.begin(), text.size()); });
}

namespace {
class IndexParser {
public:
  IndexParser(ShardNames &names, size_t bytes) : names(names), json(names.text.data(), bytes) {}

  bool parse();
  bool outOfMemory = false;
  const JsonReader &reader() const { return json; }

private:
  bool parseMap();
  bool add(const char *file);

  ShardNames &names;
  JsonReader json;
};
} // namespace

/// Adds a file in the directory of the index.
bool IndexParser::add(const char *file) {
  if (!*file || strchr(file, '/') || strcmp(file, ".") == 0 || strcmp(file, "..") == 0)
    return json.fail("the name of a file in the same directory");
  for (const char *known : names.files)
    if (strcmp(known, file) == 0)
      return true;
  outOfMemory = !names.files.push(file);
  return !outOfMemory;
}

bool IndexParser::parseMap() {
  if (!json.beginObject())
    return false;
  bool first = true;
  const char *tensor, *file;
  while (json.nextMember(first, tensor))
    if (!json.readString(file) || !add(file))
      return false;
  return !json.error();
}

bool IndexParser::parse() {
  if (!json.beginObject())
    return false;
  bool first = true, hasMap = false;
  const char *key;
  while (json.nextMember(first, key)) {
    bool isMap = strcmp(key, "weight_map") == 0;
    hasMap |= isMap;
    if (!(isMap ? parseMap() : json.skipValue()))
      return false;
  }
  if (!json.error() && !hasMap)
    return json.fail("'weight_map'");
  return !json.error() && json.finish();
}

tfc_status tfc::runtime::parseIndex(tfc_instance &instance, const char *path, size_t bytes,
                                    ShardNames &names) {
  IndexParser parser(names, bytes);
  bool parsed = parser.parse();
  if (parser.outOfMemory)
    return instance.fail(TFC_OUT_OF_MEMORY, "%s: not enough memory for the index", path);
  if (parsed)
    return TFC_OK;
  return instance.fail(TFC_DATA_LOSS, "%s: damaged index: expected %s at byte %llu", path,
                       parser.reader().error(),
                       static_cast<unsigned long long>(parser.reader().offset()));
}
