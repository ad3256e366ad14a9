/// Functions of the language itself, as a table.
#pragma once

#include "frontend/TensorFile.h"
#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class GradientBuilder;
class ListEmitter;
class Meter;
class ModuleLoader;
class OperationBuilder;
class QueueEmitter;
class Reporter;
class SizeScope;
class StaticStage;
class TensorEmitter;
class TypeEvaluator;

/// Functions of the language itself, as a table.
class Builtins {
public:
  Builtins(Context &context, SizeScope &sizeScope, Reporter &reporter, Meter &meter,
           StaticStage &staticStage, TensorEmitter &tensorEmitter, TypeEvaluator &typeEvaluator,
           ListEmitter &listEmitter, ModuleLoader &moduleLoader, QueueEmitter &queueEmitter,
           OperationBuilder &operationBuilder, GradientBuilder &gradientBuilder)
      : context(context), sizeScope(sizeScope), reporter(reporter), meter(meter),
        staticStage(staticStage), tensorEmitter(tensorEmitter), typeEvaluator(typeEvaluator),
        listEmitter(listEmitter), moduleLoader(moduleLoader), queueEmitter(queueEmitter),
        operationBuilder(operationBuilder), gradientBuilder(gradientBuilder) {}

  /// The names of all, in order.
  static std::vector<llvm::StringRef> names();

  /// Returns true if a call changes a variable, the first argument, and the second has its type.
  static bool isAssignment(llvm::StringRef name);

  Entity callBuiltin(llvm::StringRef name, Arguments &args, const ast::CallExpr &call);

private:
  struct Call {
    llvm::StringRef name;
    Arguments &args;
    const ast::CallExpr &call;
  };
  struct Row;
  static llvm::ArrayRef<Row> rows();
  static const Row &lookup(llvm::StringRef name);

  Entity readValue(const Argument &arg);
  Entity valuesOf(const Argument &arg);
  std::optional<Entity> askType(llvm::StringRef name, const Argument &arg);
  Entity widen(const Argument &arg);
  Entity replaceValues(llvm::ArrayRef<Argument> args, SourceRange at);
  Entity callCastByName(Arguments &args, const ast::CallExpr &call);
  Entity callConstant(llvm::ArrayRef<Argument> args, const ast::CallExpr &call);
  Entity callEnsure(llvm::ArrayRef<Argument> args, const ast::CallExpr &call);
  Entity callLoad(llvm::ArrayRef<Argument> args, const ast::CallExpr &call);
  Entity zipGroups(llvm::ArrayRef<Argument> args, SourceRange at);
  Entity addAll(llvm::ArrayRef<Argument> args, SourceRange at);
  Entity callBounded(llvm::ArrayRef<Argument> args, const ast::CallExpr &call);
  /// Assigns the value, or `op` of the variable and the value.
  Entity callAssign(const Call &c, llvm::StringRef op);

  Context &context;
  SizeScope &sizeScope;
  Reporter &reporter;
  Meter &meter;
  StaticStage &staticStage;
  TensorEmitter &tensorEmitter;
  TypeEvaluator &typeEvaluator;
  ListEmitter &listEmitter;
  ModuleLoader &moduleLoader;
  QueueEmitter &queueEmitter;
  OperationBuilder &operationBuilder;
  GradientBuilder &gradientBuilder;
  TensorFiles tensorFiles;
};

} // namespace tfc::text
