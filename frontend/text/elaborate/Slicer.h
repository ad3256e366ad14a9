/// Evaluates `@slice`: which elements of a larger tensor a variable holds.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class Reporter;
class StaticStage;

class Slicer {
public:
  Slicer(Context &context, Reporter &reporter, StaticStage &staticStage)
      : context(context), reporter(reporter), staticStage(staticStage) {}

  /// The slice that `@slice` states for a variable of a type. `whole` is its name without the
  /// indices of shards, or empty; in shards, a variable without `@slice` is a copy. Null if it is
  /// no slice, or after an error.
  dfg::SliceAttr read(const ast::VarDecl &decl, mlir::RankedTensorType type, llvm::StringRef whole);

  /// That of a slot for `variable`: its elements belong to those of the variable if it has the same
  /// shape.
  dfg::SliceAttr ofSlot(mlir::RankedTensorType type, llvm::StringRef whole,
                        const Variable &variable);

private:
  struct Arguments;

  bool readArguments(const ast::Annotation &annotation, Arguments &arguments);
  dfg::SliceAttr copyOf(llvm::StringRef whole, mlir::RankedTensorType type);

  Context &context;
  Reporter &reporter;
  StaticStage &staticStage;
};

/// The annotation of this name, or null.
const ast::Annotation *findAnnotation(const ast::Stmt &stmt, llvm::StringRef name);

} // namespace tfc::text
