//===- Load.cpp - Loading all variables -----------------------------------===//
//
// Loads all variables at once, from a file or from the shards of a checkpoint; a load that fails
// changes none of them. Safetensors.cpp parses the headers.
//
//===----------------------------------------------------------------------===//

#include "runtime/Checkpoint.h"
#include "runtime/Crc32c.h"
#include "runtime/InputFile.h"
#include "runtime/Safetensors.h"
#include "runtime/Shards.h"
#include "runtime/Slices.h"

#include <stdio.h>
#include <sys/stat.h>

using namespace tfc::runtime;

/// Bytes of one read: the checksum should find them in the cache.
static constexpr uint64_t kPiece = uint64_t(1) << 20;

/// A file with tensors.
struct tfc::runtime::StoredFile {
  StoredFile(const Allocator &allocator, const char *path) : tensors(allocator) {
    snprintf(this->path, sizeof(this->path), "%s", path);
  }

  char path[PATH_MAX];
  Descriptor file;
  uint64_t dataStart = 0;
  Block text; // of the header
  StoredTensors tensors;
  StoredFile *next = nullptr;
};

namespace {
/// One `load`: everything is read and checked in separate memory; the variables change at the end.
/// The processes of a cluster read the headers of all files, and the tensors of their variables.
class Loader {
public:
  Loader(tfc_instance &instance, const char *path)
      : instance(instance), state(*instance.state), model(*state.model), path(path) {}
  ~Loader();

  tfc_status load();

private:
  __attribute__((format(printf, 4, 5))) tfc_status fail(const char *of, tfc_status status,
                                                        const char *format, ...);

  tfc_status addFile(const char *name);
  tfc_status openFile(StoredFile &file);
  tfc_status openFiles();
  tfc_status openShards(StoredFile &index, uint64_t bytes);
  bool readAt(StoredFile &from, uint64_t offset, void *data, uint64_t bytes, uint32_t *checksum);
  tfc_status failRead(StoredFile &from);
  tfc_status inspect(StoredFile &from, uint64_t &bytes, bool &isIndex);
  tfc_status readHeader(StoredFile &from, uint64_t fileBytes);
  StoredTensor *find(const char *name);
  void matchByName(bool former);
  void nameWholes();
  bool isOfSomeVariable(const StoredTensor &tensor) const;
  tfc_status checkSlices(const tfc_variable_info &variable);
  tfc_status matchVariables();
  tfc_status failMissing(const tfc_variable_info &variable);
  tfc_status failShape(const tfc_variable_info &variable, const StoredTensor &tensor);
  tfc_status readTensor(const StoredTensor &tensor, void *data);
  tfc_status assemble(const tfc_variable_info &variable, void *data);
  tfc_status readTensors();
  tfc_status read();
  tfc_status replace(tfc_status status);
  tfc_status moveToDevices();
  void releaseCopies(int32_t count);
  void replaceVariables();

  tfc_instance &instance;
  State &state;
  const tfc_model &model;
  const char *path;
  StoredFile *files = nullptr, **lastFile = &files;
  Block matches; // a StoredTensor * for each variable, null if it is put together from slices
  Block filled, slice;
  Block storage, pointers, elsewhere;
  void **variables = nullptr; // the new ones
};
} // namespace

Loader::~Loader() {
  while (StoredFile *file = files) {
    files = file->next;
    file->~StoredFile();
    state.allocator.give(file, sizeof(StoredFile));
  }
}

/// Fails with a message that starts with the path of a file.
tfc_status Loader::fail(const char *of, tfc_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  instance.message.clear();
  instance.message.add("%s: ", of);
  instance.message.addList(format, arguments);
  instance.message.add("; nothing was loaded");
  va_end(arguments);
  return status;
}

/// As `readAt` of a file; continues the checksum of the bytes if there is one.
bool Loader::readAt(StoredFile &from, uint64_t offset, void *data, uint64_t bytes,
                    uint32_t *checksum) {
  char *next = static_cast<char *>(data);
  while (bytes > 0) {
    uint64_t piece = bytes < kPiece ? bytes : kPiece;
    if (!tfc::runtime::readAt(from.file, offset, next, piece))
      return false;
    if (checksum)
      *checksum = extendCrc32c(*checksum, next, piece);
    next += piece;
    offset += piece;
    bytes -= piece;
  }
  return true;
}

