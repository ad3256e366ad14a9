// Writes constants as an ELF object directly, because they may be too large to pass through LLVM.
#include "compiler/emission/Weights.h"
#include "compiler/emission/OutputFile.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tfc::emission;
namespace ELF = llvm::ELF;

/// The bytes of an element in memory; a bool has one.
static uint64_t elementBytes(Type type) {
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

static uint64_t byteSize(ElementsAttr weight) {
  return weight.getNumElements() * elementBytes(weight.getElementType());
}

/// Writes elements one by one; for splats and packed booleans.
static void writeElements(llvm::raw_ostream &os, DenseElementsAttr weight) {
  uint64_t bytes = elementBytes(weight.getElementType());
  if (weight.getElementType().isInteger(1)) {
    for (bool value : weight.getValues<bool>())
      os << char(value);
    return;
  }
  StringRef element = StringRef(weight.getRawData().data(), bytes);
  for (int64_t i = 0, count = weight.getNumElements(); i < count; ++i)
    os << element;
}

static llvm::Error writeData(llvm::raw_ostream &os, ElementsAttr weight) {
  if (auto dense = dyn_cast<DenseElementsAttr>(weight)) {
    bool plain = !dense.isSplat() && !dense.getElementType().isInteger(1);
    if (plain)
      os.write(dense.getRawData().data(), dense.getRawData().size());
    else
      writeElements(os, dense);
    return llvm::Error::success();
  }
  auto resource = dyn_cast<DenseResourceElementsAttr>(weight);
  AsmResourceBlob *blob = resource ? resource.getRawHandle().getBlob() : nullptr;
  if (!blob || blob->getData().size() != byteSize(weight))
    return llvm::createStringError("a weight's data is missing or has the wrong size");
  os.write(blob->getData().data(), blob->getData().size());
  return llvm::Error::success();
}

namespace {

enum Section {
  kNull,
  kWeights,
  kNote,
  kStack,
  kSymbols,
  kSymbolNames,
  kSectionNames,
  kSectionCount
};

/// A note without a description. The linker gives it a program header, which becomes that of
/// appended weights.
struct Note {
  ELF::Elf64_Nhdr header = {/*n_namesz=*/4, /*n_descsz=*/0, /*n_type=*/1};
  char name[4] = "tfc";
};

/// The tables around the bytes of the one section.
struct Layout {
  std::string symbolNames, sectionNames;
  ELF::Elf64_Ehdr header = {};
  ELF::Elf64_Shdr sections[kSectionCount] = {};
  ELF::Elf64_Sym symbols[2] = {};
};

} // namespace

static constexpr uint64_t kLargeSection = uint64_t(1) << 30;

static void fillHeader(ELF::Elf64_Ehdr &header, const llvm::Triple &triple) {
  memcpy(header.e_ident, ELF::ElfMagic, 4);
  header.e_ident[ELF::EI_CLASS] = ELF::ELFCLASS64;
  header.e_ident[ELF::EI_DATA] = ELF::ELFDATA2LSB;
  header.e_ident[ELF::EI_VERSION] = ELF::EV_CURRENT;
  header.e_type = ELF::ET_REL;
  header.e_machine = triple.isX86() ? ELF::EM_X86_64 : ELF::EM_AARCH64;
  header.e_version = ELF::EV_CURRENT;
  header.e_ehsize = sizeof(ELF::Elf64_Ehdr);
  header.e_shentsize = sizeof(ELF::Elf64_Shdr);
  header.e_shnum = kSectionCount;
  header.e_shstrndx = kSectionNames;
}

static void describeWeights(ELF::Elf64_Shdr &section, uint64_t size, WeightBytes bytes,
                            bool isLarge) {
  bool isAppended = bytes == WeightBytes::Appended;
  section.sh_type = isAppended ? ELF::SHT_NOBITS : ELF::SHT_PROGBITS;
  // The linker puts the zeros of writable sections at the end of the memory.
  section.sh_flags = ELF::SHF_ALLOC | (isAppended ? uint64_t(ELF::SHF_WRITE)
                                       : isLarge  ? uint64_t(ELF::SHF_X86_64_LARGE)
                                                  : 0);
  section.sh_offset = llvm::alignTo(sizeof(ELF::Elf64_Ehdr), kWeightAlignment);
  section.sh_size = size;
  section.sh_addralign = isAppended ? appendedAlignment(size) : kWeightAlignment;
}

static void fillTables(Layout &layout, StringRef symbol, uint64_t size, WeightBytes bytes,
                       bool isX86) {
  auto addName = [&](Section section, StringRef name) {
    layout.sections[section].sh_name = layout.sectionNames.size();
    layout.sectionNames += name.str() + '\0';
  };
  layout.sectionNames = std::string(1, '\0');
  layout.symbolNames = std::string(1, '\0') + symbol.str() + '\0';
  ELF::Elf64_Shdr &weights = layout.sections[kWeights];
  bool isLarge = isX86 && size >= kLargeSection;
  addName(kWeights, bytes == WeightBytes::Appended ? StringRef(kAppendedSection)
                    : isLarge                      ? ".lrodata.tfc_weights"
                                                   : ".rodata.tfc_weights");
  describeWeights(weights, size, bytes, isLarge);
  addName(kNote, ".note.tfc");
  layout.sections[kNote].sh_type = ELF::SHT_NOTE;
  layout.sections[kNote].sh_flags = ELF::SHF_ALLOC;
  layout.sections[kNote].sh_size = sizeof(Note);
  layout.sections[kNote].sh_addralign = 4;
  addName(kStack, ".note.GNU-stack");
  layout.sections[kStack].sh_type = ELF::SHT_PROGBITS;
  layout.sections[kStack].sh_addralign = 1;
  addName(kSymbols, ".symtab");
  layout.sections[kSymbols].sh_type = ELF::SHT_SYMTAB;
  layout.sections[kSymbols].sh_size = sizeof(layout.symbols);
  layout.sections[kSymbols].sh_link = kSymbolNames;
  layout.sections[kSymbols].sh_info = 1; // the first global symbol
  layout.sections[kSymbols].sh_entsize = sizeof(ELF::Elf64_Sym);
  layout.sections[kSymbols].sh_addralign = 8;
  addName(kSymbolNames, ".strtab");
  layout.sections[kSymbolNames].sh_type = ELF::SHT_STRTAB;
  layout.sections[kSymbolNames].sh_size = layout.symbolNames.size();
  layout.sections[kSymbolNames].sh_addralign = 1;
  addName(kSectionNames, ".shstrtab");
  layout.sections[kSectionNames].sh_type = ELF::SHT_STRTAB;
  layout.sections[kSectionNames].sh_size = layout.sectionNames.size();
  layout.sections[kSectionNames].sh_addralign = 1;
  layout.symbols[1].st_name = 1;
  layout.symbols[1].setBindingAndType(ELF::STB_GLOBAL, ELF::STT_OBJECT);
  layout.symbols[1].st_other = ELF::STV_HIDDEN;
  layout.symbols[1].st_shndx = kWeights;
  layout.symbols[1].st_size = size;

  uint64_t end = weights.sh_offset + (bytes == WeightBytes::Appended ? 0 : size);
  for (Section section : {kNote, kStack, kSymbols, kSymbolNames, kSectionNames}) {
    end = llvm::alignTo(end, 8);
    layout.sections[section].sh_offset = end;
    end += layout.sections[section].sh_size;
  }
  layout.header.e_shoff = llvm::alignTo(end, 8);
}

static void padTo(llvm::raw_ostream &os, uint64_t offset) { os.write_zeros(offset - os.tell()); }

template <typename T> static void writeBytes(llvm::raw_ostream &os, const T &value) {
  os.write(reinterpret_cast<const char *>(&value), sizeof(value));
}

uint64_t tfc::emission::weightBytes(ArrayAttr weights) {
  uint64_t size = 0;
  for (auto weight : weights.getAsRange<ElementsAttr>())
    size = llvm::alignTo(size, kWeightAlignment) + byteSize(weight);
  return size;
}

llvm::Error tfc::emission::writeWeightBytes(llvm::raw_ostream &os, ArrayAttr weights) {
  uint64_t begin = os.tell();
  for (auto weight : weights.getAsRange<ElementsAttr>()) {
    padTo(os, begin + llvm::alignTo(os.tell() - begin, kWeightAlignment));
    if (llvm::Error failure = writeData(os, weight))
      return failure;
  }
  return llvm::Error::success();
}

llvm::Error tfc::emission::writeWeights(ArrayAttr weights, StringRef symbol,
                                        const llvm::Triple &triple, WeightBytes bytes,
                                        StringRef path) {
  Layout layout;
  fillHeader(layout.header, triple);
  fillTables(layout, symbol, weightBytes(weights), bytes, triple.isX86());

  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (error)
    return llvm::createFileError(path, error);
  writeBytes(os, layout.header);
  padTo(os, layout.sections[kWeights].sh_offset);
  if (bytes == WeightBytes::Contained)
    if (llvm::Error failure = writeWeightBytes(os, weights))
      return failure;
  padTo(os, layout.sections[kNote].sh_offset);
  writeBytes(os, Note());
  padTo(os, layout.sections[kSymbols].sh_offset);
  writeBytes(os, layout.symbols);
  padTo(os, layout.sections[kSymbolNames].sh_offset);
  os << layout.symbolNames;
  padTo(os, layout.sections[kSectionNames].sh_offset);
  os << layout.sectionNames;
  padTo(os, layout.header.e_shoff);
  writeBytes(os, layout.sections);
  return close(os, path);
}
