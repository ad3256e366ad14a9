// The types, places and data of a file that is being written.
#pragma once

#include "dialects/dfg/Dfg.h"
#include "frontend/flatbuffer/Wire.h"
#include "llvm/ADT/DenseMap.h"

namespace tfc::flatbuffer {

/// Numbers types and places, and lays out the data section.
class TableWriter {
public:
  explicit TableWriter(flatbuffers::FlatBufferBuilder &buffer) : buffer(buffer) {}

  uint32_t number(mlir::Type type);
  int32_t number(mlir::Location location);
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<tfg::Size>>>
  write(dfg::DimsAttr sizes);
  /// A constant; null if its data are missing.
  std::optional<flatbuffers::Offset<tfg::Constant>> write(mlir::ElementsAttr value);

  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<tfg::Type>>> writeTypes() {
    return buffer.CreateVector(types);
  }
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<tfg::Place>>> writePlaces() {
    return buffer.CreateVector(places);
  }

  flatbuffers::Offset<flatbuffers::String> text(llvm::StringRef text) {
    return buffer.CreateSharedString(text.data(), text.size());
  }

  /// The pieces of the section, each at a multiple of the alignment.
  llvm::ArrayRef<llvm::ArrayRef<char>> getSection() const { return section; }
  uint64_t getSectionBytes() const { return sectionBytes; }

private:
  flatbuffers::Offset<tfg::Type> writeType(mlir::Type type);
  flatbuffers::Offset<tfg::Place> writePlace(mlir::Location location);
  flatbuffers::Offset<tfg::Constant> writeInline(mlir::DenseElementsAttr value);

  flatbuffers::FlatBufferBuilder &buffer;
  std::vector<flatbuffers::Offset<tfg::Type>> types;
  std::vector<flatbuffers::Offset<tfg::Place>> places;
  llvm::DenseMap<mlir::Type, uint32_t> typeNumbers;
  llvm::DenseMap<mlir::Location, int32_t> placeNumbers;
  std::vector<llvm::ArrayRef<char>> section;
  llvm::DenseMap<mlir::Attribute, uint64_t> offsets;
  uint64_t sectionBytes = 0;
};

} // namespace tfc::flatbuffer
