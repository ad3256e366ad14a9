// A node of a foreign graph in the form that all formats share: an operation's name and attributes.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <string>
#include <vector>

namespace tfc::importer {

/// The kind of value that an attribute holds. A Graph is one of the nodes of a region, such as a
/// branch. EmptyList is a list of any kind.
enum class AttrKind {
  None,
  Bool,
  Float,
  Int,
  Shape,
  String,
  Tensor,
  Type,
  Graph,
  EmptyList,
  Floats,
  Ints,
  Shapes,
  Strings,
  Types,
  OtherList
};

/// A shape of which some sizes (-1), or the rank, may be unknown.
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
  /// Of an int, a bool, a type in the format's numbering, or a graph in the reader's.
  int64_t number = 0;
  double real = 0;
  std::string text;
  PartialShape shape;
  mlir::ElementsAttr tensor; // null if the language does not have its dtype
  std::vector<int64_t> numbers;
  std::vector<double> reals;
  std::vector<PartialShape> shapes;
  std::vector<std::string> texts;

  /// Returns the length of a list.
  size_t size() const {
    return std::max({numbers.size(), reals.size(), shapes.size(), texts.size()});
  }
};

struct Node {
  std::string name, op;
  std::map<std::string, Attr> attrs;

  bool has(llvm::StringRef attr) const { return attrs.count(attr.str()) != 0; }
  /// Returns an attribute, or one of kind None if the node has none of this name.
  const Attr &attr(llvm::StringRef name) const {
    static const Attr kNone;
    auto found = attrs.find(name.str());
    return found == attrs.end() ? kNone : found->second;
  }
  int64_t number(llvm::StringRef name, int64_t otherwise = 0) const {
    return has(name) ? attr(name).number : otherwise;
  }
  double real(llvm::StringRef name, double otherwise = 0) const {
    return has(name) ? attr(name).real : otherwise;
  }
};

} // namespace tfc::importer
