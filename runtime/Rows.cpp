//===- Rows.cpp - Opening files and reading rows --------------------------===//
//
// Finds where the rows of a dataset are, and copies them. Records.cpp and Examples.cpp decode them.
//
//===----------------------------------------------------------------------===//

#include "runtime/Rows.h"
#include "runtime/Safetensors.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

using namespace tfc::runtime;

/// Bytes that are read at once while a file is indexed, and the most of several records.
static constexpr uint64_t kWindow = uint64_t(1) << 18;

/// The files of a dataset that stay open; a process may often have 1,024 at once. Others are opened
/// whenever they are read.
static constexpr int32_t kOpenFiles = 128;

static long long asLong(int64_t value) { return value; }
static unsigned long long asUnsigned(uint64_t value) { return value; }

static tfc_status failErrno(Message &message, const char *what, const char *path) {
  tfc_status status = errno == ENOENT ? TFC_NOT_FOUND : TFC_IO_ERROR;
  return message.fail(status, "cannot %s '%s': %s", what, path, strerror(errno));
}

uint64_t tfc::runtime::bytesOfRow(const tfc_dataset_info &info) {
  uint64_t bytes = 0;
  for (int32_t i = 0; i < info.component_count; ++i)
    bytes += info.components[i].bytes;
  return bytes;
}

//===- Opening ------------------------------------------------------------===//

/// Opens a file that has been closed, which must be the same one.
tfc_status Rows::openAgain(const File &file, Descriptor &descriptor, Message &message) const {
  struct stat status;
  if (!openInput(file.path, descriptor, folder.get()) || fstat(descriptor.get(), &status) != 0)
    return failErrno(message, "open", file.path);
  if (status.st_dev != file.device || status.st_ino != file.node)
    return message.fail(TFC_DATA_LOSS, "'%s' has been replaced by another file", file.path);
  return TFC_OK;
}

/// Reads exactly `bytes` of a file.
tfc_status Rows::readFile(const File &file, uint64_t offset, void *data, uint64_t bytes,
                          Message &message) const {
  Descriptor again;
  if (!file.descriptor.isOpen())
    if (tfc_status status = openAgain(file, again, message))
      return status;
  if (readAt(file.descriptor.isOpen() ? file.descriptor : again, offset, data, bytes))
    return TFC_OK;
  if (errno == 0)
    return message.fail(TFC_DATA_LOSS, "'%s' has become shorter", file.path);
  return failErrno(message, "read", file.path);
}

Rows::Rows(const Allocator &allocator, const tfc_dataset_info &info)
    : allocator(allocator), info(info), names(allocator), nameOffsets(allocator), parts(allocator),
      offsets(allocator), rowBytes(bytesOfRow(info)) {}

tfc_status Rows::failMemory(const File &file, Message &message) const {
  return message.fail(TFC_OUT_OF_MEMORY, "not enough memory for the index of '%s'", file.path);
}

bool Rows::addPath(const char *path) {
  return nameOffsets.push(names.size()) && names.append(path, strlen(path) + 1);
}

static int comparePaths(const void *left, const void *right) {
  return strcmp(*static_cast<const char *const *>(left), *static_cast<const char *const *>(right));
}

tfc_status Rows::addPaths(const char *const *paths, int64_t pathCount, Message &message) {
  for (int64_t i = 0; i < pathCount; ++i) {
    const char *path = paths[i];
    bool isPattern =
        info.format != TFC_DATASET_NPY && strpbrk(path, "*?[") && access(path, F_OK) != 0;
    bool isAdded = true;
    if (isPattern) {
      glob_t found;
      int result = glob(path, GLOB_NOSORT, nullptr, &found);
      if (result == GLOB_NOMATCH)
        return message.fail(TFC_NOT_FOUND, "no file matches '%s'", path);
      if (result != 0)
        return message.fail(TFC_IO_ERROR, "cannot list the files that match '%s'", path);
      // By their bytes: the order must not depend on the locale of a process.
      qsort(found.gl_pathv, found.gl_pathc, sizeof(char *), comparePaths);
      for (size_t k = 0; k < found.gl_pathc; ++k)
        isAdded &= addPath(found.gl_pathv[k]);
      globfree(&found);
    } else {
      isAdded = addPath(path);
    }
    if (!isAdded)
      return message.fail(TFC_OUT_OF_MEMORY, "not enough memory for the names of files");
  }
  return TFC_OK;
}