tfc_status Loader::failRead(StoredFile &from) {
  if (errno == 0)
    return fail(from.path, TFC_DATA_LOSS, "truncated while it was read");
  return failWithErrno(instance, "read", from.path);
}

/// Appends a file to the list.
tfc_status Loader::addFile(const char *name) {
  if (strlen(name) >= PATH_MAX) {
    errno = ENAMETOOLONG;
    return failWithErrno(instance, "open", name);
  }
  void *memory = state.allocator.take(sizeof(StoredFile));
  if (!memory)
    return fail(path, TFC_OUT_OF_MEMORY, "not enough memory for the header");
  StoredFile *file = new (memory) StoredFile(state.allocator, name);
  *lastFile = file;
  lastFile = &file->next;
  return TFC_OK;
}

tfc_status Loader::openFile(StoredFile &file) {
  bool isOpen = file.file.isOpen() || openInput(file.path, file.file);
  return isOpen ? TFC_OK : failWithErrno(instance, "open", file.path);
}

/// Finds the length of a file, and whether it is an index: the length of a header, with which a
/// safetensors file begins, ends in a zero.
tfc_status Loader::inspect(StoredFile &from, uint64_t &bytes, bool &isIndex) {
  if (tfc_status status = openFile(from))
    return status;
  struct stat info;
  if (fstat(from.file.get(), &info) != 0)
    return failWithErrno(instance, "read", from.path);
  if (!S_ISREG(info.st_mode))
    return fail(from.path, TFC_IO_ERROR, "not a regular file");
  bytes = info.st_size;
  char start[8] = {};
  if (!readAt(from, 0, start, bytes < sizeof(start) ? bytes : sizeof(start), nullptr))
    return failRead(from);
  isIndex = start[0] == '{' && start[7] != 0;
  return TFC_OK;
}

tfc_status Loader::openShards(StoredFile &index, uint64_t bytes) {
  ShardNames names(state.allocator);
  if (bytes > kMaxHeaderBytes)
    return fail(path, TFC_DATA_LOSS, "an index of %llu bytes",
                static_cast<unsigned long long>(bytes));
  if (!names.text.reserve(state.allocator, bytes + 1))
    return fail(path, TFC_OUT_OF_MEMORY, "not enough memory for the index");
  if (!readAt(index, 0, names.text.data(), bytes, nullptr))
    return failRead(index);
  names.text.data()[bytes] = 0;
  if (tfc_status status = parseIndex(instance, path, bytes, names)) {
    instance.message.add("; nothing was loaded");
    return status;
  }
  for (const char *name : names.files) {
    char shard[PATH_MAX];
    int length =
        snprintf(shard, sizeof(shard), "%.*s%s", static_cast<int>(baseOf(path) - path), path, name);
    if (length >= static_cast<int>(sizeof(shard)))
      return fail(path, TFC_IO_ERROR, "the name of the file '%s' is too long", name);
    if (tfc_status status = addFile(shard))
      return status;
  }
  return TFC_OK;
}

/// Opens the file, or the shards that it lists, and reads their headers.
tfc_status Loader::openFiles() {
  if (tfc_status status = addFile(path))
    return status;
  uint64_t bytes;
  bool isIndex;
  if (tfc_status status = inspect(*files, bytes, isIndex))
    return status;
  if (!isIndex)
    return readHeader(*files, bytes);
  if (tfc_status status = openShards(*files, bytes))
    return status;
  for (StoredFile *file = files->next; file; file = file->next) {
    if (tfc_status status = inspect(*file, bytes, isIndex))
      return status;
    if (tfc_status status = readHeader(*file, bytes))
      return status;
    file->file.close(); // there may be more than a process can have open
  }
  return TFC_OK;
}

