//===- Places.h - In which memory a value is ------------------------------===//

#pragma once

#include "dialects/dfg/HostForm.h"

namespace tfc::memory {

/// Where a launch writes a result: one attribute of the launch's `tfc.places`.
struct Place {
  enum class Kind { Arena, Variable, Fetch, Operand, Result };
  Kind kind = Kind::Arena;
  mlir::FlatSymbolRefAttr variable;
  int64_t index = 0; // of the fetch, the operand or the result of the branch or loop around it

  static Place inVariable(mlir::FlatSymbolRefAttr variable) {
    return {Kind::Variable, variable, 0};
  }
  static Place inFetch(int64_t index) { return {Kind::Fetch, {}, index}; }
  static Place inOperand(int64_t index) { return {Kind::Operand, {}, index}; }
  /// What a branch yields, or the next value of what a loop carries.
  static Place inResult(int64_t index) { return {Kind::Result, {}, index}; }

  mlir::Attribute toAttr(mlir::MLIRContext *context) const;
};

/// Sets and reads `tfc.places`; results without one are in the arena.
void setPlaces(dfg::LaunchOp launch, llvm::ArrayRef<Place> places);
Place placeOf(dfg::LaunchOp launch, unsigned result);

/// The value whose memory `value` is: looks through reshapes and lists that are
/// views of tensors.
mlir::Value rootOf(mlir::Value value);

/// The root whose memory `root` is: looks through results that are written over an operand.
mlir::Value storageOf(mlir::Value root);

/// Whether the kernel writes a result over one of its operands: it has no pointer of its own then.
bool isWrittenOverOperand(dfg::LaunchOp launch, unsigned result);

/// Whether the memory of a root is in the arena.
bool isInArena(mlir::Value root);

/// Sets and tells which carried values of a loop are changed in one buffer; the others have two,
/// which take turns.
void setSingleBuffers(dfg::WhileOp loop, llvm::ArrayRef<int64_t> carried);
bool hasSingleBuffer(dfg::WhileOp loop, unsigned carried);

/// Whether a value that the host has in a register is read from memory as well.
bool isReadFromMemory(mlir::Value scalar);

/// Whether the host computes the value in a register: scalars of its own, those that branches and
/// loops give and carry.
bool isRegister(mlir::Value value);

/// The assignments of an entry that copy at its end: those of values that are made elsewhere.
llvm::SmallVector<dfg::AssignOp> copiedAtEnd(mlir::Block &block);

/// The reads among the values that are copied at the end whose variable changes as well: they are
/// saved before the copies.
llvm::SmallVector<dfg::ReadOp> savedBeforeCopies(mlir::Block &block);

/// What a map attribute of a generated kernel (`tfc.extent`, `tfc.scratch`) is in a launch of it; 0
/// where it has none.
dfg::DimExpr launchSize(dfg::LaunchOp launch, mlir::Operation *kernel, llvm::StringRef attribute);

/// Whether the host runs `op` in the order of the block: everything but reads of variables,
/// constants, sizes, reshapes, assignments and terminators.
bool isStep(mlir::Operation *op);

/// Checks what the stages before guarantee of a block of an entry: known operations, one assignment
/// of each variable, after all reads of it.
llvm::LogicalResult checkSteps(mlir::Block &block);

/// Bytes of an element in memory: bool takes one.
int64_t elementBytes(mlir::Type elementType);
dfg::DimExpr bytesOf(mlir::Type tensor);

} // namespace tfc::memory
