/// Charges work to the budget of the expansion and reports when it is exceeded.
#pragma once

#include "frontend/text/elaborate/Context.h"

namespace tfc::text {

class Reporter;

/// Charges work to the budget of the expansion and reports when it is exceeded.
class Meter {
public:
  Meter(Context &context, Reporter &reporter) : context(context), reporter(reporter) {}

  /// Spends steps of the budget. Returns false if it is exceeded: an error has been reported, and
  /// nothing more will be.
  bool spend(uint64_t steps, SourceRange at);
  /// Spends the cost of a value; returns poison if the value is too large.
  Entity limited(Entity value, SourceRange at);
  bool limitProduct(const dfg::DimExpr &lhs, const dfg::DimExpr &rhs, SourceRange at);

private:
  void reportExceeded(SourceRange at);

  Context &context;
  Reporter &reporter;
};

} // namespace tfc::text
