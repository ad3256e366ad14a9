/// The recursion of the language: what collaborators need from those that use them.
#pragma once

#include "frontend/text/elaborate/Scope.h"

namespace tfc::text {

/// Expressions and names mean whatever the whole language can say, so types, tensors, lists and
/// parts evaluate them through this interface and depend on none of what implements it.
class Evaluator {
public:
  virtual Entity eval(const ast::Expr *expr) = 0;

  /// What a name means here; nothing if it means nothing.
  virtual std::optional<Entity> lookup(llvm::StringRef name, SourceRange at) = 0;
  /// What the file, the part or the call declares by this name, but no operation.
  /// With `inBlocks`, also what a `dataflow` block around binds.
  virtual std::optional<Entity> lookupDeclared(llvm::StringRef name, SourceRange at,
                                               bool inBlocks = true) = 0;
  /// What a `dataflow` block around binds.
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
