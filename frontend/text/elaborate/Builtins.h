/// Functions of the language itself.
#pragma once

#include "frontend/TensorFile.h"
#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class GradientBuilder;
class ListEmitter;
class Meter;
class ModuleLoader;
class OperationBuilder;
class DatasetEmitter;
class QueueEmitter;
class Reporter;
class SizeScope;
class StaticStage;
class TensorEmitter;
class TypeEvaluator;

/// Functions of the language itself.
class Builtins {
public:
  Builtins(Context &context, SizeScope &sizeScope, Reporter &reporter, Meter &meter,
           StaticStage &staticStage, TensorEmitter &tensorEmitter, TypeEvaluator &typeEvaluator,
           ListEmitter &listEmitter, ModuleLoader &moduleLoader, QueueEmitter &queueEmitter,
           DatasetEmitter &datasetEmitter, OperationBuilder &operationBuilder,
           GradientBuilder &gradientBuilder)
      : context(context), sizeScope(sizeScope), reporter(reporter), meter(meter),
        staticStage(staticStage), tensorEmitter(tensorEmitter), typeEvaluator(typeEvaluator),
        listEmitter(listEmitter), moduleLoader(moduleLoader), queueEmitter(queueEmitter),
        datasetEmitter(datasetEmitter), operationBuilder(operationBuilder),
        gradientBuilder(gradientBuilder) {}

  /// The names of all, in order.
  static std::vector<llvm::StringRef> names();

  /// Returns true if a call changes a variable, the first argument, and the second has its type.
  static bool isAssignment(llvm::StringRef name);
  /// Returns true if variables among the arguments are read where the call names them.
  static bool readsArguments(llvm::StringRef name);

  Entity callBuiltin(llvm::StringRef name, Arguments &args, const ast::CallExpr &call);

private:
  struct Row;
  struct Table;
  /// A call of a function with arguments to which its row applies.
  struct Call {
    llvm::StringRef name, usage;
    Arguments &args;
    const ast::CallExpr &call;
  };

  Entity failUsage(const Call &c);
  Entity failSubject(const Row &row, llvm::ArrayRef<Argument> args, const ast::CallExpr &call);
  /// The type of a tensor, or of a value of that type; std::nullopt after an error.
  std::optional<TensorType> evalType(const Call &c);

  Entity callAddN(const Call &c);
  Entity callAssign(const Call &c);
  Entity callAssignAdd(const Call &c);
  Entity callAssignSub(const Call &c);
  Entity callBounded(const Call &c);
  Entity callCast(const Call &c);
  Entity callConstant(const Call &c);
  Entity callDtype(const Call &c);
  Entity callEnsure(const Call &c);
  Entity callIsFloat(const Call &c);
  Entity callIsInt(const Call &c);
  Entity callLoad(const Call &c);
  Entity callOwnFeed(const Call &c);
  Entity callRank(const Call &c);
  Entity callRead(const Call &c);
  Entity callShape(const Call &c);
  Entity callValues(const Call &c);
  Entity callWide(const Call &c);
  Entity callWithValues(const Call &c);
  Entity callZip(const Call &c);

  /// Assigns the value, or `op` of the variable and the value.
  Entity assign(const Call &c, llvm::StringRef op);
  Entity isOfFamily(const Call &c, dfg::Dtypes family);

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
  DatasetEmitter &datasetEmitter;
  OperationBuilder &operationBuilder;
  GradientBuilder &gradientBuilder;
  TensorFiles tensorFiles;
};

} // namespace tfc::text
