// Constructs the collaborators in the order of their dependences and runs them.
#include "frontend/text/elaborate/Elaborator.h"

#include "frontend/text/elaborate/Elaborate.h"

using namespace llvm;

namespace tfc::text {

Elaborator::Elaborator(GraphBuilder &builder, SourceManager &sources, DiagnosticEngine &diagnostics,
                       const ImportOptions &options)
    : context(builder, sources, diagnostics, options), sizeScope(context),
      reporter(context, sizeScope), meter(context, reporter), advisor(context, *this, reporter),
      sizeExplainer(context, sizeScope, advisor),
      errorCapture(context, reporter, advisor, sizeExplainer),
      staticStage(context, *this, sizeScope, reporter, meter), placer(context, *this, reporter),
      regionEditor(context),
      tensorEmitter(context, *this, sizeScope, reporter, meter, advisor, errorCapture),
      factChecker(context, *this, sizeScope, reporter, staticStage, tensorEmitter),
      factSolver(context, *this, reporter),
      typeEvaluator(context, *this, reporter, advisor, tensorEmitter),
      unifier(context, *this, sizeScope, reporter, advisor, tensorEmitter, factChecker,
              typeEvaluator),
      binder(context, *this, reporter, meter, tensorEmitter, typeEvaluator, unifier),
      randomDraws(context, reporter, regionEditor, tensorEmitter),
      listEmitter(context, *this, reporter, errorCapture, tensorEmitter),
      parameterBinder(context, *this, reporter, tensorEmitter, typeEvaluator, unifier),
      moduleLoader(context, reporter, advisor),
      partInstantiator(context, *this, reporter, meter, advisor, staticStage, factChecker,
                       parameterBinder, placer, moduleLoader),
      queueEmitter(context, reporter, staticStage, tensorEmitter, typeEvaluator, placer),
      datasetEmitter(context, *this, reporter, staticStage, tensorEmitter, typeEvaluator),
      slicer(context, reporter, staticStage),
      variableTable(context, *this, reporter, typeEvaluator, binder, moduleLoader, placer, slicer),
      nameResolver(context, *this, reporter, meter, regionEditor, typeEvaluator, unifier, binder,
                   partInstantiator, queueEmitter, datasetEmitter, variableTable, placer),
      operationBuilder(context, reporter, errorCapture, tensorEmitter, randomDraws),
      gradientBuilder(context, reporter, meter, errorCapture, tensorEmitter, nameResolver),
      builtins(context, sizeScope, reporter, meter, staticStage, tensorEmitter, typeEvaluator,
               listEmitter, moduleLoader, queueEmitter, datasetEmitter, operationBuilder,
               gradientBuilder),
      indexEvaluator(context, *this, reporter, staticStage, tensorEmitter, typeEvaluator,
                     listEmitter),
      blockRunner(context, *this, reporter, tensorEmitter),
      statementRunner(context, *this, reporter, meter, advisor, staticStage, tensorEmitter,
                      typeEvaluator, binder, moduleLoader, variableTable, placer, blockRunner),
      branchBuilder(context, reporter, regionEditor, tensorEmitter, blockRunner, statementRunner),
      loopBuilder(context, *this, sizeScope, reporter, regionEditor, tensorEmitter, typeEvaluator,
                  unifier, binder, listEmitter, blockRunner, statementRunner),
      dataflowBuilder(context, *this, reporter, regionEditor, tensorEmitter, operationBuilder,
                      blockRunner, statementRunner),
      callEvaluator(context, *this, reporter, meter, advisor, tensorEmitter, factChecker, unifier,
                    listEmitter, parameterBinder, placer, operationBuilder, builtins,
                    statementRunner, dataflowBuilder),
      expressionEvaluator(context, *this, reporter, meter, advisor, staticStage, tensorEmitter,
                          typeEvaluator, binder, nameResolver, indexEvaluator, branchBuilder,
                          loopBuilder, dataflowBuilder, callEvaluator),
      entryElaborator(context, reporter, tensorEmitter, factChecker, factSolver, typeEvaluator,
                      moduleLoader, callEvaluator),
      initializerElaborator(context, *this, tensorEmitter, placer, queueEmitter, datasetEmitter,
                            nameResolver),
      uncalledChecker(context, *this, reporter, factChecker, factSolver, typeEvaluator,
                      parameterBinder, partInstantiator, callEvaluator) {
  context.program.builtins = Builtins::names();
}

void Elaborator::run(FileId file) {
  Program &program = context.program;
  moduleLoader.allowFolderOf(file);
  program.prelude = moduleLoader.loadShipped("prelude", {});
  program.mainModule = moduleLoader.loadModule(file, {});
  if (!program.mainModule || !program.prelude)
    return;
  Module &main = *program.mainModule;
  main.isMain = true;
  program.hasFailedEntries = main.hasSyntaxErrors;
  if (main.file->items.empty() && !main.hasSyntaxErrors)
    reporter.error({file, 0, 0}, "empty-file", "the file declares nothing")
        .help("a model has at least an entry, such as entry twice(x: f32[n]) -> (y: f32[n]) "
              "{ return 2.0 * x }");
  std::shared_ptr<Activation> top = context.newActivation(&main, nullptr);
  context.activation = top.get();
  context.builder.getModule().setSymName(main.name);
  moduleLoader.prefixNames();
  entryElaborator.elaborateEntries(main);
  initializerElaborator.elaborateInitializers();
  uncalledChecker.checkUncalled();
}

bool elaborate(mlir::ModuleOp module, SourceManager &sources, FileId file,
               DiagnosticEngine &diagnostics, const ImportOptions &options) {
  unsigned before = diagnostics.errorCount();
  GraphBuilder builder(module);
  Elaborator(builder, sources, diagnostics, options).run(file);
  return diagnostics.errorCount() == before;
}

} // namespace tfc::text
