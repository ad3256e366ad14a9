//===- PlaceOperations.cpp - Giving operations a device -------------------===//
//
// Checks that all operations can be on the default device.
//
//===----------------------------------------------------------------------===//

#include "compiler/placement/Groups.h"
#include "compiler/placement/Passes.h"

using namespace mlir;
using namespace tfc::dfg;

namespace tfc {
#define GEN_PASS_DEF_PLACEOPERATIONS
#include "compiler/placement/Passes.h.inc"

namespace {

/// The device of what says nothing.
const DeviceName kDefaultDevice{"local", 0, "cpu", 0};

class PlaceOperations final : public impl::PlaceOperationsBase<PlaceOperations> {
public:
  void runOnOperation() override {
    Groups groups;
    if (failed(groups.build(getOperation())))
      return signalPassFailure();
    for (const Groups::Constraint &constraint : groups.constraints())
      if (!DeviceName::both(constraint.device, kDefaultDevice)) {
        constraint.source->emitError("this version of tfc cannot place anything on ")
            << constraint.device.str() << ": all is on " << kDefaultDevice.str() << " [not-yet]";
        return signalPassFailure();
      }
    getOperation().walk([](Operation *op) {
      op->removeAttr(kDeviceAttr);
      op->removeAttr(kColocateAttr);
    });
  }
};

} // namespace
} // namespace tfc
