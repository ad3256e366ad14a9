// The attributes of operations as general kinds of values.
#pragma once

#include "dialects/dfg/OpTable.h"
#include "frontend/flatbuffer/TableWriter.h"

namespace tfc::flatbuffer {

/// Writes attributes.
class AttributeWriter {
public:
  AttributeWriter(flatbuffers::FlatBufferBuilder &buffer, TableWriter &tables)
      : buffer(buffer), tables(tables) {}

  using Offsets = std::vector<flatbuffers::Offset<tfg::Attribute>>;
  /// The attributes of an operation; fails after an error at one that has no form.
  llvm::FailureOr<Offsets> write(mlir::Operation *op);

private:
  /// A value of the union.
  struct Value {
    tfg::AttributeValue kind = tfg::AttributeValue::NONE;
    flatbuffers::Offset<void> offset;
  };
  template <typename T> static Value make(tfg::AttributeValue kind, flatbuffers::Offset<T> offset) {
    return {kind, offset.Union()};
  }
  Value write(mlir::Attribute attribute);
  Value writeNumber(mlir::Attribute attribute);
  Value writeArray(mlir::Attribute attribute);
  Value writeWord(mlir::Attribute attribute, const dfg::AttrSignature &signature);
  std::optional<Offsets> writeAll(llvm::ArrayRef<mlir::NamedAttribute> attributes);
  flatbuffers::Offset<tfg::Attribute> finish(llvm::StringRef name, const Value &value);

  flatbuffers::FlatBufferBuilder &buffer;
  TableWriter &tables;
};

} // namespace tfc::flatbuffer
