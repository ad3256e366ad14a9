// Suppresses repeated errors of a graph.

#include "frontend/importer/Diagnostics.h"

using namespace mlir;

namespace tfc::importer {

LogicalResult Diagnostics::handle(Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
    return failure();
  ++count;
  bool isNew = reported[LocationAttr(diagnostic.getLocation())].insert(diagnostic.str()).second;
  return success(!isNew);
}

} // namespace tfc::importer
