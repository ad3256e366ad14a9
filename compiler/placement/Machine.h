//===- Machine.h - Devices and what they can do ---------------------------===//

#pragma once

#include "compiler/placement/Schedule.h"
#include "dialects/dfg/Cluster.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <map>

namespace tfc::placement {

/// Returns true if a name leaves the kind of device open, or says one that exists.
bool isKnownKind(const dfg::DeviceName &name);

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
  /// The devices of these tasks can be used, besides those of the process that makes a call.
  explicit Machine(dfg::Cluster cluster = {});

  /// Returns true if there may be a device that satisfies the name, with kernels for it.
  bool isSupported(const dfg::DeviceName &name) const;
  /// Says why nothing is placed on a device that is not supported.
  std::string refusalOf(const dfg::DeviceName &name) const;

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

  dfg::Cluster cluster;
  llvm::SmallVector<dfg::DeviceName> names;
  llvm::SmallVector<DeviceFigures> figures;
  std::map<std::pair<unsigned, unsigned>, Link> links; // those that are described
};

} // namespace tfc::placement
