//===- Machine.h - Devices and what they can do ---------------------------===//

#pragma once

#include "compiler/placement/Schedule.h"
#include "dialects/dfg/DeviceName.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <map>

namespace tfc::placement {

/// Returns true if this version of tfc has kernels for a device that satisfies the name.
bool isSupported(const dfg::DeviceName &name);

/// Returns true if a name leaves the kind of device open, or says one that exists.
bool isKnownKind(const dfg::DeviceName &name);

/// Says why nothing is placed on a device that is not supported.
std::string refusalOf(const dfg::DeviceName &name);

/// Returns the device of a name, with the open parts as in the caller's device.
dfg::DeviceName complete(const dfg::DeviceName &name);

/// Figures of a device, by default those of an ordinary core.
struct DeviceFigures {
  double flops = 100e9; // per second
  double bytes = 10e9;  // per second
  double launch = 2e-7; // seconds before a kernel runs
};

/// The devices on which operations can be placed, by number, the caller's first.
class Machine {
public:
  Machine();

  /// Adds the devices of a description; see docs/command-line.md. Fails, with the reason, if the
  /// text is none.
  bool read(llvm::StringRef text, std::string &reason);

  /// Returns the number of a device, and adds it if it is new.
  unsigned add(const dfg::DeviceName &name);

  llvm::ArrayRef<dfg::DeviceName> getNames() const { return names; }
  unsigned size() const { return names.size(); }
  const DeviceFigures &getFigures(unsigned device) const { return figures[device]; }
  Link getLink(unsigned from, unsigned to) const;

private:
  friend class MachineReader;

  llvm::SmallVector<dfg::DeviceName> names;
  llvm::SmallVector<DeviceFigures> figures;
  std::map<std::pair<unsigned, unsigned>, Link> links; // those that are described
};

} // namespace tfc::placement
