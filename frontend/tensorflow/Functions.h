// Replaces calls, branches and loops of functions by the nodes of these.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include <string>

namespace tfc::tensorflow {

namespace wire {
class Graph;
} // namespace wire

/// The names of results that take the place of others: "call/add:0" that of "call:1", say.
using ResultNames = llvm::StringMap<std::string>;

/// Reports an error of a node, by the node's name.
using ReportNode = llvm::function_ref<void(llvm::StringRef node, const std::string &text)>;

/// Replaces nodes that call functions of the graph's library by the nodes of these, and If, Case
/// and While by Switch, Merge and the operations of frames, with the semantics of TensorFlow
/// (lower_functional_ops.cc). A node without results is left in place of each, after which the
/// whole has run. Nodes of functions are named after the node that calls, "call/add", or
/// "while/body/add". Returns the names of results that have changed; callers look up those of
/// fetches, and inputs have been replaced.
ResultNames inlineFunctions(wire::Graph &graph, ReportNode report);

} // namespace tfc::tensorflow
