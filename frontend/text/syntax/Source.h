// The source files of a compilation, and positions in them.
#pragma once

#include "frontend/ReadFile.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tfc::text {

/// A file of a SourceManager; kNoFile means "no location".
using FileId = uint32_t;
inline constexpr FileId kNoFile = ~0u;

/// The bytes [begin, end) of a file.
struct SourceRange {
  FileId file = kNoFile;
  uint32_t begin = 0;
  uint32_t end = 0;

  bool isValid() const { return file != kNoFile; }
  bool operator==(const SourceRange &) const = default;

  /// The smallest range that holds both; an invalid one does not count.
  static SourceRange join(SourceRange a, SourceRange b);
};

/// A line and a column, both counted from 1, columns in characters.
struct LineColumn {
  unsigned line = 1;
  unsigned column = 1;
};

/// Owns the text of all files that one compilation reads.
class SourceManager {
public:
  /// Reads `path`; reading the same path again gives the same id. Returns std::nullopt and sets
  /// `error` if the file cannot be read or is too large.
  std::optional<FileId> load(llvm::StringRef path, std::string &error,
                             uint64_t maxBytes = kMaxGraphBytes);

  /// Records a file that is read in another way, such as one of tensors.
  void addInput(llvm::StringRef path) { inputs.push_back(path.str()); }

  /// The paths of all files that were read.
  llvm::ArrayRef<std::string> getInputs() const { return inputs; }

  /// Adds text that is not in a file, or replaces the file `name`.
  FileId add(llvm::StringRef name, llvm::StringRef text);

  /// The file that was loaded or added as `name`.
  std::optional<FileId> find(llvm::StringRef name) const;

  llvm::StringRef name(FileId file) const { return files[file].name; }
  llvm::StringRef text(FileId file) const { return files[file].buffer->getBuffer(); }
  llvm::StringRef text(SourceRange range) const;
  /// The text on one line, for messages: a line break and the following indentation become one
  /// blank.
  std::string oneLine(SourceRange range) const;
  /// The text if it is short enough to be quoted in a message; otherwise `other`.
  std::string shortText(SourceRange range, llvm::StringRef other) const;
  size_t size() const { return files.size(); }

  LineColumn lineColumn(FileId file, uint32_t offset) const;
  /// The offset of a line and column; the end of the line (or file) if the column is too large.
  uint32_t offset(FileId file, LineColumn place) const;
  /// The text of line `line` (from 1) without its end.
  llvm::StringRef line(FileId file, unsigned line) const;

private:
  struct File {
    std::string name;
    std::unique_ptr<llvm::MemoryBuffer> buffer;
    std::vector<uint32_t> lineStarts;
    /// The number of characters before each block of bytes, so that columns of long lines cost
    /// little.
    std::vector<uint32_t> charactersBefore;
  };
  FileId addBuffer(llvm::StringRef name, std::unique_ptr<llvm::MemoryBuffer> buffer);
  uint32_t countCharacters(FileId file, uint32_t end) const;

  std::vector<File> files;
  std::vector<std::string> inputs;
  llvm::StringMap<FileId> ids;
};

} // namespace tfc::text
