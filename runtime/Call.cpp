//===- Call.cpp - Calls of entries, typed and by name ---------------------===//
//
// Checks the arguments of calls and runs entries. Typed calls pass the sizes; calls by name derive
// them from the shapes of the feeds first, and then take the same path.
//
//===----------------------------------------------------------------------===//

#include "runtime/FloatMode.h"
#include "runtime/Instance.h"

#include <ctype.h>
#include <stdio.h>

using namespace tfc::runtime;

static long long asLong(int64_t value) { return value; }

//===- Checked calls ------------------------------------------------------===//

static tfc_status failBound(tfc_instance &instance, const tfc_entry_info &entry, const char *name,
                            int64_t size, const char *what, int64_t bound, const char *site) {
  return instance.fail(TFC_OUT_OF_RANGE, "%s: %s = %lld %s its bound %lld%s%s", entry.name, name,
                       asLong(size), what, asLong(bound), site ? " at " : "", site ? site : "");
}

tfc_status tfc::runtime::checkSymbols(tfc_instance &instance, const tfc_entry_info &entry,
                                      const int64_t *symbols) {
  for (int32_t i = 0; i < entry.symbol_count; ++i) {
    const tfc_symbol_info &symbol = entry.symbols[i];
    if (symbols[i] < symbol.lower)
      return failBound(instance, entry, symbol.name, symbols[i], "is below", symbol.lower,
                       symbol.lower_site);
    if (symbols[i] > symbol.upper && symbol.upper >= 0)
      return failBound(instance, entry, symbol.name, symbols[i], "exceeds", symbol.upper,
                       symbol.upper_site);
  }
  return TFC_OK;
}

/// Returns true if feed or fetch number `index` (fetches follow the feeds) has no elements in this
/// call.
static bool isEmpty(tfc_instance &instance, const tfc_entry_info &entry, const int64_t *symbols,
                    int32_t index) {
  entry.shapes(symbols, instance.dims);
  auto rankOf = [&](int32_t i) {
    return i < entry.feed_count ? entry.feeds[i].rank : entry.fetches[i - entry.feed_count].rank;
  };
  const int64_t *dims = instance.dims;
  for (int32_t i = 0; i < index; ++i)
    dims += rankOf(i);
  return elementCount(dims, rankOf(index)) == 0;
}

/// Replaces null pointers to values without elements: code may read the first element before it
/// knows that there is none.
alignas(64) static char nothing[64];

/// Copies the pointers into instance.pointers, where they may be already, and replaces null.
static void replaceNull(tfc_instance &instance, const tfc_entry_info &entry,
                        const void *const *&feeds, void *const *&fetches) {
  void **pointers = instance.pointers, **fetchPointers = pointers + entry.feed_count;
  for (int32_t i = 0; i < entry.feed_count; ++i)
    pointers[i] = feeds[i] ? const_cast<void *>(feeds[i]) : nothing;
  for (int32_t i = 0; i < entry.fetch_count; ++i)
    fetchPointers[i] = fetches[i] ? fetches[i] : nothing;
  feeds = pointers;
  fetches = fetchPointers;
}

/// Checks that only values without elements are null, and replaces these pointers.
static tfc_status checkPointers(tfc_instance &instance, const tfc_entry_info &entry,
                                const int64_t *symbols, const void *const *&feeds,
                                void *const *&fetches) {
  bool hasNull = false;
  for (int32_t i = 0; i < entry.feed_count; ++i)
    hasNull |= !feeds[i];
  for (int32_t i = 0; i < entry.fetch_count; ++i)
    hasNull |= !fetches[i];
  if (!hasNull)
    return TFC_OK;
  for (int32_t i = 0; i < entry.feed_count; ++i)
    if (!feeds[i] && !isEmpty(instance, entry, symbols, i))
      return instance.fail(TFC_INVALID_ARGUMENT, "%s: feed '%s' is null", entry.name,
                           entry.feeds[i].name);
  for (int32_t i = 0; i < entry.fetch_count; ++i)
    if (!fetches[i] && !isEmpty(instance, entry, symbols, entry.feed_count + i))
      return instance.fail(TFC_INVALID_ARGUMENT, "%s: fetch '%s' is null", entry.name,
                           entry.fetches[i].name);
  replaceNull(instance, entry, feeds, fetches);
  return TFC_OK;
}

