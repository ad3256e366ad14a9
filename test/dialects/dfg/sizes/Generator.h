//===- Generator.h - Random symbolic sizes --------------------------------===//

#pragma once

#include "dialects/dfg/DimExpr.h"
#include <random>

namespace tfc::dfg {

/// Draws expressions over the sizes n and m.
class Generator {
public:
  explicit Generator(uint64_t seed) : engine(seed) {}

  DimExpr draw(unsigned depth) {
    if (depth == 0 || number(0, 4) == 0)
      return leaf();
    DimExpr lhs = draw(depth - 1);
    switch (number(0, 6)) {
    case 0:
      return lhs + draw(depth - 1);
    case 1:
      return lhs - draw(depth - 1);
    case 2:
      return lhs * draw(depth - 1);
    case 3:
      return DimExpr::floorDiv(lhs, number(1, 5));
    case 4:
      return DimExpr::mod(lhs, number(1, 5));
    case 5:
      return DimExpr::min(lhs, draw(depth - 1));
    default:
      return DimExpr::max(lhs, draw(depth - 1));
    }
  }

private:
  int64_t number(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(engine);
  }
  DimExpr leaf() {
    int64_t choice = number(0, 4);
    return choice < 2   ? DimExpr::symbol("n")
           : choice < 4 ? DimExpr::symbol("m")
                        : DimExpr(number(-4, 4));
  }

  std::mt19937_64 engine;
};

/// The value for sizes n and m.
inline int64_t valueOf(const DimExpr &size, int64_t n, int64_t m) {
  return *size.evaluate([&](llvm::StringRef name) { return std::optional(name == "n" ? n : m); });
}

} // namespace tfc::dfg
