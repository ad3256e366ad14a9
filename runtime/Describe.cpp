//===- Describe.cpp - Descriptions of models, and the API table -----------===//
//
// Describes entries, variables and queues from the tables of a model, without an instance. It also
// defines the table of all functions that a compiled library offers to callers.
//
//===----------------------------------------------------------------------===//

#include "runtime/Instance.h"

using namespace tfc::runtime;

static const tfc_entry_info *findEntry(const tfc_model *model, int32_t entry) {
  return model && entry >= 0 && entry < model->entry_count ? &model->entries[entry] : nullptr;
}

static tfc_status describeEntry(const tfc_model *model, int32_t index, tfc_entry *out) {
  const tfc_entry_info *entry = findEntry(model, index);
  if (!entry)
    return TFC_NOT_FOUND;
  *out = {entry->name, entry->feed_count, entry->fetch_count, entry->symbol_count, entry->writes};
  return TFC_OK;
}

static tfc_status describeValue(const tfc_value_info *values, int32_t count, int32_t index,
                                tfc_value *out) {
  if (index < 0 || index >= count)
    return TFC_NOT_FOUND;
  const tfc_value_info &value = values[index];
  *out = {value.name, value.type, value.dtype, value.rank, nullptr};
  return TFC_OK;
}

static tfc_status describeFeed(const tfc_model *model, int32_t index, int32_t feed,
                               tfc_value *out) {
  const tfc_entry_info *entry = findEntry(model, index);
  return entry ? describeValue(entry->feeds, entry->feed_count, feed, out) : TFC_NOT_FOUND;
}

static tfc_status describeFetch(const tfc_model *model, int32_t index, int32_t fetch,
                                tfc_value *out) {
  const tfc_entry_info *entry = findEntry(model, index);
  return entry ? describeValue(entry->fetches, entry->fetch_count, fetch, out) : TFC_NOT_FOUND;
}

static tfc_status describeSymbol(const tfc_model *model, int32_t index, int32_t symbol,
                                 tfc_symbol *out) {
  const tfc_entry_info *entry = findEntry(model, index);
  if (!entry || symbol < 0 || symbol >= entry->symbol_count)
    return TFC_NOT_FOUND;
  const tfc_symbol_info &info = entry->symbols[symbol];
  *out = {info.name, info.lower, info.upper};
  return TFC_OK;
}

static tfc_status describeFact(const tfc_model *model, int32_t index, int32_t fact, tfc_fact *out) {
  const tfc_entry_info *entry = findEntry(model, index);
  if (!entry || fact < 0 || fact >= entry->fact_count)
    return TFC_NOT_FOUND;
  *out = entry->facts[fact];
  return TFC_OK;
}

static const char *siteOf(const tfc_model *model, int32_t index) {
  const tfc_entry_info *entry = findEntry(model, index);
  return entry ? entry->site : nullptr;
}

static tfc_status describeVariable(const tfc_model *model, int32_t index, tfc_value *out) {
  if (!model || index < 0 || index >= model->variable_count)
    return TFC_NOT_FOUND;
  const tfc_variable_info &variable = model->variables[index];
  *out = {variable.name, nullptr, variable.dtype, variable.rank, variable.dims};
  return TFC_OK;
}

static tfc_status describeDevice(const tfc_model *model, int32_t index, tfc_device *out) {
  if (!model || index < 0 || index >= model->device_count)
    return TFC_NOT_FOUND;
  const tfc_device_info &device = model->devices[index];
  *out = {device.name, device.kind, device.index};
  return TFC_OK;
}

static tfc_status describeQueue(const tfc_model *model, int32_t index, tfc_queue *out) {
  if (!model || index < 0 || index >= model->queue_count)
    return TFC_NOT_FOUND;
  const tfc_queue_info &queue = model->queues[index];
  *out = {queue.name, queue.kind, queue.component_count, queue.capacity};
  return TFC_OK;
}

static tfc_status describeComponent(const tfc_model *model, int32_t queue, int32_t index,
                                    tfc_value *out) {
  if (!model || queue < 0 || queue >= model->queue_count || index < 0 ||
      index >= model->queues[queue].component_count)
    return TFC_NOT_FOUND;
  const tfc_variable_info &info = model->queues[queue].components[index];
  *out = {info.name, nullptr, info.dtype, info.rank, info.dims};
  return TFC_OK;
}

static tfc_status writeShapes(const tfc_model *model, int32_t index, const int64_t *symbols,
                              int64_t *dims) {
  const tfc_entry_info *entry = findEntry(model, index);
  if (!entry)
    return TFC_NOT_FOUND;
  for (int32_t i = 0; i < entry->symbol_count; ++i) {
    const tfc_symbol_info &symbol = entry->symbols[i];
    if (symbols[i] < symbol.lower || (symbol.upper >= 0 && symbols[i] > symbol.upper))
      return TFC_OUT_OF_RANGE;
  }
  entry->shapes(symbols, dims);
  return TFC_OK;
}

extern "C" const tfc_api tfc_runtime_api = {
    .abi_version = TFC_ABI_VERSION,
    .size = sizeof(tfc_api),
    .status_name = tfc_status_name,
    .entry = describeEntry,
    .feed = describeFeed,
    .fetch = describeFetch,
    .symbol = describeSymbol,
    .variable = describeVariable,
    .shapes = writeShapes,
    .create = tfc_instance_create,
    .fork = tfc_instance_fork,
    .destroy = tfc_instance_destroy,
    .message = tfc_instance_message,
    .call = tfc_instance_call_by_name,
    .infer = tfc_instance_infer,
    .get = tfc_instance_get,
    .set = tfc_instance_set,
    .save = tfc_instance_save,
    .load = tfc_instance_load,
    .queue = describeQueue,
    .component = describeComponent,
    .queue_size = tfc_instance_queue_size,
    .queue_close = tfc_instance_queue_close,
    .cancel = tfc_instance_cancel,
    .found = tfc_instance_found,
    .fact = describeFact,
    .site = siteOf,
    .device = describeDevice,
    .serve = tfc_instance_serve,
    .open_dataset = tfc_instance_open_dataset,
};
