//===- PackConstants.cpp - Constants in the order in which they are read --===//
//
// Brings the elements of constants into the order that kernels have chosen for their arguments.
//
//===----------------------------------------------------------------------===//

#include "compiler/memory/Passes.h"
#include "dialects/dfg/Dfg.h"
#include "dialects/dfg/ElementData.h"
#include "dialects/kernel/Kernel.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include <algorithm>

using namespace mlir;
using namespace tfc::dfg;
namespace kernel = tfc::kernel;

namespace tfc {
#define GEN_PASS_DEF_PACKCONSTANTS
#include "compiler/memory/Passes.h.inc"
} // namespace tfc

/// Copies the elements of the columns [first, first + count), step by step or, of each column,
/// group by group.
static char *copyPanel(ArrayRef<char> from, kernel::PackingAttr packing, int64_t first,
                       int64_t count, int64_t bytes, char *to) {
  ArrayRef<int64_t> sizes = packing.getSizes().drop_front();
  ArrayRef<int64_t> strides = packing.getStrides().drop_front();
  int64_t across = packing.getStrides().front() * bytes, steps = 1;
  for (int64_t size : sizes)
    steps *= size;
  int64_t inner = sizes.empty() ? 1 : sizes.back(), group = packing.getGroup(), together = 1;
  for (int64_t step = 0; step < steps; step += together) {
    int64_t rest = step, offset = packing.getStrides().front() * first;
    for (size_t i = sizes.size(); i-- > 0; rest /= sizes[i])
      offset += rest % sizes[i] * strides[i];
    together = step % inner + group <= inner ? group : 1;
    const char *source = from.data() + offset * bytes;
    for (int64_t column = 0; column < count; ++column, source += across)
      for (int64_t i = 0; i < together; ++i, to += bytes)
        memcpy(to, source + (i ? i * strides.back() * bytes : 0), bytes);
  }
  return to;
}

static ElementsAttr pack(ElementsAttr value, kernel::PackingAttr packing) {
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (dense && dense.isSplat())
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  int64_t bytes = type.getElementTypeBitWidth() / 8, columns = packing.getSizes().front();
  return rewriteElements(value, type, [&](ArrayRef<char> from, char *to) {
    for (int64_t first = 0; first < columns; first += packing.getColumns()) {
      int64_t count = std::min(packing.getColumns(), columns - first);
      to = copyPanel(from, packing, first, count, bytes, to);
    }
  });
}

/// Counts the operations that hold the elements of each resource.
static DenseMap<Attribute, unsigned> countHolders(ModuleOp module) {
  DenseMap<Attribute, unsigned> holders;
  module.walk([&](Operation *op) {
    for (NamedAttribute attribute : op->getAttrs())
      if (isa<DenseResourceElementsAttr>(attribute.getValue()))
        ++holders[attribute.getValue()];
  });
  return holders;
}

namespace {
struct PackConstantsPass : tfc::impl::PackConstantsBase<PackConstantsPass> {
  using Base::Base;

  void runOnOperation() override {
    llvm::MapVector<ConstantOp, kernel::PackingAttr> packed;
    SymbolTable symbols(getOperation());
    getOperation().walk([&](LaunchOp launch) {
      auto kernel = symbols.lookup<kernel::FuncOp>(launch.getKernel());
      for (unsigned tensor = 0; kernel && tensor < kernel.getNumTensors(); ++tensor)
        if (kernel::PackingAttr packing = kernel.getPacking(tensor))
          packed[launch.getInputs()[tensor].getDefiningOp<ConstantOp>()] = packing;
    });
    DenseMap<Attribute, unsigned> holders = countHolders(getOperation());
    for (auto &[constant, packing] : packed) {
      ElementsAttr before = constant.getValue();
      constant.setValueAttr(pack(before, packing));
      // Models are large: the context would keep the elements in both orders.
      auto resource = dyn_cast<DenseResourceElementsAttr>(before);
      if (resource && --holders[before] == 0)
        resource.getRawHandle().getResource()->setBlob({});
    }
  }
};
} // namespace
