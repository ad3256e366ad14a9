//===- Checkpoint.cpp - Saving and loading all variables ------------------===//
//
// Saves and loads all variables at once; a load that fails changes none of them. The header of a
// file is read and written in Safetensors.cpp, and files are replaced in OutputFile.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Crc32c.h"
#include "runtime/OutputFile.h"
#include "runtime/Safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace tfc::runtime;

/// Bytes of one read: Linux transfers at most 2 GiB, and the checksum should find these in the
/// cache.
static constexpr size_t kMaxTransfer = size_t(1) << 20;

static tfc_status failWithErrno(tfc_instance &instance, const char *what, const char *path) {
  return instance.fail(errno == ENOENT ? TFC_NOT_FOUND : TFC_IO_ERROR, "cannot %s '%s': %m", what,
                       path);
}

static tfc_status checkPath(tfc_instance *instance, const char *path) {
  if (!instance)
    return TFC_INVALID_ARGUMENT;
  instance->message.clear();
  if (!path || !*path)
    return instance->fail(TFC_INVALID_ARGUMENT, "the path of the checkpoint is %s",
                          path ? "empty" : "null");
  return TFC_OK;
}

//===- Saving -------------------------------------------------------------===//

/// Larger elements first, so that every tensor is aligned to its element type without gaps.
static void orderBySize(const tfc_model &model, int32_t *order) {
  for (int32_t bytes = 8; bytes > 0; bytes /= 2)
    for (int32_t i = 0; i < model.variable_count; ++i)
      if (dtypeInfo(model.variables[i].dtype)->bytes == bytes)
        *order++ = i;
}

static bool writeVariables(const State &state, const void *const *values, OutputFile &file,
                           const Array<char> &header, const int32_t *order) {
  if (!file.write(header.begin(), header.size()))
    return false;
  for (int32_t i = 0; i < state.model->variable_count; ++i)
    if (!file.write(values[order[i]], state.model->variables[order[i]].bytes))
      return false;
  return true;
}

static tfc_status writeCheckpoint(tfc_instance &instance, const char *path,
                                  const void *const *values, const Array<char> &header,
                                  const int32_t *order) {
  OutputFile file;
  if (!file.begin(path))
    return instance.fail(errno == ENOENT ? TFC_NOT_FOUND : TFC_IO_ERROR, "cannot write '%s': %s",
                         path, file.reason());
  if (!writeVariables(*instance.state, values, file, header, order) || !file.replace())
    return failWithErrno(instance, "write", path);
  return file.syncDirectory() ? TFC_OK : failWithErrno(instance, "sync the directory of", path);
}

extern "C" tfc_status tfc_instance_save(tfc_instance *instance, const char *path) {
  if (tfc_status status = checkPath(instance, path))
    return status;
  State &state = *instance->state;
  const tfc_model &model = *state.model;
  StateLock lock(state, /*exclusive=*/false);
  Block room;
  Array<char> header(state.allocator);
  // Variables on devices are copied to the host.
  Block pointers, elsewhere;
  bool reserved = room.reserve(state.allocator, model.variable_count * 2 * sizeof(uint32_t)) &&
                  pointers.reserve(state.allocator, model.variable_count * sizeof(void *));
  auto **values = reinterpret_cast<void **>(pointers.data());
  for (int32_t i = 0; reserved && i < model.variable_count; ++i)
    values[i] = state.variables[i];
  reserved = reserved && allocateVariables(state, Place::Elsewhere, elsewhere, values);
  Message message;
  for (int32_t i = 0; reserved && i < model.variable_count; ++i) {
    tfc_status status = gpuOf(state, model.variables[i])
                            ? readVariable(state, i, values[i], message)
                            : checkVariable(state, i, message);
    if (status)
      return instance->fail(status, "cannot save '%s': %s", path, message.c_str());
  }
  auto *order = reinterpret_cast<int32_t *>(room.data());
  if (reserved) {
    orderBySize(model, order);
    auto *checksums = reinterpret_cast<uint32_t *>(order + model.variable_count);
    for (int32_t i = 0; i < model.variable_count; ++i)
      checksums[i] = extendCrc32c(0, values[i], model.variables[i].bytes);
    reserved = writeHeader(model, order, checksums, header);
  }
  if (!reserved)
    return instance->fail(TFC_OUT_OF_MEMORY, "not enough memory to save '%s'", path);
  return writeCheckpoint(*instance, path, values, header, order);
}

