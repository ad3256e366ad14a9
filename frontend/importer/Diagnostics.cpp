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
  bool isNew = reported[LocationAttr(diagnostic.getLocation())].insert(diagnostic.str()).second;
  return success(!isNew);
}

} // namespace tfc::importer
