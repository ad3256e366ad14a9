// Suppresses repeated errors and warnings of a graph, whose nodes are built once for each entry
// that needs them.

#include "frontend/importer/Diagnostics.h"

using namespace mlir;

namespace tfc::importer {

LogicalResult Diagnostics::handle(Diagnostic &diagnostic) {
  bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
  if (!isError && diagnostic.getSeverity() != DiagnosticSeverity::Warning)
    return failure();
  count += isError;
  if (held) {
    held->push_back(std::move(diagnostic));
    return success();
  }
  bool isNew = reported[LocationAttr(diagnostic.getLocation())].insert(diagnostic.str()).second;
  return success(!isNew);
}

void Diagnostics::hold() {
  held.emplace();
  countBefore = count;
}

void Diagnostics::release(bool isDropped) {
  count = countBefore;
  std::vector<Diagnostic> diagnostics = std::move(*held);
  held.reset();
  for (Diagnostic &diagnostic : diagnostics)
    if (!isDropped)
      engine.emit(std::move(diagnostic));
}

} // namespace tfc::importer
