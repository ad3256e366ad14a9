//===- Rows.h - The rows of a dataset -------------------------------------===//
//
// Opens the files of a dataset and reads rows by their numbers. Files are read by `pread`, not
// mapped: one that gets shorter is an error and no signal.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/InputFile.h"
#include "runtime/Instance.h"

namespace tfc::runtime {

/// The bytes of all components of a row.
uint64_t bytesOfRow(const tfc_dataset_info &info);

//===- Arrays -------------------------------------------------------------===//

/// The header of an array in NumPy's format, of version 1 to 3.
struct NpyHeader {
  static constexpr int32_t kMaxRank = 16;

  char dtype[8]; // "<f4"
  bool isFortran;
  int32_t rank;
  int64_t dims[kMaxRank];
};

/// The bytes at the beginning of a file that say where its header is, and how long.
inline constexpr uint64_t kNpyPrefix = 12;
/// Returns the length of the header that begins at `begin`, or 0 if the file is not an npy file.
uint64_t npyHeaderBytes(const unsigned char *prefix, uint64_t &begin);
/// Parses a header, a dictionary of Python; returns false if the text is not a valid header.
bool parseNpyHeader(const char *text, NpyHeader &header);
/// NumPy's name of a dtype.
const char *numpyName(int32_t dtype);

//===- Rows ---------------------------------------------------------------===//

/// The files of a dataset, opened and indexed. Afterwards nothing changes, so that several threads
/// can read. Functions that return a status set the message if it is not TFC_OK.
class Rows {
public:
  Rows(const Allocator &allocator, const tfc_dataset_info &info);

  /// Opens the files. A path with one of the characters *, ? and [ that is not a file stands for
  /// those that match it, in order. May be called once.
  tfc_status open(const char *const *paths, int64_t pathCount, Message &message);

  int64_t count() const { return rowCount; }

  /// Copies rows to arrays of `count` elements for each component. `scratch` is memory for one
  /// thread.
  tfc_status read(const int64_t *rows, int64_t count, char *const *values, Block &scratch,
                  Message &message) const;

private:
  struct File {
    const char *path = nullptr; // in `names`
    Descriptor descriptor;      // not of all files
    dev_t device = 0;
    ino_t node = 0;
    uint64_t bytes = 0;
  };
  /// The rows of a file, or with npy those of all files.
  struct Part {
    int64_t file;
    int64_t firstRow, rows;
    size_t first; // in `offsets`: of its records, or of its columns
  };

  bool hasColumns() const {
    return info.format == TFC_DATASET_NPY || info.format == TFC_DATASET_SAFETENSORS;
  }
  bool addPath(const char *path);
  tfc_status addPaths(const char *const *paths, int64_t pathCount, Message &message);
  tfc_status readFile(const File &file, uint64_t offset, void *data, uint64_t bytes,
                      Message &message) const;
  tfc_status openFile(File &file, Message &message);
  tfc_status openAgain(const File &file, Descriptor &descriptor, Message &message) const;
  tfc_status addPart(int64_t file, Message &message);
  tfc_status index(Part &part, Message &message);
  tfc_status indexRaw(Part &part, Message &message);
  tfc_status indexLines(Part &part, Message &message);
  tfc_status indexRecords(Part &part, Message &message);
  tfc_status indexArrays(Part &part, Message &message);
  tfc_status readNpyHeader(const File &file, NpyHeader &header, uint64_t &begin,
                           Message &message) const;
  tfc_status indexTensors(Part &part, Message &message);
  tfc_status checkColumn(const File &file, int32_t component, const char *what, int32_t rank,
                         const int64_t *dims, int64_t &rows, Message &message) const;
  tfc_status failMemory(const File &file, Message &message) const;

  const Part &partOf(int64_t row) const;
  uint64_t offsetOf(const Part &part, int64_t row) const;
  tfc_status readColumns(const Part &part, int64_t row, int64_t run, int64_t at,
                         char *const *values, Message &message) const;
  tfc_status readRecords(const Part &part, int64_t row, int64_t run, int64_t at,
                         char *const *values, Block &scratch, Message &message) const;
  bool decode(char *record, uint64_t bytes, int64_t at, char *const *values, Message &reason) const;
  bool copyRaw(const char *record, int64_t at, char *const *values, Message &reason) const;

  const Allocator &allocator;
  const tfc_dataset_info &info;
  Descriptor folder; // in which the program ran
  Array<char> names; // of the files
  Array<size_t> nameOffsets;
  Objects<File> files;
  Array<Part> parts;
  Array<uint64_t> offsets; // of records, or of the elements of columns
  uint64_t rowBytes;
  int64_t rowCount = 0;
};

//===- Records ------------------------------------------------------------===//

/// Decode a line of a csv file, with the empty lines after it and then a null character, and a
/// record of a TFRecord file, to element `at` of the arrays of each component. Return false, with
/// the reason.
bool decodeLine(const tfc_dataset_info &info, const char *line, uint64_t bytes, int64_t at,
                char *const *values, Message &reason);
bool decodeExample(const tfc_dataset_info &info, const char *record, uint64_t bytes, int64_t at,
                   char *const *values, Message &reason);

/// The bytes before and after a record of a TFRecord file: its length with a checksum, and the
/// checksum of its contents.
inline constexpr uint64_t kRecordPrefix = 12, kRecordSuffix = 4;
/// Reads the length of a record; returns false if its checksum is wrong.
bool parseRecordPrefix(const unsigned char *prefix, uint64_t &bytes);
/// Returns true if a record has the checksum that follows it.
bool isRecordWhole(const char *record, uint64_t bytes);

} // namespace tfc::runtime
