// Measures the functions of a graph's library before any is copied into the graph.
#pragma once

#include "frontend/tensorflow/graph.pb.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include <unordered_map>

namespace tfc::tensorflow {

using FunctionLibrary = llvm::StringMap<const wire::Function *>;

/// How an operation calls functions, which are in its attributes; a node may also have the name of
/// a function as its operation.
enum class CallKind { None, Call, If, Case, While };
CallKind callKindOf(llvm::StringRef op);

/// An attribute of a node that names a function; null if the node lacks it.
struct FunctionAttr {
  llvm::StringRef name;
  const wire::Attr::Function *value;
};
/// Returns the attributes whose functions a node calls, in the order of the operation's definition.
llvm::SmallVector<FunctionAttr> functionAttrsOf(const wire::Node &node);

/// The nodes of a function and of those that it calls.
struct FunctionExtent {
  size_t nodes = 0;    // more than kMaxNodes are not counted
  unsigned levels = 0; // of calls in each other
  /// The function, or one that it calls, if that calls itself.
  const wire::Function *recursive = nullptr;
  bool isOpen = true; // while what it calls is measured
};

/// Measures functions; each once, so that calls of calls take no longer than their functions.
class FunctionExtents {
public:
  explicit FunctionExtents(const FunctionLibrary &library) : library(library) {}

  /// `level` is that of the calls around it. Calls beyond kMaxDepth levels are not measured.
  const FunctionExtent &of(const wire::Function &function, unsigned level);

private:
  const FunctionLibrary &library;
  std::unordered_map<const wire::Function *, FunctionExtent> extents;
};

} // namespace tfc::tensorflow