/// Checks that the devices are there, and grows the arenas for unbounded sizes; they are always
/// large enough for bounded ones.
static tfc_status prepareDevices(tfc_instance &instance, const tfc_entry_info &entry,
                                 const int64_t *symbols) {
  if (tfc_status status = checkDevices(instance, entry))
    return status;
  bool bounded = true;
  for (int32_t i = 0; i < entry.symbol_count; ++i)
    bounded &= entry.symbols[i].upper >= 0;
  if (bounded)
    return TFC_OK;
  for (int32_t device = 0; device < instance.arenas.size(); ++device) {
    if (!needsArena(instance, device))
      continue;
    int64_t bytes = arenaBytes(entry, device, symbols);
    if (!isArenaSize(bytes))
      return instance.fail(TFC_OUT_OF_MEMORY, "%s needs more memory than can be addressed",
                           entry.name);
    if (!reserveArena(instance, device, bytes))
      return instance.fail(TFC_OUT_OF_MEMORY,
                           "%s: not enough memory for the %lld bytes of the arena", entry.name,
                           asLong(bytes));
  }
  return TFC_OK;
}

/// Returns how the partitions in this process hold the state in a call of one process alone.
static StateLock::Hold holdOf(const tfc_instance &instance, const tfc_entry_info &entry) {
  switch (instance.state->tasks.accessOf(instance.tasks, entry, instance.state->tasks.self())) {
  case 0:
    return StateLock::Hold::None;
  case 1:
    return StateLock::Hold::Shared;
  default:
    return StateLock::Hold::Exclusive;
  }
}

/// Runs an entry once, or until it need not restart.
static int32_t run(tfc_instance &instance, tfc_call_frame &frame, StateLock::Hold hold,
                   bool restarts) {
  StateLock lock(*instance.state, hold);
  frame.variables = instance.state->variables;
  instance.lock = &lock;
  instance.queueEffects = 0;
  instance.waits = {.busy = 1};
  int32_t status;
  do
    status = instance.entry->run(&frame);
  while (status == kRestart && restarts);
  instance.lock = nullptr;
  return status;
}

/// Runs a call of one process alone, or takes part in it. If the call must restart, the state is
/// not held meanwhile, and the process that calls asks the others again.
static int32_t runAlone(tfc_instance &instance, tfc_call_frame &frame) {
  Tasks &tasks = instance.state->tasks;
  const tfc_entry_info &entry = *instance.entry;
  StateLock::Hold hold = holdOf(instance, entry);
  bool leads = instance.tasks.leader == tasks.self();
  int32_t status;
  do {
    if (leads)
      tasks.invite(instance, entry, frame.symbols);
    uint32_t before = tasks.callsOf(instance, entry);
    tasks.awaitTurnOfCall(instance, entry);
    status = run(instance, frame, hold, /*restarts=*/false);
    // A condition on sizes has failed before the others heard of it.
    if (status != TFC_OK && tasks.callsOf(instance, entry) == before)
      tasks.skip(instance, entry, status);
  } while (status == kRestart && leads);
  return status;
}

tfc_status tfc::runtime::runEntry(tfc_instance &instance, const tfc_entry_info &entry,
                                  const int64_t *symbols, const void *const *feeds,
                                  void *const *fetches) {
  instance.entry = &entry;
  tfc_call_frame frame = {.handle = &instance,
                          .arena = instance.arenas[0].data(),
                          .feeds = feeds,
                          .fetches = fetches,
                          .variables = nullptr,
                          .symbols = symbols,
                          .chunks = instance.chunks,
                          .found = instance.found,
                          .partition = 0,
                          .device = 0};
  FlushDenormals mode;
  const State &state = *instance.state;
  bool isAlone =
      state.tasks.areAlone() && &entry != state.model->init && state.tasks.concerns(entry);
  int32_t status = isAlone
                       ? runAlone(instance, frame)
                       : run(instance, frame,
                             entry.writes ? StateLock::Hold::Exclusive : StateLock::Hold::Shared,
                             /*restarts=*/true);
  return static_cast<tfc_status>(status);
}