//===- Loading ------------------------------------------------------------===//

namespace {
/// One `load`: everything is read and checked in separate memory; the variables change at the end.
class Loader {
public:
  Loader(tfc_instance &instance, const char *path, int file)
      : instance(instance), state(*instance.state), model(*state.model), path(path), file(file),
        tensors(state.allocator) {}

  tfc_status load();

private:
  __attribute__((format(printf, 3, 4))) tfc_status fail(tfc_status status, const char *format, ...);

  bool readAt(uint64_t offset, void *data, uint64_t bytes, uint32_t *checksum);
  tfc_status failRead();
  tfc_status readHeader();
  tfc_status matchVariables();
  tfc_status failMissing(const tfc_variable_info &variable);
  tfc_status failShape(const tfc_variable_info &variable, const StoredTensor &tensor);
  tfc_status readTensor(const tfc_variable_info &variable, const StoredTensor &tensor, void *data);
  tfc_status moveToDevices(void **variables);
  tfc_status readTensors();

  tfc_instance &instance;
  State &state;
  const tfc_model &model;
  const char *path;
  int file;
  uint64_t dataStart = 0;
  Block text;
  StoredTensors tensors;
  Block matches; // a StoredTensor * for each variable
};
} // namespace

/// Fails with a message that starts with the path.
tfc_status Loader::fail(tfc_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  instance.message.clear();
  instance.message.add("%s: ", path);
  instance.message.addList(format, arguments);
  instance.message.add("; nothing was loaded");
  va_end(arguments);
  return status;
}

/// Reads exactly `bytes`; returns false after an error (errno) or at the end of the file (errno 0).
bool Loader::readAt(uint64_t offset, void *data, uint64_t bytes, uint32_t *checksum) {
  char *next = static_cast<char *>(data);
  while (bytes > 0) {
    errno = 0;
    ssize_t got = pread(file, next, bytes < kMaxTransfer ? bytes : kMaxTransfer, offset);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    if (checksum)
      *checksum = extendCrc32c(*checksum, next, got);
    next += got;
    offset += got;
    bytes -= got;
  }
  return true;
}

tfc_status Loader::failRead() {
  if (errno == 0)
    return fail(TFC_DATA_LOSS, "truncated while it was read");
  return failWithErrno(instance, "read", path);
}

tfc_status Loader::readHeader() {
  struct stat info;
  if (fstat(file, &info) != 0)
    return failWithErrno(instance, "read", path);
  if (!S_ISREG(info.st_mode))
    return fail(TFC_IO_ERROR, "not a regular file");
  constexpr uint64_t kLengthBytes = 8;
  uint64_t fileBytes = info.st_size;
  uint64_t length = 0;
  if (fileBytes < kLengthBytes)
    return fail(TFC_DATA_LOSS, "truncated: %llu bytes are not a safetensors file",
                static_cast<unsigned long long>(fileBytes));
  if (!readAt(0, &length, kLengthBytes, nullptr))
    return failRead();
  if (length > kMaxHeaderBytes)
    return fail(TFC_DATA_LOSS, "damaged, or not a safetensors file: a header of %llu bytes",
                static_cast<unsigned long long>(length));
  if (length > fileBytes - kLengthBytes)
    return fail(TFC_DATA_LOSS, "truncated: a header of %llu bytes, but the file has %llu",
                static_cast<unsigned long long>(length),
                static_cast<unsigned long long>(fileBytes));
  if (!text.reserve(state.allocator, length + 1))
    return fail(TFC_OUT_OF_MEMORY, "not enough memory for the header");
  if (!readAt(kLengthBytes, text.data(), length, nullptr))
    return failRead();
  text.data()[length] = 0;
  dataStart = kLengthBytes + length;
  tfc_status status = parseHeader(instance, path, state.allocator, text.data(), length,
                                  fileBytes - dataStart, tensors);
  if (status)
    instance.message.add("; nothing was loaded");
  return status;
}

