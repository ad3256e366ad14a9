// A TensorFlow graph as it stands in a file: nodes, their inputs and attributes.
#pragma once

#include "frontend/tensorflow/Signature.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tfc::tensorflow {

/// The element types of TensorFlow that tfc has, and those that only flow along handle edges.
inline constexpr int kStringDtype = 7, kResourceDtype = 20;

/// The element type of a DataType number, references included; null where the language has none.
mlir::Type elementTypeOf(mlir::MLIRContext *context, int64_t dtype);
/// "float32" for 1; "type 99" for a number that means nothing.
std::string dtypeName(int64_t dtype);

/// A shape of which some sizes (-1), or all, may be unknown.
struct PartialShape {
  bool hasRank = true;
  llvm::SmallVector<int64_t> sizes;
  std::vector<std::string> names; // of the sizes, mostly empty

  bool isStatic() const {
    return hasRank && llvm::all_of(sizes, [](int64_t size) { return size >= 0; });
  }
};

/// The value of an attribute; `kind` says which member holds it.
struct Attr {
  AttrKind kind = AttrKind::None;
  int64_t number = 0; // of an int, a bool, a type
  double real = 0;
  std::string text;
  PartialShape shape;
  mlir::ElementsAttr tensor; // null where its dtype is none of the language's
  std::vector<int64_t> numbers;
  std::vector<PartialShape> shapes;

  /// The length of a list.
  size_t size() const { return std::max(numbers.size(), shapes.size()); }
};

/// One output of a node.
struct Edge {
  unsigned node = 0, output = 0;
  bool operator<(const Edge &other) const {
    return std::pair(node, output) < std::pair(other.node, other.output);
  }
  bool operator==(const Edge &other) const = default;
};

/// The inputs of a node. No access to one of them goes unchecked.
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

struct Node {
  std::string name, op;
  EdgeList inputs;
  std::vector<unsigned> controls;
  std::map<std::string, Attr> attrs;

  bool has(llvm::StringRef attr) const { return attrs.count(attr.str()) != 0; }
  const Attr &attr(llvm::StringRef name) const;
  int64_t number(llvm::StringRef name, int64_t otherwise = 0) const {
    return has(name) ? attr(name).number : otherwise;
  }
};

struct Graph {
  std::string file;
  std::vector<Node> nodes;
  llvm::StringMap<unsigned> byName;

  /// The place of a node, or of the file.
  mlir::Location locate(mlir::MLIRContext *context, unsigned node) const;
  mlir::Location locate(mlir::MLIRContext *context) const;
  std::string edgeName(Edge edge) const;
};

/// Reads a binary GraphDef. Errors go to the context's diagnostics, all of them; nothing after one.
std::optional<Graph> readGraphDef(mlir::MLIRContext *context, llvm::StringRef path,
                                  llvm::StringRef bytes);

/// Splits "name:1" and "name"; nothing where the number is malformed.
std::optional<std::pair<llvm::StringRef, unsigned>> splitTensorName(llvm::StringRef text);

} // namespace tfc::tensorflow
