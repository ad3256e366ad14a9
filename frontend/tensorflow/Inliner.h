// Copies the nodes of functions into a graph: the state that calls, branches and loops share.
#pragma once

#include "frontend/tensorflow/FunctionExtents.h"
#include "frontend/tensorflow/Functions.h"
#include "frontend/tensorflow/graph.pb.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringSet.h"
#include <deque>

namespace tfc::tensorflow {

/// Calls are not nested more deeply, and do not make more nodes together.
inline constexpr unsigned kMaxDepth = 100;
inline constexpr size_t kMaxNodes = size_t(1) << 20;

using Attrs = google::protobuf::Map<std::string, wire::Attr>;
using Tensors = std::vector<std::string>; // "node:1" each

/// A function with values of its attributes.
struct Callee {
  const wire::Function *function = nullptr;
  const Attrs *attrs = nullptr;
};

/// The nodes of a function that have been copied.
struct Body {
  Tensors results;
  Tensors controls; // names of nodes after which it has run
};

/// A copy of a function's nodes.
struct Scope {
  Callee callee;
  llvm::StringMap<Tensors> arguments;
  llvm::StringMap<std::string> names; // new ones, of nodes
};

class Inliner {
public:
  Inliner(wire::Graph &graph, ReportNode report) : graph(graph), report(report) {}

  ResultNames run();

private:
  /// Lists the functions of the library. Returns false after an error.
  bool findFunctions();
  /// Where the nodes of a function go.
  struct Place {
    std::string prefix, pivot, device; // nodes that may run without the pivot, if any, follow it
    unsigned depth;
    llvm::ArrayRef<std::string> outer = {}; // tensors that are live where the pivot is dead
  };
  /// Returns true if a copy of a node may run where the pivot of its function does not.
  bool outlivesPivot(const wire::Node &copy, const Place &place) const;

  void add(wire::Node node, unsigned depth);
  Tensors inputsAfter(const wire::Node &node, llvm::ArrayRef<std::string> controls);
  void passOn(const wire::Node &node);
  void call(const wire::Node &node, const Callee &callee, unsigned depth);
  void divideAll(const wire::Node &node);
  void branch(const wire::Node &node, llvm::ArrayRef<Callee> branches, unsigned depth);
  void loop(const wire::Node &node, unsigned depth);

  /// Returns true if a function and those that it calls can be copied.
  bool checkExtent(const wire::Node &caller, const wire::Function &function, unsigned depth);
  Body inlineBody(const wire::Node &caller, const Callee &callee, const Tensors &inputs,
                  const Place &place);
  bool bind(const wire::Node &caller, Scope &scope, const Tensors &inputs);
  Tensors resultsOf(const wire::Node &caller, const Scope &scope);
  wire::Node copyOf(const wire::Node &node, const Scope &scope, const Place &place);
  std::string tensorOf(const Scope &scope, llvm::StringRef text);
  unsigned numberOf(const Scope &scope, llvm::StringRef node, llvm::StringRef output);

  /// Returns the functions in the attributes of a node; null ones after errors.
  std::vector<Callee> calleesOf(const wire::Node &node);
  const wire::Function *find(llvm::StringRef name) const { return functions.lookup(name); }
  std::string fresh(std::string name);
  wire::Node &make(std::string name, llvm::StringRef op, llvm::ArrayRef<std::string> inputs,
                   llvm::ArrayRef<std::string> controls = {});
  std::string toBool(const std::string &name, std::string tensor, int64_t dtype,
                     llvm::ArrayRef<std::string> controls);
  std::pair<std::string, std::string> divide(const std::string &name, const std::string &tensor,
                                             const std::string &condition,
                                             llvm::ArrayRef<std::string> controls);
  std::string equals(const std::string &name, const std::string &tensor, int number,
                     llvm::ArrayRef<std::string> controls);
  void finish(const wire::Node &node, const Tensors &results, Tensors after);
  std::string resolved(llvm::StringRef tensor);

  wire::Graph &graph;
  ReportNode report;
  FunctionLibrary functions;
  FunctionExtents extents{functions};
  llvm::StringSet<> names; // of all nodes
  std::deque<wire::Node> nodes;
  ResultNames results;
  bool hasFailed = false;

  void fail(llvm::StringRef node, const std::string &text) {
    hasFailed = true;
    report(node, text);
  }
};

/// Returns the inputs of a node that are tensors, and the nodes after which it runs.
Tensors dataOf(const wire::Node &node);
Tensors controlsOf(const wire::Node &node);
/// Returns the node of a tensor, and the name of an output.
std::string nodeOf(llvm::StringRef tensor);
std::string output(const std::string &node, unsigned number);
/// Returns null if there is no such attribute.
const wire::Attr *findAttr(const Attrs &attrs, const std::string &name);

} // namespace tfc::tensorflow