static bool fits(const tfc_variable_info &variable, const StoredTensor &tensor) {
  return strcmp(dtypeInfo(variable.dtype)->safetensors, tensor.dtype) == 0 &&
         variable.rank == tensor.rank &&
         (variable.rank == 0 ||
          memcmp(variable.dims, tensor.dims, variable.rank * sizeof(int64_t)) == 0);
}

/// "f32[6]", or the file's own name for a dtype that variables cannot have.
static void addStoredType(Message &message, const StoredTensor &tensor) {
  const char *dtype = tensor.dtype;
  for (int32_t i = 0; const Dtype *info = dtypeInfo(i); ++i)
    if (strcmp(info->safetensors, tensor.dtype) == 0)
      dtype = info->name;
  message.add("%s", dtype);
  message.addShape(tensor.dims, tensor.rank);
}

/// Names a tensor without a variable that the file has instead, preferably one that would fit.
tfc_status Loader::failMissing(const tfc_variable_info &variable) {
  Message &message = instance.message;
  message.clear();
  message.add("%s: no tensor '%s' for the variable %s", path, variable.name,
              dtypeName(variable.dtype));
  message.addShape(variable.dims, variable.rank);
  message.add("; nothing was loaded");
  const StoredTensor *other = nullptr;
  for (const StoredTensor &tensor : tensors.list)
    if (!tensor.taken && (!other || (fits(variable, tensor) && !fits(variable, *other))))
      other = &tensor;
  if (!other)
    return TFC_FAILED_PRECONDITION;
  message.add("; it holds '%s' ", other->name);
  addStoredType(message, *other);
  message.add(", which matches no variable");
  if (fits(variable, *other))
    message.add("; if it is the same variable, add @was to the graph");
  return TFC_FAILED_PRECONDITION;
}

tfc_status Loader::failShape(const tfc_variable_info &variable, const StoredTensor &tensor) {
  Message &message = instance.message;
  message.clear();
  message.add("%s: tensor '%s' is ", path, tensor.name);
  addStoredType(message, tensor);
  message.add(", but the variable '%s' is %s", variable.name, dtypeName(variable.dtype));
  message.addShape(variable.dims, variable.rank);
  message.add("; nothing was loaded");
  return TFC_FAILED_PRECONDITION;
}

/// Finds the tensor of each variable. Current names take precedence over former ones, so that a new
/// variable gets its own tensor even if its name is a former name of another.
tfc_status Loader::matchVariables() {
  if (!matches.reserve(state.allocator, model.variable_count * sizeof(StoredTensor *)))
    return fail(TFC_OUT_OF_MEMORY, "not enough memory for the header");
  auto **match = reinterpret_cast<StoredTensor **>(matches.data());
  for (bool former : {false, true})
    for (int32_t i = 0; i < model.variable_count; ++i) {
      const char *name = former ? model.variables[i].formerly : model.variables[i].name;
      if (former && (match[i] || !name))
        continue;
      StoredTensor *tensor = tensors.find(name);
      match[i] = tensor && !tensor->taken ? tensor : nullptr;
      if (match[i])
        tensor->taken = true;
    }
  for (int32_t i = 0; i < model.variable_count; ++i) {
    if (!match[i])
      return failMissing(model.variables[i]);
    if (!fits(model.variables[i], *match[i]))
      return failShape(model.variables[i], *match[i]);
  }
  for (const StoredTensor &tensor : tensors.list)
    if (!tensor.taken)
      return fail(TFC_FAILED_PRECONDITION, "no variable matches tensor '%s'", tensor.name);
  return TFC_OK;
}

