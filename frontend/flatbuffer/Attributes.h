// The attributes of nodes, by the kinds that the definitions of operations name.
#pragma once

#include "dialects/dfg/OpTable.h"
#include "frontend/flatbuffer/Constants.h"

namespace tfc::flatbuffer {

using AttributeVector = flatbuffers::Vector<flatbuffers::Offset<tfg::Attribute>>;

/// Reads attributes.
class Attributes {
public:
  Attributes(FileContext &file, Tables &tables, Constants &constants)
      : file(file), tables(tables), constants(constants) {}

  /// Adds the attributes of an operation, without those that have errors.
  void read(const AttributeVector *attributes, const dfg::OpSignature &op, mlir::Location location,
            mlir::NamedAttrList &result);

private:
  mlir::Attribute readAs(const tfg::Attribute &attribute, const dfg::AttrSignature &signature,
                         mlir::Location location);
  mlir::Attribute readWord(llvm::StringRef word, const dfg::AttrSignature &signature,
                           mlir::Location location);
  mlir::Attribute readAny(const tfg::Attribute &attribute, mlir::Location location,
                          unsigned depth = 0);
  mlir::Attribute readList(const AttributeVector *attributes, mlir::Location location,
                           unsigned depth);
  mlir::Attribute readDictionary(const AttributeVector *attributes, mlir::Location location,
                                 unsigned depth);

  FileContext &file;
  Tables &tables;
  Constants &constants;
};

} // namespace tfc::flatbuffer
