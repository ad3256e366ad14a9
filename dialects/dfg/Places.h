//===- Places.h - In which memory a value is ------------------------------===//
//
// The memory plan decides where results are; the host function finds them there.
// This is how both read the decision.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/dfg/HostForm.h"

namespace tfc::dfg {

/// Where a launch writes a result; in the arena before memory is planned.
PlaceAttr placeOf(LaunchOp launch, unsigned result);

/// Returns true if the list is a tensor that is only read: it needs no chunk.
bool isListView(mlir::Value list);

/// The value whose memory `value` is: looks through reshapes and lists that are
/// views of tensors.
mlir::Value rootOf(mlir::Value value);

/// The root whose memory `root` is: looks through results that are written over an operand.
mlir::Value storageOf(mlir::Value root);

/// Whether the kernel writes a result over one of its operands: it has no pointer of its own then.
bool isWrittenOverOperand(LaunchOp launch, unsigned result);

/// Whether the memory of a root is in the arena.
bool isInArena(mlir::Value root);

/// Sets and tells which carried values of a loop are changed in one buffer; the others have two,
/// which take turns.
void setSingleBuffers(WhileOp loop, llvm::ArrayRef<int64_t> carried);
bool hasSingleBuffer(WhileOp loop, unsigned carried);

/// Whether a value that the host has in a register is read from memory as well.
bool isReadFromMemory(mlir::Value scalar);

/// Whether the host computes the value in a register: scalars of its own, those that branches and
/// loops give and carry.
bool isRegister(mlir::Value value);

/// The assignments of an entry that copy at its end: those of values that are made elsewhere.
llvm::SmallVector<AssignOp> copiedAtEnd(mlir::Block &block);

/// The reads among the values that are copied at the end whose variable changes as well: they are
/// saved before the copies.
llvm::SmallVector<ReadOp> savedBeforeCopies(mlir::Block &block);

/// The value in a launch of a size of its kernel's `#kernel.abi`.
DimExpr launchSize(LaunchOp launch, mlir::AffineMapAttr size);

/// Whether the host runs `op` in the order of the block: everything but reads of variables,
/// constants, sizes, reshapes, assignments and terminators.
bool isStep(mlir::Operation *op);

/// Checks what the stages before guarantee of a block of an entry: known operations, one assignment
/// of each variable, after all reads of it.
llvm::LogicalResult checkSteps(mlir::Block &block);
/// The same for all blocks of an entry, whose launches must write the fetches in whose memory they
/// are.
llvm::LogicalResult checkAllSteps(EntryOp entry);

/// Bytes of an element in memory: bool takes one.
int64_t elementBytes(mlir::Type elementType);
DimExpr bytesOf(mlir::Type tensor);

} // namespace tfc::dfg
