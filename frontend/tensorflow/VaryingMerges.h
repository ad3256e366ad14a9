// Values of Merges whose sizes differ: loop variables that iterations make longer or shorter, and
// results of branches. Such a Merge joins buffers that have room for the largest of them, and
// beside these how much of each is used; its readers see the used part, a tensor of data-dependent
// size. Which Merges these are is known once types are, so an entry is built again after an attempt
// that found some.
#pragma once

#include "dialects/dfg/DimExpr.h"
#include "frontend/tensorflow/GraphDef.h"
#include "frontend/tensorflow/VaryingLists.h"

namespace tfc::tensorflow {

struct EntryContext;
struct OpRule;

/// How the sizes of a loop variable, or of the results of branches, differ along an axis.
struct VaryingAxis {
  /// How much larger an iteration makes it at most, a size of the feeds. None: there is no limit,
  /// or it is not known.
  std::optional<dfg::DimExpr> growth;
  /// Each iteration makes it exactly that much larger.
  bool isSteady = true;
  /// An iteration may make it smaller.
  bool shrinks = false;
  /// How often a later attempt has found a larger growth.
  unsigned revisions = 0;
  /// The condition of the loop limits the size to this number in each iteration.
  std::optional<int64_t> limit;
};

struct VaryingMerge {
  std::map<unsigned, VaryingAxis> axes;
  bool isLoop = false;
  /// The number of iterations of the loop is at most this one.
  std::optional<int64_t> trips;
  /// It is this one.
  bool isExact = false;
  /// The nodes that store the inputs.
  llvm::SmallVector<unsigned> stores;
};

/// A fact that an attempt to build an entry has found about an axis of a Merge.
struct ShapeChange {
  unsigned merge, axis;
  /// Limits of the change of the size; none if they are not known.
  std::optional<dfg::DimExpr> least, most;
};

class VaryingShapes {
public:
  enum class Role {
    Initial,   // stores the value with which a loop begins, or that of a branch
    Next,      // stores the value for the next iteration
    Condition, // loads the value for the condition of the loop
    Body,      // for an iteration
    Result     // the last value, or the result of a branch
  };
  struct Access {
    unsigned merge;
    Role role;
  };

  explicit VaryingShapes(const Graph &original) : original(original) {}

  /// The graph, in which the Merges have their buffers.
  const Graph &getGraph() const { return changed ? *changed : original; }
  /// Returns true if an attempt to build an entry has found Merges, or facts about them, with which
  /// another attempt may succeed.
  bool learn(const EntryContext &entry);

  /// Returns the rule of a node that stores or loads a value, or null for nodes of the file.
  const OpRule *ruleOf(unsigned node) const;
  const Access *accessOf(unsigned node) const;
  const VaryingMerge &getMerge(unsigned merge) const { return merges.at(merge); }
  const VaryingLists &getLists() const { return lists; }

private:
  bool note(const EntryContext &entry, const ShapeChange &change);
  void rewrite();
  void rewriteMerge(unsigned index, VaryingMerge &merge);
  void rewriteSwitch(unsigned index, unsigned lengths, unsigned merge);
  unsigned copy(unsigned of, llvm::StringRef part, llvm::ArrayRef<Edge> inputs);
  unsigned access(unsigned of, unsigned merge, Role role, llvm::ArrayRef<Edge> inputs);
  void loadAt(unsigned index, unsigned merge, Edge buffer, Edge used);
  void redirect(Edge from, Edge to, llvm::ArrayRef<unsigned> except);

  const Graph &original;
  std::optional<Graph> changed;
  std::map<unsigned, VaryingMerge> merges;
  VaryingLists lists;
  std::map<unsigned, Access> accesses;
};

/// Returns true if one size is known not to exceed another one.
bool isAtMost(const dfg::DimExpr &a, const dfg::DimExpr &b);
/// Returns the larger one of two sizes, or their maximum if that is not known.
dfg::DimExpr largerOf(const dfg::DimExpr &a, const dfg::DimExpr &b);
/// Returns a lower and an upper limit of a size that are sizes of feeds.
std::pair<dfg::DimExpr, dfg::DimExpr> limitsOf(EntryContext &entry, const dfg::DimExpr &size);
/// Records that the types of the inputs of a Merge, or of a loop variable before and after an
/// iteration, differ in their sizes.
void noteShapeChange(EntryContext &entry, unsigned merge, mlir::Type from, mlir::Type to);

} // namespace tfc::tensorflow