static bool takesPart(const tfc_instance &instance, const tfc_entry_info &entry) {
  const Tasks &tasks = instance.state->tasks;
  for (int32_t i = 0; i < entry.partitioning->partition_count; ++i)
    if (tasks.isHere(instance.tasks, entry.partitioning->partitions[i]))
      return true;
  return false;
}

/// Lets a call that has failed before it begins fail in the other processes, too.
static tfc_status failInTasks(tfc_instance &instance, const tfc_entry_info &entry,
                              tfc_status status) {
  Tasks &tasks = instance.state->tasks;
  // The others have not yet been asked to take part in a call of this process alone.
  bool isOnlyHere = tasks.areAlone() && instance.tasks.leader == tasks.self();
  if (!isOnlyHere && tasks.concerns(entry) && takesPart(instance, entry))
    tasks.skip(instance, entry, status);
  return status;
}

/// Checks a call and prepares it. Feeds and fetches are those of the process that `hasFeeds`; in
/// the others nobody reads or writes them.
static tfc_status prepare(tfc_instance &instance, const tfc_entry_info &entry,
                          const int64_t *symbols, const void *const *&feeds, void *const *&fetches,
                          bool hasFeeds) {
  if (tfc_status status = checkSymbols(instance, entry, symbols))
    return status;
  if (hasFeeds)
    if (tfc_status status = checkPointers(instance, entry, symbols, feeds, fetches))
      return status;
  if (tfc_status status = prepareDevices(instance, entry, symbols))
    return status;
  return hasFeeds ? bringToHost(instance, entry, symbols, feeds, fetches) : TFC_OK;
}

extern "C" tfc_status tfc_instance_call(tfc_instance *instance, int32_t index,
                                        const int64_t *symbols, const void *const *feeds,
                                        void *const *fetches) {
  if (!instance)
    return TFC_INVALID_ARGUMENT;
  instance->message.clear();
  instance->hasFound = false;
  const State &state = *instance->state;
  if (static_cast<uint32_t>(index) >= static_cast<uint32_t>(state.model->entry_count))
    return instance->fail(TFC_NOT_FOUND, "there is no entry with number %d", index);
  const tfc_entry_info &entry = state.model->entries[index];
  if (tfc_status status = instance->state->tasks.checkSent(*instance, entry))
    return failInTasks(*instance, entry, status);
  bool hasFeeds = true;
  if (state.tasks.concerns(entry)) {
    hasFeeds = state.tasks.isHere(instance->tasks, entry.partitioning->partitions[0]);
    instance->entry = &entry;
    if (tfc_status status = instance->state->tasks.checkAlone(*instance, entry))
      return status;
    // Only the first partition finds the sizes of fetches.
    for (int64_t i = 0; i < entry.found_count; ++i)
      instance->found[i] = 0;
    if (!takesPart(*instance, entry))
      return checkSymbols(*instance, entry, symbols);
  }
  if (tfc_status status = prepare(*instance, entry, symbols, feeds, fetches, hasFeeds))
    return failInTasks(*instance, entry, status);
  if (tfc_status status = runEntry(*instance, entry, symbols, feeds, fetches))
    return status;
  return hasFeeds ? bringToDevice(*instance, entry, symbols) : TFC_OK;
}

extern "C" tfc_status tfc_instance_call_and_find(tfc_instance *instance, int32_t index,
                                                 const int64_t *symbols, const void *const *feeds,
                                                 void *const *fetches, int64_t *const *found) {
  tfc_status status = tfc_instance_call(instance, index, symbols, feeds, fetches);
  if (status != TFC_OK)
    return status;
  int64_t count = instance->state->model->entries[index].found_count;
  for (int64_t i = 0; i < count; ++i)
    if (found[i])
      *found[i] = instance->found[i];
  return TFC_OK;
}

//===- Functions that generated code calls --------------------------------===//