tfc_status Loader::readHeader(StoredFile &from, uint64_t fileBytes) {
  constexpr uint64_t kLengthBytes = 8;
  uint64_t length = 0;
  if (fileBytes < kLengthBytes)
    return fail(from.path, TFC_DATA_LOSS, "truncated: %llu bytes are not a safetensors file",
                static_cast<unsigned long long>(fileBytes));
  if (!readAt(from, 0, &length, kLengthBytes, nullptr))
    return failRead(from);
  if (length > kMaxHeaderBytes)
    return fail(from.path, TFC_DATA_LOSS,
                "damaged, or not a safetensors file: a header of %llu bytes",
                static_cast<unsigned long long>(length));
  if (length > fileBytes - kLengthBytes)
    return fail(
        from.path, TFC_DATA_LOSS, "truncated: a header of %llu bytes, but the file has %llu",
        static_cast<unsigned long long>(length), static_cast<unsigned long long>(fileBytes));
  if (!from.text.reserve(state.allocator, length + 1))
    return fail(from.path, TFC_OUT_OF_MEMORY, "not enough memory for the header");
  if (!readAt(from, kLengthBytes, from.text.data(), length, nullptr))
    return failRead(from);
  from.text.data()[length] = 0;
  from.dataStart = kLengthBytes + length;
  tfc_status status = parseHeader(instance.message, from.path, state.allocator, from.text.data(),
                                  length, fileBytes - from.dataStart, from.tensors);
  if (status)
    instance.message.add("; nothing was loaded");
  for (StoredTensor &tensor : from.tensors.list)
    tensor.file = &from;
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
  for (StoredFile *file = files; file; file = file->next)
    for (const StoredTensor &tensor : file->tensors.list)
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
  message.add("%s: tensor '%s' is ", tensor.file->path, tensor.name);
  addStoredType(message, tensor);
  message.add(", but the variable '%s' is %s", variable.name, dtypeName(variable.dtype));
  message.addShape(variable.dims, variable.rank);
  message.add("; nothing was loaded");
  return TFC_FAILED_PRECONDITION;
}

StoredTensor *Loader::find(const char *name) {
  for (StoredFile *file = files; file; file = file->next)
    if (StoredTensor *tensor = file->tensors.find(name))
      return tensor;
  return nullptr;
}

void Loader::matchByName(bool former) {
  auto **match = reinterpret_cast<StoredTensor **>(matches.data());
  for (int32_t i = 0; i < model.variable_count; ++i) {
    const tfc_variable_info &variable = model.variables[i];
    const char *name = former ? variable.formerly : variable.name;
    if (!name || match[i])
      continue;
    StoredTensor *tensor = find(name);
    // A shard of the same name may have other elements.
    bool isOther = tensor && variable.slice && tensor->slice.whole &&
                   !(areEqual(*variable.slice, tensor->slice) && fits(variable, *tensor));
    if (!tensor || tensor->taken || isOther)
      continue;
    match[i] = tensor;
    tensor->taken = true;
  }
}

/// Tensors that have the name of a whole are slices with all of its elements.
void Loader::nameWholes() {
  for (int32_t i = 0; i < model.variable_count; ++i)
    if (const tfc_slice_info *own = model.variables[i].slice)
      if (StoredTensor *tensor = find(own->whole); tensor && !tensor->taken) {
        tfc_slice_info all = {own->whole, own->axis, 0, 1, own->size};
        if (!tensor->slice.whole && isSliceOf(all, tensor->dims, tensor->rank))
          tensor->slice = all;
      }
}

/// Returns true if the tensor is a slice of which a variable may have elements: there may have been
/// more copies than there are now.
bool Loader::isOfSomeVariable(const StoredTensor &tensor) const {
  for (int32_t i = 0; tensor.slice.whole && i < model.variable_count; ++i)
    if (const tfc_slice_info *own = model.variables[i].slice)
      if (strcmp(own->whole, tensor.slice.whole) == 0)
        return true;
  return false;
}

