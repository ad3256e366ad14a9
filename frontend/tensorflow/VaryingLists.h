// Lists of tensors of several sizes, such as rows of a ragged tensor, or values that a loop finds
// and its gradient needs. Such a list holds buffers that have room for the largest of them; a
// second list says how much of each is used. Which lists these are is known once types are, so an
// entry is built again after an attempt that found some.
#pragma once

#include "dialects/dfg/DimExpr.h"
#include "frontend/tensorflow/GraphDef.h"
#include <set>

namespace tfc::tensorflow {

struct EntryContext;
struct OpRule;

struct VaryingList {
  /// The sizes of the buffers, which are sizes of feeds.
  dfg::Shape room;
  /// The axes along which the sizes of elements differ.
  std::set<unsigned> axes;
  /// How often a later attempt has found larger elements.
  unsigned revisions = 0;
};

/// A fact that an attempt to build an entry has found about a list: sizes that elements have.
struct ListChange {
  unsigned array;
  dfg::Shape room;
  std::set<unsigned> axes;
};

class VaryingLists {
public:
  /// Returns true if an attempt has found lists, or facts about them, with which another attempt
  /// may succeed. `count` is the number of nodes of the file.
  bool learn(const EntryContext &entry, unsigned count);
  /// Lets the nodes of a graph pass on, beside each list, the list of what is used of its elements.
  void rewrite(Graph &graph, unsigned count) const;
  /// Returns the list that an edge carries, if its elements have several sizes, else null.
  const VaryingList *find(Edge edge) const;

private:
  std::map<unsigned, VaryingList> lists; // by the first node that makes them
  std::map<Edge, unsigned> arrays;       // the lists that edges carry
};

/// The attribute of nodes that read or return a second list.
inline constexpr llvm::StringLiteral kVaries = "_varies";
/// The source of the key of a second list.
inline constexpr llvm::StringLiteral kUsed = "used";

/// Returns the rule of a node with the attribute kVaries.
const OpRule &varyingListRule(llvm::StringRef op);
/// Notes that a list has to hold elements of a type, if it does not have room for them. Returns
/// false then: this attempt fails.
bool checkElement(EntryContext &entry, unsigned array, mlir::RankedTensorType type);
/// Notes that the sizes of elements differ along some axes, up to those of a type. This attempt
/// fails.
void noteElement(EntryContext &entry, unsigned array, mlir::RankedTensorType most,
                 std::set<unsigned> axes);

} // namespace tfc::tensorflow