extern "C" int32_t tfc_rt_fail(tfc_call_frame *frame, int32_t status, const char *format,
                               const int64_t *values, int32_t count) {
  long long v[4] = {};
  for (int32_t i = 0; i < count && i < 4; ++i)
    v[i] = values[i];
  char text[sizeof(Message)];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
  snprintf(text, sizeof(text), format, v[0], v[1], v[2], v[3]);
#pragma GCC diagnostic pop
  frame->handle->fail(static_cast<tfc_status>(status), "%s: %s", frame->handle->entry->name, text);
  return status;
}

extern "C" int32_t tfc_rt_own_feed(tfc_call_frame *frame, int32_t number, void *to, int64_t bytes,
                                   const char *subject) {
  tfc_instance &handle = *frame->handle;
  const void *from = frame->feeds ? frame->feeds[number] : nullptr;
  const Tasks &tasks = handle.state->tasks;
  if (bytes > 0 && !from)
    return handle.fail(TFC_INVALID_ARGUMENT, "%s: %s: feed '%s' of this process is null%s%s%s",
                       handle.entry->name, subject, handle.entry->feeds[number].name,
                       tasks.areUsed() ? ", " : "",
                       tasks.areUsed() ? tasks.nameOf(tasks.self()) : "",
                       tasks.areAlone() ? ": another process calls alone" : "");
  if (bytes > 0)
    memcpy(to, from, bytes);
  return TFC_OK;
}

extern "C" void tfc_rt_parallel_for(tfc_call_frame *frame, tfc_rt_body body, void *context,
                                    int64_t count, int64_t grain) {
  frame->handle->state->pools[frame->device].run(body, context, count, grain);
}

//===- Calls by name ------------------------------------------------------===//

static int32_t findEntry(tfc_instance &instance, const char *name) {
  const tfc_model &model = *instance.state->model;
  for (int32_t i = 0; name && i < model.entry_count; ++i)
    if (strcmp(model.entries[i].name, name) == 0)
      return i;
  instance.message.add("%s has no entry '%s'; it has", model.name, name ? name : "(null)");
  for (int32_t i = 0; i < model.entry_count; ++i)
    instance.message.add("%s '%s'", i ? "," : "", model.entries[i].name);
  return -1;
}

static tfc_status checkCount(tfc_instance &instance, const tfc_entry_info &entry, const char *what,
                             int32_t given, int32_t expected, const tfc_tensor *tensors) {
  if (given != expected)
    return instance.fail(TFC_INVALID_ARGUMENT, "%s: got %d %s, but expected %d", entry.name, given,
                         what, expected);
  if (expected > 0 && !tensors)
    return instance.fail(TFC_INVALID_ARGUMENT, "%s: the array of %s is null", entry.name, what);
  return TFC_OK;
}

static tfc_status checkDtypeAndRank(tfc_instance &instance, const tfc_entry_info &entry,
                                    const char *what, const tfc_value_info &value,
                                    const tfc_tensor &tensor) {
  if (tensor.dtype != value.dtype)
    return instance.fail(TFC_INVALID_ARGUMENT, "%s: %s '%s' has dtype %s, but expected %s",
                         entry.name, what, value.name, dtypeName(tensor.dtype), value.type);
  if (tensor.rank == value.rank && (tensor.dims || tensor.rank == 0))
    return TFC_OK;
  instance.message.add("%s: %s '%s' has ", entry.name, what, value.name);
  if (tensor.rank <= 0 || tensor.dims) {
    instance.message.add("shape ");
    instance.message.addShape(tensor.dims, tensor.rank);
  } else {
    instance.message.add("no dims");
  }
  instance.message.add(", but expected %s", value.type);
  return TFC_INVALID_ARGUMENT;
}

/// Returns true if the text of axis `axis` of "f32[n, 64]" names a size.
static bool axisIsNamed(const char *type, int32_t axis) {
  const char *text = strchr(type, '[');
  int32_t depth = 0;
  for (text = text ? text + 1 : ""; *text && axis >= 0 && depth >= 0; ++text) {
    depth += (*text == '(') - (*text == ')') - (*text == ']');
    if (axis == 0 && isalpha(static_cast<unsigned char>(*text)))
      return true;
    axis -= *text == ',' && depth == 0;
  }
  return false;
}

