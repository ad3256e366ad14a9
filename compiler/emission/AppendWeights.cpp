// Writes weights after a linked library, instead of having the linker copy them from an object. The
// linker has reserved addresses for them at the end of the library's memory, as zeros. These become
// a part of the file that the loader maps: the program header of a note, which nobody needs,
// describes it.
#include "compiler/emission/OutputFile.h"
#include "compiler/emission/Weights.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace tfc::emission;
using namespace llvm;

namespace {
using File = object::ELF64LEFile;
using Segment = File::Elf_Phdr;

/// The tables of a library that mention the weights, in memory that is shared with the file.
struct Tables {
  Segment *zeros = nullptr; // ends with the addresses of the weights
  Segment *note = nullptr;
  File::Elf_Shdr *section = nullptr;
};
} // namespace

template <typename T> static T *writable(const T &entry) { return const_cast<T *>(&entry); }

/// Returns the header of the section for weights, or null.
static Expected<File::Elf_Shdr *> findSection(const File &file) {
  Expected<ArrayRef<File::Elf_Shdr>> sections = file.sections();
  if (!sections)
    return sections.takeError();
  for (const File::Elf_Shdr &section : *sections) {
    Expected<StringRef> name = file.getSectionName(section);
    if (!name)
      return name.takeError();
    if (*name == kAppendedSection)
      return writable(section);
  }
  return nullptr;
}

/// Returns the entries to change. Some are null if the weights are not at the end of the memory, or
/// if no program header after those of other segments can be used.
static Expected<Tables> findTables(const File &file, uint64_t size) {
  Tables tables;
  Expected<File::Elf_Shdr *> section = findSection(file);
  if (!section)
    return section.takeError();
  if (!*section || (*section)->sh_type != ELF::SHT_NOBITS || (*section)->sh_size != size)
    return tables;
  tables.section = *section;
  uint64_t begin = tables.section->sh_addr, end = begin + size;
  Expected<ArrayRef<Segment>> segments = file.program_headers();
  if (!segments)
    return segments.takeError();
  for (const Segment &segment : *segments) {
    uint64_t last = segment.p_vaddr + segment.p_memsz;
    if (segment.p_type == ELF::PT_NOTE)
      tables.note = writable(segment);
    if (segment.p_type != ELF::PT_LOAD)
      continue;
    tables.note = nullptr; // segments are sorted by their addresses
    bool endsWithWeights = last == end && segment.p_vaddr + segment.p_filesz <= begin &&
                           begin % appendedAlignment(size) == 0;
    if (endsWithWeights)
      tables.zeros = writable(segment);
    else if (last > begin)
      return Tables();
  }
  return tables;
}

/// Describes the weights as a part of the file from `offset` on.
static void changeTables(const Tables &tables, uint64_t offset) {
  uint64_t address = tables.section->sh_addr, size = tables.section->sh_size;
  tables.zeros->p_memsz = address - tables.zeros->p_vaddr;
  tables.note->p_type = ELF::PT_LOAD;
  tables.note->p_flags = ELF::PF_R;
  tables.note->p_offset = offset;
  tables.note->p_vaddr = address;
  tables.note->p_paddr = address;
  tables.note->p_filesz = size;
  tables.note->p_memsz = size;
  tables.note->p_align = appendedAlignment(size);
  tables.section->sh_type = ELF::SHT_PROGBITS;
  tables.section->sh_flags = ELF::SHF_ALLOC;
  tables.section->sh_offset = offset;
}

/// Changes the tables of an open library. Returns where the weights belong in its file, or
/// std::nullopt if they cannot follow.
static Expected<std::optional<uint64_t>> makeRoom(int descriptor, uint64_t bytes) {
  sys::fs::file_status status;
  if (std::error_code error = sys::fs::status(descriptor, status))
    return errorCodeToError(error);
  std::error_code error;
  sys::fs::mapped_file_region region(sys::fs::convertFDToNativeFile(descriptor),
                                     sys::fs::mapped_file_region::readwrite, status.getSize(), 0,
                                     error);
  if (error)
    return errorCodeToError(error);
  Expected<File> file = File::create(StringRef(region.const_data(), region.size()));
  if (!file)
    return file.takeError();
  Expected<Tables> tables = findTables(*file, bytes);
  if (!tables)
    return tables.takeError();
  if (!tables->zeros || !tables->note)
    return std::nullopt;
  uint64_t offset = alignTo(region.size(), appendedAlignment(bytes));
  changeTables(*tables, offset);
  return offset;
}

Expected<bool> tfc::emission::appendWeights(ArrayAttr weights, StringRef path) {
  int descriptor;
  if (std::error_code error = sys::fs::openFileForReadWrite(
          path, descriptor, sys::fs::CD_OpenExisting, sys::fs::OF_None))
    return createFileError(path, error);
  raw_fd_ostream os(descriptor, /*shouldClose=*/true);
  Expected<std::optional<uint64_t>> offset = makeRoom(descriptor, weightBytes(weights));
  if (!offset)
    return createFileError(path, offset.takeError());
  if (!*offset)
    return false;
  os.seek(**offset);
  if (Error failure = writeWeightBytes(os, weights))
    return failure;
  if (Error failure = close(os, path))
    return failure;
  return true;
}
