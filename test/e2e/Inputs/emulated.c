// Serves one instance of a compiled library to emulated.py, which cannot load it: the library is
// for another processor, and this program runs in an emulator. Requests come from standard input,
// replies go to standard output, both as words of 64 bits and bytes: `call ENTRY feeds fetches`,
// `get VARIABLE`, `set VARIABLE tensor`, `save PATH` and `load PATH`.
#include "tfc.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMaxTensors = 4096, kMaxRank = 32 };
enum { kCall = 1, kGet, kSet, kSave, kLoad };

static const tfc_api *api;
static const tfc_model *model;
static tfc_instance *instance;
static const int64_t kElementBytes[] = {4, 8, 2, 2, 1, 2, 4, 8, 1, 1, 2, 4, 8}; // by tfc_dtype

//===- Messages -----------------------------------------------------------===//

static void readBytes(void *data, size_t bytes) {
  if (bytes && fread(data, bytes, 1, stdin) != 1)
    exit(0); // the client has ended
}

static int64_t readWord(void) {
  int64_t word;
  readBytes(&word, sizeof word);
  return word;
}

static char *readText(void) {
  int64_t length = readWord();
  char *text = calloc(length + 1, 1);
  readBytes(text, length);
  return text;
}

static void writeBytes(const void *data, size_t bytes) { fwrite(data, 1, bytes, stdout); }

static void writeWord(int64_t word) { writeBytes(&word, sizeof word); }

static void writeText(const char *text) {
  writeWord(strlen(text));
  writeBytes(text, strlen(text));
}

/// Replies with a status; returns true if it is TFC_OK, after which a result may follow.
static int writeStatus(tfc_status status) {
  writeWord(status);
  if (status) {
    writeText(api->status_name(status));
    writeText(api->message(instance));
  }
  return status == TFC_OK;
}

//===- Tensors ------------------------------------------------------------===//

static int64_t bytesOf(const tfc_tensor *tensor) {
  int64_t count = kElementBytes[tensor->dtype];
  for (int axis = 0; axis < tensor->rank; ++axis)
    count *= tensor->dims[axis];
  return count;
}

/// Memory of exactly this size, so that the emulator finds accesses outside of it more often.
static void allocate(tfc_tensor *tensor) { tensor->data = malloc(bytesOf(tensor) + 1); }

static void readTensor(tfc_tensor *tensor) {
  tensor->dtype = readWord();
  tensor->rank = readWord();
  int64_t *dims = calloc(kMaxRank, sizeof *dims);
  for (int axis = 0; axis < tensor->rank; ++axis)
    dims[axis] = readWord();
  tensor->dims = dims;
  if (!readWord()) { // only the shape is passed
    tensor->data = NULL;
    return;
  }
  allocate(tensor);
  readBytes(tensor->data, bytesOf(tensor));
}

static void writeTensor(const tfc_tensor *tensor) {
  writeWord(tensor->dtype);
  writeWord(tensor->rank);
  for (int axis = 0; axis < tensor->rank; ++axis)
    writeWord(tensor->dims[axis]);
  writeBytes(tensor->data, bytesOf(tensor));
}

static void freeTensors(tfc_tensor *tensors, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    free((void *)tensors[i].dims);
    free(tensors[i].data);
  }
}

//===- Requests -----------------------------------------------------------===//

static void call(const char *entry) {
  static tfc_tensor feeds[kMaxTensors], fetches[kMaxTensors], found[kMaxTensors];
  int64_t taken = readWord(), given = readWord();
  for (int64_t i = 0; i < taken; ++i)
    readTensor(&feeds[i]);
  tfc_status status = api->infer(instance, entry, feeds, taken, fetches, given);
  int isInferred = status == TFC_OK;
  for (int64_t i = 0; i < given && isInferred; ++i) {
    int64_t *dims = calloc(kMaxRank, sizeof *dims);
    memcpy(dims, fetches[i].dims, fetches[i].rank * sizeof *dims);
    fetches[i].dims = dims;
    allocate(&fetches[i]);
  }
  if (isInferred)
    status = api->call(instance, entry, feeds, taken, fetches, given);
  memcpy(found, fetches, sizeof *fetches * given);
  if (status == TFC_OK)
    status = api->found(instance, found, given);
  if (writeStatus(status))
    for (int64_t i = 0; i < given; ++i) {
      found[i].data = fetches[i].data;
      writeTensor(&found[i]);
    }
  if (isInferred)
    freeTensors(fetches, given);
  freeTensors(feeds, taken);
}

static void get(const char *variable) {
  tfc_tensor tensor;
  readTensor(&tensor);
  allocate(&tensor);
  if (writeStatus(api->get(instance, variable, &tensor)))
    writeTensor(&tensor);
  freeTensors(&tensor, 1);
}

static void set(const char *variable) {
  tfc_tensor tensor;
  readTensor(&tensor);
  writeStatus(api->set(instance, variable, &tensor));
  freeTensors(&tensor, 1);
}

//===- Description --------------------------------------------------------===//

static void describeValue(const tfc_value *value) {
  writeText(value->name);
  writeText(value->type ? value->type : "");
  writeWord(value->dtype);
  int32_t rank = value->dims ? value->rank : 0; // only those of variables are known
  writeWord(rank);
  for (int axis = 0; axis < rank; ++axis)
    writeWord(value->dims[axis]);
}

static void describe(void) {
  int32_t entries = 0, variables = 0;
  tfc_entry entry;
  tfc_value value;
  while (api->entry(model, entries, &entry) == TFC_OK)
    ++entries;
  writeWord(entries);
  for (int32_t i = 0; i < entries; ++i) {
    api->entry(model, i, &entry);
    writeText(entry.name);
    writeWord(entry.feed_count);
    writeWord(entry.fetch_count);
    for (int32_t j = 0; j < entry.feed_count; ++j) {
      api->feed(model, i, j, &value);
      describeValue(&value);
    }
    for (int32_t j = 0; j < entry.fetch_count; ++j) {
      api->fetch(model, i, j, &value);
      describeValue(&value);
    }
  }
  while (api->variable(model, variables, &value) == TFC_OK)
    ++variables;
  writeWord(variables);
  for (int32_t i = 0; i < variables; ++i) {
    api->variable(model, i, &value);
    describeValue(&value);
  }
}

int main(int argc, char **argv) {
  void *handle = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
  const tfc_library *(*library)(void) = NULL;
  if (handle)
    *(void **)&library = dlsym(handle, "tfc_library_get");
  if (!library) {
    fprintf(stderr, "emulated: %s\n", argc == 3 ? dlerror() : "usage: emulated LIBRARY THREADS");
    return 2;
  }
  api = library()->api;
  model = library()->model;
  tfc_options options = {.size = sizeof options, .threads = atoi(argv[2])};
  if (writeStatus(api->create(model, &options, &instance)))
    describe();
  while (instance) {
    fflush(stdout);
    int64_t request = readWord();
    char *name = readText();
    if (request == kCall)
      call(name);
    else if (request == kGet)
      get(name);
    else if (request == kSet)
      set(name);
    else if (request == kSave)
      writeStatus(api->save(instance, name));
    else
      writeStatus(api->load(instance, name));
    free(name);
  }
  return 0;
}
