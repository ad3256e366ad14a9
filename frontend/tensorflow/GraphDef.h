// A TensorFlow graph as stored in a file: nodes, their inputs and attributes.
#pragma once

#include "dialects/dfg/DeviceName.h"
#include "frontend/importer/Node.h"
#include "frontend/tensorflow/OutputNames.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringMap.h"
#include <optional>

namespace tfc {
struct ForeignFile;
} // namespace tfc

namespace tfc::tensorflow {

using namespace importer;

namespace wire {
class Graph;
class SavedModel;
} // namespace wire

/// Numbers of TensorFlow's element types without tensors in tfc: texts and handles of resources.
inline constexpr int kStringDtype = 7, kResourceDtype = 20;
/// The number of the type that splits of rows have unless an attribute names another one.
inline constexpr int kInt64Dtype = 9;
/// The number of the type of TensorLists and optional values.
inline constexpr int kVariantDtype = 21;
/// Numbers of those whose tensors are two of real numbers.
inline constexpr int kComplex64Dtype = 8, kComplex128Dtype = 18;

/// Returns the element type of a DataType number, including references, or null if the language has
/// none.
mlir::Type elementTypeOf(mlir::MLIRContext *context, int64_t dtype);
/// Returns true for the numbers of complex64 and complex128.
bool isComplexDtype(int64_t dtype);
/// Returns the element type of the real and the imaginary parts of a complex type, or null for
/// other types.
mlir::Type planeTypeOf(mlir::MLIRContext *context, int64_t dtype);
/// Returns "float32" for 1, and "type 99" for an unknown number.
std::string dtypeName(int64_t dtype);

/// One output of a node.
struct Edge {
  unsigned node = 0, output = 0;
  bool operator<(const Edge &other) const {
    return std::pair(node, output) < std::pair(other.node, other.output);
  }
  bool operator==(const Edge &other) const = default;
};

/// The inputs of a node. Each access is checked.
class EdgeList {
public:
  size_t size() const { return edges.size(); }
  bool empty() const { return edges.empty(); }
  auto begin() const { return edges.begin(); }
  auto end() const { return edges.end(); }
  std::optional<Edge> at(size_t i) const {
    return i < edges.size() ? std::optional(edges[i]) : std::nullopt;
  }
  std::optional<Edge> first() const { return at(0); }
  void add(Edge edge) { edges.push_back(edge); }

private:
  std::vector<Edge> edges;
};

struct Node : importer::Node {
  /// Where it shall be.
  dfg::DeviceName device;
  /// Nodes on whose device it shall be.
  std::vector<unsigned> neighbours;
  EdgeList inputs;
  std::vector<unsigned> controls;
};

/// A variable with an initial value.
struct InitializedVariable {
  mlir::ElementsAttr value; // null if one of the graph's initializers computes it
  bool isConstant = false;  // no entry changes it
  bool isTrainable = false; // has gradients
};

struct Graph {
  std::string file;
  std::vector<Node> nodes;
  llvm::StringMap<unsigned> byName;
  /// The edges that take the place of results of nodes that call functions, by "name:0".
  llvm::StringMap<Edge> results;
  /// The edges of nodes that read the variables of handles, which entries may fetch by these.
  std::map<Edge, Edge> reads;
  /// The variables with values that the file specifies, by their names.
  std::map<std::string, InitializedVariable> variables;
  /// The nodes that assign variables when a program begins, after these have their values.
  std::vector<std::string> initializers;
  /// The files from which nodes get their contents, by the numbers of the nodes.
  std::map<unsigned, std::string> assets;
  /// Nodes that cannot be built, and why.
  std::map<unsigned, std::string> refused;
  /// How many numbers `add` has tried after a name.
  llvm::StringMap<unsigned> suffixes;

  /// Adds a node after all others, with a name that begins like its own. Returns its number.
  unsigned add(Node node);
  /// Returns the location of a node, or of the file.
  mlir::Location locate(mlir::MLIRContext *context, unsigned node) const;
  mlir::Location locate(mlir::MLIRContext *context) const;
  std::string edgeName(Edge edge) const;
  /// Returns the tensor "name:1", of which a node that calls a function may have been the source.
  std::optional<Edge> findTensor(llvm::StringRef name) const;
  /// Returns the initial value of a variable, by its node; null if it has none.
  const InitializedVariable *findVariable(unsigned node) const;
};

/// Returns the integer that is each element of a constant, if the node is such a constant.
std::optional<int64_t> constantOf(const Node &node);
/// Returns the name of the variable, queue or tape of a node.
std::string variableName(const Node &node);

/// Reads a binary GraphDef. Large tensors stay mapped. Emits all errors; returns std::nullopt if
/// there are any.
std::optional<Graph> readGraphDef(mlir::MLIRContext *context, const ForeignFile &file);
/// Parses the SavedModel in a file, but leaves the bytes of large tensors there. Emits an error and
/// returns false for any other file.
bool parseSavedModel(mlir::MLIRContext *context, const ForeignFile &file, wire::SavedModel &model);
/// Returns the graph of these nodes and functions, like `readGraphDef`.
std::optional<Graph> makeGraph(mlir::MLIRContext *context, const ForeignFile &file,
                               wire::Graph nodes);

/// Returns the name under which callers see a tensor: for first outputs, the node's name.
std::string portName(llvm::StringRef tensor);

} // namespace tfc::tensorflow
