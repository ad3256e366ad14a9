// Builds reads of files.
#pragma once

#include "compiler/host/Addresses.h"

namespace tfc::host {

/// Builds the operations on datasets, which copy rows to the memory of values. Files are up to the
/// runtime.
class Datasets {
public:
  Datasets(Context &context, SizeBuilder &sizes, Addresses &addresses)
      : context(context), sizes(sizes), addresses(addresses) {}

  void read(dfg::ReadRowsOp op);
  void measure(dfg::DatasetSizeOp op);

private:
  mlir::Value countOf(mlir::Value numbers);

  Context &context;
  SizeBuilder &sizes;
  Addresses &addresses;
};

} // namespace tfc::host
