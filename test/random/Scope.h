//===- Scope.h - Values, sizes and types for statements -------------------===//
//
// The state that the generators of a program share, and draws from it: a statement takes its
// operands, sizes and types here, and leaves its results here.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Program.h"
#include "Random.h"
#include "frontend/GraphBuilder.h"

namespace tfc::random {

using Values = llvm::SmallVector<mlir::Value>;
using Attributes = llvm::SmallVector<mlir::NamedAttribute>;

class Scope {
public:
  Scope(mlir::ModuleOp module, uint64_t seed, const Style &style)
      : random(seed * 0x2545f4914f6cdd1d + 1), style(style), builder(module),
        location(module.getLoc()) {}

  //===--- Types and sizes ------------------------------------------------===//

  mlir::Type drawDtype();
  /// All with the same probability.
  mlir::Type drawAnyDtype();
  dfg::DimExpr drawNamedSize();
  dfg::DimExpr drawSize();
  /// Returns true if the value is larger in some call than values of programs may be.
  bool isTooLarge(mlir::Type type);
  /// Returns true if the type has a data-dependent size.
  bool isBound(mlir::Type type) { return mentions(type, bound); }
  static bool mentions(mlir::Type type, llvm::ArrayRef<std::string> names);
  /// Names a data-dependent size.
  void bind(mlir::Value count, const dfg::DimExpr &most);

  //===--- Values ---------------------------------------------------------===//

  mlir::Value addFeed(mlir::RankedTensorType type, llvm::StringRef suffix = "");
  /// `extremes` is the probability of extreme numbers.
  mlir::Value addConstant(mlir::RankedTensorType type, bool isPositive, double extremes);
  /// A constant of one number.
  mlir::Value addSplat(mlir::RankedTensorType type, bool isPositive);
  /// Removes unused feeds at the end, down to `count`.
  void dropFeeds(size_t count);
  /// All values that a statement may use, those of the entry's feeds included.
  Values visible();
  /// One of them for which `accept` holds, recent ones more often.
  mlir::Value findValue(llvm::function_ref<bool(mlir::Value)> accept);
  /// A value of the type: a known one, a constant or a new feed.
  mlir::Value valueOf(mlir::RankedTensorType type, bool isPositive = false);
  void remember(mlir::ValueRange values);

  //===--- Trying ---------------------------------------------------------===//

  /// Removes the operations that `make` created if it returns failure.
  bool attempt(llvm::function_ref<bool()> make);
  /// The first result of an operation; null if its types are invalid, or it is too large.
  mlir::Value make(llvm::StringRef op, mlir::ValueRange operands,
                   llvm::ArrayRef<mlir::NamedAttribute> attributes);
  mlir::NamedAttribute dimsAttr(llvm::StringRef name, llvm::ArrayRef<dfg::DimExpr> sizes);
  mlir::NamedAttribute intsAttr(llvm::StringRef name, llvm::ArrayRef<int64_t> numbers);

  Random random;
  Style style;
  GraphBuilder builder;
  mlir::Location location;

  // Of the program.
  mlir::Type mainFloat, mainInteger;
  std::vector<int64_t> sizes; // that shapes are made of
  std::vector<std::string> symbols;
  int64_t mostElements = 0;
  bool isRisky = false; // checks may fail
  std::vector<mlir::RankedTensorType> variables;

  // Of the entry.
  dfg::EntryOp entry;
  std::vector<std::string> feedNames;
  unsigned boundSizes = 0;                // of the entry
  std::map<std::string, int64_t> largest; // values of the symbols in calls

  // At the current position.
  Values pool; // of the blocks around it
  unsigned depth = 0;
  std::vector<std::string> bound; // names of data-dependent sizes
};

/// Returns true if the shape has more than `limit` elements in some call, or if that is unknown.
bool isLarger(const dfg::Shape &shape, const std::map<std::string, int64_t> &symbols,
              int64_t limit);

/// The size of a list. That of a list which a loop or a write has changed is a lower bound, and
/// `isExact` becomes false.
std::optional<dfg::DimExpr> sizeOfList(mlir::Value list, bool &isExact);

} // namespace tfc::random
