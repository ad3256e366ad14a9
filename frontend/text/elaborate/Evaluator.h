/// The recursion of the language: the interface by which collaborators call later ones.
#pragma once

#include "frontend/text/elaborate/Scope.h"

namespace tfc::text {

/// Evaluating expressions and names involves the whole language, so types, tensors, lists and parts
/// evaluate them through this interface and do not depend on its implementation.
class Evaluator {
public:
  virtual Entity eval(const ast::Expr *expr) = 0;

  /// The value of a name; std::nullopt if it is undefined.
  virtual std::optional<Entity> lookup(llvm::StringRef name, SourceRange at) = 0;
  /// The entity of this name that the file, the part or the call declares, excluding operations.
  /// With `inBlocks`, also one bound by an enclosing `dataflow` block.
  virtual std::optional<Entity> lookupDeclared(llvm::StringRef name, SourceRange at,
                                               bool inBlocks = true) = 0;
  /// The value that an enclosing `dataflow` block binds.
  virtual std::optional<Entity> lookupDataflow(llvm::StringRef name, SourceRange at) = 0;
  /// A declared name of a file.
  virtual std::optional<Entity> valueInModule(Module &module, llvm::StringRef name,
                                              SourceRange at) = 0;
  /// A member, a parameter or a size of an instance.
  virtual std::optional<Entity> valueInInstance(Instance &instance, llvm::StringRef name,
                                                SourceRange at) = 0;

protected:
  ~Evaluator() = default;
};

} // namespace tfc::text