tfc_status Rows::openFile(File &file, Message &message) {
  struct stat status;
  if (!openInput(file.path, file.descriptor, folder.get()) ||
      fstat(file.descriptor.get(), &status) != 0)
    return failErrno(message, "open", file.path);
  if (!S_ISREG(status.st_mode))
    return message.fail(TFC_IO_ERROR, "cannot open '%s': not a regular file", file.path);
  file.device = status.st_dev;
  file.node = status.st_ino;
  file.bytes = status.st_size;
  return TFC_OK;
}

tfc_status Rows::open(const char *const *paths, int64_t pathCount, Message &message) {
  if (tfc_status status = addPaths(paths, pathCount, message))
    return status;
  auto fileCount = static_cast<int32_t>(nameOffsets.size());
  if (info.format == TFC_DATASET_NPY && fileCount != info.component_count)
    return message.fail(TFC_INVALID_ARGUMENT,
                        "expected %d npy files, one for each component, but got %d",
                        static_cast<int>(info.component_count), static_cast<int>(fileCount));
  if (fileCount == 0)
    return message.fail(TFC_INVALID_ARGUMENT, "expected at least one file");
  if (!files.create(allocator, fileCount))
    return message.fail(TFC_OUT_OF_MEMORY, "not enough memory for the names of files");
  if (!openFolder(folder))
    return failErrno(message, "open", ".");
  for (int32_t i = 0; i < fileCount; ++i) {
    files[i].path = names.begin() + nameOffsets[i];
    if (tfc_status status = openFile(files[i], message))
      return status;
    if (i >= kOpenFiles)
      files[i].descriptor.close();
  }
  int32_t partCount = info.format == TFC_DATASET_NPY ? 1 : fileCount;
  for (int32_t i = 0; i < partCount; ++i)
    if (tfc_status status = addPart(i, message))
      return status;
  return TFC_OK;
}

tfc_status Rows::addPart(int64_t file, Message &message) {
  Part part{file, rowCount, 0, offsets.size()};
  if (tfc_status status = index(part, message))
    return status;
  rowCount += part.rows;
  return parts.push(part) ? TFC_OK : failMemory(files[file], message);
}

tfc_status Rows::index(Part &part, Message &message) {
  switch (info.format) {
  case TFC_DATASET_CSV:
    return indexLines(part, message);
  case TFC_DATASET_NPY:
    return indexArrays(part, message);
  case TFC_DATASET_SAFETENSORS:
    return indexTensors(part, message);
  case TFC_DATASET_TFRECORD:
    return indexRecords(part, message);
  default:
    return indexRaw(part, message);
  }
}

tfc_status Rows::indexRaw(Part &part, Message &message) {
  const File &file = files[part.file];
  auto skip = static_cast<uint64_t>(info.skip);
  if (file.bytes < skip)
    return message.fail(TFC_DATA_LOSS, "'%s' has %llu bytes, fewer than the %llu to skip",
                        file.path, asUnsigned(file.bytes), asUnsigned(skip));
  if (rowBytes == 0)
    return message.fail(TFC_INVALID_ARGUMENT, "'%s' cannot have rows of no bytes", file.path);
  part.rows = static_cast<int64_t>((file.bytes - skip) / rowBytes);
  if (uint64_t rest = (file.bytes - skip) % rowBytes)
    return message.fail(TFC_DATA_LOSS, "'%s' ends in the middle of a row: %llu of %llu bytes",
                        file.path, asUnsigned(rest), asUnsigned(rowBytes));
  return TFC_OK;
}

/// The offsets are those of the lines that are not empty, and the end of the file.
tfc_status Rows::indexLines(Part &part, Message &message) {
  const File &file = files[part.file];
  Block window;
  if (!window.reserve(allocator, kWindow))
    return failMemory(file, message);
  int64_t skip = info.skip;
  uint64_t begin = 0; // of the line
  bool isEmpty = true;
  auto endLine = [&](uint64_t next) {
    bool isAdded = skip > 0 || isEmpty || offsets.push(begin);
    part.rows += skip <= 0 && !isEmpty;
    --skip;
    begin = next;
    isEmpty = true;
    return isAdded;
  };
  for (uint64_t at = 0; at < file.bytes;) {
    uint64_t bytes = file.bytes - at < kWindow ? file.bytes - at : kWindow;
    if (tfc_status status = readFile(file, at, window.data(), bytes, message))
      return status;
    const char *next = window.data(), *end = next + bytes;
    constexpr char kMark[] = "\xef\xbb\xbf"; // of UTF-8
    if (at == 0 && bytes >= 3 && memcmp(next, kMark, 3) == 0)
      next += begin = 3;
    while (next < end) {
      while (isEmpty && next < end && (*next == ' ' || *next == '\t' || *next == '\r'))
        ++next;
      isEmpty &= next == end || *next == '\n';
      const auto *stop = static_cast<const char *>(memchr(next, '\n', end - next));
      next = stop ? stop + 1 : end;
      if (stop && !endLine(at + (next - window.data())))
        return failMemory(file, message);
    }
    at += bytes;
  }
  if (!endLine(file.bytes) || !offsets.push(file.bytes))
    return failMemory(file, message);
  return TFC_OK;
}

