// What stages say to later ones in attributes of kernels. Modules that are read in the middle of
// the pipeline may hold anything there.

#include "compiler/pipeline/Pipeline.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace tfc;

/// Sizes of a tensor over the kernel's leading index arguments.
static bool isShapeOf(Attribute attribute, Type type, unsigned sizes) {
  auto map = dyn_cast<AffineMapAttr>(attribute);
  auto tensor = dyn_cast<RankedTensorType>(type);
  return map && tensor && map.getValue().getNumDims() == 0 &&
         map.getValue().getNumSymbols() <= sizes &&
         map.getValue().getNumResults() == unsigned(tensor.getRank());
}

static bool isNumberBelow(Attribute attribute, int64_t end) {
  auto number = dyn_cast<IntegerAttr>(attribute);
  return number && number.getValue().getSignificantBits() <= 64 && number.getInt() >= 0 &&
         number.getInt() < end;
}

static LogicalResult verifyKernel(func::FuncOp kernel) {
  unsigned sizes = 0;
  while (sizes < kernel.getNumArguments() && isa<IndexType>(kernel.getArgumentTypes()[sizes]))
    ++sizes;
  int64_t tensors = kernel.getNumArguments() - sizes;
  auto fail = [&](StringRef name) {
    return kernel.emitOpError("has an attribute '") << name << "' that no stage makes";
  };
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    if (Attribute shape = kernel.getArgAttr(i, "tfc.shape"))
      if (!isShapeOf(shape, kernel.getArgumentTypes()[i], sizes))
        return fail("tfc.shape");
  for (unsigned i = 0; i < kernel.getNumResults(); ++i) {
    if (Attribute shape = kernel.getResultAttr(i, "tfc.shape"))
      if (!isShapeOf(shape, kernel.getResultTypes()[i], sizes))
        return fail("tfc.shape");
    if (Attribute operand = kernel.getResultAttr(i, "tfc.inplace"))
      if (!isNumberBelow(operand, tensors))
        return fail("tfc.inplace");
    if (Attribute operands = kernel.getResultAttr(i, "tfc.may_share")) {
      auto list = dyn_cast<ArrayAttr>(operands);
      if (!list || llvm::any_of(list, [&](Attribute a) { return !isNumberBelow(a, tensors); }))
        return fail("tfc.may_share");
    }
  }
  if (Attribute symbols = kernel->getAttr("tfc.symbols")) {
    auto list = dyn_cast<ArrayAttr>(symbols);
    if (!list || list.size() > sizes || !llvm::all_of(list, llvm::IsaPred<StringAttr>))
      return fail("tfc.symbols");
  }
  return success();
}

LogicalResult tfc::verifyAnnotations(ModuleOp module) {
  for (auto kernel : module.getOps<func::FuncOp>())
    if (failed(verifyKernel(kernel)))
      return failure();
  return success();
}
