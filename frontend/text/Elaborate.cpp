#include "frontend/text/Elaborate.h"

#include "frontend/text/ElaborateImpl.h"
#include "frontend/text/Library.h"

using namespace llvm;

namespace tfc::text {

Elaborator::Elaborator(GraphBuilder &builder, SourceManager &sources, DiagnosticEngine &diagnostics,
                       const ImportOptions &options)
    : context(builder.getContext()), sources(sources), diagnostics(diagnostics), builder(builder),
      options(options), budget(options.limits) {}

void Elaborator::run(FileId file) {
  allowFolderOf(file);
  prelude = loadShipped("prelude", {});
  mainModule = loadModule(file, {});
  if (!mainModule || !prelude)
    return;
  mainModule->isMain = true;
  hasFailedEntries = mainModule->hasSyntaxErrors;
  if (mainModule->file->items.empty() && !mainModule->hasSyntaxErrors)
    error({file, 0, 0}, "empty-file", "the file declares nothing")
        .help("a model has at least an entry, such as entry twice(x: f32[n]) -> (y: f32[n]) "
              "{ return 2.0 * x }");
  std::shared_ptr<Frame> top = newFrame(mainModule, nullptr);
  frame = top.get();
  builder.getModule().setSymName(mainModule->name);
  for (const auto &module : modules)
    if (module.get() != mainModule && !module->isShipped)
      module->prefix = module->name + ".";
  for (const ast::Stmt *item : mainModule->file->items)
    if (const auto *fn = dyn_cast<ast::FnDecl>(item); fn && fn->isEntry)
      elaborateEntry(*mainModule, *fn);
  elaborateInitializers();
  checkUncalled();
}

bool elaborate(mlir::ModuleOp module, SourceManager &sources, FileId file,
               DiagnosticEngine &diagnostics, const ImportOptions &options) {
  unsigned before = diagnostics.errorCount();
  GraphBuilder builder(module);
  Elaborator(builder, sources, diagnostics, options).run(file);
  return diagnostics.errorCount() == before;
}

} // namespace tfc::text
