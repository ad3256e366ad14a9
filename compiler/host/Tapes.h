//===- Tapes.h - Operations on tapes --------------------------------------===//

#pragma once

#include "compiler/host/Lists.h"

namespace tfc::host {

/// Builds operations on tapes. Lengths are in stack memory that LLVM promotes to registers;
/// elements are in chunks.
class Tapes {
public:
  Tapes(Context &context, SizeBuilder &sizes, Addresses &addresses, Scalars &scalars,
        Copies &copies, Chunks &chunks)
      : context(context), sizes(sizes), addresses(addresses), scalars(scalars), copies(copies),
        chunks(chunks) {}

  /// Empties the tapes and reserves memory for those whose maximum length is known.
  void start();
  void push(dfg::PushOp op);
  void pop(dfg::PopOp op);

private:
  struct Tape {
    dfg::TapeOp op;
    unsigned chunk;
    mlir::Value length; // its address
  };

  void start(unsigned chunk, mlir::FlatSymbolRefAttr symbol);
  const Tape *find(mlir::Operation *user, mlir::FlatSymbolRefAttr symbol);
  bool countsElements(const Tape &tape) const;
  mlir::Value unitOf(const Tape &tape);
  mlir::Value stepOf(const Tape &tape);
  mlir::Value lengthOf(const Tape &tape);
  mlir::Value placeAt(const Tape &tape, mlir::Value length);
  void show(dfg::PushOp op, dfg::ProbeAttr probe);

  Context &context;
  SizeBuilder &sizes;
  Addresses &addresses;
  Scalars &scalars;
  Copies &copies;
  Chunks &chunks;
  llvm::DenseMap<mlir::Attribute, Tape> tapes; // by symbol
};

} // namespace tfc::host