static void addShapeError(tfc_instance &instance, const tfc_entry_info &entry, const char *what,
                          const tfc_value_info &value, const tfc_tensor &tensor) {
  instance.message.add("%s: %s '%s' has shape ", entry.name, what, value.name);
  instance.message.addShape(tensor.dims, tensor.rank);
  instance.message.add(", but expected %s", value.type);
}

static tfc_status checkShape(tfc_instance &instance, const tfc_entry_info &entry, const char *what,
                             const tfc_value_info &value, const tfc_tensor &tensor,
                             const int64_t *expected) {
  for (int32_t axis = 0; axis < value.rank; ++axis) {
    if (tensor.dims[axis] == expected[axis])
      continue;
    addShapeError(instance, entry, what, value, tensor);
    if (axisIsNamed(value.type, axis))
      for (int32_t i = 0; i < entry.symbol_count; ++i)
        instance.message.add("%s %s = %lld", i ? "," : " with", entry.symbols[i].name,
                             asLong(instance.symbols[i]));
    return TFC_INVALID_ARGUMENT;
  }
  return TFC_OK;
}

/// Computes the entry's named sizes from the feeds' shapes and stores them in instance.symbols.
static tfc_status solveSymbols(tfc_instance &instance, const tfc_entry_info &entry,
                               const tfc_tensor *feeds) {
  for (int32_t i = 0; i < entry.symbol_count; ++i) {
    const tfc_symbol_info &symbol = entry.symbols[i];
    const tfc_tensor &feed = feeds[symbol.feed];
    int64_t scaled;
    bool overflow = __builtin_sub_overflow(feed.dims[symbol.axis], symbol.offset, &scaled);
    int64_t scale = symbol.scale ? symbol.scale : 1;
    if (overflow || feed.dims[symbol.axis] < 0 || scaled % scale != 0) {
      addShapeError(instance, entry, "feed", entry.feeds[symbol.feed], feed);
      return TFC_INVALID_ARGUMENT;
    }
    instance.symbols[i] = scaled / scale;
  }
  return checkSymbols(instance, entry, instance.symbols);
}

/// Checks the feeds and stores the entry's sizes in instance.symbols and all dimensions in
/// instance.dims; `fetchDims` is set to the first dimension of the fetches.
static tfc_status checkFeeds(tfc_instance &instance, const tfc_entry_info &entry,
                             const tfc_tensor *feeds, int32_t count, const int64_t *&fetchDims) {
  if (tfc_status status = checkCount(instance, entry, "feeds", count, entry.feed_count, feeds))
    return status;
  for (int32_t i = 0; i < count; ++i)
    if (tfc_status status = checkDtypeAndRank(instance, entry, "feed", entry.feeds[i], feeds[i]))
      return status;
  if (tfc_status status = solveSymbols(instance, entry, feeds))
    return status;
  entry.shapes(instance.symbols, instance.dims);
  fetchDims = instance.dims;
  for (int32_t i = 0; i < count; ++i) {
    if (tfc_status status =
            checkShape(instance, entry, "feed", entry.feeds[i], feeds[i], fetchDims))
      return status;
    fetchDims += entry.feeds[i].rank;
  }
  return TFC_OK;
}

static tfc_status checkFetches(tfc_instance &instance, const tfc_entry_info &entry,
                               const tfc_tensor *fetches, int32_t count, const int64_t *dims) {
  if (tfc_status status = checkCount(instance, entry, "fetches", count, entry.fetch_count, fetches))
    return status;
  for (int32_t i = 0; i < count; ++i) {
    const tfc_value_info &value = entry.fetches[i];
    if (tfc_status status = checkDtypeAndRank(instance, entry, "fetch", value, fetches[i]))
      return status;
    if (tfc_status status = checkShape(instance, entry, "fetch", value, fetches[i], dims))
      return status;
    dims += value.rank;
  }
  return TFC_OK;
}

/// Clears the last message and finds the entry.
static tfc_status beginCall(tfc_instance *instance, const char *name, int32_t &index) {
  if (!instance)
    return TFC_INVALID_ARGUMENT;
  instance->message.clear();
  instance->hasFound = false;
  index = findEntry(*instance, name);
  return index < 0 ? TFC_NOT_FOUND : TFC_OK;
}