tfc_status Loader::readTensor(const tfc_variable_info &variable, const StoredTensor &tensor,
                              void *data) {
  uint32_t checksum = 0;
  if (!readAt(dataStart + tensor.begin, data, variable.bytes, &checksum))
    return failRead();
  if (tensors.hasChecksums) {
    char digits[16];
    snprintf(digits, sizeof(digits), "%08x", checksum);
    if (!tensor.checksum || strcmp(digits, tensor.checksum) != 0)
      return fail(TFC_DATA_LOSS, "tensor '%s' is damaged: its checksum is %s, but expected %s",
                  tensor.name, digits, tensor.checksum ? tensor.checksum : "one in the header");
  }
  if (variable.dtype == TFC_BOOL && !isValidBool(data, variable.bytes))
    return fail(TFC_DATA_LOSS, "tensor '%s' is BOOL, but a byte is neither 0 nor 1", tensor.name);
  return TFC_OK;
}

/// Replaces the addresses of variables on devices by those of copies there. A failure changes
/// nothing.
tfc_status Loader::moveToDevices(void **variables) {
  Message message;
  tfc_status status = TFC_OK;
  int32_t done = 0;
  for (; done < model.variable_count && status == TFC_OK; ++done) {
    Gpu *gpu = gpuOf(state, model.variables[done]);
    if (!gpu)
      continue;
    void *copy = nullptr;
    status = gpu->check(message);
    if (status == TFC_OK) {
      copy = gpu->allocate(static_cast<int64_t>(model.variables[done].bytes));
      status = copy ? gpu->upload(copy, variables[done], model.variables[done].bytes, message)
                    : TFC_OUT_OF_MEMORY;
    }
    if (status != TFC_OK && copy)
      gpu->release(copy);
    variables[done] = status == TFC_OK ? copy : nullptr;
  }
  if (status == TFC_OK)
    return TFC_OK;
  for (int32_t i = 0; i < done; ++i)
    if (Gpu *gpu = gpuOf(state, model.variables[i]))
      gpu->release(variables[i]);
  return fail(status, "%s",
              status == TFC_OUT_OF_MEMORY ? "not enough memory on the device" : message.c_str());
}

tfc_status Loader::readTensors() {
  Block storage, pointers, elsewhere;
  bool isReserved = pointers.reserve(state.allocator, model.variable_count * sizeof(void *));
  auto **variables = reinterpret_cast<void **>(pointers.data());
  if (!isReserved || !allocateVariables(state, Place::Host, storage, variables) ||
      !allocateVariables(state, Place::Elsewhere, elsewhere, variables))
    return fail(TFC_OUT_OF_MEMORY, "not enough memory for the variables");
  auto **match = reinterpret_cast<StoredTensor **>(matches.data());
  for (int32_t i = 0; i < model.variable_count; ++i)
    if (tfc_status status = readTensor(model.variables[i], *match[i], variables[i]))
      return status;
  StateLock lock(state, /*exclusive=*/true);
  if (tfc_status status = moveToDevices(variables))
    return status;
  for (int32_t i = 0; i < model.variable_count; ++i)
    if (Gpu *gpu = gpuOf(state, model.variables[i]))
      gpu->release(state.variables[i]);
  state.storage.swap(storage);
  state.pointers.swap(pointers);
  state.variables = variables;
  // Relaxed: the lock orders it.
  for (std::atomic<bool> &lacks : state.lacksValues)
    lacks.store(false, std::memory_order_relaxed);
  return TFC_OK;
}

tfc_status Loader::load() {
  if (tfc_status status = readHeader())
    return status;
  if (tfc_status status = matchVariables())
    return status;
  return readTensors();
}

extern "C" tfc_status tfc_instance_load(tfc_instance *instance, const char *path) {
  if (tfc_status status = checkPath(instance, path))
    return status;
  // O_NONBLOCK: a FIFO is refused without waiting for its other end to be opened.
  Descriptor file(open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.isOpen())
    return failWithErrno(*instance, "open", path);
  return Loader(*instance, path, file.get()).load();
}