/// Checks that there are slices with all elements of a variable.
tfc_status Loader::checkSlices(const tfc_variable_info &variable) {
  Assembly assembly(variable, filled);
  if (!assembly.begin(state.allocator))
    return fail(path, TFC_OUT_OF_MEMORY, "not enough memory for the header");
  bool isNamed = false;
  for (StoredFile *file = files; file; file = file->next)
    for (const StoredTensor &tensor : file->tensors.list) {
      isNamed |= tensor.slice.whole && strcmp(tensor.slice.whole, variable.slice->whole) == 0;
      if (assembly.concerns(tensor))
        assembly.take(tensor, nullptr, nullptr);
    }
  if (assembly.isComplete())
    return TFC_OK;
  if (!isNamed)
    return failMissing(variable);
  instance.message.clear();
  instance.message.add("%s: the variable '%s' is %s", path, variable.name,
                       dtypeName(variable.dtype));
  instance.message.addShape(variable.dims, variable.rank);
  instance.message.add(
      ", but no slice of '%s' with its type has element %lld of %lld along axis %lld; nothing was "
      "loaded",
      variable.slice->whole, static_cast<long long>(assembly.firstMissing()),
      static_cast<long long>(variable.slice->size), static_cast<long long>(variable.slice->axis));
  return TFC_FAILED_PRECONDITION;
}

/// Finds the tensor of each variable, or the slices of which it consists. Current names take
/// precedence over former ones, so that a new variable gets its own tensor even if its name is a
/// former name of another.
tfc_status Loader::matchVariables() {
  size_t bytes = model.variable_count * sizeof(StoredTensor *);
  if (!matches.reserve(state.allocator, bytes))
    return fail(path, TFC_OUT_OF_MEMORY, "not enough memory for the header");
  auto **match = reinterpret_cast<StoredTensor **>(matches.data());
  if (bytes)
    memset(static_cast<void *>(match), 0, bytes);
  matchByName(/*former=*/false);
  matchByName(/*former=*/true);
  nameWholes();
  for (int32_t i = 0; i < model.variable_count; ++i) {
    const tfc_variable_info &variable = model.variables[i];
    if (match[i] && !fits(variable, *match[i]))
      return failShape(variable, *match[i]);
    if (match[i])
      continue;
    if (tfc_status status = variable.slice ? checkSlices(variable) : failMissing(variable))
      return status;
  }
  for (StoredFile *file = files; file; file = file->next)
    for (const StoredTensor &tensor : file->tensors.list)
      if (!tensor.taken && !isOfSomeVariable(tensor))
        return fail(file->path, TFC_FAILED_PRECONDITION, "no variable matches tensor '%s'",
                    tensor.name);
  return TFC_OK;
}

tfc_status Loader::readTensor(const StoredTensor &tensor, void *data) {
  StoredFile &from = *tensor.file;
  if (tfc_status status = openFile(from))
    return status;
  uint32_t checksum = 0;
  if (!readAt(from, from.dataStart + tensor.begin, data, tensor.end - tensor.begin, &checksum))
    return failRead(from);
  if (from.tensors.hasChecksums) {
    char digits[16];
    snprintf(digits, sizeof(digits), "%08x", checksum);
    if (!tensor.checksum || strcmp(digits, tensor.checksum) != 0)
      return fail(from.path, TFC_DATA_LOSS,
                  "tensor '%s' is damaged: its checksum is %s, but expected %s", tensor.name,
                  digits, tensor.checksum ? tensor.checksum : "one in the header");
  }
  if (files->next)
    from.file.close();
  bool isBool = strcmp(tensor.dtype, dtypeInfo(TFC_BOOL)->safetensors) == 0;
  if (isBool && !isValidBool(data, tensor.end - tensor.begin))
    return fail(from.path, TFC_DATA_LOSS, "tensor '%s' is BOOL, but a byte is neither 0 nor 1",
                tensor.name);
  return TFC_OK;
}

/// Puts a variable together from slices, one of which is in memory at a time.
tfc_status Loader::assemble(const tfc_variable_info &variable, void *data) {
  Assembly assembly(variable, filled);
  if (!assembly.begin(state.allocator))
    return fail(path, TFC_OUT_OF_MEMORY, "not enough memory for the variables");
  for (StoredFile *file = files; file; file = file->next)
    for (const StoredTensor &tensor : file->tensors.list) {
      if (!assembly.concerns(tensor) || assembly.countMissing(tensor) == 0)
        continue;
      size_t bytes = tensor.end - tensor.begin;
      if (!slice.reserve(state.allocator, bytes ? bytes : 1))
        return fail(path, TFC_OUT_OF_MEMORY, "not enough memory for the variables");
      if (tfc_status status = readTensor(tensor, slice.data()))
        return status;
      assembly.take(tensor, slice.data(), data);
    }
  return TFC_OK;
}

