// Owns source texts and maps offsets to lines and columns.
#include "frontend/text/syntax/Source.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace tfc::text {

SourceRange SourceRange::join(SourceRange a, SourceRange b) {
  if (!a.isValid() || !b.isValid() || a.file != b.file)
    return a.isValid() ? a : b;
  return {a.file, std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

std::optional<FileId> SourceManager::load(StringRef path, std::string &error, uint64_t maxBytes) {
  if (std::optional<FileId> known = find(path))
    return known;
  std::unique_ptr<MemoryBuffer> buffer = readText(path, error, maxBytes);
  if (!buffer)
    return std::nullopt;
  addInput(path);
  return addBuffer(path, std::move(buffer));
}

FileId SourceManager::add(StringRef name, StringRef text) {
  return addBuffer(name, MemoryBuffer::getMemBufferCopy(text, name));
}

/// The bytes whose characters are counted together.
static constexpr size_t kBlockBytes = 256;

static bool startsCharacter(char byte) { return (byte & 0xC0) != 0x80; }

static std::vector<uint32_t> countByBlock(StringRef text) {
  std::vector<uint32_t> before = {0};
  for (; text.size() >= kBlockBytes; text = text.drop_front(kBlockBytes))
    before.push_back(before.back() + count_if(text.take_front(kBlockBytes), startsCharacter));
  return before;
}

FileId SourceManager::addBuffer(StringRef name, std::unique_ptr<MemoryBuffer> buffer) {
  FileId id = files.size();
  std::vector<uint32_t> lineStarts = {0};
  StringRef text = buffer->getBuffer();
  for (size_t at = text.find('\n'); at != StringRef::npos; at = text.find('\n', at + 1))
    lineStarts.push_back(at + 1);
  files.push_back({name.str(), std::move(buffer), std::move(lineStarts), countByBlock(text)});
  ids[name] = id;
  return id;
}

std::optional<FileId> SourceManager::find(StringRef name) const {
  auto it = ids.find(name);
  return it == ids.end() ? std::nullopt : std::optional(it->second);
}

StringRef SourceManager::text(SourceRange range) const {
  return range.isValid() ? text(range.file).slice(range.begin, range.end) : StringRef();
}

std::string SourceManager::oneLine(SourceRange range) const {
  std::string line;
  for (StringRef rest = text(range); !rest.empty();) {
    auto [head, tail] = rest.split('\n');
    line += head.rtrim();
    rest = tail.ltrim();
    if (!rest.empty())
      line += ' ';
  }
  return line;
}

std::string SourceManager::shortText(SourceRange range, StringRef other) const {
  static constexpr size_t kMaxQuoted = 32;
  StringRef whole = range.isValid() ? text(range) : StringRef();
  bool isShort = !whole.empty() && whole.size() <= kMaxQuoted && !whole.contains('\n');
  return (isShort ? whole : other).str();
}

/// The characters that start in the first `end` bytes.
uint32_t SourceManager::countCharacters(FileId file, uint32_t end) const {
  size_t block = end / kBlockBytes;
  StringRef rest = text(file).slice(block * kBlockBytes, end);
  return files[file].charactersBefore[block] + count_if(rest, startsCharacter);
}

LineColumn SourceManager::lineColumn(FileId file, uint32_t offset) const {
  const std::vector<uint32_t> &starts = files[file].lineStarts;
  offset = std::min<uint32_t>(offset, text(file).size());
  unsigned line = upper_bound(starts, offset) - starts.begin();
  unsigned before = countCharacters(file, offset) - countCharacters(file, starts[line - 1]);
  return {line, before + 1};
}

uint32_t SourceManager::offset(FileId file, LineColumn place) const {
  if (place.line == 0)
    return 0;
  if (place.line > files[file].lineStarts.size())
    return text(file).size();
  StringRef content = line(file, place.line);
  size_t bytes = 0;
  for (unsigned column = 1; bytes < content.size(); ++bytes)
    if (startsCharacter(content[bytes]) && column++ == std::max(place.column, 1u))
      break;
  return files[file].lineStarts[place.line - 1] + bytes;
}

StringRef SourceManager::line(FileId file, unsigned line) const {
  const std::vector<uint32_t> &starts = files[file].lineStarts;
  if (line == 0 || line > starts.size())
    return {};
  return text(file)
      .substr(starts[line - 1])
      .take_until([](char c) { return c == '\n'; })
      .rtrim('\r');
}

} // namespace tfc::text
