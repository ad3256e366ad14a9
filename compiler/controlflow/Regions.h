//===- Regions.h - Graphs become operations and regions -------------------===//

#pragma once

#include "compiler/controlflow/NodeOrder.h"
#include <map>

namespace tfc::controlflow {

/// Creates the operations of nodes: conditional ones in the regions of `dfg.if`, loops as
/// `dfg.while`.
class RegionEmitter {
public:
  RegionEmitter(mlir::OpBuilder &b, mlir::Location loc, Liveness &liveness)
      : b(b), loc(loc), liveness(liveness), guards(liveness.guards) {}

  /// Creates the operations that `demand` and the effects of an acyclic graph require, where
  /// `known` holds.
  void emit(llvm::ArrayRef<Node *> nodes, const Demand &demand, Guard known);

  /// The value of an edge whose node has been created; an arbitrary value of its type if it is
  /// dead.
  mlir::Value valueOf(Edge edge);
  /// Creates the computation of a guard where `known` holds.
  mlir::Value conditionOf(Guard guard, Guard known);

private:
  struct Branch {
    Guard condition;
    llvm::SmallVector<Node *> onTrue, onFalse;
  };
  /// The values defined since a scope was entered, with those that they replaced.
  using Definitions = llvm::SmallVector<std::pair<Edge, mlir::Value>>;

  /// The numbers of definitions and of parts of conditions when a scope was entered.
  struct Scope {
    size_t definitions, parts;
  };

  /// One of the values that a loop carries.
  struct Carried {
    const LoopVariable *variable;
    /// The number of the result of the variable's node: the value, the index, or its liveness.
    unsigned result;
    mlir::Value init;

    Edge edge() const { return {variable->node, result}; }
  };

  // Regions.cpp
  void emitNodes(const NodeOrder &order, llvm::ArrayRef<Node *> nodes, Guard known);
  bool isFree(const NodeOrder &order, Node *node, Guard known);
  bool emitUnconditional(const NodeOrder &order, WaitingNodes &waiting, Guard known);
  Guard chooseCondition(const NodeOrder &order, const WaitingNodes &waiting, Guard known);
  Branch takeBranch(const NodeOrder &order, WaitingNodes &waiting, Guard known);
  void emitBranch(const NodeOrder &order, const Branch &branch, Guard known);
  llvm::DenseMap<Edge, mlir::Value> emitSide(const NodeOrder &order, mlir::Region &region,
                                             llvm::ArrayRef<Node *> nodes, Guard known,
                                             llvm::SetVector<Edge> &defined);
  void emitNode(Node *node, Guard known);
  void emitPlain(Node *node);
  void emitMerge(Node *node, Guard known);
  mlir::Value choose(mlir::Value condition, mlir::Value onTrue, mlir::Value onFalse);
  mlir::Value anyOf(mlir::Type type);

  // LoopRegions.cpp
  void emitLoop(Node *node, Guard known);
  llvm::SmallVector<Carried> carriedBy(Node *node, Guard known);
  mlir::ValueRange defineCarried(llvm::ArrayRef<Carried> carried, mlir::ValueRange values);
  llvm::SmallVector<mlir::Value> emitBody(Node *node, llvm::ArrayRef<Carried> carried, Guard known);
  llvm::SmallVector<mlir::Value> emitHead(Node *node, Guard known);

  void define(Edge edge, mlir::Value value);
  Scope enterScope() const { return {definitions.size(), parts.size()}; }
  void leaveScope(Scope start);
  template <typename Op, typename... Values> mlir::Value share(Values... operands);

  mlir::OpBuilder &b;
  mlir::Location loc;
  Liveness &liveness;
  Guards &guards;
  llvm::DenseMap<Edge, mlir::Value> values;
  Definitions definitions;
  /// Parts of conditions, by operation and operands, and those since a scope was entered.
  using Parts = std::map<std::pair<const void *, std::vector<void *>>, mlir::Value>;
  Parts shared;
  llvm::SmallVector<Parts::iterator> parts;
};

} // namespace tfc::controlflow
