//===- NumberLists.cpp - Telling equal lists apart ------------------------===//
//
// A list and its operations are on one device. Two lists that begin with the same elements are
// different lists, and may be on different devices, but a stage before placement would merge
// them, and so tie the operations of both together.
//
//===----------------------------------------------------------------------===//

#include "compiler/placement/Passes.h"
#include "dialects/dfg/Devices.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc {
#define GEN_PASS_DEF_NUMBERLISTS
#include "compiler/placement/Passes.h.inc"

static bool isList(Type type) { return isa<ListType>(type); }

/// Returns true if something of the module says where it shall be.
static bool namesDevices(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        return placementOf(op).empty() ? WalkResult::advance() : WalkResult::interrupt();
      })
      .wasInterrupted();
}

namespace {
class NumberLists final : public impl::NumberListsBase<NumberLists> {
public:
  using Base::Base;

  void runOnOperation() override {
    if (!divides && !namesDevices(getOperation()))
      return markAllAnalysesPreserved();
    Builder b(&getContext());
    int32_t number = 0;
    getOperation().walk([&](Operation *op) {
      bool makesList = op->getNumRegions() == 0 && llvm::any_of(op->getResultTypes(), isList) &&
                       llvm::none_of(op->getOperandTypes(), isList);
      if (makesList)
        op->setAttr(kListAttr, b.getI32IntegerAttr(number++));
    });
  }
};
} // namespace

} // namespace tfc
