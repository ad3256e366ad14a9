// Builds reads of what comes from outside of the graph during a call.
#pragma once

#include "compiler/host/Addresses.h"

namespace tfc::host {

/// Builds the operations on datasets, and those that read the feeds of a process: both copy to the
/// memory of values. The runtime opens and reads files.
class Inputs {
public:
  Inputs(Context &context, SizeBuilder &sizes, Addresses &addresses)
      : context(context), sizes(sizes), addresses(addresses) {}

  void read(dfg::ReadRowsOp op);
  void measure(dfg::DatasetSizeOp op);
  void copy(dfg::OwnFeedOp op);

private:
  mlir::Value countOf(mlir::Value value);

  Context &context;
  SizeBuilder &sizes;
  Addresses &addresses;
};

} // namespace tfc::host