/// The offsets are those of the prefixes, and the end of the file.
tfc_status Rows::indexRecords(Part &part, Message &message) {
  const File &file = files[part.file];
  Block window;
  if (!window.reserve(allocator, kWindow))
    return failMemory(file, message);
  uint64_t start = 0, held = 0; // the bytes in the window
  for (uint64_t at = 0, last = 0; at < file.bytes; ++part.rows) {
    auto damaged = [&](const char *how) {
      return message.fail(TFC_DATA_LOSS, "record %lld of '%s', at byte %llu, is %s",
                          asLong(part.rows), file.path, asUnsigned(at), how);
    };
    if (file.bytes - at < kRecordPrefix)
      return damaged("truncated");
    if (at < start || at + kRecordPrefix > start + held) {
      // Long records are passed over.
      uint64_t wanted = last > kWindow / 8 ? kRecordPrefix : kWindow;
      start = at;
      held = file.bytes - at < wanted ? file.bytes - at : wanted;
      if (tfc_status status = readFile(file, start, window.data(), held, message))
        return status;
    }
    const auto *prefix = reinterpret_cast<const unsigned char *>(window.data()) + (at - start);
    if (!parseRecordPrefix(prefix, last))
      return damaged(part.rows == 0 && prefix[0] == 0x1f && prefix[1] == 0x8b
                         ? "compressed, or no record"
                         : "damaged: the checksum of its length does not match");
    if (last > file.bytes || file.bytes - at - kRecordPrefix < last + kRecordSuffix)
      return damaged("truncated");
    if (!offsets.push(at))
      return failMemory(file, message);
    at += kRecordPrefix + last + kRecordSuffix;
  }
  return offsets.push(file.bytes) ? TFC_OK : failMemory(file, message);
}

/// Checks the type of a column that is called `what`, and that it has as many rows as those before
/// it.
tfc_status Rows::checkColumn(const File &file, int32_t component, const char *what, int32_t rank,
                             const int64_t *dims, int64_t &rows, Message &message) const {
  const tfc_variable_info &wanted = info.components[component];
  if (rank == 0)
    return message.fail(TFC_FAILED_PRECONDITION, "%s in '%s' has no axis for rows", what,
                        file.path);
  bool fits =
      rank == wanted.rank + 1 &&
      (wanted.rank == 0 || memcmp(dims + 1, wanted.dims, wanted.rank * sizeof(int64_t)) == 0);
  if (!fits) {
    message.fail(TFC_FAILED_PRECONDITION, "%s in '%s' has the shape ", what, file.path);
    message.addShape(dims, rank);
    message.add(", but expected rows of the shape ");
    message.addShape(wanted.dims, wanted.rank);
    return TFC_FAILED_PRECONDITION;
  }
  if (component > 0 && dims[0] != rows)
    return message.fail(TFC_FAILED_PRECONDITION, "%s in '%s' has %lld rows, but '%s' has %lld",
                        what, file.path, asLong(dims[0]), info.components[0].name, asLong(rows));
  rows = dims[0];
  return TFC_OK;
}

/// Reads the header of an array, and finds where its elements begin.
tfc_status Rows::readNpyHeader(const File &file, NpyHeader &header, uint64_t &begin,
                               Message &message) const {
  auto damaged = [&] {
    return message.fail(TFC_DATA_LOSS, "'%s' is no npy file, or its header is damaged", file.path);
  };
  unsigned char prefix[kNpyPrefix];
  if (file.bytes < kNpyPrefix)
    return damaged();
  if (tfc_status status = readFile(file, 0, prefix, kNpyPrefix, message))
    return status;
  uint64_t bytes = npyHeaderBytes(prefix, begin);
  if (bytes == 0 || bytes > kMaxHeaderBytes || file.bytes - begin < bytes)
    return damaged();
  Block text;
  if (!text.reserve(allocator, bytes + 1))
    return failMemory(file, message);
  if (tfc_status status = readFile(file, begin, text.data(), bytes, message))
    return status;
  text.data()[bytes] = 0;
  begin += bytes;
  return parseNpyHeader(text.data(), header) ? TFC_OK : damaged();
}

