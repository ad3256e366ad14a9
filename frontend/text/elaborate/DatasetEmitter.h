/// Declares datasets and creates the operations on them.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class Evaluator;
class Reporter;
class StaticStage;
class TensorEmitter;
class TypeEvaluator;

/// Declares datasets and creates the operations on them.
class DatasetEmitter {
public:
  DatasetEmitter(Context &context, Evaluator &evaluator, Reporter &reporter,
                 StaticStage &staticStage, TensorEmitter &tensorEmitter,
                 TypeEvaluator &typeEvaluator)
      : context(context), evaluator(evaluator), reporter(reporter), staticStage(staticStage),
        tensorEmitter(tensorEmitter), typeEvaluator(typeEvaluator) {}

  Entity declareDataset(const ast::DatasetDecl &decl, const LetName &name,
                        std::shared_ptr<Activation> declaring);
  void createDatasets();

  // Functions of datasets. The first argument is the dataset.
  Entity callReadRows(const Dataset &dataset, llvm::ArrayRef<Argument> args,
                      const ast::CallExpr &call);
  Entity callSize(const Dataset &dataset, llvm::ArrayRef<Argument> args, const ast::CallExpr &call);

private:
  bool evalFiles(const ast::DatasetDecl &decl, Dataset &dataset);
  /// A tensor of numbers of rows; null after an error.
  mlir::Value toNumbers(const Argument &argument);

  Context &context;
  Evaluator &evaluator;
  Reporter &reporter;
  StaticStage &staticStage;
  TensorEmitter &tensorEmitter;
  TypeEvaluator &typeEvaluator;
};

} // namespace tfc::text