extern "C" tfc_status tfc_instance_call_by_name(tfc_instance *instance, const char *name,
                                                const tfc_tensor *feeds, int32_t feedCount,
                                                const tfc_tensor *fetches, int32_t fetchCount) {
  int32_t index;
  if (tfc_status status = beginCall(instance, name, index))
    return status;
  const tfc_entry_info &entry = instance->state->model->entries[index];
  const int64_t *fetchDims;
  tfc_status checked = checkFeeds(*instance, entry, feeds, feedCount, fetchDims);
  if (checked == TFC_OK)
    checked = checkFetches(*instance, entry, fetches, fetchCount, fetchDims);
  if (checked)
    return failInTasks(*instance, entry, checked);
  void **feedData = instance->pointers;
  void **fetchData = feedData + feedCount;
  for (int32_t i = 0; i < feedCount; ++i)
    feedData[i] = feeds[i].data;
  for (int32_t i = 0; i < fetchCount; ++i)
    fetchData[i] = fetches[i].data;
  tfc_status status = tfc_instance_call(instance, index, instance->symbols, feedData, fetchData);
  instance->hasFound = status == TFC_OK;
  return status;
}

/// The value that `shapes` writes for all sizes if one of them overflows.
static constexpr int64_t kUncountable = INT64_MIN;

/// Returns true if the tensor has more than 2^56 bytes, which no processor can address.
static bool isTooLarge(const tfc_tensor &tensor) {
  int64_t count = elementCount(tensor.dims, tensor.rank);
  return count < 0 || count > (int64_t(1) << 56) / dtypeInfo(tensor.dtype)->bytes;
}

/// Describes the fetches, with the dimensions that begin at `dims`.
static tfc_status describeFetches(tfc_instance &instance, const tfc_entry_info &entry,
                                  tfc_tensor *fetches, int32_t count, const int64_t *dims) {
  if (tfc_status status = checkCount(instance, entry, "fetches", count, entry.fetch_count, fetches))
    return status;
  for (int32_t i = 0; i < count; ++i) {
    fetches[i].dtype = entry.fetches[i].dtype;
    fetches[i].rank = entry.fetches[i].rank;
    fetches[i].dims = dims;
    for (int32_t axis = 0; axis < entry.fetches[i].rank; ++axis)
      if (dims[axis] < 0 && dims[axis] != kUncountable)
        return instance.fail(TFC_OUT_OF_RANGE, "%s: axis %d of fetch '%s', %s, would be negative",
                             entry.name, axis, entry.fetches[i].name, entry.fetches[i].type);
    if (isTooLarge(fetches[i]))
      return instance.fail(TFC_OUT_OF_MEMORY, "%s: fetch '%s', %s, does not fit in memory",
                           entry.name, entry.fetches[i].name, entry.fetches[i].type);
    dims += entry.fetches[i].rank;
  }
  return TFC_OK;
}

extern "C" tfc_status tfc_instance_infer(tfc_instance *instance, const char *name,
                                         const tfc_tensor *feeds, int32_t feedCount,
                                         tfc_tensor *fetches, int32_t fetchCount) {
  int32_t index;
  if (tfc_status status = beginCall(instance, name, index))
    return status;
  const tfc_entry_info &entry = instance->state->model->entries[index];
  const int64_t *dims;
  if (tfc_status status = checkFeeds(*instance, entry, feeds, feedCount, dims))
    return status;
  return describeFetches(*instance, entry, fetches, fetchCount, dims);
}

extern "C" tfc_status tfc_instance_found(tfc_instance *instance, tfc_tensor *fetches,
                                         int32_t fetchCount) {
  if (!instance)
    return TFC_INVALID_ARGUMENT;
  instance->message.clear();
  if (!instance->hasFound)
    return instance->fail(TFC_FAILED_PRECONDITION, "no call by name has just succeeded");
  const tfc_entry_info &entry = *instance->entry;
  entry.shapes(instance->symbols, instance->dims);
  int64_t *dims = instance->dims;
  for (int32_t i = 0; i < entry.feed_count; ++i)
    dims += entry.feeds[i].rank;
  if (entry.found_shapes)
    entry.found_shapes(instance->symbols, instance->found, dims);
  return describeFetches(*instance, entry, fetches, fetchCount, dims);
}
