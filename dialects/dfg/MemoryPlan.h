//===- MemoryPlan.h - The memory in which values are stored ---------------===//
//
// The memory plan decides where results are stored, and the host function reads the decision
// through these functions.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/dfg/HostForm.h"
#include "dialects/dfg/MessageOps.h"

namespace tfc::dfg {

/// Returns where a launch writes a result; the arena before memory is planned.
MemoryAttr memoryOf(LaunchOp launch, unsigned result);

/// Returns true if the list is a view of a tensor that is only read, so that it needs no chunk.
bool isListView(mlir::Value list);

/// Returns the value that owns the memory of `value`: looks through reshapes and through lists that
/// are views of tensors.
mlir::Value rootOf(mlir::Value value);

/// Returns true if the operation, or one in its regions, reads the memory of a variable.
bool readsVariables(mlir::Operation *op);

/// Returns the root that owns the memory of `root`: looks through results that overwrite an
/// operand.
mlir::Value storageOf(mlir::Value root);

/// Returns true if the kernel writes a result over one of its operands, so that it has no pointer
/// argument for the result.
bool isWrittenOverOperand(LaunchOp launch, unsigned result);

/// Returns true if the memory of a root is in the arena.
bool isInArena(mlir::Value root);

/// The bytes of each buffer of a send that copies its value, so that the next one is aligned.
DimExpr sendBufferBytes(SendOp send);

/// Sets and returns which carried values of a loop are updated in a single buffer; the others
/// alternate between two buffers.
void setSingleBuffers(WhileOp loop, llvm::ArrayRef<int64_t> carried);
bool hasSingleBuffer(WhileOp loop, unsigned carried);

/// Returns true if a value that the host keeps in a register is also read from memory.
bool isReadFromMemory(mlir::Value scalar);

/// Returns true if the host keeps the value in a register: a scalar that it computes, or one that a
/// branch or loop returns or carries.
bool isRegister(mlir::Value value);

/// Returns the assignments of an entry that are copies at its end, because their values are not
/// computed in the variable.
llvm::SmallVector<AssignOp> copiedAtEnd(mlir::Block &block);

/// Returns the reads among the values copied at the end whose variables change, too; they are saved
/// before the copies.
llvm::SmallVector<ReadOp> savedBeforeCopies(mlir::Block &block);

/// Returns the value, in a launch, of a size in its kernel's `#kernel.abi`.
DimExpr launchSize(LaunchOp launch, mlir::AffineMapAttr size);

/// Returns true if the host runs `op` in the order of the block: everything except reads of
/// variables, constants, sizes, reshapes, assignments and terminators.
bool isStep(mlir::Operation *op);

/// Checks the form of a block that earlier stages guarantee: known operations, and at most one
/// assignment of each variable, after all reads of it.
llvm::LogicalResult checkSteps(mlir::Block &block);
/// The same for all blocks of an entry; its launches that write a fetch must compute that
/// fetch.
llvm::LogicalResult checkAllSteps(EntryOp entry);

/// Returns the bytes of an element in memory; a bool takes one byte.
int64_t elementBytes(mlir::Type elementType);
DimExpr bytesOf(mlir::Type tensor);

} // namespace tfc::dfg
