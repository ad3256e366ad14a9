// Whether an operation runs on a CPU, for rewritings that know what is fast there.
#pragma once

#include "dialects/dfg/Devices.h"

namespace tfc {

/// Returns true for the default device, too.
inline bool isOnCpu(mlir::Operation *op) {
  auto device = op->getAttrOfType<dfg::DeviceAttr>(dfg::kDeviceAttr);
  return !device || device.getDevice().kind == "cpu";
}

} // namespace tfc
