// The nodes of an entry, and declarations, as operations.
#pragma once

#include "frontend/GraphBuilder.h"
#include "frontend/flatbuffer/Attributes.h"
#include "frontend/flatbuffer/Values.h"

namespace tfc::flatbuffer {

using NodeVector = flatbuffers::Vector<flatbuffers::Offset<tfg::Node>>;

/// Creates the operations of an entry, or one declaration. They are checked when all exist; after
/// an error they are created as far as possible, to find others.
class Nodes {
public:
  /// `owner` names what contains the nodes, for errors.
  Nodes(GraphBuilder &builder, FileContext &file, Tables &tables, Attributes &attributes,
        Values &values, llvm::StringRef owner)
      : builder(builder), file(file), tables(tables), attributes(attributes), values(values),
        owner(owner) {}

  /// Creates the nodes at the current position.
  void create(const NodeVector *nodes);
  /// Creates one node.
  void create(const tfg::Node &node);

private:
  mlir::Location locate(const tfg::Node &node, llvm::StringRef operation);
  void addOperands(const tfg::Node &node, mlir::OperationState &state);
  void addAttributes(const tfg::Node &node, const dfg::OpSignature &signature,
                     mlir::OperationState &state);
  void addRegions(const tfg::Node &node, mlir::OperationState &state);
  void readRegion(const tfg::Region &region, mlir::Region &into, mlir::Location location,
                  bool isGraph);
  void addArguments(const tfg::Region &region, mlir::Block &block, mlir::Location location);
  void forgetResults(const tfg::Node &node, mlir::Location location);
  /// Creates the operation and defines its results.
  void finish(const tfg::Node &node, mlir::OperationState &state);
  bool hasSpace(mlir::Location location);

  GraphBuilder &builder;
  FileContext &file;
  Tables &tables;
  Attributes &attributes;
  Values &values;
  std::string owner;
  unsigned count = 0, depth = 0;
  bool isFull = false;
};

} // namespace tfc::flatbuffer
