// An ONNX model as stored in a file: graphs of nodes, with the model's own functions expanded.
#pragma once

#include "frontend/importer/Node.h"
#include "mlir/IR/Location.h"
#include <optional>

namespace tfc {
struct ForeignFile;
} // namespace tfc

namespace tfc::onnx {

using namespace importer;

/// The name of an operation of another domain than ONNX's begins with the domain.
struct Node : importer::Node {
  int64_t version = 1;                      // of the operation set
  std::vector<std::string> inputs, outputs; // an empty name: absent
};

/// An input of a graph. Inputs of graphs in attributes have no type here.
struct Input {
  std::string name;
  bool isTensor = true;
  int64_t dtype = 0;
  std::optional<PartialShape> shape;
};

struct Initializer {
  std::string name;
  int64_t dtype = 0;
  mlir::ElementsAttr value; // null if the language does not have its dtype
};

struct Graph {
  std::string name;
  std::vector<Input> inputs;
  std::vector<std::string> outputs;
  std::vector<Initializer> initializers;
  std::vector<Node> nodes;
};

struct Model {
  std::string file;
  /// The first one is the model's, others are in attributes of nodes.
  std::vector<Graph> graphs;

  /// Returns the location of the file, or of anything in it that has a name.
  mlir::Location locate(mlir::MLIRContext *context) const;
  mlir::Location locate(mlir::MLIRContext *context, llvm::StringRef name) const;
};

/// Reads a model. Large weights stay mapped. Emits all errors; returns std::nullopt if there are
/// any.
std::optional<Model> readModel(mlir::MLIRContext *context, const ForeignFile &file);

} // namespace tfc::onnx