tfc_status Rows::indexArrays(Part &part, Message &message) {
  for (int32_t i = 0; i < info.component_count; ++i) {
    const File &file = files[i];
    const tfc_variable_info &component = info.components[i];
    NpyHeader header;
    uint64_t begin;
    if (tfc_status status = readNpyHeader(file, header, begin, message))
      return status;
    const char *dtype = numpyName(component.dtype);
    if (strcmp(header.dtype, dtype) != 0)
      return message.fail(TFC_FAILED_PRECONDITION,
                          "'%s' has elements of the type '%s', but '%s' is %s, '%s'", file.path,
                          header.dtype, component.name, dtypeName(component.dtype), dtype);
    if (header.isFortran && header.rank > 1)
      return message.fail(TFC_FAILED_PRECONDITION,
                          "'%s' is in Fortran order, but expected rows one after the other",
                          file.path);
    if (tfc_status status =
            checkColumn(file, i, "the array", header.rank, header.dims, part.rows, message))
      return status;
    uint64_t needed;
    if (__builtin_mul_overflow(static_cast<uint64_t>(part.rows), component.bytes, &needed) ||
        needed > file.bytes - begin)
      return message.fail(TFC_DATA_LOSS, "'%s' is truncated: it has %lld rows of %llu bytes",
                          file.path, asLong(part.rows), asUnsigned(component.bytes));
    if (!offsets.push(begin))
      return failMemory(file, message);
  }
  return TFC_OK;
}

tfc_status Rows::indexTensors(Part &part, Message &message) {
  const File &file = files[part.file];
  constexpr uint64_t kLengthBytes = 8;
  uint64_t length = 0;
  if (file.bytes >= kLengthBytes)
    if (tfc_status status = readFile(file, 0, &length, kLengthBytes, message))
      return status;
  if (length == 0 || length > kMaxHeaderBytes || length > file.bytes - kLengthBytes)
    return message.fail(TFC_DATA_LOSS, "'%s' is no safetensors file, or its header is damaged",
                        file.path);
  Block text;
  if (!text.reserve(allocator, length + 1))
    return failMemory(file, message);
  if (tfc_status status = readFile(file, kLengthBytes, text.data(), length, message))
    return status;
  text.data()[length] = 0;
  uint64_t begin = kLengthBytes + length;
  StoredTensors tensors(allocator);
  if (tfc_status status = parseHeader(message, file.path, allocator, text.data(), length,
                                      file.bytes - begin, tensors))
    return status;
  for (int32_t i = 0; i < info.component_count; ++i) {
    const tfc_variable_info &component = info.components[i];
    const StoredTensor *tensor = tensors.find(component.name);
    if (!tensor)
      return message.fail(TFC_FAILED_PRECONDITION, "'%s' has no tensor '%s'", file.path,
                          component.name);
    const char *dtype = dtypeInfo(component.dtype)->safetensors;
    if (strcmp(tensor->dtype, dtype) != 0)
      return message.fail(TFC_FAILED_PRECONDITION, "tensor '%s' in '%s' is %s, but expected %s",
                          component.name, file.path, tensor->dtype, dtype);
    char what[128];
    snprintf(what, sizeof(what), "tensor '%s'", component.name);
    if (tfc_status status =
            checkColumn(file, i, what, tensor->rank, tensor->dims, part.rows, message))
      return status;
    if (!offsets.push(begin + tensor->begin))
      return failMemory(file, message);
  }
  return TFC_OK;
}

//===- Reading ------------------------------------------------------------===//

const Rows::Part &Rows::partOf(int64_t row) const {
  size_t begin = 0, end = parts.size(); // the last part that does not begin after the row
  while (end - begin > 1) {
    size_t middle = begin + (end - begin) / 2;
    (parts[middle].firstRow <= row ? begin : end) = middle;
  }
  return parts[begin];
}

/// The offset of a record, by its number in the part.
uint64_t Rows::offsetOf(const Part &part, int64_t row) const {
  if (info.format == TFC_DATASET_RAW)
    return static_cast<uint64_t>(info.skip) + static_cast<uint64_t>(row) * rowBytes;
  return offsets[part.first + row];
}

