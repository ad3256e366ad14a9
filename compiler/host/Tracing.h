//===- Tracing.h - Steps that are recorded --------------------------------===//

#pragma once

#include "compiler/host/Context.h"
#include "compiler/host/SizeBuilder.h"

namespace tfc::host {

/// Records when the steps of a host function begin and end, for `tfc profile`. Without a request,
/// it adds nothing to the function.
class Tracing {
public:
  Tracing(Context &context, SizeBuilder &sizes, bool isOn)
      : context(context), sizes(sizes), isOn(isOn) {}

  /// Builds a step. Kernels, messages and waits are recorded.
  void build(mlir::Operation *step, llvm::function_ref<void()> build);

private:
  Context &context;
  SizeBuilder &sizes;
  bool isOn;
};

} // namespace tfc::host
