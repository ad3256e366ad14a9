/// Calls functions of the graph source that ships with tfc, for frontends of other formats.
#pragma once

#include "dialects/dfg/Types.h"
#include "frontend/ImportOptions.h"
#include "llvm/ADT/StringRef.h"
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tfc {
class GraphBuilder;
}

namespace tfc::text {

class LibraryCalls {
public:
  /// Group: numbers or strings that are known when the graph is compiled. Tensors: any number of
  /// them, for a `group` whose default is `[]`.
  enum class Kind { Tensor, Tensors, Int, Float, Bool, String, DType, Group };
  struct Parameter {
    llvm::StringRef name;
    Kind kind;
    bool hasDefault;
  };
  /// An argument, by the parameter's kind: sizes are an Int (one) or a Group, floats and strings a
  /// Group.
  using Value = std::variant<mlir::Value, double, bool, std::string, mlir::Type, dfg::Shape,
                             llvm::SmallVector<mlir::Value>, llvm::SmallVector<double>,
                             llvm::SmallVector<std::string>>;
  struct Argument {
    llvm::StringRef name;
    Value value;
  };

  /// Calls functions of the shipped files, of which the first one that declares a function counts,
  /// and those that every file sees; operations are created at the insertion point of `builder`.
  LibraryCalls(GraphBuilder &builder, llvm::ArrayRef<llvm::StringRef> files,
               const ImportOptions &options = {});
  ~LibraryCalls();

  /// Whether one of the files has a function that others may call.
  bool declares(llvm::StringRef function) const;
  /// The files and names of all functions that `declares` knows, in the order of the files and then
  /// by name.
  std::vector<std::pair<llvm::StringRef, std::string>> functions() const;
  /// The parameters of a function, in order.
  llvm::ArrayRef<Parameter> parameters(llvm::StringRef function) const;
  /// The results of a call; std::nullopt after errors, which are reported at `location`.
  std::optional<llvm::SmallVector<mlir::Value>>
  call(llvm::StringRef function, llvm::ArrayRef<Argument> arguments, mlir::Location location);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace tfc::text
