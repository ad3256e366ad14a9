/// Charges work to the budget of the expansion and reports when it is exceeded.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class Reporter;

/// Charges work to the budget of the expansion and reports when it is exceeded.
class Meter {
public:
  Meter(Context &context, Reporter &reporter) : context(context), reporter(reporter) {}

  /// Spends steps of the budget. False where it is exceeded: an error has been reported then, and
  /// what is left stays silent.
  bool spend(uint64_t steps, SourceRange at);
  /// Spends what a value costs; poison where it is too large.
  Entity limited(Entity value, SourceRange at);
  bool limitProduct(const dfg::DimExpr &lhs, const dfg::DimExpr &rhs, SourceRange at);

private:
  void reportExceeded(SourceRange at);

  Context &context;
  Reporter &reporter;
};

} // namespace tfc::text
