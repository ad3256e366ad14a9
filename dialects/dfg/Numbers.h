//===- Numbers.h - Numbers known at compile time as elements --------------===//
//
// A literal has no element type before it meets a tensor. This is the one place that converts it.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "dialects/dfg/Types.h"
#include <variant>

namespace tfc::dfg {

/// A number known at compile time.
using Number = std::variant<bool, int64_t, double>;

/// `Implicit` where a number meets a type, `Cast` where the author converts it, as in `i32(2.7)`.
enum class Conversion { Implicit, Cast };

/// Why a number is no element of a type.
struct NumberError {
  llvm::StringRef slug;
  std::string text;
  std::string help;
};

/// `number` as an element of type `element`, or null and the reason in `error`. Floats are rounded
/// to the nearest value. A finite number never becomes infinite, and an integer type only takes
/// integers in its range; a cast drops the fraction before that, and converts from and to bool.
mlir::TypedAttr elementFrom(const Number &number, mlir::Type element, Conversion conversion,
                            NumberError &error);

/// Fails with an error unless `number`, the attribute `name` of the operation `op`, is exactly a
/// value of the integer type `element`, or a finite one of a float type (or infinite itself).
llvm::LogicalResult checkElement(std::optional<mlir::Location> location, llvm::StringRef op,
                                 llvm::StringRef name, const llvm::APFloat &number,
                                 mlir::Type element);

} // namespace tfc::dfg