/// Reads the tensors of this process into memory of the host.
tfc_status Loader::readTensors() {
  size_t bytes = model.variable_count * sizeof(void *);
  bool isReserved = pointers.reserve(state.allocator, bytes);
  variables = reinterpret_cast<void **>(pointers.data());
  if (isReserved && bytes)
    memset(static_cast<void *>(variables), 0, bytes);
  if (!isReserved || !allocateVariables(state, Place::Host, storage, variables) ||
      !allocateVariables(state, Place::Elsewhere, elsewhere, variables))
    return fail(path, TFC_OUT_OF_MEMORY, "not enough memory for the variables");
  auto **match = reinterpret_cast<StoredTensor **>(matches.data());
  for (int32_t i = 0; i < model.variable_count; ++i)
    if (isHere(state, model.variables[i].device))
      if (tfc_status status = match[i] ? readTensor(*match[i], variables[i])
                                       : assemble(model.variables[i], variables[i]))
        return status;
  return TFC_OK;
}

/// Releases the copies on devices of the first variables.
void Loader::releaseCopies(int32_t count) {
  for (int32_t i = 0; i < count; ++i)
    if (Gpu *gpu = gpuOf(state, model.variables[i]))
      gpu->release(variables[i]);
}

/// Replaces the addresses of variables on devices by those of copies there. A failure changes
/// nothing.
tfc_status Loader::moveToDevices() {
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
    // Each process has variables of its own on `/job:local`, but maybe no GPU for them.
    bool isOfOther = model.devices[model.variables[done].device].task < 0 &&
                     instance.tasks.decider() != state.tasks.self();
    if (status == TFC_NO_DEVICE && isOfOther) {
      variables[done] = nullptr;
      status = TFC_OK;
      continue;
    }
    variables[done] = status == TFC_OK ? copy : nullptr;
  }
  if (status == TFC_OK)
    return TFC_OK;
  releaseCopies(done);
  return fail(path, status, "%s",
              status == TFC_OUT_OF_MEMORY ? "not enough memory on the device" : message.c_str());
}

/// Variables stay where they are: calls that wait at queues use them.
void Loader::replaceVariables() {
  for (int32_t i = 0; i < model.variable_count; ++i) {
    const tfc_variable_info &variable = model.variables[i];
    if (Gpu *gpu = gpuOf(state, variable)) {
      if (variables[i] && variable.bytes)
        gpu->copyOnDevice(state.variables[i], variables[i], variable.bytes);
      gpu->release(variables[i]);
    } else if (variable.bytes && isHere(state, variable.device)) {
      memcpy(state.variables[i], variables[i], variable.bytes);
    }
  }
  // Relaxed: the lock orders it.
  for (std::atomic<bool> &lacks : state.lacksValues)
    lacks.store(false, std::memory_order_relaxed);
}

/// Reads the files into memory of the host.
tfc_status Loader::read() {
  tfc_status status = openFiles();
  if (status == TFC_OK)
    status = matchVariables();
  return status ? status : readTensors();
}

tfc_status Loader::replace(tfc_status status) {
  if (status == TFC_OK)
    status = moveToDevices();
  if (state.tasks.areUsed()) {
    // All processes load, or none does.
    bool hasMoved = status == TFC_OK;
    status = state.tasks.exchange(instance, 1, status, instance.message.c_str());
    if (status != TFC_OK && hasMoved)
      releaseCopies(model.variable_count);
  }
  if (status == TFC_OK)
    replaceVariables();
  return status;
}

tfc_status Loader::load() {
  if (state.tasks.areAlone()) {
    // Another process could replace the files.
    OperationLock lock(instance, StateLock::Hold::Exclusive);
    return replace(lock.status() ? lock.status() : read());
  }
  tfc_status status = read();
  StateLock lock(state, StateLock::Hold::Exclusive);
  return replace(status);
}

extern "C" tfc_status tfc_instance_load(tfc_instance *instance, const char *path) {
  tfc_status status = checkPath(instance, path);
  bool isTogether = beginsTogether(instance, Tasks::Load, path, status);
  if (status == TFC_OK)
    return Loader(*instance, path).load();
  return isTogether ? failTogether(*instance, status) : status;
}
