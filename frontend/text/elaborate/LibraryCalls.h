/// Lets frontends of other formats call functions of the graph source that ships with tfc.
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
  enum class Kind { Tensor, Int, Float, Bool, String, DType, Group };
  struct Parameter {
    llvm::StringRef name;
    Kind kind;
    bool hasDefault;
  };
  /// By the parameter's kind: sizes are an Int (one) or a Group.
  using Value = std::variant<mlir::Value, double, bool, std::string, mlir::Type, dfg::Shape>;
  struct Argument {
    llvm::StringRef name;
    Value value;
  };

  /// Calls what the shipped file `file` declares; operations go where `builder` stands.
  LibraryCalls(GraphBuilder &builder, llvm::StringRef file, const ImportOptions &options = {});
  ~LibraryCalls();

  bool declares(llvm::StringRef function) const;
  /// Those of a declared function, in order.
  std::vector<Parameter> parameters(llvm::StringRef function) const;
  /// The results of a call. Errors go to `location`; nothing after one.
  std::optional<llvm::SmallVector<mlir::Value>>
  call(llvm::StringRef function, llvm::ArrayRef<Argument> arguments, mlir::Location location);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace tfc::text