tfc_status Rows::readColumns(const Part &part, int64_t row, int64_t run, int64_t at,
                             char *const *values, Message &message) const {
  for (int32_t i = 0; i < info.component_count; ++i) {
    const File &file = files[info.format == TFC_DATASET_NPY ? i : part.file];
    const tfc_variable_info &component = info.components[i];
    char *to = values[i] + at * component.bytes;
    uint64_t bytes = run * component.bytes;
    if (tfc_status status =
            readFile(file, offsets[part.first + i] + row * component.bytes, to, bytes, message))
      return status;
    if (component.dtype == TFC_BOOL && !isValidBool(to, bytes))
      return message.fail(TFC_DATA_LOSS, "'%s' of '%s' is bool, but a byte is neither 0 nor 1",
                          component.name, file.path);
  }
  return TFC_OK;
}

bool Rows::copyRaw(const char *record, int64_t at, char *const *values, Message &reason) const {
  for (int32_t i = 0; i < info.component_count; ++i) {
    const tfc_variable_info &component = info.components[i];
    char *to = values[i] + at * component.bytes;
    if (component.bytes)
      memcpy(to, record, component.bytes);
    record += component.bytes;
    if (component.dtype == TFC_BOOL && !isValidBool(to, component.bytes)) {
      reason.add("'%s' is bool, but a byte is neither 0 nor 1", component.name);
      return false;
    }
  }
  return true;
}

bool Rows::decode(char *record, uint64_t bytes, int64_t at, char *const *values,
                  Message &reason) const {
  if (info.format == TFC_DATASET_RAW)
    return copyRaw(record, at, values, reason);
  if (info.format == TFC_DATASET_CSV) {
    char next = record[bytes];
    record[bytes] = 0;
    bool isDecoded = decodeLine(info, record, bytes, at, values, reason);
    record[bytes] = next;
    return isDecoded;
  }
  record += kRecordPrefix;
  bytes -= kRecordPrefix + kRecordSuffix;
  if (isRecordWhole(record, bytes))
    return decodeExample(info, record, bytes, at, values, reason);
  reason.add("its checksum does not match");
  return false;
}

tfc_status Rows::readRecords(const Part &part, int64_t row, int64_t run, int64_t at,
                             char *const *values, Block &scratch, Message &message) const {
  const File &file = files[part.file];
  uint64_t begin = offsetOf(part, row), bytes = offsetOf(part, row + run) - begin;
  if (!scratch.reserve(allocator, bytes + 1))
    return message.fail(TFC_OUT_OF_MEMORY, "not enough memory for rows of '%s'", file.path);
  if (tfc_status status = readFile(file, begin, scratch.data(), bytes, message))
    return status;
  for (int64_t i = 0; i < run; ++i) {
    uint64_t from = offsetOf(part, row + i), next = offsetOf(part, row + i + 1);
    Message reason;
    if (!decode(scratch.data() + (from - begin), next - from, at + i, values, reason))
      return message.fail(TFC_DATA_LOSS, "row %lld of '%s': %s", asLong(row + i), file.path,
                          reason.c_str());
  }
  return TFC_OK;
}

tfc_status Rows::read(const int64_t *rows, int64_t count, char *const *values, Block &scratch,
                      Message &message) const {
  for (int64_t i = 0; i < count;) {
    if (rows[i] < 0) {
      for (int32_t k = 0; k < info.component_count; ++k)
        if (uint64_t bytes = info.components[k].bytes)
          memset(values[k] + i * bytes, 0, bytes);
      ++i;
      continue;
    }
    if (rows[i] >= rowCount)
      return message.fail(TFC_OUT_OF_RANGE, "there is no row %lld: the dataset has %lld",
                          asLong(rows[i]), asLong(rowCount));
    const Part &part = partOf(rows[i]);
    int64_t first = rows[i] - part.firstRow;
    auto isNext = [&](int64_t run) {
      if (i + run >= count || rows[i + run] != rows[i] + run || first + run >= part.rows)
        return false;
      return hasColumns() || offsetOf(part, first + run + 1) - offsetOf(part, first) <= kWindow;
    };
    int64_t run = 1;
    while (isNext(run))
      ++run;
    tfc_status status = hasColumns() ? readColumns(part, first, run, i, values, message)
                                     : readRecords(part, first, run, i, values, scratch, message);
    if (status != TFC_OK)
      return status;
    i += run;
  }
  return TFC_OK;
}
