// The names shared by the entries of a module.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <set>
#include <string>

namespace tfc::importer {

struct ModuleSymbols {
  enum class Kind { Entry, Variable, Queue, Tape };

  /// Returns true if `name` is free or already names something of this kind.
  bool claim(llvm::StringRef name, Kind kind) {
    return kinds.try_emplace(name, kind).first->second == kind;
  }

  llvm::StringMap<Kind> kinds;
  std::map<std::string, mlir::RankedTensorType> variables;
  std::set<std::string> queues, tapes;
};

} // namespace tfc::importer
