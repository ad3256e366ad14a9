//===- Devices.h - Programs on several devices ----------------------------===//

#pragma once

#include "Program.h"
#include "Random.h"

namespace tfc::random {

/// Lets operations and variables say on which of 1 to 4 CPU devices they shall be: single ones,
/// runs of operations, and the contents of branches and loops. Operations on one list, and on the
/// tape of lists, ask for one device, because placement refuses contradictions.
///
/// Some programs first become what they are before placement, so that the operations of gradients,
/// tapes and checks have random devices, too.
void drawDevices(Program &program, Random random);

/// Returns true if something in the module says on which device it shall be.
bool hasDevices(mlir::ModuleOp module);

} // namespace tfc::random
