//===- Lists.h - Operations on lists --------------------------------------===//

#pragma once

#include "compiler/host/Copies.h"
#include "compiler/host/Scalars.h"

namespace tfc::host {

/// Growing memory of an instance.
class Chunks {
public:
  Chunks(Context &context, Addresses &addresses) : context(context), addresses(addresses) {}

  /// Returns the current address of a chunk.
  mlir::Value data(unsigned number);
  /// Grows a chunk to at least the given size.
  void grow(unsigned number, mlir::Value bytes);

private:
  Context &context;
  Addresses &addresses;
};

/// Builds operations on lists. Lengths of lists are in registers; elements start at the beginning
/// of the list's chunk.
///
/// Positions are compared with the length here, too, because an operation may run before the check
/// that belongs to it.
class Lists {
public:
  Lists(Context &context, SizeBuilder &sizes, Addresses &addresses, Scalars &scalars,
        Copies &copies, Chunks &chunks);

  void create(dfg::ListCreateOp op);
  void unstack(dfg::ListUnstackOp op);
  void read(dfg::ListReadOp op);
  void write(dfg::ListWriteOp op);
  void stack(dfg::ListStackOp op);
  void measure(dfg::ListSizeOp op);

  mlir::Value lengthOf(mlir::Value list);
  void setLength(mlir::Value list, mlir::Value length) { lengths[list] = length; }
  /// Copies a list into the chunk of another list, unless it is already there.
  void copyInto(mlir::Value list, mlir::Value result) { copyList(list, chunkOf(result)); }
  /// Copies the lists that the body of a loop yields into the chunks of its results.
  void copyYielded(dfg::WhileOp op);

private:
  unsigned chunkOf(mlir::Value list);
  mlir::Value dataOf(mlir::Value list);
  void copyList(mlir::Value list, unsigned chunk);
  mlir::Value bytesOfElements(mlir::Value count, mlir::Type element);
  mlir::Value bytesOfList(mlir::Value list);
  mlir::Value longest(mlir::Value elementBytes);

  Context &context;
  SizeBuilder &sizes;
  Addresses &addresses;
  Scalars &scalars;
  Copies &copies;
  Chunks &chunks;
  llvm::DenseMap<mlir::Value, mlir::Value> lengths;
  unsigned chunkCount = 0; // number of chunks in the memory plan
};

/// Writes an element of a list or tape, which is a register or a tensor.
void writeElement(mlir::Value to, mlir::Value element, Scalars &scalars, Copies &copies);

} // namespace tfc::host
