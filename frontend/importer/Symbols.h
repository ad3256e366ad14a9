// The names shared by the entries of a module.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <map>
#include <string>

namespace tfc::importer {

/// The symbols of a module, each with the operation that declares it, such as `dfg::VariableOp`.
class ModuleSymbols {
public:
  /// Returns true if `name` is free or has already been claimed for such an operation.
  template <typename Op> bool claim(llvm::StringRef name) {
    auto id = mlir::TypeID::get<Op>();
    return kinds.try_emplace(name, id).first->second == id;
  }
  /// Returns true if `name` has been claimed for such an operation.
  template <typename Op> bool isClaimed(llvm::StringRef name) const {
    auto found = kinds.find(name);
    return found != kinds.end() && found->second == mlir::TypeID::get<Op>();
  }
  /// Returns true at the first call for `name`, whose operation the caller then creates.
  bool declare(llvm::StringRef name) { return declared.insert(name).second; }

  std::map<std::string, mlir::RankedTensorType> variables;

private:
  llvm::StringMap<mlir::TypeID> kinds;
  llvm::StringSet<> declared;
};

} // namespace tfc::importer
