// Declares datasets and creates the operations on them. A declaration says what a row is and where
// the rows are; the files are opened at run time.
#include "frontend/text/elaborate/DatasetEmitter.h"

#include "dialects/dfg/Datasets.h"
#include "frontend/text/elaborate/Evaluator.h"
#include "frontend/text/elaborate/Reporter.h"
#include "frontend/text/elaborate/StaticStage.h"
#include "frontend/text/elaborate/TensorEmitter.h"
#include "frontend/text/elaborate/TypeEvaluator.h"

using namespace llvm;

namespace tfc::text {

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

/// `csv("a.csv", "b.csv", skip: 1)` and the like; false after an error.
bool DatasetEmitter::evalFiles(const ast::DatasetDecl &decl, Dataset &dataset) {
  const auto *call = dyn_cast<ast::CallExpr>(decl.init);
  const auto *callee = call ? dyn_cast<ast::NameExpr>(call->callee) : nullptr;
  auto format = callee ? dfg::symbolizeDatasetFormat(callee->name) : std::nullopt;
  if (!format) {
    reporter
        .error(decl.init->range, "bad-dataset",
               "the files of a dataset are csv, npy, safetensors, tfrecord or raw")
        .help("as in csv(\"train.csv\", skip: 1)");
    return false;
  }
  dataset.format = *format;
  bool ok = true;
  for (const ast::Arg &arg : call->args) {
    if (arg.label && arg.label.text == "skip") {
      std::optional<int64_t> value = staticStage.evalStaticInt(arg.value);
      ok &= value.has_value();
      dataset.skip = value.value_or(0);
      continue;
    }
    if (arg.label) {
      Diagnostic &diagnostic =
          reporter.error(arg.label.range, "unknown-argument", "'{}' has no parameter '{}'",
                         callee->name, arg.label.text);
      reporter.suggest(diagnostic, arg.label.text, {"skip"});
      ok = false;
      continue;
    }
    Entity value = evaluator.eval(arg.value);
    if (const std::string *path = value.get<std::string>(); path && !path->empty()) {
      dataset.files.push_back(*path);
      continue;
    }
    if (!value.isPoison())
      reporter.error(arg.range, "bad-dataset",
                     "a file of a dataset is a string with its path, but got {}", value.describe());
    ok = false;
  }
  return ok;
}

Entity DatasetEmitter::declareDataset(const ast::DatasetDecl &decl, const LetName &name,
                                      std::shared_ptr<Activation> declaring) {
  SaveAndRestore<Activation *> inner(context.activation, declaring.get());
  Dataset dataset{name.path, {}, {}, {}, {}, 0, name.order, reporter.locate(decl.name.range)};
  bool ok = evalFiles(decl, dataset);
  ok &= typeEvaluator.evalFields(decl.fields, "bad-dataset", "rows of a dataset", dataset.names,
                                 dataset.components);
  if (!ok)
    return Poison();
  if (auto reason =
          dfg::checkDataset(dataset.format, dataset.components, dataset.files.size(), dataset.skip))
    return reporter.fail(decl.name.range, "bad-dataset", "{}", *reason);
  context.program.datasets.push_back(std::move(dataset));
  return Entity(&context.program.datasets.back());
}

void DatasetEmitter::createDatasets() {
  for (Dataset *dataset : inOrder(context.program.datasets)) {
    SmallVector<mlir::Type> types(dataset->components.begin(), dataset->components.end());
    context.builder.getResources().createDataset(dataset->path, types, dataset->names,
                                                 dataset->format, dataset->files, dataset->skip,
                                                 dataset->location);
  }
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

mlir::Value DatasetEmitter::toNumbers(const Argument &argument) {
  mlir::Type wide = mlir::IntegerType::get(context.mlir, 64);
  mlir::Value value = tensorEmitter.toTensor(argument.value, wide, argument.range);
  if (!value)
    return nullptr;
  if (auto tensor = dyn_cast<mlir::RankedTensorType>(value.getType());
      tensor && tensor.getElementType() == wide)
    return value;
  reporter
      .error(argument.range, "operand-kind", "numbers of rows are i64, but got {}",
             dfg::toText(value.getType()))
      .help("i64(x) converts a tensor");
  return nullptr;
}

Entity DatasetEmitter::callReadRows(const Dataset &dataset, ArrayRef<Argument> args,
                                    const ast::CallExpr &call) {
  mlir::Value rows = toNumbers(args[1]), next;
  if (!rows)
    return Poison();
  if (args.size() == 3 && !(next = toNumbers(args[2])))
    return Poison();
  SmallVector<mlir::Type> types;
  for (mlir::RankedTensorType component : dataset.components) {
    dfg::Shape shape = dfg::shapeOf(rows.getType());
    append_range(shape, dfg::shapeOf(component));
    types.push_back(dfg::tensorOf(shape, component.getElementType()));
  }
  mlir::Operation *op = context.builder.getResources().readRows(dataset.path, types, rows, next,
                                                                reporter.locate(call.range));
  std::vector<Entity> values;
  for (mlir::Value result : op->getResults())
    values.push_back(Entity(result));
  return Entity::group(std::move(values), dataset.names);
}

Entity DatasetEmitter::callSize(const Dataset &dataset, ArrayRef<Argument>,
                                const ast::CallExpr &call) {
  return Entity(
      context.builder.getResources().datasetSize(dataset.path, reporter.locate(call.range)));
}

} // namespace tfc::text
