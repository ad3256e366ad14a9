//===- Groups.h - Operations that share a device --------------------------===//

#pragma once

#include "dialects/dfg/Devices.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

namespace tfc::placement {

/// Sets of operations and declarations that are on one device, with what their members say about
/// it: state and the operations that use it, what is colocated with state, and the operations on
/// one list.
class Groups {
public:
  /// Fails after errors: a symbol that is no variable and no queue, and members of a group that ask
  /// for different devices.
  llvm::LogicalResult build(mlir::ModuleOp module);

  /// The device for which members of a group ask.
  struct Constraint {
    dfg::DeviceName device;
    /// A member that says so.
    mlir::Operation *source;
  };
  /// The device for which each member that says something asks.
  llvm::SmallVector<Constraint> requests() const;
  /// The constraints of all groups whose members say something, in the order of the module.
  llvm::SmallVector<Constraint> constraints() const;

  /// A group, by an arbitrary member; null for an operation that is in none.
  using Id = const void *;
  Id groupOf(mlir::Operation *op) const { return find(op); }
  Id groupOf(mlir::Value list) const { return find(list.getAsOpaquePointer()); }

  /// The constraint of a group, if its members say something.
  std::optional<Constraint> constraintOf(Id group) const;

  /// Lets a group ask for another device.
  void setConstraint(Constraint constraint) {
    constraintsOf[groupOf(constraint.source)] = {constraint};
  }

  /// A variable, queue or tape of the group; null if it has none.
  mlir::Operation *stateOf(Id group) const { return states.lookup(group); }
  /// Returns true if a member is a queue, whose elements are in memory of the host, or reads files
  /// or feeds.
  bool staysOnHost(Id group) const { return hostGroups.contains(group); }

private:
  llvm::LogicalResult colocate(mlir::Operation *op, mlir::SymbolTable &symbols);
  void joinState(mlir::Operation *op, mlir::SymbolTable &symbols);
  void joinLists(mlir::Operation *op);
  void joinWith(mlir::Operation *op, mlir::Operation *state);
  void noteJoins(mlir::InFlightDiagnostic &error, mlir::Operation *from, mlir::Operation *to) const;
  llvm::LogicalResult constrain(mlir::Operation *op);

  /// An operation or a value that is a list.
  using Member = const void *;
  void join(Member a, Member b) { members.unionSets(a, b); }
  Id find(Member member) const {
    auto leader = members.findLeader(member);
    return leader == members.member_end() ? nullptr : *leader;
  }

  llvm::EquivalenceClasses<Member> members;
  llvm::MapVector<Member, llvm::SmallVector<Constraint, 1>> constraintsOf; // by leader
  llvm::DenseMap<Id, mlir::Operation *> states;
  llvm::DenseSet<Id> hostGroups;
  /// The state that operations use or stand with, and the other way round.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Operation *, 1>> partners;
};

} // namespace tfc::placement
