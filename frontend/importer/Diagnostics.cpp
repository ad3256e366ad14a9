// Suppresses repeated errors of a graph, whose nodes are built once for each entry that needs them.

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
